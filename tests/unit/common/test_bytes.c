/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static void numbers_are_little_endian(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct byte_reader r = byte_reader_over(bytes, sizeof(bytes));

	assert_int_equal(byte_reader_u8(&r), 1);
	assert_int_equal(byte_reader_u16(&r), 0x0302);
	assert_int_equal(byte_reader_u32(&r), 0x07060504);
	assert_int_equal(byte_reader_u64(&r), 0x0f0e0d0c0b0a0908);
	assert_true(byte_reader_ok(&r));
	assert_int_equal(byte_reader_left(&r), 0);
	assert_int_equal(byte_reader_u8(&r), 0);
	assert_false(byte_reader_ok(&r));
}

static void a_failed_reader_moves_nothing(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	struct byte_reader r = byte_reader_over(bytes, sizeof(bytes));
	size_t size;

	assert_int_equal(byte_reader_u32(&r), 0);
	assert_int_equal(byte_reader_offset(&r), 0);
	assert_int_equal(byte_reader_u8(&r), 0);
	assert_null(byte_reader_bytes(&r, 1));
	assert_null(byte_reader_string(&r, &size));
	assert_int_equal(byte_reader_uleb128(&r), 0);
	assert_int_equal(byte_reader_sleb128(&r), 0);
	byte_reader_seek(&r, 0);
	byte_reader_skip(&r, 1);
	byte_reader_align(&r, 8);
	assert_int_equal(byte_reader_offset(&r), 0);
	assert_false(byte_reader_ok(&r));
}

static void an_empty_reader_answers(void **state)
{
	struct byte_reader r = byte_reader_over(NULL, 0);

	assert_non_null(byte_reader_bytes(&r, 0));
	byte_reader_seek(&r, 0);
	assert_true(byte_reader_ok(&r));
	byte_reader_seek(&r, 1);
	assert_false(byte_reader_ok(&r));
}

static void odd_sizes_are_refused(void **state)
{
	static const uint8_t bytes[16] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };

	for (size_t size = 0; size <= 16; size++) {
		struct byte_reader r = byte_reader_over(bytes, sizeof(bytes));
		uint64_t value = byte_reader_uint(&r, size);
		bool is_size = size == 1 || size == 2 || size == 4 || size == 8;

		assert_int_equal(byte_reader_ok(&r), is_size);
		if (is_size)
			assert_int_equal(value, 0x8877665544332211 & (UINT64_MAX >> (64 - 8 * size)));
	}
}

static void leb128_holds_64_bits_and_no_more(void **state)
{
	static const struct {
		uint8_t bytes[12];
		size_t size;
		bool ok;
		uint64_t value;
	} cases[] = {
		{ { 0 }, 1, true, 0 },
		{ { 0x7f }, 1, true, 127 },
		{ { 0x80, 1 }, 2, true, 128 },
		{ { 0xe5, 0x8e, 0x26 }, 3, true, 624485 },
		{ { 0x80, 0x80, 0 }, 3, true, 0 },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, 10, true, UINT64_MAX },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 }, 10, false, 0 },
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 }, 11, false, 0 },
		{ { 0x80 }, 1, false, 0 },
		{ { 0 }, 0, false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct byte_reader r = byte_reader_over(cases[i].bytes, cases[i].size);
		uint64_t value = byte_reader_uleb128(&r);

		assert_int_equal(byte_reader_ok(&r), cases[i].ok);
		assert_int_equal(value, cases[i].value);
		if (cases[i].ok)
			assert_int_equal(byte_reader_left(&r), 0);
	}
}

static void signed_leb128_keeps_its_sign(void **state)
{
	static const struct {
		uint8_t bytes[12];
		size_t size;
		int64_t value;
	} cases[] = {
		{ { 0x7f }, 1, -1 },
		{ { 0x3f }, 1, 63 },
		{ { 0x40 }, 1, -64 },
		{ { 0x80, 0x7f }, 2, -128 },
		{ { 0x9b, 0xf1, 0x59 }, 3, -624485 },
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f }, 10, INT64_MIN },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0 }, 10, INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct byte_reader r = byte_reader_over(cases[i].bytes, cases[i].size);

		assert_int_equal(byte_reader_sleb128(&r), cases[i].value);
		assert_true(byte_reader_ok(&r));
	}
}

static void numbers_come_back_as_they_were_written(void **state)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct byte_reader r;

	buffer_init(&out, 1 << 20);
	for (int shift = 0; shift < 64; shift++) {
		buffer_append_varint(&out, UINT64_MAX >> shift);
		buffer_append_zigzag(&out, INT64_MIN >> shift);
		buffer_append_zigzag(&out, INT64_MAX >> shift);
	}
	r = byte_reader_over(out.data, out.size);
	for (int shift = 0; shift < 64; shift++) {
		assert_int_equal(byte_reader_uleb128(&r), UINT64_MAX >> shift);
		assert_int_equal(byte_reader_zigzag(&r), INT64_MIN >> shift);
		assert_int_equal(byte_reader_zigzag(&r), INT64_MAX >> shift);
	}
	assert_true(byte_reader_ok(&r) && byte_reader_left(&r) == 0);
}

static void strings_need_their_nul(void **state)
{
	static const uint8_t bytes[] = { 'a', 'b', 0, 0, 'c' };
	struct byte_reader r = byte_reader_over(bytes, sizeof(bytes));
	size_t size;

	assert_string_equal(byte_reader_string(&r, &size), "ab");
	assert_int_equal(size, 2);
	assert_string_equal(byte_reader_string(&r, NULL), "");
	assert_null(byte_reader_string(&r, &size));
	assert_false(byte_reader_ok(&r));
}

static void parts_end_where_they_end(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6 };
	struct byte_reader r = byte_reader_over(bytes, sizeof(bytes)), part = byte_reader_split(&r, 2);

	assert_int_equal(byte_reader_u16(&part), 0x0201);
	byte_reader_u8(&part);
	assert_false(byte_reader_ok(&part));
	assert_true(byte_reader_ok(&r));
	assert_int_equal(byte_reader_u8(&r), 3);
	byte_reader_align(&r, 4);
	assert_int_equal(byte_reader_offset(&r), 4);
	byte_reader_align(&r, 8);
	assert_false(byte_reader_ok(&r));
	r = byte_reader_over(bytes, sizeof(bytes));
	part = byte_reader_split(&r, 7);
	assert_false(byte_reader_ok(&part));
	assert_false(byte_reader_ok(&r));
}

/* Random calls on random bytes never leave the bytes: the sanitizer watches an exact copy. */
static void no_call_reads_behind_the_end(void **state)
{
	srand(11);
	for (int round = 0; round < 3000; round++) {
		size_t size = (size_t)rand() % 24;
		uint8_t *bytes = malloc(size ? size : 1);
		struct byte_reader r;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)(rand() % 3 ? 0x80 | rand() : rand() % 4);
		r = byte_reader_over(bytes, size);
		for (int call = 0; call < 12; call++) {
			switch (rand() % 8) {
			case 0:
				byte_reader_uleb128(&r);
				break;
			case 1:
				byte_reader_sleb128(&r);
				break;
			case 2:
				byte_reader_string(&r, NULL);
				break;
			case 3:
				byte_reader_uint(&r, (size_t)rand() % 9);
				break;
			case 4:
				byte_reader_seek(&r, (size_t)rand() % 26);
				break;
			case 5:
				byte_reader_skip(&r, rand() % 9 ? (size_t)rand() % 5 : SIZE_MAX);
				break;
			case 6:
				byte_reader_align(&r, (size_t)1 << rand() % 5);
				break;
			default:
				byte_reader_split(&r, rand() % 9 ? (size_t)rand() % 5 : SIZE_MAX);
				break;
			}
			assert_true(r.pos >= r.start && r.pos <= r.end);
		}
		free(bytes);
	}
}

static void a_buffer_keeps_to_its_cap(void **state)
{
	struct error err = { 0 };
	struct buffer out;

	buffer_init(&out, 10);
	buffer_append_string(&out, "12345");
	buffer_printf(&out, "%s", "");
	buffer_append_string(&out, "67890");
	assert_true(buffer_ok(&out, &err));
	assert_int_equal(out.data[out.size], '\0');
	buffer_append_byte(&out, 'x');
	buffer_append_string(&out, "");
	assert_false(buffer_ok(&out, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	assert_string_equal(out.data, "1234567890");
	assert_null(buffer_reserve(&out, 1));
	buffer_deinit(&out);
	buffer_init(&out, SIZE_MAX);
	assert_null(buffer_reserve(&out, SIZE_MAX));
	assert_false(buffer_ok(&out, &err));
	buffer_deinit(&out);
}

struct counting_sink {
	struct buffer_sink sink;
	size_t taken, most;
};

static bool count_bytes(struct buffer_sink *sink, const void *bytes, size_t size)
{
	struct counting_sink *to = (struct counting_sink *)sink;

	to->taken += size;
	return to->taken <= to->most && memchr(bytes, 'x', size) == bytes;
}

/* What a sink has taken is no longer in memory, and counts for the cap; one that takes no more fails the buffer. */
static void a_buffer_passes_long_texts_on(void **state)
{
	static char line[1 << 16];
	struct counting_sink to = { { count_bytes }, 0, SIZE_MAX };
	struct buffer out;
	struct error err;

	memset(line, 'x', sizeof(line));
	buffer_init(&out, (size_t)10 << 20);
	out.sink = &to.sink;
	for (size_t i = 0; i < (size_t)9 << 4; i++) {
		buffer_append(&out, line, sizeof(line));
		buffer_pass_on(&out);
		assert_true(out.size <= (size_t)1 << 20);
		assert_int_equal(out.passed, to.taken);
	}
	assert_int_equal(out.passed + out.size, (size_t)9 << 20);
	assert_null(buffer_reserve(&out, (size_t)1 << 21));
	assert_false(buffer_ok(&out, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	assert_non_null(strstr(err.message, "10485760"));
	buffer_deinit(&out);
	to.most = 0;
	buffer_init(&out, SIZE_MAX);
	buffer_append(&out, line, sizeof(line));
	buffer_pass_on(&out);
	assert_true(buffer_ok(&out, &err));
	out.sink = &to.sink;
	for (size_t i = 0; i < 16; i++)
		buffer_append(&out, line, sizeof(line));
	buffer_pass_on(&out);
	assert_false(buffer_ok(&out, &err));
	buffer_deinit(&out);
}

static void a_buffer_prints_what_is_longer_than_it(void **state)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };

	buffer_init(&out, 1 << 20);
	for (int i = 0; i < 200; i++)
		buffer_printf(&out, "%d:%*d;", i, 100, i);
	assert_false(out.failed);
	assert_int_equal(out.size, strlen(out.data));
	assert_non_null(strstr(out.data, "199:"));
}

static void sums_that_do_not_fit_are_seen(void **state)
{
	uint64_t result = 77;

	assert_false(checked_add(UINT64_MAX, 1, &result));
	assert_false(checked_mul(UINT64_MAX / 2 + 1, 2, &result));
	assert_int_equal(result, 77);
	assert_true(checked_add(UINT64_MAX - 1, 1, &result) && result == UINT64_MAX);
	assert_true(checked_mul(3, 5, &result) && result == 15);
	assert_int_equal(saturating_add(INT64_MAX, 1), INT64_MAX);
	assert_int_equal(saturating_add(INT64_MIN, -1), INT64_MIN);
	assert_int_equal(saturating_add(5, -7), -2);
	assert_true(checked_range(0, 0, 0) && checked_range(4, 6, 10) && checked_range(10, 0, 10));
	assert_false(checked_range(4, 7, 10) || checked_range(11, 0, 10) || checked_range(UINT64_MAX, UINT64_MAX, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(a_failed_reader_moves_nothing),
		cmocka_unit_test(an_empty_reader_answers),
		cmocka_unit_test(odd_sizes_are_refused),
		cmocka_unit_test(leb128_holds_64_bits_and_no_more),
		cmocka_unit_test(signed_leb128_keeps_its_sign),
		cmocka_unit_test(numbers_come_back_as_they_were_written),
		cmocka_unit_test(strings_need_their_nul),
		cmocka_unit_test(parts_end_where_they_end),
		cmocka_unit_test(no_call_reads_behind_the_end),
		cmocka_unit_test(a_buffer_keeps_to_its_cap),
		cmocka_unit_test(a_buffer_passes_long_texts_on),
		cmocka_unit_test(a_buffer_prints_what_is_longer_than_it),
		cmocka_unit_test(sums_that_do_not_fit_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
