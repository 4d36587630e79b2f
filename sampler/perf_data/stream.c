/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/stream.h"

#include <sys/stat.h>

enum { MARK_BYTES = 1 << 20 };

void perf_data_stream_init(struct perf_data_stream *stream, struct feed_pool *pool)
{
	*stream = (struct perf_data_stream){ .input.fd = -1 };
	feed_init(&stream->raw, pool);
	feed_init(&stream->inflated, pool);
}

void perf_data_stream_deinit(struct perf_data_stream *stream)
{
	feed_deinit(&stream->raw);
	feed_deinit(&stream->inflated);
	ZSTD_freeDStream(stream->zstd);
	if (stream->name[0] && stream->input.fd >= 0)
		close(stream->input.fd);
	*stream = (struct perf_data_stream){ .input.fd = -1 };
}

static size_t bytes_to_read(const struct perf_data_stream *stream, size_t room)
{
	size_t wanted = stream->gap.next_bytes;

	if (wanted == 0 || wanted > room)
		wanted = room;
	return stream->left < wanted ? (size_t)stream->left : wanted;
}

bool perf_data_stream_read(struct perf_data_stream *stream, struct perf_data_skim *skim,
	const struct perf_data_events *events, size_t *got, struct error *err)
{
	uint8_t *into;
	size_t room, read;

	if (stream->input.is_seekable)
		perf_data_skim_step(skim, &stream->gap, events, &stream->raw, &stream->input, &stream->left);
	if (!feed_room(&stream->raw, &into, &room, err) ||
		!record_input_read(&stream->input, into, bytes_to_read(stream, room), &read, err))
		return false;
	stream->left -= read;
	feed_commit(&stream->raw, read);
	*got = read;
	return true;
}

void perf_data_stream_pass_marks(struct perf_data_stream *stream)
{
	if (stream->left > stream->mark)
		return;
	stream->complete_ns = stream->marked_ns;
	stream->marked_ns = stream->newest_ns;
	stream->mark = stream->left > MARK_BYTES ? stream->left - MARK_BYTES : 0;
}

/* Handles a file that ends within bytes that were to be skipped. */
static void note_end(struct perf_data_stream *stream)
{
	struct stat status;

	if (stream->gap.bytes > 0 && fstat(stream->input.fd, &status) == 0 &&
		(uint64_t)status.st_size < stream->input.offset)
		stream->input.offset = (uint64_t)status.st_size;
}

bool perf_data_stream_check_end(struct perf_data_stream *stream, bool is_sized, struct error *err)
{
	note_end(stream);
	if (feed_left(&stream->raw) > 0 || stream->skip > 0)
		return error_set(err, ERROR_FORMAT,
			"it ends at offset %llu within the record at offset %llu: it was cut short; copy or record it again",
			(unsigned long long)stream->input.offset, (unsigned long long)stream->record_offset);
	if (stream->left > 0 && is_sized)
		return error_set(err, ERROR_FORMAT,
			"it ends at offset %llu, %llu bytes before the end of its data: it was cut short; copy or record it again",
			(unsigned long long)stream->input.offset, (unsigned long long)stream->left);
	if (feed_left(&stream->inflated) > 0)
		return error_set(err, ERROR_FORMAT, "its compressed data end within a record");
	return true;
}
