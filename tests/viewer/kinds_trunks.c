/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds.h"

#include "maker.h"

#include <stdio.h>
#include <string.h>

enum {
	RUNS = 10,
	STEADY = 30,
	STEADY_MS = 40,
	SYSTEM_FRAMES = 30,
	USER_FRAMES = 20,
	STAIRS = 40,
	STAIR_MS = 30,
	STACK_BYTES = 4096
};

/* Appends frames of one kind, numbered from 1: "prefix1end;prefix2end". */
static void append_frames(char *stack, const char *prefix, const char *end, int count)
{
	for (int i = 1; i <= count; i++) {
		size_t used = strlen(stack);

		snprintf(stack + used, STACK_BYTES - used, "%s%s%d%s", used ? ";" : "", prefix, i, end);
	}
}

static void add(struct maker *maker, const char *above, const char *frame, int ms)
{
	char stack[STACK_BYTES];

	snprintf(stack, sizeof(stack), "%s;%s", above, frame);
	maker_add(maker, maker_stack_of(maker, stack), ms, -1);
}

/* One run of frames, then a stair of frames with time of their own, and what changed below the last, which is nothing
 * for their callers. */
struct profile *kinds_trunks(int side)
{
	struct maker maker = maker_create("./trunks", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		char stack[STACK_BYTES] = "";

		maker_run(&maker, "trunks", 3000);
		append_frames(stack, "start_", "!libstart.so@s", SYSTEM_FRAMES);
		append_frames(stack, "main_", "", USER_FRAMES);
		for (int i = 0; i < STEADY; i++) {
			char frame[32];

			snprintf(frame, sizeof(frame), "steady_%02d", i);
			add(&maker, stack, frame, STEADY_MS + (run + i) * 7 % 5 - 2);
		}
		for (int i = 1; i <= STAIRS; i++) {
			size_t used = strlen(stack);

			snprintf(stack + used, sizeof(stack) - used, ";stair_%d", i);
			maker_add(&maker, maker_stack_of(&maker, stack), STAIR_MS + (run + i) * 3 % 5 - 2, -1);
		}
		add(&maker, stack, "slow", side ? 200 : 100);
		add(&maker, stack, "fast", side ? 80 : 150);
		add(&maker, stack, "narrow", side ? 4 : 34);
	}
	return maker_finish(&maker);
}
