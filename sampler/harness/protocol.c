/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/protocol.h"

static struct protocol_text protocol_read_text(struct byte_reader *reader)
{
	uint64_t size = byte_reader_u64(reader);
	struct protocol_text text = { .bytes = "", .size = 0 };
	const uint8_t *bytes;

	if (size > byte_reader_left(reader)) {
		reader->failed = true;
		return text;
	}
	bytes = byte_reader_bytes(reader, (size_t)size);
	if (bytes && size > 0)
		text = (struct protocol_text){ .bytes = (const char *)bytes, .size = (size_t)size };
	return text;
}

static bool protocol_read_fields(struct byte_reader *reader, struct protocol_message *message)
{
	switch (message->command) {
	case PROTOCOL_EXECUTED:
		message->pid = (int32_t)byte_reader_u32(reader);
		message->name = protocol_read_text(reader);
		return true;
	case PROTOCOL_INTEGRATION:
		message->name = protocol_read_text(reader);
		message->version = protocol_read_text(reader);
		return true;
	case PROTOCOL_MARKER:
		message->pid = (int32_t)byte_reader_u32(reader);
		message->marker = byte_reader_u32(reader);
		message->value = byte_reader_u64(reader);
		return true;
	case PROTOCOL_VERSION:
		message->value = byte_reader_u64(reader);
		return true;
	case PROTOCOL_START:
	case PROTOCOL_STOP:
	case PROTOCOL_PING:
	case PROTOCOL_MODE:
		return true;
	case PROTOCOL_ACK:
	case PROTOCOL_ERR:
	case PROTOCOL_MODE_IS:
	case PROTOCOL_COMMANDS:
		break;
	}
	return false;
}

bool protocol_decode(const void *payload, size_t size, struct protocol_message *message)
{
	struct byte_reader reader = byte_reader_over(payload, size);
	uint32_t command = byte_reader_u32(&reader);

	*message = (struct protocol_message){ .name.bytes = "", .version.bytes = "" };
	if (!byte_reader_ok(&reader) || command >= PROTOCOL_COMMANDS)
		return false;
	message->command = (enum protocol_command)command;
	return protocol_read_fields(&reader, message) && byte_reader_ok(&reader);
}

size_t protocol_encode_answer(
	enum protocol_command answer, enum protocol_mode mode, uint8_t bytes[PROTOCOL_ANSWER_BYTES])
{
	uint32_t words[PROTOCOL_ANSWER_BYTES / sizeof(uint32_t)] = { sizeof(uint32_t), answer, mode };
	size_t size = 2 * sizeof(uint32_t);

	if (answer == PROTOCOL_MODE_IS) {
		words[0] += sizeof(uint32_t);
		size += sizeof(uint32_t);
	}
	memcpy(bytes, words, size);
	return size;
}

enum protocol_frame protocol_stream_next(const struct protocol_stream *stream, const uint8_t **payload, size_t *size)
{
	struct byte_reader reader = byte_reader_over(stream->bytes, stream->size);
	uint32_t length = byte_reader_u32(&reader);

	if (!byte_reader_ok(&reader))
		return PROTOCOL_FRAME_NONE;
	if (length > PROTOCOL_MAX_FRAME_BYTES)
		return PROTOCOL_FRAME_TOO_LONG;
	*payload = byte_reader_bytes(&reader, length);
	*size = length;
	return *payload ? PROTOCOL_FRAME_WHOLE : PROTOCOL_FRAME_NONE;
}

void protocol_stream_skip(struct protocol_stream *stream, size_t payload_size)
{
	size_t frame = sizeof(uint32_t) + payload_size;

	memmove(stream->bytes, stream->bytes + frame, stream->size - frame);
	stream->size -= frame;
}
