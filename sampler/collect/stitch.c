/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/stitch.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64 };

struct kept {
	int32_t tid;
	struct unwind_frame *frames; /* owned; leaf first */
	size_t count, capacity;
};

/*
 * Threads that fall on one place push each other out. A shallow stack shows the frames that live now, but not of the
 * deeper ones; one that was itself joined, and is deeper than any stack copy, reaches where no copy does.
 */
struct stitch_memory {
	struct kept latest[THREADS], deep[THREADS], deepest[THREADS];
};

bool stitch_memory_create(struct stitch_memory **memory, struct error *err)
{
	*memory = calloc(1, sizeof(**memory));
	return *memory ? true : error_set_memory(err);
}

void stitch_memory_destroy(struct stitch_memory *memory)
{
	if (!memory)
		return;
	for (size_t i = 0; i < THREADS; i++) {
		free(memory->latest[i].frames);
		free(memory->deep[i].frames);
		free(memory->deepest[i].frames);
	}
	free(memory);
}

static void stitch_keep(struct kept *kept, int32_t tid, const struct unwind_result *result)
{
	struct error ignored;

	kept->count = 0;
	kept->tid = tid;
	if (!ARRAY_RESERVE(&kept->frames, &kept->capacity, result->count, UNWIND_MAX_FRAMES, &ignored))
		return;
	memcpy(kept->frames, result->frames, result->count * sizeof(*kept->frames));
	kept->count = result->count;
}

void stitch_remember(struct stitch_memory *memory, int32_t tid, const struct unwind_result *result, size_t copy_bytes)
{
	uint32_t place = (uint32_t)tid % THREADS;
	uint64_t depth;

	if (result->count < 3)
		return;
	depth = result->frames[result->count - 1].stack_pointer - result->frames[0].stack_pointer;
	stitch_keep(depth < copy_bytes / 2 ? &memory->latest[place]
		    : depth < copy_bytes   ? &memory->deep[place]
					   : &memory->deepest[place],
		tid, result);
}

static bool stitch_is_same_frame(const struct unwind_frame *a, const struct unwind_frame *b)
{
	return a->pc == b->pc && a->stack_pointer == b->stack_pointer;
}

/* Appends frames while there is room. */
static void stitch_append(struct unwind_result *result, const struct unwind_frame *frames, size_t count)
{
	if (count > UNWIND_MAX_FRAMES - result->count)
		count = UNWIND_MAX_FRAMES - result->count;
	if (count)
		memcpy(&result->frames[result->count], frames, count * sizeof(*frames));
	result->count += count;
}

/*
 * Returns whether two frames are the same activation of a function: they begin and end at the same places in the stack.
 * They may stand at different calls.
 */
static bool is_same_activation(
	const struct unwind_frame *inner, const struct unwind_frame *outer, const struct unwind_result *result)
{
	enum { NEAR_BYTES = 1 << 16 };
	const struct unwind_frame *last = &result->frames[result->count - 1];

	return outer->stack_pointer == result->caller_stack_pointer && inner->stack_pointer == last->stack_pointer &&
	       inner->pc - last->pc + NEAR_BYTES < 2 * (uint64_t)NEAR_BYTES;
}

/* Joins at the caller of the last frame, whose size is known but whose return address was not copied. */
static bool join_at_caller(const struct kept *kept, int32_t tid, struct unwind_result *result)
{
	if (kept->tid != tid || result->stop != PROFILE_STOP_DUMP_END || result->caller_stack_pointer == 0)
		return false;
	for (size_t i = kept->count; i-- > 2;) {
		if (!is_same_activation(&kept->frames[i - 1], &kept->frames[i], result))
			continue;
		stitch_append(result, &kept->frames[i], kept->count - i);
		return true;
	}
	return false;
}

static bool stitch_join(const struct kept *kept, int32_t tid, struct unwind_result *result)
{
	const struct unwind_frame *last = &result->frames[result->count - 1];

	if (kept->tid != tid)
		return false;
	/* Frame 0 has no return address, so it cannot be one of the two. */
	for (size_t i = kept->count; i-- > 2;) {
		if (!stitch_is_same_frame(&kept->frames[i], last) ||
			!stitch_is_same_frame(&kept->frames[i - 1], last - 1))
			continue;
		stitch_append(result, &kept->frames[i + 1], kept->count - i - 1);
		return true;
	}
	return false;
}

bool stitch_from_memory(const struct stitch_memory *memory, int32_t tid, struct unwind_result *result)
{
	uint32_t place = (uint32_t)tid % THREADS;
	const struct kept *const all[] = { &memory->deep[place], &memory->latest[place], &memory->deepest[place] };

	if (result->count < 3)
		return false;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (stitch_join(all[i], tid, result) || join_at_caller(all[i], tid, result))
			return true;
	return false;
}

/* Of several equal marks the first counts: the kernel writes each mark once, but a file may repeat it. */
struct callchain callchain_of(const struct record_sample *sample, uint64_t context)
{
	const struct record_words *words = &sample->callchain;
	struct callchain found = { .words = words };
	size_t at = 0, count = words->count;

	while (at < count && record_word(words, at) != context)
		at++;
	found.first = at + 1;
	for (at = found.first; at < count && record_word(words, at) < PERF_CONTEXT_MAX; at++)
		found.count++;
	return found;
}

void callchain_leave_hook(struct callchain *callchain, uint64_t function)
{
	/* A mark of branch targets, a saved return address and the call take so much at most, on any processor. */
	enum { MOST_ENTRY_BYTES = 16 };

	for (size_t i = 0; i + 1 < callchain->count; i++) {
		uint64_t address = callchain_address(callchain, i);

		if (address < function || address - function > MOST_ENTRY_BYTES)
			continue;
		callchain->first += i + 1;
		callchain->count -= i + 1;
		callchain->has_callers_only = true;
		return;
	}
}

uint64_t callchain_address(const struct callchain *callchain, size_t index)
{
	return record_word(callchain->words, callchain->first + index);
}

/*
 * Finds the last frame in the kernel's callchain. If the walk only followed frame pointers, as the kernel does, one
 * equal frame is enough.
 */
static bool find_join(const struct callchain *callchain, const struct unwind_result *result, size_t *at)
{
	const struct unwind_frame *last = &result->frames[result->count - 1];
	bool is_same_walk = result->frame_pointer_frames + 1 == result->count;

	for (size_t i = 0; i < callchain->count; i++) {
		if (callchain_address(callchain, i) != last->pc)
			continue;
		if (is_same_walk ? i + 1 == result->count
				 : i > 0 && result->count > 1 && callchain_address(callchain, i - 1) == last[-1].pc) {
			*at = i;
			return true;
		}
	}
	return false;
}

bool stitch_from_chain(struct process_space *space, const struct callchain *callchain, struct unwind_result *result)
{
	size_t at, count = result->count;

	if (result->count == 0 || !find_join(callchain, result, &at) || at + 1 == callchain->count)
		return false;
	for (size_t i = at + 1; i < callchain->count && count < UNWIND_MAX_FRAMES; i++) {
		uint64_t pc = callchain_address(callchain, i);
		struct unwind_code code;

		if (!process_space_find(space, pc - 1, &code))
			return false;
		result->frames[count++] = (struct unwind_frame){ .pc = pc, .image = code.image };
	}
	result->frame_pointer_frames += count - result->count;
	result->count = count;
	return true;
}
