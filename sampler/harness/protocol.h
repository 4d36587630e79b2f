/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The frames of the harness protocol: a length (u32) and a payload of that many bytes, which is an enum of Rust as
 * bincode 1 writes it: the number of the command (u32), then its fields; integers of fixed size, little-endian; strings
 * as their size (u64) and bytes. Source: CodSpeed's runner, crates/runner-shared/src/fifo.rs, protocol versions 1
 * and 2.
 */

enum protocol_command {
	PROTOCOL_EXECUTED = 0, /* pid, uri: of the window that ended last */
	PROTOCOL_START = 1,    /* a window begins */
	PROTOCOL_STOP = 2,
	PROTOCOL_ACK = 3, /* from the runner */
	PROTOCOL_PING = 4,
	PROTOCOL_INTEGRATION = 5, /* name, version of the harness */
	PROTOCOL_ERR = 6,         /* from the runner */
	PROTOCOL_MARKER = 7,      /* pid, marker, time */
	PROTOCOL_VERSION = 8,     /* of the protocol, as the harness speaks it */
	PROTOCOL_MODE = 9,        /* asks for the mode; answered with PROTOCOL_MODE_IS (version 2) */
	PROTOCOL_MODE_IS = 10,    /* from the runner */
	PROTOCOL_COMMANDS,
};

enum protocol_marker { PROTOCOL_SAMPLE_START, PROTOCOL_SAMPLE_END, PROTOCOL_ROUND_START, PROTOCOL_ROUND_END };
enum protocol_mode { PROTOCOL_WALLTIME, PROTOCOL_SIMULATION };
enum { PROTOCOL_OLDEST_VERSION = 1, PROTOCOL_VERSION_NOW = 2, PROTOCOL_MAX_FRAME_BYTES = 1 << 16 };

/* Bytes of a string in the frame: not terminated, and anything can be in them. */
struct protocol_text {
	const char *bytes;
	size_t size;
};

struct protocol_message {
	enum protocol_command command;
	int32_t pid;
	struct protocol_text name, version; /* `name`: also the URI */
	uint32_t marker;                    /* any number */
	uint64_t value;                     /* time of a marker, version of the protocol */
};

/* Reads a payload; strings are borrowed from it. False: it is no command of a harness. */
bool protocol_decode(const void *payload, size_t size, struct protocol_message *message);

enum { PROTOCOL_ANSWER_BYTES = 12 };

/* Writes an answer with its length: Ack, Err, or the mode. Returns its size. */
size_t protocol_encode_answer(
	enum protocol_command answer, enum protocol_mode mode, uint8_t bytes[PROTOCOL_ANSWER_BYTES]);

/* The stream of frames, as it comes in pieces. All zero: nothing has come. */
struct protocol_stream {
	uint8_t bytes[sizeof(uint32_t) + PROTOCOL_MAX_FRAME_BYTES];
	size_t size;
};

enum protocol_frame {
	PROTOCOL_FRAME_NONE, /* more bytes are needed */
	PROTOCOL_FRAME_WHOLE,
	PROTOCOL_FRAME_TOO_LONG, /* the stream is out of step and must be dropped */
};

/*
 * The first frame that is in the stream; `payload` is borrowed until the next call. protocol_stream_skip() removes it.
 */
enum protocol_frame protocol_stream_next(const struct protocol_stream *stream, const uint8_t **payload, size_t *size);
void protocol_stream_skip(struct protocol_stream *stream, size_t payload_size);
