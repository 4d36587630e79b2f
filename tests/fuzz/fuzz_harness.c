/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/iterations.h"
#include "sampler/harness/session.h"

#include <math.h>
#include <stdlib.h>

/*
 * What a benchmark harness says, and the results that it leaves: the first two bytes are the size of the frames, the
 * JSON follows them.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PIECE = 700 };

static void hear(struct session *session, struct protocol_stream *stream, int64_t *now_ns)
{
	const uint8_t *payload;
	size_t size;

	for (;;) {
		struct protocol_message message;
		uint8_t answer[PROTOCOL_ANSWER_BYTES];
		enum protocol_command command = PROTOCOL_ERR;

		switch (protocol_stream_next(stream, &payload, &size)) {
		case PROTOCOL_FRAME_NONE:
			return;
		case PROTOCOL_FRAME_TOO_LONG:
			session_take_unknown(session);
			stream->size = 0;
			return;
		case PROTOCOL_FRAME_WHOLE:
			break;
		}
		*now_ns += 1000;
		if (protocol_decode(payload, size, &message))
			command = session_take(session, &message, *now_ns);
		else
			session_take_unknown(session);
		if (command != PROTOCOL_ACK && command != PROTOCOL_ERR && command != PROTOCOL_MODE_IS)
			abort();
		if (protocol_encode_answer(command, PROTOCOL_WALLTIME, answer) > sizeof(answer))
			abort();
		protocol_stream_skip(stream, size);
	}
}

static void hear_all(struct session *session, const uint8_t *data, size_t size, int64_t *now_ns)
{
	struct protocol_stream *stream = calloc(1, sizeof(*stream));

	for (size_t at = 0; stream && at < size;) {
		size_t piece = size - at < MOST_PIECE ? size - at : MOST_PIECE;

		if (piece > sizeof(stream->bytes) - stream->size)
			piece = sizeof(stream->bytes) - stream->size;
		memcpy(stream->bytes + stream->size, data + at, piece);
		stream->size += piece;
		at += piece;
		hear(session, stream, now_ns);
	}
	free(stream);
}

static void check_window(const struct harness_window *window, int64_t free_from_ns)
{
	if (window->start_ns < free_from_ns || window->end_ns < window->start_ns ||
		window->warmup_rounds > window->round_count || !isfinite(window->measured.mean_ns) ||
		window->measured.rounds == 0)
		abort();
	for (size_t i = 0; i < window->round_count; i++) {
		const struct harness_round *round = &window->rounds[i];

		if (round->start_ns < (i > 0 ? window->rounds[i - 1].end_ns : window->start_ns) ||
			round->end_ns <= round->start_ns || round->end_ns > window->end_ns)
			abort();
	}
}

static void measure(struct harness_result *result, struct results *results)
{
	struct error err;

	for (size_t i = 0; i < result->window_count; i++) {
		struct harness_window *window = &result->windows[i];

		if (!iterations_measure(
			    window, window->uri ? results_take(results, window->uri, window->pid) : NULL, &err))
			abort();
		check_window(window, i > 0 ? result->windows[i - 1].end_ns : 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct harness_result result = { 0 };
	struct session session;
	struct results results;
	struct buffer notices;
	struct error err;
	int64_t now_ns = 1000;
	size_t frames;

	if (size < 2)
		return 0;
	frames = (size_t)data[0] | (size_t)data[1] << 8;
	frames = frames < size - 2 ? frames : size - 2;
	session_init(&session);
	results_init(&results);
	buffer_init(&notices, 1 << 14);
	hear_all(&session, data + 2, frames, &now_ns);
	(void)!results_add(&results, data + 2 + frames, size - 2 - frames, &err);
	(void)!results_add_environment(&results, data + 2 + frames, size - 2 - frames, &err);
	if (session_finish(&session, now_ns, &result, &notices, &err))
		measure(&result, &results);
	harness_result_deinit(&result);
	session_deinit(&session);
	results_deinit(&results);
	buffer_deinit(&notices);
	return 0;
}
