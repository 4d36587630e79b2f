/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a profile from a descriptor: whole, or text in pieces. */
#include "common/common.h"
#include "profile/foreign/foreign.h"

#include <errno.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 20 };
static const size_t max_file_bytes = (size_t)2 << 30;

/* A file is read with pread(): its position stays at the start, for whoever reads the descriptor next. */
static bool input_read_on(void *context, void *into, size_t room, size_t *got, struct error *err)
{
	struct foreign_input *input = context;
	ssize_t count;

	do {
		count = input->is_stream ? read(input->fd, into, room)
					 : pread(input->fd, into, room, (off_t)input->offset);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return error_set_errno(err, errno, "cannot read %s", input->name);
	input->offset += (uint64_t)count;
	*got = (size_t)count;
	return true;
}

bool foreign_input_begin(struct foreign_input *input, int fd, const char *name, struct error *err)
{
	size_t got = 1;

	*input = (struct foreign_input){ .fd = fd, .name = name, .is_stream = lseek(fd, 0, SEEK_CUR) < 0 };
	while (input->head_bytes < FOREIGN_HEAD_BYTES && got > 0) {
		if (!input_read_on(
			    input, input->head + input->head_bytes, FOREIGN_HEAD_BYTES - input->head_bytes, &got, err))
			return false;
		input->head_bytes += got;
	}
	return true;
}

/* Reads on until there are so many bytes, or the end. */
static bool input_read_up_to(struct foreign_input *input, size_t most, struct buffer *bytes, struct error *err)
{
	size_t got = 1;

	while (bytes->size < most && got > 0) {
		size_t room = most - bytes->size < FIRST_BYTES ? most - bytes->size : FIRST_BYTES;
		char *into = buffer_reserve(bytes, room);

		if (!into)
			return buffer_ok(bytes, err) || error_prefix(err, "cannot read %s", input->name);
		if (!input_read_on(input, into, room, &got, err))
			return false;
		buffer_commit(bytes, got);
	}
	return true;
}

bool foreign_input_read(struct foreign_input *input, struct profile **profile, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(max_file_bytes);
	bool ok;

	buffer_append(&bytes, input->head, input->head_bytes);
	/* Enough to tell what it is, a first line of folded stacks with it. */
	if (!input_read_up_to(input, FIRST_BYTES, &bytes, err))
		return false;
	if (bytes.size == FIRST_BYTES && foreign_is_lines(foreign_kind(bytes.data, bytes.size)))
		return foreign_read_text(&(struct text_source){ bytes.data, bytes.size, input_read_on, input },
			input->name, profile, err);
	if (input->is_stream) {
		/* By the descriptor that is open: a named pipe that is opened once more waits for another writer. */
		ok = input_read_up_to(input, SIZE_MAX, &bytes, err);
	} else {
		bytes.size = 0;
		ok = file_read_opened(&(struct file_opened){ (char *)(uintptr_t)input->name, input->fd }, &bytes, err);
	}
	return ok && foreign_read(bytes.data, bytes.size, input->name, profile, err);
}
