/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/summary/summary.h"

/*
 * The bytes of an archive, little-endian; numbers without a size are LEB128.
 *
 *	u32 "KSUM", u32 version
 *	number of strings; of each its size and bytes. String 0 is "" and is not there
 *	number of functions; of each: key, name, shown, shown_in, module, file (strings), u8 origin, u8 language,
 *		u8 interrupt, u64 fingerprint
 *	number of summaries; of each: 40 bytes of tag, size of its bytes, and they:
 *		name (string), 16 bytes of id, start (zigzag), duration (zigzag), flags, number of facts, each fact,
 *		number of labels, of each key and value; metric, unit, metric_words (strings), f64 total, f64
 *total_error, f64 interrupts, samples, f64 lost, runs, work source, work event (string), f64 requests number of
 *binaries; of each: module, path, build id (strings), u8 is_program number of rows; of each: function as difference to
 *the row before, u8 of ARCHIVE_ROW_*, and what that says
 */
enum { ARCHIVE_MAGIC = 0x4d55534b, ARCHIVE_VERSION = 2 };

enum {
	ARCHIVE_TIME_OF_FILE = 1,
	ARCHIVE_TIME = 2,
	ARCHIVE_DURATION = 4,
	ARCHIVE_COUNTED = 8,
	ARCHIVE_EXACT = 16,
	ARCHIVE_WHOLE_COMMANDS = 32,
};

enum {
	ARCHIVE_ROW_SELF = 1,            /* it has self time; else self and its error are 0 */
	ARCHIVE_ROW_TOTAL = 2,           /* total and its error are others than those of self, and follow */
	ARCHIVE_ROW_WHOLE_NUMBERS = 4,   /* the values are LEB128; else f64 */
	ARCHIVE_ROW_FINGERPRINT = 8,     /* a fingerprint follows; else it is that of the function */
	ARCHIVE_ROW_NO_FINGERPRINT = 16, /* it is 0 */
	ARCHIVE_ROW_ALL = 31,
};
