/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that runs with the simulated program: the shadow stack of calls, and counts of blocks and misses. */
#include "sampler/simulate/tool_cache.h"
#include "sampler/simulate/tool_cost.h"

#include <pub_tool_clientstate.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>

struct tool_thread *tool_running, *tool_threads;

enum { FRAMES_MAX = 1 << 24 };

void tool_program_name(char name[16])
{
	VG_(strlcpy)(name, VG_(basename)(VG_(args_the_exename)), 16);
}

void tool_thread_name(struct tool_thread *thread)
{
	HChar path[64], name[17];
	SysRes opened;
	int bytes;

	if (thread->name[0])
		return;
	VG_(snprintf)(path, sizeof(path), "/proc/self/task/%d/comm", thread->tid);
	opened = VG_(open)(path, VKI_O_RDONLY, 0);
	if (sr_isError(opened))
		return;
	bytes = VG_(read)((int)sr_Res(opened), name, sizeof(name) - 1);
	VG_(close)((int)sr_Res(opened));
	/* A thread has the name of the program that simulates it until the program names it. */
	if (bytes > 1 && VG_(strncmp)(name, "kelvin-amd64-li", 15) != 0) {
		name[bytes - 1] = '\0';
		VG_(strlcpy)(thread->name, name, sizeof(thread->name));
	} else {
		tool_program_name(thread->name);
	}
}

static void frame_push(struct tool_thread *thread, uint64_t sp, struct tool_record *caller)
{
	if (thread->depth == thread->capacity) {
		thread->capacity = thread->capacity ? thread->capacity * 2 : 256;
		thread->frames =
			VG_(realloc)("kelvin.frames", thread->frames, thread->capacity * sizeof(*thread->frames));
	}
	thread->frames[thread->depth++] = (struct tool_frame){ sp, caller };
}

/* The handler that runs was left without a return: by a longjmp() or an exception. */
static bool signal_was_left(const struct tool_signal *signal, uint64_t sp)
{
	if (signal->alternate_end)
		return sp < signal->alternate_start || sp >= signal->alternate_end;
	return sp >= signal->sp;
}

/*
 * Removes the frames that are no longer on the stack when its pointer is `sp`: whose return address lies below. The
 * node that runs then.
 */
static uint32_t frames_drop(struct tool_thread *thread, uint64_t sp, uint32_t node)
{
	while (thread->signal_count > 0 && signal_was_left(&thread->signals[thread->signal_count - 1], sp)) {
		const struct tool_signal *signal = &thread->signals[--thread->signal_count];

		thread->depth = signal->depth;
		thread->floor = signal->floor;
		node = signal->node;
	}
	while (thread->depth > thread->floor && thread->frames[thread->depth - 1].sp < sp)
		node = thread->frames[--thread->depth].caller->node;
	return node;
}

/* The record of a call's target. A frame whose return address is overwritten by this call's is gone. */
static __attribute__((noinline)) struct tool_record *call_slow(struct tool_thread *thread, struct tool_record *from,
	struct tool_left *left, struct tool_block *to, uint64_t sp)
{
	struct tool_block *block = from->block;
	uint32_t node = frames_drop(thread, sp + 1, from->node);
	struct tool_record *next;

	/* The caller itself came back in a way that was not seen. */
	if (node != from->node)
		from = tool_find(node, block);
	node = tool_child(node, block->address + block->bytes - 1, block->mapping, SIMULATE_NODE_CALL);
	if (thread->depth < FRAMES_MAX)
		frame_push(thread, sp, from);
	else
		tool_was_cut = true;
	next = tool_find(node, to);
	if (left >= from->left && left <= &from->left[block->exit_count])
		left->next = next->number;
	return next;
}

static inline struct tool_record *follow_call(struct tool_thread *thread, struct tool_record *from,
	struct tool_left *left, struct tool_block *to, uint64_t sp)
{
	struct tool_record *next = tool_record(left->next);

	if (__builtin_expect(next->block == to && thread->depth < thread->capacity &&
				     (thread->depth == thread->floor || thread->frames[thread->depth - 1].sp > sp),
		    1)) {
		thread->frames[thread->depth++] = (struct tool_frame){ sp, from };
		return next;
	}
	return call_slow(thread, from, left, to, sp);
}

static inline struct tool_record *follow_return(
	struct tool_thread *thread, struct tool_record *from, struct tool_block *to, uint64_t sp)
{
	struct tool_record *caller, *next;

	/* As a rule one frame goes, and the one before it stays. */
	if (__builtin_expect(thread->signal_count == 0 && thread->depth > 1 &&
				     thread->frames[thread->depth - 1].sp < sp &&
				     thread->frames[thread->depth - 2].sp >= sp,
		    1)) {
		caller = thread->frames[--thread->depth].caller;
		next = tool_record(caller->after);
		if (__builtin_expect(next->block != to, 0)) {
			next = tool_find(caller->node, to);
			caller->after = next->number;
		}
		return next;
	}
	return tool_find(frames_drop(thread, sp, from->node), to);
}

static inline struct tool_record *follow_indirect(struct tool_thread *thread, struct tool_record *from,
	struct tool_left *left, struct tool_block *to, uint64_t sp)
{
	struct tool_record *next = tool_record(left->next);
	uint32_t node = from->node;

	if (thread->signal_count > 0 || (thread->depth > thread->floor && thread->frames[thread->depth - 1].sp < sp))
		node = frames_drop(thread, sp, node);
	else if (next->block == to)
		return next;
	next = tool_find(node, to);
	if (node == from->node)
		left->next = next->number;
	return next;
}

/*
 * A predictor of two bits for each branch: it changes its mind when it was wrong twice. Real ones see the history of
 * other branches too, and predict patterns; this one is wrong where a branch goes either way.
 */
static inline void predict(struct tool_record *record, const struct tool_exit *exit, uint64_t left)
{
	struct tool_block *block = record->block;
	unsigned state = block->branch, ran_on = left == block->exit_count;

	if ((state >> 1) != ran_on)
		tool_add(record, SIMULATE_BRANCH_MISSES, exit->instructions - 1u, 1);
	block->branch = ran_on ? state + (state < 3) : state - (state > 0);
}

static inline void tool_run_count(struct tool_record *record, uint64_t exit)
{
	uint32_t times = record->left[exit].times += tool_collects;

	if (__builtin_expect(times == 0, 0))
		tool_add(record, TOOL_CELL_WRAPS, (unsigned)exit, 1);
}

/* Returns whether a string instruction has only gone on within the block of bytes that it was counted for. */
static inline bool tool_run_goes_on(const struct tool_block *block, const struct tool_log *log)
{
	const struct tool_exit *end = &block->exits[block->exit_count];

	return log->left == block->exit_count &&
	       (log->address[end->accesses - 1] & (TOOL_STRING_BYTES - 1)) >= block->string_bytes;
}

static inline __attribute__((always_inline)) void run_enter(
	struct tool_block *block, VexGuestAMD64State *guest, bool is_usual)
{
	struct tool_thread *thread = tool_running;
	struct tool_record *from = thread->record, *to;
	struct tool_log *log = tool_log(guest);
	struct tool_left *left = &from->left[log->left];
	const struct tool_exit *exit = &from->block->exits[log->left];

	if (__builtin_expect(block->string_bytes > 0 && from->block == block && tool_run_goes_on(block, log), 0))
		return;
	tool_run_count(from, log->left);
	tool_cache_run(from, exit, log, is_usual);
	if (exit->is_branch)
		predict(from, exit, log->left);
	if (__builtin_expect(exit->leave == TOOL_JUMP, 1)) {
		to = tool_record(left->next);
		if (__builtin_expect(to->block != block, 0)) {
			to = tool_find(from->node, block);
			left->next = to->number;
		}
	} else if (exit->leave == TOOL_CALL) {
		to = follow_call(thread, from, left, block, guest->guest_RSP);
	} else if (exit->leave == TOOL_RETURN) {
		to = follow_return(thread, from, block, guest->guest_RSP);
	} else {
		to = follow_indirect(thread, from, left, block, guest->guest_RSP);
	}
	thread->guest = guest;
	thread->record = to;
	log->left = block->exit_count;
}

VG_REGPARM(2) void tool_enter(struct tool_block *block, VexGuestAMD64State *guest)
{
	run_enter(block, guest, false);
}

VG_REGPARM(2) void tool_enter_usual(struct tool_block *block, VexGuestAMD64State *guest)
{
	run_enter(block, guest, true);
}

VG_REGPARM(2) void tool_access(uint64_t address, uint64_t where)
{
	tool_cache_data_slow(tool_running->record, where >> 8, address, where & 0xff);
}

/* --- where blocks do not follow each other --- */

static void thread_rest(struct tool_thread *thread, uint32_t node)
{
	thread->resting->node = node;
	thread->resting->left[0].next = 0;
	thread->record = thread->resting;
	if (thread->guest)
		tool_log(thread->guest)->left = 0;
}

static void tool_run_settle(struct tool_thread *thread, struct tool_record *record, uint64_t number)
{
	const struct tool_exit *exit = &record->block->exits[number];
	uint64_t sp = thread->guest->guest_RSP;
	uint32_t node = record->node;

	tool_run_count(record, number);
	tool_cache_run(record, exit, tool_log(thread->guest), false);
	if (exit->is_branch)
		predict(record, exit, number);
	if (exit->leave == TOOL_CALL) {
		struct tool_block *block = record->block;

		node = tool_child(node, block->address + block->bytes - 1, block->mapping, SIMULATE_NODE_CALL);
		frame_push(thread, sp, record);
	} else if (exit->leave != TOOL_JUMP) {
		node = frames_drop(thread, sp, node);
	}
	thread_rest(thread, node);
}

void tool_settle(struct tool_thread *thread)
{
	if (thread->record != thread->resting && thread->guest)
		tool_run_settle(thread, thread->record, tool_log(thread->guest)->left);
}

void tool_settle_fault(struct tool_thread *thread, uint64_t address)
{
	struct tool_record *record = thread->record;
	const struct tool_block *block = record->block;
	uint64_t at = block->address;
	unsigned instructions = 0;

	if (record == thread->resting || !thread->guest || address < at || address >= at + block->bytes) {
		tool_settle(thread);
		return;
	}
	while (instructions < block->instruction_count && at < address)
		at += block->lengths[instructions++];
	if (instructions > 0)
		tool_run_settle(thread, tool_find(record->node, tool_prefix(block, instructions)), 0);
	else
		thread_rest(thread, record->node);
}

/* A record that is held while all are forgotten. Those of no block stay, and forget what came after them. */
static struct tool_record *found_anew(struct tool_record *record)
{
	if (!record || record->number > 0)
		return record ? tool_find(record->node, record->block) : NULL;
	record->after = 0;
	record->left[0].next = 0;
	return record;
}

void tool_forget(void)
{
	tool_records_take();
	for (struct tool_thread *thread = tool_threads; thread; thread = thread->next) {
		thread->record = found_anew(thread->record);
		thread->resting = found_anew(thread->resting);
		thread->caller = found_anew(thread->caller);
		for (uint32_t i = 0; i < thread->depth; i++)
			thread->frames[i].caller = found_anew(thread->frames[i].caller);
	}
	tool_records_free();
}

void tool_reset_thread(struct tool_thread *thread)
{
	thread->depth = thread->floor = thread->signal_count = 0;
	thread_rest(thread, thread->root);
}

void tool_adopt_call(struct tool_thread *thread, uint64_t call_site, uint64_t sp)
{
	uint32_t node = thread->resting->node;

	frame_push(thread, sp, tool_resting(node));
	thread_rest(thread, tool_child(node, call_site, tool_mapping_at(call_site), SIMULATE_NODE_CALL));
}

void tool_signal_begins(
	struct tool_thread *thread, uint64_t sp, uint64_t address, uint64_t alternate_start, uint64_t alternate_end)
{
	uint32_t node = thread->record->node;

	if (thread->signal_count == thread->signal_capacity) {
		thread->signal_capacity = thread->signal_capacity ? thread->signal_capacity * 2 : 8;
		thread->signals = VG_(realloc)(
			"kelvin.signals", thread->signals, thread->signal_capacity * sizeof(*thread->signals));
	}
	thread->signals[thread->signal_count++] =
		(struct tool_signal){ sp, alternate_start, alternate_end, thread->depth, thread->floor, node };
	thread->floor = thread->depth;
	thread_rest(thread, tool_child(node, address, tool_mapping_at(address), SIMULATE_NODE_SIGNAL));
}

void tool_signal_ends(struct tool_thread *thread)
{
	if (thread->signal_count > 0) {
		const struct tool_signal *signal = &thread->signals[--thread->signal_count];

		thread->depth = signal->depth;
		thread->floor = signal->floor;
		thread_rest(thread, signal->node);
	}
}
