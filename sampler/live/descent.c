/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/descent.h"

#include "common/common.h"
#include "sampler/live/bpf.h"
#include "sampler/live/btf.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The tracepoint as a file of tracefs describes it: its number, and where its fields lie in what a program is given. */
struct new_task {
	uint32_t id;
	int16_t pid_offset, flags_offset;
};

enum { MAX_FORMAT_BYTES = 1 << 16, MAX_OFFSET = 256, MAX_BTF_BYTES = 1 << 26, MAX_TASK_BYTES = 1 << 16 };

/* The number behind `before`; -1 where that is not there. */
static long number_behind(const char *text, const char *before)
{
	const char *found = text ? strstr(text, before) : NULL;

	return found ? strtol(found + strlen(before), NULL, 10) : -1;
}

/* Of a line as "field:pid_t pid;	offset:8;	size:4;	signed:1;". */
static bool find_field(const char *format, const char *name, long size, int16_t *offset)
{
	const char *field = strstr(format, name);
	long at = number_behind(field, "\toffset:");

	if (at < 0 || at > MAX_OFFSET || number_behind(field, "\tsize:") != size)
		return false;
	*offset = (int16_t)at;
	return true;
}

static bool parse_format(const char *format, struct new_task *task)
{
	long id = number_behind(format, "ID: ");

	task->id = (uint32_t)id;
	return id > 0 && find_field(format, " pid;", sizeof(uint32_t), &task->pid_offset) &&
	       find_field(format, " clone_flags;", sizeof(uint64_t), &task->flags_offset);
}

static bool find_new_task(struct new_task *task)
{
	static const char *const files[] = { "/sys/kernel/tracing/events/task/task_newtask/format",
		"/sys/kernel/debug/tracing/events/task/task_newtask/format" };
	bool found = false;

	for (size_t i = 0; !found && i < sizeof(files) / sizeof(files[0]); i++) {
		struct buffer text;
		struct error ignored;

		buffer_init(&text, MAX_FORMAT_BYTES);
		if (file_read(files[i], &text, &ignored)) {
			buffer_append(&text, "", 1);
			found = buffer_ok(&text, &ignored) && parse_format(text.data, task);
		}
		buffer_deinit(&text);
	}
	return found;
}

/* if (!(task->clone_flags & CLONE_THREAD) && lookup(map, current->tgid)) update(map, task->pid, 1); return 0 */
static int load_program(int map_fd, const struct new_task *task)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_7, .src_reg = BPF_REG_6, .off = task->flags_offset },
		{ .code = BPF_JMP | BPF_JSET | BPF_K, .dst_reg = BPF_REG_7, .imm = CLONE_THREAD, .off = 20 },
		BPF_LOOK_UP_CURRENT_TGID(map_fd),
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 11 },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_6, .off = task->pid_offset },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_0, .off = -4 },
		BPF_ADD_KEY(map_fd),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_load(BPF_PROG_TYPE_TRACEPOINT, program, sizeof(program) / sizeof(program[0]));
}

/* An event of one CPU does: the program belongs to the tracepoint, and runs on all. */
static int open_event(uint32_t id)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id };

	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static int follow_described(int map_fd)
{
	struct new_task task;
	int event = -1, program = find_new_task(&task) ? load_program(map_fd, &task) : -1;

	if (program < 0)
		return -1;
	event = open_event(task.id);
	if (event >= 0 && ioctl(event, PERF_EVENT_IOC_SET_BPF, program) != 0) {
		close(event);
		event = -1;
	}
	close(program);
	return event;
}

static bool find_tgid(uint32_t *offset)
{
	struct buffer btf;
	struct error ignored;
	bool found;

	buffer_init(&btf, MAX_BTF_BYTES);
	found = file_read("/sys/kernel/btf/vmlinux", &btf, &ignored) &&
		btf_find_member(btf.data, btf.size, "task_struct", "tgid", offset) && *offset < MAX_TASK_BYTES;
	buffer_deinit(&btf);
	return found;
}

/*
 * Given the tracepoint's own arguments (include/trace/events/task.h: task_newtask): if (!(clone_flags & CLONE_THREAD) &&
 * lookup(map, current->tgid) && read(&tgid, &task->tgid)) update(map, tgid, 1); return 0
 */
static int load_raw_program(int map_fd, uint32_t tgid_offset)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1, .off = 0 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_7, .src_reg = BPF_REG_1, .off = 8 },
		{ .code = BPF_JMP | BPF_JSET | BPF_K, .dst_reg = BPF_REG_7, .imm = CLONE_THREAD, .off = 25 },
		BPF_LOOK_UP_CURRENT_TGID(map_fd),
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 16 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -4 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = sizeof(uint32_t) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_6 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = (int32_t)tgid_offset },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 9 },
		BPF_ADD_KEY(map_fd),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, program, sizeof(program) / sizeof(program[0]));
}

static int open_raw_tracepoint(int program)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uint64_t)(uintptr_t) "task_newtask";
	attr.raw_tracepoint.prog_fd = (uint32_t)program;
	return bpf_call(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int follow_raw(int map_fd)
{
	uint32_t tgid_offset;
	int tracepoint, program = find_tgid(&tgid_offset) ? load_raw_program(map_fd, tgid_offset) : -1;

	if (program < 0)
		return -1;
	tracepoint = open_raw_tracepoint(program);
	close(program);
	return tracepoint;
}

int descent_follow(int map_fd)
{
	int descriptor = follow_raw(map_fd);

	return descriptor >= 0 ? descriptor : follow_described(map_fd);
}
