/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/bench_run.h"

/*
 * Layouts of `bench --layouts`: commands and builds have KELVIN_LAYOUT in their environment, and its number in place of
 * each {layout}. How a layout is made is the build's business (docs/layouts.md).
 */

/* A command in each of its layouts. */
struct bench_commands {
	struct bench_command *items; /* owned: [layout] */
	char **texts;                /* owned: [layout] */
	uint32_t count;
};

/* by_shell as bench_command_parse() has it. */
COMMON_MUST_CHECK
bool bench_commands_parse(
	const char *text, bool by_shell, uint32_t layouts, struct bench_commands *commands, struct error *err);
void bench_commands_deinit(struct bench_commands *commands);

/*
 * Names the programs of a layout alike in all of them, so that their functions are the same ones: what a command calls
 * `prog-{layout}` is `prog-{layout}` in the profile of its run, and not `prog-3`.
 */
COMMON_MUST_CHECK
bool bench_layouts_rename(const struct bench_command *command, struct profile *profile, struct error *err);

/* Tells what is run from now on which layout it is of, counted from 1; 0: none. */
COMMON_MUST_CHECK
bool bench_layout_set(uint32_t layout, struct error *err);

/*
 * Gives what is run from now on an environment that is longer by so many bytes, which moves its stack; negative: not at
 * all.
 */
COMMON_MUST_CHECK
bool bench_pad_set(int bytes, struct error *err);

/*
 * Says on standard error what is wrong with the layouts of a side: they are the same bytes, or differ in more than
 * where the code lies. `records` are its runs, each of which tells its layout.
 */
COMMON_MUST_CHECK
bool bench_layouts_check(const struct bench_runner *runner, const struct bench_record *records, uint64_t count,
	const char *side, struct error *err);
