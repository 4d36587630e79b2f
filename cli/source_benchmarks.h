/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/source_live.h"

/*
 * Lower than that of other recordings, since samples make measured times longer: those of a C suite by 0.3 % at 99 Hz,
 * 1.3 % at 197, 1.6 % at 397 and 2.3 % at 997, on a virtual machine of two CPUs without hardware counters.
 */
enum { SOURCE_BENCHMARKS_FREQUENCY_HZ = 397 };

/*
 * Samples a command that runs benchmarks, as source_live.h does, and serves their harness. A reading ends when the
 * command has ended, also after a signal: its harness waits for answers until then. When the profile is named, it is
 * cut into one run for the execution and one for each measurement of a benchmark (profile/phases.h), which has the
 * rounds after the warm-up; stacks of the latter begin at the measured function.
 *
 * `options` are those of source_live_create(), for a command without a delay, control or an end of its own. An output
 * of `options->streams` that is -1 is ours.
 */
COMMON_MUST_CHECK
bool source_benchmarks_create(const struct source_live_options *options, struct source **source, struct error *err);
