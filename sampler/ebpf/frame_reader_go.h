/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Copies the stack that a thread of a Go program has left (runtime/stubs.go, "System stack"): calls of C, of the vdso
 * and of the run time's own functions run on the thread's stack, while those that have called them are on the
 * goroutine's; Go that C has called runs on the goroutine's, while C is on the thread's. The kernel copies the stack
 * that the thread is on.
 *
 * Only programs (.bpf.c) include this. All that is read of the process is foreign: where it is inconsistent nothing is
 * copied, and nothing is read but the process's own memory.
 */
#include "sampler/ebpf/frame_reader_area.h"

enum {
	GO_STACK_LOW = 0, /* g: stack.lo, stack.hi, m, sched.sp */
	GO_STACK_HIGH = 8,
	GO_M = 0x30,
	GO_SAVED_SP = 0x38,
	GO_CURRENT = 0xc0, /* m: curg up to Go 1.24, and since */
	GO_CURRENT_SINCE_1_25 = 0xb8,
	GO_MOST_BYTES = (EBPF_MOST_FRAMES - 1) * 8,
	GO_MASK = 8191, /* a power of two that holds them, less 1 */
	GO_PAGE_MASK = 4095,
	GO_DEEPEST = 1 << 20, /* of a thread's stack, between two calls from C */
	GO_BP = 4,            /* words in the kernel's struct pt_regs */
};

struct go_stacks {
	__u64 g, g0, curg, low, high;
};

/* Returns whether a g belongs to the m. */
static inline _Bool is_of_m(__u64 g, __u64 m)
{
	__u64 its;

	return g && read_user(&its, g + GO_M) && its == m;
}

static inline _Bool find_stacks(const struct ebpf_go *go, const char *task, struct go_stacks *stacks)
{
	__u64 base, m;

	if (!read_kernel(&base, sizeof(base), task, constants.layout.thread_pointer) ||
		!read_user(&stacks->g, base + go->current) || !stacks->g || !read_user(&m, stacks->g + GO_M) || !m ||
		!read_user(&stacks->g0, m) || !is_of_m(stacks->g0, m))
		return 0;
	if (!read_user(&stacks->curg, m + GO_CURRENT_SINCE_1_25) || !is_of_m(stacks->curg, m)) {
		if (!read_user(&stacks->curg, m + GO_CURRENT) || !is_of_m(stacks->curg, m))
			return 0;
	}
	return stacks->curg != stacks->g0 && read_user(&stacks->low, stacks->curg + GO_STACK_LOW) &&
	       read_user(&stacks->high, stacks->curg + GO_STACK_HIGH);
}

static inline _Bool is_on_goroutine(const struct go_stacks *stacks, __u64 address)
{
	return address >= stacks->low && address < stacks->high;
}

/*
 * Finds where the stack of a goroutine begins whose thread is on its own stack: where it was left, with a return
 * address below that, or, for calls of the vdso, which are not noted there, at the frame pointer. C may have saved that
 * first.
 */
static inline __u64 find_left_goroutine(const struct go_stacks *stacks, __u64 frame_pointer)
{
	__u64 left;

	if (!read_user(&left, stacks->curg + GO_SAVED_SP) || !is_on_goroutine(stacks, left - 8))
		left = stacks->high;
	else
		left -= 8;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (is_on_goroutine(stacks, frame_pointer)) {
			left = frame_pointer < left ? frame_pointer : left;
			break;
		}
		if (!frame_pointer || !read_user(&frame_pointer, frame_pointer))
			break;
	}
	return left < stacks->high ? left : 0;
}

/*
 * Finds where the stack of the thread begins from which C has called Go: the address of the same for the call before is
 * there.
 */
static inline __u64 find_left_thread(const struct go_stacks *stacks)
{
	__u64 left, before;

	if (!read_user(&left, stacks->g0 + GO_SAVED_SP) || !read_user(&before, left))
		return 0;
	return before >= left && before - left < GO_DEEPEST ? left : 0;
}

static inline void write_stack(struct frames_area *area, __u64 address, __u64 bytes)
{
	void *to = word_at(area, FRAMES_BLOCK_HEADER + 1);

	if (room_of(area) < FRAMES_MOST_BLOCK) {
		area->lost++;
		return;
	}
	if (bytes > GO_MOST_BYTES)
		bytes = GO_MOST_BYTES;
	bytes &= GO_MASK & ~7;
	*word_at(area, FRAMES_BLOCK_HEADER) = address;
	if (bpf_probe_read_user(to, bytes, (const void *)address) != 0) {
		bytes = (0 - address) & GO_PAGE_MASK & ~7;
		if (bpf_probe_read_user(to, bytes, (const void *)address) != 0)
			return;
	}
	publish(area, area->walk.begin_ns, bpf_get_current_pid_tgid() << 32 | FRAMES_KIND(EBPF_GO),
		FRAMES_BLOCK_HEADER + 1 + bytes / 8);
}

/* `registers`: the kernel's struct pt_regs of the thread; NULL: not known. */
static __always_inline void write_go_stack(
	struct frames_area *area, const struct ebpf_go *go, const char *task, const char *registers)
{
	__u64 stack_pointer = 0, frame_pointer = 0, address;
	struct go_stacks stacks;

	if (!find_stacks(go, task, &stacks))
		return;
	if (registers) {
		read_kernel(&stack_pointer, sizeof(stack_pointer), registers, STACK_POINTER_WORD * 8);
		read_kernel(&frame_pointer, sizeof(frame_pointer), registers, GO_BP * 8);
	}
	if (stacks.g != stacks.curg && stacks.g != stacks.g0)
		return;
	if (stacks.g == stacks.g0 || (stack_pointer && !is_on_goroutine(&stacks, stack_pointer))) {
		address = find_left_goroutine(&stacks, frame_pointer);
		if (address)
			write_stack(area, address, stacks.high - address);
		return;
	}
	address = find_left_thread(&stacks);
	if (address)
		write_stack(area, address, GO_MOST_BYTES);
}
