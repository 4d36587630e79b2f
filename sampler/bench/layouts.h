/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/bench/commands.h"
#include "sampler/bench/runs.h"

/*
 * Layouts of `bench --layouts`: commands and builds have KELVIN_LAYOUT in their environment, and its number in place of
 * each {layout}. How a layout is made is the build's business (docs/layouts.md).
 */

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
 * Appends what is wrong with the layouts of a side, line by line: they are the same bytes, or differ in more than
 * where the code lies.
 */
COMMON_MUST_CHECK
bool bench_layouts_check(const struct bench_runs *runs, enum bench_arm side, struct buffer *notices, struct error *err);
