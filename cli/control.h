/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * `--control fd:CTL[,ACK]` and `--control fifo:CTL[,ACK]` as in perf record(1). Commands arrive on CTL, one a line (or
 * ended by a NUL). Each is answered by "ack
 * " and a NUL on ACK when it is done, so that a benchmark harness can wait for it.
 */

enum control_command {
	CONTROL_NONE, /* no command has arrived */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_EVLIST,
	CONTROL_OTHER, /* unknown, or without a meaning for kelvin */
};

enum { CONTROL_LINE_BYTES = 64 };

struct control {
	int commands, answers; /* descriptors; -1: none */
	bool owns_them;        /* the descriptors are fifos that were opened here */
	char line[CONTROL_LINE_BYTES];
	size_t line_bytes;
};

void control_init(struct control *control);

/*
 * Opens the files of a control; `text`: the value of --control. ERROR_USAGE; ERROR_NOT_FOUND and others if a fifo
 * cannot be opened.
 */
COMMON_MUST_CHECK
bool control_open(struct control *control, const char *text, struct error *err);
void control_close(struct control *control);

/* Returns the next command that has arrived; does not wait. `control->line` holds its text. */
enum control_command control_next(struct control *control);

/* Confirms a command that was done. Without waiting: an answer that nobody reads is left out. */
void control_answer(const struct control *control);
