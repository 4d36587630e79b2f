/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/protocol.h"

#include "tests/unit/support/bytes.h"
#include "tests/unit/support/unit_test.h"

static void put_text(struct bytes *bytes, const char *text)
{
	bytes_put64(bytes, strlen(text));
	bytes_put(bytes, text, strlen(text));
}

/* The payloads that pytest-codspeed 5.0.4 sent for one benchmark. */
static void test_real_payloads(void **state)
{
	static const uint8_t version[] = { 8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t mode[] = { 9, 0, 0, 0 }, start[] = { 1, 0, 0, 0 }, stop[] = { 2, 0, 0, 0 };
	static const uint8_t round_start[] = { 7, 0, 0, 0, 0x2c, 1, 0, 0, 2, 0, 0, 0, 0xd0, 0xcc, 0xb2, 0x2f, 0x2e, 1,
		0, 0 };
	static const uint8_t executed[] = "\0\0\0\0\x2c\1\0\0\x1b\0\0\0\0\0\0\0bench/test_b.py::test_fib\0\0";
	struct bytes integration = { 0 };
	struct protocol_message message;

	assert_true(protocol_decode(version, sizeof(version), &message));
	assert_int_equal(message.command, PROTOCOL_VERSION);
	assert_int_equal(message.value, 2);
	assert_true(protocol_decode(mode, sizeof(mode), &message));
	assert_int_equal(message.command, PROTOCOL_MODE);
	assert_true(protocol_decode(start, sizeof(start), &message));
	assert_int_equal(message.command, PROTOCOL_START);
	assert_true(protocol_decode(stop, sizeof(stop), &message));
	assert_int_equal(message.command, PROTOCOL_STOP);
	assert_true(protocol_decode(round_start, sizeof(round_start), &message));
	assert_int_equal(message.command, PROTOCOL_MARKER);
	assert_int_equal(message.marker, PROTOCOL_ROUND_START);
	assert_int_equal(message.pid, 300);
	assert_int_equal(message.value, 0x12e2fb2ccd0);
	bytes_put32(&integration, PROTOCOL_INTEGRATION);
	put_text(&integration, "pytest-codspeed");
	put_text(&integration, "5.0.4");
	assert_true(protocol_decode(integration.data, integration.size, &message));
	assert_int_equal(message.name.size, 15);
	assert_memory_equal(message.name.bytes, "pytest-codspeed", 15);
	assert_memory_equal(message.version.bytes, "5.0.4", 5);
	assert_true(protocol_decode(executed, 16 + 0x1b, &message));
	assert_int_equal(message.command, PROTOCOL_EXECUTED);
	assert_int_equal(message.pid, 300);
	assert_int_equal(message.name.size, 0x1b);
}

static void test_every_truncation_is_refused(void **state)
{
	struct protocol_message message;
	struct bytes bytes = { 0 };

	bytes_put32(&bytes, PROTOCOL_INTEGRATION);
	put_text(&bytes, "pytest-codspeed");
	put_text(&bytes, "5.0.4");
	for (size_t size = 0; size < bytes.size; size++)
		assert_false(protocol_decode(bytes.data, size, &message));
	/* A length that wraps around. */
	bytes = (struct bytes){ 0 };
	bytes_put32(&bytes, PROTOCOL_EXECUTED);
	bytes_put32(&bytes, 1);
	bytes_put64(&bytes, UINT64_MAX - 3);
	assert_false(protocol_decode(bytes.data, bytes.size, &message));
}

static void test_no_command_of_a_harness(void **state)
{
	struct protocol_message message;

	for (uint32_t command = 0; command < 64; command++) {
		struct bytes bytes = { 0 };
		bool is_known = command <= PROTOCOL_STOP || command == PROTOCOL_PING || command == PROTOCOL_MODE;

		bytes_put32(&bytes, command);
		assert_int_equal(
			protocol_decode(bytes.data, bytes.size, &message), is_known && command != PROTOCOL_EXECUTED);
	}
}

static void test_answers(void **state)
{
	static const uint8_t ack[] = { 4, 0, 0, 0, 3, 0, 0, 0 }, err[] = { 4, 0, 0, 0, 6, 0, 0, 0 };
	static const uint8_t mode[] = { 8, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0 };
	uint8_t bytes[PROTOCOL_ANSWER_BYTES];

	assert_int_equal(protocol_encode_answer(PROTOCOL_ACK, PROTOCOL_WALLTIME, bytes), sizeof(ack));
	assert_memory_equal(bytes, ack, sizeof(ack));
	assert_int_equal(protocol_encode_answer(PROTOCOL_ERR, PROTOCOL_WALLTIME, bytes), sizeof(err));
	assert_memory_equal(bytes, err, sizeof(err));
	assert_int_equal(protocol_encode_answer(PROTOCOL_MODE_IS, PROTOCOL_WALLTIME, bytes), sizeof(mode));
	assert_memory_equal(bytes, mode, sizeof(mode));
}

static void put_stream(struct protocol_stream *stream, const struct bytes *bytes, size_t from, size_t size)
{
	memcpy(stream->bytes + stream->size, bytes->data + from, size);
	stream->size += size;
}

static void test_frames_in_pieces(void **state)
{
	static struct protocol_stream stream;
	struct bytes bytes = { 0 };
	const uint8_t *payload;
	size_t size, frames = 0;

	for (uint32_t i = 0; i < 3; i++) {
		bytes_put32(&bytes, i * 5);
		for (uint32_t k = 0; k < i * 5; k++)
			bytes_put8(&bytes, (uint8_t)k);
	}
	for (size_t i = 0; i < bytes.size; i++) {
		put_stream(&stream, &bytes, i, 1);
		if (protocol_stream_next(&stream, &payload, &size) != PROTOCOL_FRAME_WHOLE)
			continue;
		assert_int_equal(size, frames++ * 5);
		protocol_stream_skip(&stream, size);
	}
	assert_int_equal(frames, 3);
	assert_int_equal(stream.size, 0);
}

static void test_a_frame_that_is_too_long(void **state)
{
	static struct protocol_stream stream;
	struct bytes bytes = { 0 };
	const uint8_t *payload;
	size_t size;

	bytes_put32(&bytes, PROTOCOL_MAX_FRAME_BYTES + 1);
	put_stream(&stream, &bytes, 0, bytes.size);
	assert_int_equal(protocol_stream_next(&stream, &payload, &size), PROTOCOL_FRAME_TOO_LONG);
	bytes = (struct bytes){ 0 };
	bytes_put32(&bytes, PROTOCOL_MAX_FRAME_BYTES);
	stream.size = 0;
	put_stream(&stream, &bytes, 0, bytes.size);
	assert_int_equal(protocol_stream_next(&stream, &payload, &size), PROTOCOL_FRAME_NONE);
	stream.size = sizeof(stream.bytes);
	assert_int_equal(protocol_stream_next(&stream, &payload, &size), PROTOCOL_FRAME_WHOLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_payloads),
		cmocka_unit_test(test_every_truncation_is_refused),
		cmocka_unit_test(test_no_command_of_a_harness),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_frames_in_pieces),
		cmocka_unit_test(test_a_frame_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
