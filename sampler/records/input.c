/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/records/input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool record_input_read_at(
	const struct record_input *input, uint64_t offset, void *into, size_t room, size_t *got, struct error *err)
{
	ssize_t count;

	do {
		count = pread(input->fd, into, room, (off_t)offset);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return error_set_errno(err, errno, "at offset %llu", (unsigned long long)offset);
	*got = (size_t)count;
	return true;
}

bool record_input_read(struct record_input *input, void *into, size_t room, size_t *got, struct error *err)
{
	size_t left = input->offset < input->head_bytes ? input->head_bytes - (size_t)input->offset : 0;
	ssize_t count;

	if (input->is_seekable) {
		if (!record_input_read_at(input, input->offset, into, room, got, err))
			return false;
	} else if (left > 0) {
		*got = left < room ? left : room;
		memcpy(into, input->head + input->offset, *got);
	} else {
		do {
			count = read(input->fd, into, room);
		} while (count < 0 && errno == EINTR);
		if (count < 0)
			return error_set_errno(err, errno, "at offset %llu", (unsigned long long)input->offset);
		*got = (size_t)count;
	}
	input->offset += *got;
	return true;
}
