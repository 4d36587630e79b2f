/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/output.h"

/*
 * Passes the output of the command on, byte by byte as it is, and hands over its lines. Each stream has a thread: where
 * the reader of our output is slow, the command waits for it as it would without us, and nobody else does. When that
 * reader is gone, so is the command's: its next write fails.
 */
struct tee;

/* `to`: descriptors where the output goes, borrowed. `output` is borrowed, too. */
COMMON_MUST_CHECK
bool tee_start(
	const int to[HARNESS_OUTPUT_STREAMS], struct harness_output *output, struct tee **tee, struct error *err);

/* Gives what the command shall have as standard output and error. They stay the tee's. */
void tee_ends(const struct tee *tee, int ends[HARNESS_OUTPUT_STREAMS]);

/*
 * Stops the tee; to be called when the command has ended: passes on what is there, but waits no longer than a second
 * for a reader that takes nothing. Processes that the command left behind lose their output. May be called more than
 * once.
 */
void tee_stop(struct tee *tee);
void tee_destroy(struct tee *tee);
