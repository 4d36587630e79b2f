/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/* The limits of --fail-on, held against a history: what is proven to have begun at the newest profile of a series. */

struct history;

enum history_gate_result {
	HISTORY_GATE_PASSED,
	HISTORY_GATE_EXCEEDED,
	/*
	 * No series has enough profiles for the newest to be judged, or the newest alone is beyond a limit and stands
	 * out from all before it, which one profile does not prove.
	 */
	HISTORY_GATE_OPEN,
};

/* Appends which limit it was, and which function, line by line. */
enum history_gate_result history_gate_judge(
	const struct history *history, const struct diff_gate *gates, size_t count, struct buffer *said);
