/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * `--control fd:CTL[,ACK]` and `--control fifo:CTL[,ACK]` as perf record(1) has them: commands come in on CTL, one a
 * line (or ended by a NUL), and each is answered by "ack\n" and a NUL on ACK once it is done, so that a benchmark
 * harness knows where it stands.
 */

enum control_command {
	CONTROL_NONE, /* nothing has come yet */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_EVLIST,
	CONTROL_OTHER, /* unknown, or without a meaning here */
};

enum { CONTROL_LINE_BYTES = 64 };

struct control {
	int commands, answers; /* -1: none */
	bool owns_them;        /* fifos that were opened here */
	char line[CONTROL_LINE_BYTES];
	size_t line_bytes;
};

void control_init(struct control *control);

/* `text`: what stands behind --control. ERROR_USAGE; ERROR_NOT_FOUND and others when a fifo cannot be opened. */
COMMON_MUST_CHECK
bool control_open(struct control *control, const char *text, struct error *err);
void control_close(struct control *control);

/* The next command that is there; does not wait. `control->line` holds it as it came. */
enum control_command control_next(struct control *control);

/* Answers the command that was done; a reader who is gone is no error. */
void control_answer(const struct control *control);
