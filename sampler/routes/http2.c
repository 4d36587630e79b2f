/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/hpack.h"
#include "sampler/routes/reading.h"

#include <stdlib.h>

/* RFC 9113: frames (section 4.1) and their flags. gRPC's calls are requests of HTTP/2. */
enum {
	FRAME_DATA,
	FRAME_HEADERS,
	FRAME_PRIORITY,
	FRAME_RST_STREAM,
	FRAME_SETTINGS,
	FRAME_PUSH_PROMISE,
	FRAME_PING,
	FRAME_GOAWAY,
	FRAME_WINDOW_UPDATE,
	FRAME_CONTINUATION,
	FRAME_TYPES,

	FLAG_END_HEADERS = 0x4,
	FLAG_PADDED = 0x8,
	FLAG_PRIORITY = 0x20,
	HEADERS_FLAGS = 0x2d,
	PRIORITY_BYTES = 5,
	FRAME_HEADER_BYTES = 9,
	FRAME_MOST_BYTES = 1 << 20,
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct frame {
	uint32_t size, stream;
	uint8_t type, flags;
};

/*
 * Reads a frame's header. False: none has such bytes. Most types go with one stream, or with none, and half of them
 * have one size: bytes of something else are a frame in one of some 100,000 cases.
 */
static bool http2_read_frame(struct byte_reader *bytes, struct frame *frame)
{
	frame->size = read_be24(bytes);
	frame->type = byte_reader_u8(bytes);
	frame->flags = byte_reader_u8(bytes);
	frame->stream = read_be32(bytes);
	if (!byte_reader_ok(bytes) || frame->size > FRAME_MOST_BYTES || frame->type >= FRAME_TYPES)
		return false;
	switch (frame->type) {
	case FRAME_HEADERS:
		return frame->stream % 2 == 1 && frame->stream <= INT32_MAX && !(frame->flags & ~HEADERS_FLAGS) &&
		       frame->size > 0;
	case FRAME_DATA:
	case FRAME_CONTINUATION:
		return frame->stream % 2 == 1 && frame->stream <= INT32_MAX && !(frame->flags & ~HEADERS_FLAGS);
	case FRAME_PRIORITY:
		return frame->stream > 0 && frame->stream <= INT32_MAX && frame->size == PRIORITY_BYTES;
	case FRAME_RST_STREAM:
		return frame->stream > 0 && frame->stream <= INT32_MAX && frame->size == 4;
	case FRAME_SETTINGS:
		return frame->stream == 0 && frame->size % 6 == 0;
	case FRAME_PING:
		return frame->stream == 0 && frame->size == 8;
	case FRAME_WINDOW_UPDATE:
		return frame->size == 4 && frame->stream <= INT32_MAX;
	case FRAME_GOAWAY:
		return frame->stream == 0 && frame->size >= 8;
	}
	return false; /* clients push nothing */
}

/* Leaves of a payload what is the block of headers, as far as it is seen. */
static void strip_padding(const struct frame *frame, struct byte_reader *block, size_t missing)
{
	size_t padding = frame->flags & FLAG_PADDED ? byte_reader_u8(block) : 0;

	if (frame->flags & FLAG_PRIORITY)
		byte_reader_skip(block, PRIORITY_BYTES);
	padding = padding > missing ? padding - missing : 0;
	if (padding <= byte_reader_left(block))
		block->end -= padding;
	else
		block->failed = true;
}

static void add_request(struct routes_reading *reading, const struct hpack_request *request)
{
	if (request->place != PLACE_NONE)
		reading_add(reading, places_enter_verb(reading->routes, request->place,
					     request->method ? request->method : "{method}"));
	else if (request->method && strcmp(request->method, "CONNECT") == 0)
		reading_add_name(reading, "CONNECT");
	else
		reading_add_name(reading, "HTTP/2 (path not seen)");
}

static void http2_read_headers(
	struct routes_reading *reading, const struct frame *frame, struct byte_reader block, size_t missing)
{
	struct routes_connection *connection = reading->connection;
	struct hpack_request request = { .place = PLACE_NONE };

	if (frame->type == FRAME_HEADERS)
		strip_padding(frame, &block, missing);
	if (byte_reader_ok(&block))
		hpack_read_request(connection->headers, reading->routes, block,
			missing == 0 && frame->flags & FLAG_END_HEADERS, &request);
	else
		connection->headers->is_known = false;
	/* A stream that had headers before has trailers now. */
	if (frame->type == FRAME_HEADERS && frame->stream > connection->stream) {
		connection->stream = frame->stream;
		add_request(reading, &request);
	}
}

bool http2_read(struct routes_reading *reading)
{
	struct routes_connection *connection = reading->connection;
	struct text_cursor text = reading_text(reading);
	struct byte_reader payload;
	struct frame frame;
	size_t seen;

	if (text_take_literal(&text, preface)) {
		free(connection->headers);
		connection->headers = hpack_create(true);
		connection->stream = 0;
		reading_skip(reading, strlen(preface));
		return true;
	}
	if (!http2_read_frame(&reading->bytes, &frame))
		return false;
	/* The size of a body tells nothing of a connection whose beginning was not seen. */
	if (connection->protocol != ROUTES_HTTP2 && (frame.type == FRAME_DATA || frame.type == FRAME_CONTINUATION))
		return false;
	if (!connection->headers)
		connection->headers = hpack_create(false);
	seen = byte_reader_left(&reading->bytes);
	payload = byte_reader_over(reading->bytes.pos, frame.size < seen ? frame.size : seen);
	if (frame.type == FRAME_HEADERS || frame.type == FRAME_CONTINUATION)
		http2_read_headers(reading, &frame, payload, frame.size > seen ? frame.size - seen : 0);
	connection->rest = reading_skip(reading, frame.size);
	return true;
}

enum routes_outcome http2_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	struct frame frame;

	(void)connection;
	while (http2_read_frame(&bytes, &frame)) {
		size_t seen = byte_reader_left(&bytes);
		struct byte_reader payload = byte_reader_over(bytes.pos, frame.size < seen ? frame.size : seen);

		if (frame.type == FRAME_HEADERS) {
			strip_padding(&frame, &payload, frame.size > seen ? frame.size - seen : 0);
			return byte_reader_ok(&payload) ? hpack_read_status(payload) : ROUTES_ANSWER_UNKNOWN;
		}
		byte_reader_skip(&bytes, frame.size);
	}
	return ROUTES_ANSWER_UNKNOWN;
}
