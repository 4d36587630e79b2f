/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* How numbers and a recording's end are told to a person. */

enum { CLOSING_NUMBER_SIZE = 32 };

/* "1 203": groups of three, parted by spaces. `text` has room for CLOSING_NUMBER_SIZE characters. */
void closing_format_count(uint64_t count, char *text);

/* "812 B", "14.2 kB", "3.1 MB". */
void closing_format_bytes(uint64_t bytes, char *text);

struct closing {
	const struct profile *profile;
	int64_t duration_ns;     /* of the recording */
	int64_t recorder_cpu_ns; /* spent by the recorder until its end */
	int64_t naming_ns;       /* from then until the file was there */
	const char *path;
	uint64_t file_bytes;
};

/* "1 203 samples in 10.0 s, 0 lost, 99.2 % whole stacks", why the other stacks stopped, and where the file lies. */
void closing_print(const struct closing *closing);
