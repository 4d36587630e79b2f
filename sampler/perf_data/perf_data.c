/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/perf_data.h"
#include "sampler/sampling.h"

#include "sampler/collect/result.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_STREAMS = 1 << 14 };

/* ---- The whole file ---- */

/* `is_sized`: all of the data should be present. A pipe's stream says nowhere that it is complete. */
static bool check_end(struct perf_data *data, struct perf_data_stream *stream, bool is_sized, struct error *err)
{
	struct error ignored;

	stream->is_at_end = true;
	if (!data->header.is_pipe)
		return data->header.is_unfinished || perf_data_stream_check_end(stream, is_sized, err);
	if (!perf_data_stream_check_end(stream, is_sized, &ignored))
		perf_data_end_early(data, stream);
	return true;
}

static bool read_block(struct perf_data *data, struct perf_data_stream *stream, bool is_sized, struct error *err)
{
	size_t got;
	bool ok = perf_data_stream_read(stream, &data->skim, &data->header.events, &got, err);

	if (ok)
		ok = got > 0 ? perf_data_take_records(data, stream, &stream->raw, err)
			     : check_end(data, stream, is_sized, err);
	return ok || (stream->name[0] && error_prefix(err, "%s", stream->name));
}

/* The file of a directory that was read up to the earliest time; NULL if all are read. */
static struct perf_data_stream *perf_data_find_last(struct perf_data *data, uint64_t *complete_ns)
{
	struct perf_data_stream *last = NULL;

	*complete_ns = UINT64_MAX;
	for (size_t i = 1; i < data->stream_count; i++) {
		struct perf_data_stream *stream = &data->streams[i];

		if (stream->is_at_end)
			continue;
		if (!last || stream->newest_ns < last->newest_ns)
			last = stream;
		if (stream->complete_ns < *complete_ns)
			*complete_ns = stream->complete_ns;
	}
	return last;
}

/* Reads all files of a directory together, in order of time. */
static bool perf_data_read_directory(struct perf_data *data, struct error *err)
{
	struct perf_data_stream *stream;
	uint64_t complete_ns;

	while ((stream = perf_data_find_last(data, &complete_ns))) {
		if (!perf_data_deliver(data, complete_ns, err) || !read_block(data, stream, true, err))
			return false;
		perf_data_stream_pass_marks(stream);
	}
	return true;
}

static bool read_data(struct perf_data *data, struct error *err)
{
	struct perf_data_stream *first = &data->streams[0];

	first->input.offset = data->header.data_offset;
	first->left = data->header.data_size;
	while (!first->is_at_end)
		if (!read_block(data, first, !data->header.is_pipe, err))
			return false;
	if (!perf_data_read_directory(data, err) || !perf_data_deliver(data, UINT64_MAX, err))
		return false;
	if (data->header.is_unfinished && data->notices)
		buffer_append_string(data->notices,
			"perf record was killed, or failed, before it finished this file: read as far as it goes\n");
	return true;
}

/* ---- Begin and end ---- */

static bool perf_data_open_stream(struct perf_data *data, const struct recording_file *from, struct error *err)
{
	struct perf_data_stream *stream = &data->streams[data->stream_count];
	char path[PATH_MAX];
	struct stat status;

	perf_data_stream_init(stream, &data->pool);
	snprintf(stream->name, sizeof(stream->name), "data.%zu", data->stream_count - 1);
	snprintf(path, sizeof(path), "%s/%s", from->directory, stream->name);
	stream->input.fd = recording_open(from, RECORDING_STREAM, path, err);
	if (stream->input.fd < 0 || fstat(stream->input.fd, &status) != 0) {
		perf_data_stream_deinit(stream);
		return false;
	}
	stream->input.is_seekable = true;
	stream->left = (uint64_t)status.st_size;
	stream->mark = stream->left;
	data->stream_count++;
	return true;
}

/* Opens the directory's files. Their numbers have no gaps. */
static bool perf_data_open_directory(struct perf_data *data, const struct recording_file *from, struct error *err)
{
	struct error why;

	while (data->stream_count <= MAX_STREAMS) {
		struct perf_data_stream *streams = realloc(data->streams, (data->stream_count + 1) * sizeof(*streams));

		if (!streams)
			return error_set_memory(err);
		data->streams = streams;
		if (perf_data_open_stream(data, from, &why))
			continue;
		if (why.code == ERROR_NOT_FOUND)
			return true;
		*err = why;
		return false;
	}
	return true;
}

static bool perf_data_check_kind(struct perf_data *data, const struct recording_file *from, struct error *err)
{
	if (data->header.has_threads_directory && !from->directory)
		return error_set(err, ERROR_UNSUPPORTED,
			"it was recorded with --threads and is one of several files: name the directory that it lies in");
	return (data->header.is_pipe || perf_data_events_check(&data->header.events, err)) &&
	       (!from->directory || perf_data_open_directory(data, from, err));
}

static bool init(struct perf_data *data, const struct recording_file *from, struct buffer *notices, struct error *err)
{
	struct perf_data_stream *first = calloc(1, sizeof(*first));

	*data = (struct perf_data){ .event = PERF_DATA_NO_EVENT, .notices = notices, .streams = first };
	if (!first)
		return error_set_memory(err);
	perf_data_stream_init(first, &data->pool);
	data->stream_count = 1;
	first->input = (struct record_input){ .fd = from->fd, .head = from->head, .head_bytes = from->head_bytes };
	first->input.is_seekable = lseek(from->fd, 0, SEEK_CUR) >= 0;
	perf_data_header_init(&data->header, from);
	perf_data_skim_init(&data->skim);
	switches_init(&data->switches);
	deferred_init(&data->deferred);
	return true;
}

static void deinit(struct perf_data *data)
{
	record_queue_deinit(&data->queue);
	switches_deinit(&data->switches);
	deferred_deinit(&data->deferred);
	perf_data_release_held(data);
	perf_data_skim_deinit(&data->skim);
	for (size_t i = 0; i < data->stream_count; i++)
		perf_data_stream_deinit(&data->streams[i]);
	free(data->streams);
	feed_pool_deinit(&data->pool);
	collector_destroy(data->collector);
	perf_data_header_deinit(&data->header);
	free(data->kernel.kallsyms);
}

/*
 * Reads the file once. `event`: PERF_DATA_NO_EVENT selects one. `*next` is another event with samples if this one has
 * none.
 */
static bool read_once(const struct recording_file *from, uint32_t event, struct recording *result,
	struct buffer *notices, uint32_t *next, struct error *err)
{
	struct perf_data data;
	bool ok;

	*next = PERF_DATA_NO_EVENT;
	if (!init(&data, from, notices, err))
		return false;
	data.event = event;
	data.wanted = from->event;
	data.verify_every = from->verify_every;
	ok = perf_data_header_read(&data.header, &data.streams[0].input, err) &&
	     perf_data_check_kind(&data, from, err) && read_data(&data, err);
	if (ok && event == PERF_DATA_NO_EVENT && data.streams[0].input.is_seekable && data.collector)
		*next = perf_data_other_event(&data);
	ok = ok && *next == PERF_DATA_NO_EVENT && perf_data_finish(&data, result, err);
	deinit(&data);
	return ok;
}

bool sampler_read_perf_data(
	const struct recording_file *recorded, struct recording *result, struct buffer *notices, struct error *err)
{
	uint32_t next;

	if (read_once(recorded, PERF_DATA_NO_EVENT, result, notices, &next, err))
		return true;
	if (next != PERF_DATA_NO_EVENT && read_once(recorded, next, result, notices, &next, err))
		return true;
	return error_prefix(err, "cannot read %s", recorded->name);
}
