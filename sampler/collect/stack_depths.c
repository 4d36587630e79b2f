/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/stack_depths.h"

#include "sampler/recording.h"

#include <string.h>

static const size_t sizes[STACK_DEPTH_SIZES] = { 32768, RECORDING_MAX_STACK_BYTES };

/* Copies may grow while it is recorded: what smaller ones have cut needs no advice. */
static void note_room(struct stack_depths *depths, size_t room)
{
	if (room <= depths->room)
		return;
	depths->room = room;
	depths->cut = depths->known = 0;
	memset(depths->within, 0, sizeof(depths->within));
}

void stack_depths_note_whole(struct stack_depths *depths, int32_t tid, const struct unwind_result *result, size_t room)
{
	size_t place = (uint32_t)tid % STACK_DEPTH_THREADS;
	uint64_t base = result->count > 0 ? result->frames[result->count - 1].stack_pointer : 0;

	note_room(depths, room);
	/* A signal handler or a coroutine may have a stack of its own, which begins elsewhere: the higher one is kept.
	 */
	if (depths->threads[place].tid == tid && depths->threads[place].base > base)
		return;
	depths->threads[place].tid = tid;
	depths->threads[place].base = base;
}

void stack_depths_count(struct stack_depths *depths, int32_t tid, uint64_t stack_pointer, size_t room)
{
	enum { MOST_BYTES = 64 << 20 }; /* of a stack */
	size_t place = (uint32_t)tid % STACK_DEPTH_THREADS;
	uint64_t bytes = depths->threads[place].base - stack_pointer;

	note_room(depths, room);
	depths->cut++;
	if (depths->threads[place].tid != tid || bytes < room || bytes > MOST_BYTES)
		return;
	depths->known++;
	for (size_t i = 0; i < STACK_DEPTH_SIZES; i++)
		depths->within[i] += bytes <= sizes[i];
}

static double stack_depths_percent(uint64_t part, uint64_t whole)
{
	return 100.0 * (double)part / (double)whole;
}

void stack_depths_describe(const struct stack_depths *depths, uint64_t samples, struct buffer *notices)
{
	enum { LEAST_PERCENT = 1 };
	const char *separator = " of those whose size is known ";

	if (depths->cut == 0 || depths->cut * 100 < samples * LEAST_PERCENT)
		return;
	buffer_printf(notices, "%.0f %% of the stacks are larger than their copies of %zu bytes:",
		stack_depths_percent(depths->cut, samples), depths->room);
	for (size_t i = 0; depths->known > 0 && i < STACK_DEPTH_SIZES; i++) {
		if (sizes[i] <= depths->room || (i > 0 && depths->within[i] == depths->within[i - 1]))
			continue;
		buffer_printf(notices, "%s--call-graph dwarf,%zu would hold %.0f %%", separator, sizes[i],
			stack_depths_percent(depths->within[i], depths->known));
		separator = ", ";
	}
	buffer_printf(notices, "%s-g fp reads all frames of programs that keep frame pointers\n",
		separator[0] == ',' ? "; " : " ");
}
