/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * The instructions of a line: those that samples were taken at, each with its time, and the one before it where samples
 * have no precise addresses, as these then often fall one instruction too late. Of a line also those of code that was
 * inlined at it. Of code that the profile has not kept (profile/code.h) there are none. The code is anybody's: whatever
 * it is, there is an end of it, and its text is printable.
 */
struct listing_instruction {
	uint64_t address;   /* of the image */
	uint32_t text;      /* string of the listing */
	uint32_t target;    /* string of the listing: the function that a jump or call leads to; 0: none is known */
	double time;        /* that was executing there; scaled, in the metric's unit */
	bool is_behind_gap; /* instructions between the one before and this one are left out */
};

enum {
	LISTING_MOST_OF_LINE = 24,           /* sampled instructions of a line, those with the most time */
	LISTING_MOST_INSTRUCTIONS = 1 << 16, /* of a listing */
};
