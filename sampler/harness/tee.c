/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/tee.h"

#include "sampler/harness/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

/* A pipe that is ready takes this much at once (PIPE_BUF). */
enum { WRITE_BYTES = 4096, READ_BYTES = 1 << 16, PATIENCE_MS = 1000 };

struct tee_stream {
	struct tee *tee;
	int number;
	int in, end, out; /* owned: our end of the pipe, the command's, and where it goes; -1: none */
	pthread_t thread;
	bool is_running;
	bool is_discarded; /* it cannot be written where it goes */
	char line[HARNESS_LINE_BYTES];
	size_t line_size;
	size_t passed;
	bool has_line; /* some of it was handed over, or would have been */
	char bytes[READ_BYTES];
};

struct tee {
	int stop; /* owned: an eventfd */
	pthread_mutex_t lock;
	struct harness_output *output; /* borrowed; under the lock */
	struct tee_stream streams[HARNESS_OUTPUT_STREAMS];
};

/* ---- Lines ---- */

static void tee_hand_over(struct tee_stream *stream, int64_t now_ns, bool is_complete)
{
	size_t size = stream->line_size;

	if (is_complete && size > 0 && stream->line[size - 1] == '\r')
		size--;
	pthread_mutex_lock(&stream->tee->lock);
	harness_output_line(stream->tee->output, stream->number, stream->line, size, now_ns, is_complete);
	pthread_mutex_unlock(&stream->tee->lock);
}

static void add_to_line(struct tee_stream *stream, const char *bytes, size_t size)
{
	size_t room = sizeof(stream->line) - stream->line_size;

	if (size > room)
		size = room;
	memcpy(stream->line + stream->line_size, bytes, size);
	stream->line_size += size;
	stream->has_line = true;
}

static void tee_take_lines(struct tee_stream *stream, const char *bytes, size_t size, int64_t now_ns)
{
	const char *end = bytes + size, *newline;

	while ((newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		add_to_line(stream, bytes, (size_t)(newline - bytes));
		tee_hand_over(stream, now_ns, true);
		stream->line_size = 0;
		stream->has_line = false;
		bytes = newline + 1;
	}
	if (bytes == end)
		return;
	add_to_line(stream, bytes, (size_t)(end - bytes));
	tee_hand_over(stream, now_ns, false);
}

/* ---- The threads ---- */

/* Waits until the reader takes something. False: the recording is over, and it took nothing for a while. */
static bool wait_for_reader(const struct tee_stream *stream)
{
	struct pollfd waits[] = { { stream->out, POLLOUT, 0 }, { stream->tee->stop, POLLIN, 0 } };

	while (poll(waits, 2, -1) < 0 && errno == EINTR)
		;
	if (waits[0].revents)
		return true;
	return poll(waits, 1, PATIENCE_MS) > 0;
}

/* False: there is no reader any more. */
static bool tee_pass_on(struct tee_stream *stream, const char *bytes, size_t size)
{
	while (size > 0 && !stream->is_discarded) {
		ssize_t written;

		if (!wait_for_reader(stream))
			return false;
		written = write(stream->out, bytes, size < WRITE_BYTES ? size : WRITE_BYTES);
		if (written > 0) {
			bytes += written;
			size -= (size_t)written;
		} else if (written < 0 && errno == EPIPE) {
			return false;
		} else if (written < 0 && errno != EAGAIN && errno != EINTR) {
			/* Such as a full disk: the benchmarks go on. */
			stream->is_discarded = true;
		}
	}
	return true;
}

/* False: the output has ended, or nothing is there. */
static bool pass_some(struct tee_stream *stream, size_t most)
{
	ssize_t got = read(stream->in, stream->bytes, most < sizeof(stream->bytes) ? most : sizeof(stream->bytes));

	if (got <= 0)
		return got < 0 && errno == EINTR;
	tee_take_lines(stream, stream->bytes, (size_t)got, clock_read_ns(CLOCK_MONOTONIC));
	stream->passed += (size_t)got;
	return tee_pass_on(stream, stream->bytes, (size_t)got);
}

/* Passes on what is in the pipe when the command ends: processes that it left behind may go on for ever. */
static void pass_rest(struct tee_stream *stream)
{
	int room = fcntl(stream->in, F_GETPIPE_SZ);
	size_t end = stream->passed + (room > 0 ? (size_t)room : READ_BYTES);

	while (stream->passed < end && pass_some(stream, end - stream->passed))
		;
}

static void *run_stream(void *context)
{
	struct tee_stream *stream = context;
	struct pollfd waits[] = { { stream->in, POLLIN, 0 }, { stream->tee->stop, POLLIN, 0 } };
	bool is_open = true;

	while (is_open && waits[1].revents == 0) {
		if (poll(waits, 2, -1) > 0 && waits[0].revents && waits[1].revents == 0)
			is_open = pass_some(stream, READ_BYTES);
	}
	if (is_open)
		pass_rest(stream);
	if (stream->has_line)
		tee_hand_over(stream, clock_read_ns(CLOCK_MONOTONIC), true);
	close(stream->in);
	stream->in = -1;
	return NULL;
}

/* ---- Their owner ---- */

static bool start_stream(struct tee_stream *stream, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set_errno(err, errno, "cannot read the command's output");
	stream->in = ends[0];
	stream->end = ends[1];
	if (fcntl(stream->in, F_SETFL, O_NONBLOCK) != 0)
		return error_set_errno(err, errno, "cannot read the command's output");
	stream->is_running = thread_start(&stream->thread, run_stream, stream, err);
	return stream->is_running;
}

bool tee_start(const int to[HARNESS_OUTPUT_STREAMS], struct harness_output *output, struct tee **tee, struct error *err)
{
	struct tee *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	pthread_mutex_init(&made->lock, NULL);
	made->output = output;
	for (int i = 0; i < HARNESS_OUTPUT_STREAMS; i++) {
		struct tee_stream *stream = &made->streams[i];

		stream->tee = made;
		stream->number = i;
		stream->in = stream->end = stream->out = -1;
		/* Ours may be another for a moment, while a command is started. */
		stream->out = fcntl(to[i], F_DUPFD_CLOEXEC, 3);
		stream->is_discarded = stream->out < 0;
	}
	made->stop = eventfd(0, EFD_CLOEXEC);
	if (made->stop < 0) {
		error_set_errno(err, errno, "cannot read the command's output");
		goto fail;
	}
	for (int i = 0; i < HARNESS_OUTPUT_STREAMS; i++)
		if (!start_stream(&made->streams[i], err))
			goto fail;
	*tee = made;
	return true;
fail:
	tee_destroy(made);
	return false;
}

void tee_ends(const struct tee *tee, int ends[HARNESS_OUTPUT_STREAMS])
{
	for (int i = 0; i < HARNESS_OUTPUT_STREAMS; i++)
		ends[i] = tee->streams[i].end;
}

void tee_stop(struct tee *tee)
{
	if (tee->stop >= 0)
		eventfd_write(tee->stop, 1);
	for (int i = 0; i < HARNESS_OUTPUT_STREAMS; i++) {
		struct tee_stream *stream = &tee->streams[i];

		cleanup_close(&stream->end);
		stream->end = -1;
		if (stream->is_running)
			pthread_join(stream->thread, NULL);
		stream->is_running = false;
		cleanup_close(&stream->in);
		cleanup_close(&stream->out);
		stream->in = stream->out = -1;
	}
}

void tee_destroy(struct tee *tee)
{
	if (!tee)
		return;
	tee_stop(tee);
	cleanup_close(&tee->stop);
	pthread_mutex_destroy(&tee->lock);
	free(tee);
}
