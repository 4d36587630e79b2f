/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/server.h"

#include "sampler/harness/thread.h"
#include "sampler/harness/warmup.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

/* The time for which harnesses wait for an answer: what is older has nobody who waits for it. */
enum { PATIENCE_MS = 1000, KEPT_LATENCIES = 1 << 16, LAST_READS = 64 };
static const int64_t patience_ns = (int64_t)PATIENCE_MS * 1000000;

struct server {
	struct fifo_pair fifos; /* borrowed */
	enum protocol_mode mode;
	int stop; /* owned: an eventfd */
	pthread_t thread;
	bool is_running;
	struct session session;
	struct protocol_stream stream;
	int64_t answered_ns; /* the last one */
	uint64_t answers;
	int64_t most_ns;
	double latencies_ns[KEPT_LATENCIES]; /* of the last answers */
};

/* ---- The thread ---- */

/* An answer that nobody has taken belongs to a harness that is gone; the next one would take it for its own. */
static void drop_old_answers(struct server *server, int64_t now_ns)
{
	int unread = 0;

	if (now_ns - server->answered_ns > patience_ns && ioctl(server->fifos.answers, FIONREAD, &unread) == 0 &&
		unread > 0)
		fifo_drain(server->fifos.answers);
}

static void server_answer(struct server *server, enum protocol_command answer, int64_t arrived_ns)
{
	uint8_t bytes[PROTOCOL_ANSWER_BYTES];
	size_t size = protocol_encode_answer(answer, server->mode, bytes);
	int64_t took_ns;

	drop_old_answers(server, arrived_ns);
	if (write(server->fifos.answers, bytes, size) < 0 && errno == EAGAIN) {
		/* Full of answers that nobody takes. */
		fifo_drain(server->fifos.answers);
		if (write(server->fifos.answers, bytes, size) < 0)
			return;
	}
	server->answered_ns = clock_read_ns(CLOCK_MONOTONIC);
	took_ns = server->answered_ns - arrived_ns;
	server->latencies_ns[server->answers++ % KEPT_LATENCIES] = (double)took_ns;
	if (took_ns > server->most_ns)
		server->most_ns = took_ns;
}

static void server_refuse(struct server *server, int64_t now_ns)
{
	session_take_unknown(&server->session);
	server_answer(server, PROTOCOL_ERR, now_ns);
}

/* Harnesses wait for an answer before they go on, so what is in a stream that is out of step is all of it. */
static void drop_stream(struct server *server, int64_t now_ns)
{
	server->stream.size = 0;
	fifo_drain(server->fifos.commands);
	server_refuse(server, now_ns);
}

static void server_take_frames(struct server *server, int64_t now_ns)
{
	const uint8_t *payload;
	size_t size;

	for (;;) {
		struct protocol_message message;

		switch (protocol_stream_next(&server->stream, &payload, &size)) {
		case PROTOCOL_FRAME_NONE:
			return;
		case PROTOCOL_FRAME_TOO_LONG:
			drop_stream(server, now_ns);
			return;
		case PROTOCOL_FRAME_WHOLE:
			break;
		}
		if (protocol_decode(payload, size, &message))
			server_answer(server, session_take(&server->session, &message, now_ns), now_ns);
		else
			server_refuse(server, now_ns);
		protocol_stream_skip(&server->stream, size);
	}
}

/* False: nothing more is there. */
static bool read_commands(struct server *server)
{
	struct protocol_stream *stream = &server->stream;
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	ssize_t got = read(server->fifos.commands, stream->bytes + stream->size, sizeof(stream->bytes) - stream->size);

	if (got <= 0)
		return false;
	stream->size += (size_t)got;
	server_take_frames(server, now_ns);
	return true;
}

static void *server_serve(void *context)
{
	struct server *server = context;
	struct pollfd waits[] = { { server->fifos.commands, POLLIN, 0 }, { server->stop, POLLIN, 0 } };

	while (waits[1].revents == 0) {
		/* A frame whose harness was killed within it would swallow those of the next. */
		int ready = poll(waits, 2, server->stream.size > 0 ? PATIENCE_MS : -1);

		if (ready == 0)
			drop_stream(server, clock_read_ns(CLOCK_MONOTONIC));
		if (waits[0].revents)
			read_commands(server);
	}
	/* A process that the command left behind may go on for ever. */
	for (int i = 0; i < LAST_READS && read_commands(server); i++)
		;
	return NULL;
}

/* ---- Its owner ---- */

bool server_start(const struct fifo_pair *fifos, enum protocol_mode mode, struct server **server, struct error *err)
{
	struct server *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->fifos = *fifos;
	made->mode = mode;
	session_init(&made->session);
	made->stop = eventfd(0, EFD_CLOEXEC);
	if (made->stop < 0) {
		error_set_errno(err, errno, "cannot answer benchmark harnesses");
	} else if (thread_start(&made->thread, server_serve, made, err)) {
		made->is_running = true;
		*server = made;
		return true;
	}
	server_destroy(made);
	return false;
}

void server_stop(struct server *server)
{
	if (!server->is_running)
		return;
	eventfd_write(server->stop, 1);
	pthread_join(server->thread, NULL);
	server->is_running = false;
}

void server_destroy(struct server *server)
{
	if (!server)
		return;
	server_stop(server);
	session_deinit(&server->session);
	cleanup_close(&server->stop);
	free(server);
}

struct session *server_session(struct server *server)
{
	return &server->session;
}

uint64_t server_latency(struct server *server, double ack_us[2])
{
	size_t count = server->answers < KEPT_LATENCIES ? (size_t)server->answers : KEPT_LATENCIES;

	warmup_sort(server->latencies_ns, count);
	ack_us[0] = warmup_quantile(server->latencies_ns, count, 0.5) / 1e3;
	ack_us[1] = (double)server->most_ns / 1e3;
	return server->answers;
}
