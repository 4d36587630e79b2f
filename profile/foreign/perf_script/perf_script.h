/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Reads the text of `perf script`, with whatever fields (-F) it was told to print, as long as samples have their
 *stacks:
 *
 *	work 27979/27980 [001] 79524.904175:    1003009 cpu-clock:u:
 *		    55d5d40a133a hash_output+0x1a (/usr/bin/work)
 *		    55d5d40a16ea main (inlined)
 *
 * Memory holds the profile, but never the text. What the line before a stack lacks is not known: without a period,
 * samples are counted. Each event is a value type; times of cpu-clock and task-clock are `cpu`.
 */

/* Returns whether a text begins as one. */
bool perf_script_is(const char *text, size_t size);

COMMON_MUST_CHECK
bool perf_script_read(const struct text_source *text, const char *name, size_t most_stacks, struct profile **profile,
	struct error *err);
