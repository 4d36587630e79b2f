/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdint.h>

/*
 * Part 1 of a parcel for Pyroscope, in this machine's byte order: the head; the labels of the series, and a selector of
 * it; then of each piece a row, and the name of its type. Texts stand behind their size as uint32_t. It was made from a
 * foreign profile: the courier reads it through the bounded reader.
 */
struct pyroscope_head {
	int64_t start_unix_ns, duration_ns; /* of one run */
};

struct pyroscope_described {
	uint64_t size; /* in part 0, where pieces stand one behind the other */
	int64_t total; /* of the values of the type */
};
