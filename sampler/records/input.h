/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* A file of records, or a pipe of which the first bytes have been read already. */
struct record_input {
	int fd;           /* borrowed */
	const char *name; /* for messages */
	const uint8_t *head;
	size_t head_bytes;
	bool is_seekable;
	uint64_t offset; /* of the next byte that record_input_read() returns */
};

/* Reads up to `room` bytes; `*got` is 0 at the end. Errors name the offset. */
COMMON_MUST_CHECK
bool record_input_read(struct record_input *input, void *into, size_t room, size_t *got, struct error *err);

/* Reads likewise at an offset of a file that is seekable. */
COMMON_MUST_CHECK
bool record_input_read_at(
	const struct record_input *input, uint64_t offset, void *into, size_t room, size_t *got, struct error *err);
