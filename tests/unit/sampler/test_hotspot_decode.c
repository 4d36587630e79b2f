/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/decode.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { OLD = 17, NEW = 21 };

/* ---- Numbers ---- */

struct bytes {
	uint8_t data[4096];
	size_t size;
};

static void put(struct bytes *bytes, uint8_t byte)
{
	assert_true(bytes->size < sizeof(bytes->data));
	bytes->data[bytes->size++] = byte;
}

static void put_number(struct bytes *bytes, uint32_t value, int version)
{
	uint8_t excluded = version >= 20;
	uint32_t low = 192U - excluded;

	for (int i = 0; i < 4 && value >= low; i++) {
		put(bytes, (uint8_t)(192 + ((value - low) & 63)));
		value = (value - low) >> 6;
	}
	put(bytes, (uint8_t)(value + excluded));
}

static void test_numbers_come_back(void **state)
{
	static const uint32_t values[] = { 0, 1, 190, 191, 192, 193, 254, 255, 256, 12479, 12480, 1000000, 0x7fffffff,
		0xffffffff };

	for (int version = OLD; version <= NEW; version += NEW - OLD) {
		struct bytes bytes = { 0 };
		struct hotspot_stream stream;

		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			put_number(&bytes, values[i], version);
		stream = hotspot_stream_over(bytes.data, bytes.size, (uint64_t)version);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			assert_int_equal(hotspot_stream_unsigned(&stream), values[i]);
		assert_true(byte_reader_ok(&stream.reader));
		assert_int_equal(byte_reader_left(&stream.reader), 0);
		hotspot_stream_unsigned(&stream);
		assert_false(byte_reader_ok(&stream.reader));
	}
}

static void test_numbers_have_five_bytes_at_most(void **state)
{
	static const uint8_t high[] = { 255, 255, 255, 255, 255, 7 };
	struct hotspot_stream stream = hotspot_stream_over(high, sizeof(high), OLD);

	hotspot_stream_unsigned(&stream);
	assert_int_equal(hotspot_stream_unsigned(&stream), 7);
}

static void test_zero_is_no_number_since_20(void **state)
{
	static const uint8_t zero[] = { 0, 1 };
	struct hotspot_stream stream = hotspot_stream_over(zero, sizeof(zero), NEW);

	assert_int_equal(hotspot_stream_unsigned(&stream), 0);
	assert_false(byte_reader_ok(&stream.reader));
}

static void test_signs_are_in_the_lowest_bit(void **state)
{
	static const uint8_t numbers[] = { 0, 1, 2, 3, 4 };
	struct hotspot_stream stream = hotspot_stream_over(numbers, sizeof(numbers), OLD);

	assert_int_equal(hotspot_stream_signed(&stream), 0);
	assert_int_equal(hotspot_stream_signed(&stream), -1);
	assert_int_equal(hotspot_stream_signed(&stream), 1);
	assert_int_equal(hotspot_stream_signed(&stream), -2);
	assert_int_equal(hotspot_stream_signed(&stream), 2);
}

/* ---- Lines ---- */

static void put_signed(struct bytes *bytes, int32_t value, int version)
{
	put_number(bytes, (uint32_t)value << 1 ^ (uint32_t)(value >> 31), version);
}

/* Bytecode 0 is of line 40, 5 of 42, 300 of 41 and 310 of 48. */
static void put_lines(struct bytes *bytes, int version)
{
	put(bytes, 0xff);
	put_signed(bytes, 0, version);
	put_signed(bytes, 40, version);
	put(bytes, 5 << 3 | 2);
	put(bytes, 0xff);
	put_signed(bytes, 295, version);
	put_signed(bytes, -1, version);
	put(bytes, 10 << 3 | 7);
	put(bytes, 0);
}

static void test_lines_of_bytecodes(void **state)
{
	for (int version = OLD; version <= NEW; version += NEW - OLD) {
		struct bytes bytes = { 0 };
		struct hotspot_stream table;

		put_lines(&bytes, version);
		table = hotspot_stream_over(bytes.data, bytes.size, (uint64_t)version);
		assert_int_equal(hotspot_find_line(table, 0), 40);
		assert_int_equal(hotspot_find_line(table, 4), 40);
		assert_int_equal(hotspot_find_line(table, 5), 42);
		assert_int_equal(hotspot_find_line(table, 299), 42);
		assert_int_equal(hotspot_find_line(table, 300), 41);
		assert_int_equal(hotspot_find_line(table, 309), 41);
		assert_int_equal(hotspot_find_line(table, 65535), 48);
	}
}

static void test_lines_that_are_cut(void **state)
{
	struct bytes bytes = { 0 };

	put_lines(&bytes, OLD);
	for (size_t size = 0; size < bytes.size; size++) {
		uint32_t line = hotspot_find_line(hotspot_stream_over(bytes.data, size, OLD), 65535);

		assert_true(line == 0 || (line >= 40 && line <= 48));
	}
	assert_int_equal(hotspot_find_line(hotspot_stream_over(NULL, 0, NEW), 3), 0);
}

/* ---- Scopes ---- */

enum { DESC_BYTES = 16, OUTER = 0x1000, MIDDLE = 0x2000, INNER = 0x3000 };

static const uint64_t metadata[] = { OUTER, MIDDLE, INNER };

struct debug_bytes {
	struct bytes pcs, scopes;
};

static void put_desc(struct debug_bytes *made, int32_t pc_offset, int32_t decode_offset)
{
	const int32_t desc[DESC_BYTES / sizeof(int32_t)] = { pc_offset, decode_offset };

	memcpy(made->pcs.data + made->pcs.size, desc, sizeof(desc));
	made->pcs.size += sizeof(desc);
}

static int32_t put_scope(struct debug_bytes *made, int32_t sender, uint32_t method, int32_t bci, int version)
{
	int32_t offset = (int32_t)made->scopes.size;

	put_number(&made->scopes, (uint32_t)sender, version);
	put_number(&made->scopes, method, version);
	put_number(&made->scopes, (uint32_t)(bci + 1), version);
	return offset;
}

/* At 16 OUTER, at 32 INNER in MIDDLE in OUTER, at 48 nothing. */
static void put_debug(struct debug_bytes *made, int version)
{
	int32_t outer, middle, inner;

	*made = (struct debug_bytes){ 0 };
	put(&made->scopes, 0xff);
	outer = put_scope(made, 0, 1, 7, version);
	middle = put_scope(made, outer, 2, 300, version);
	inner = put_scope(made, middle, 3, -1, version);
	put_desc(made, -1, 0);
	put_desc(made, 16, outer);
	put_desc(made, 32, inner);
	put_desc(made, 48, 0);
	put_desc(made, INT32_MAX, 0);
}

static size_t count_scopes(const struct hotspot_debug *debug, uint64_t code_offset, struct hotspot_scopes *scopes)
{
	hotspot_find_scopes(debug, code_offset, scopes);
	return scopes->count;
}

static struct hotspot_debug debug_of(const struct debug_bytes *made, int version)
{
	return (struct hotspot_debug){ .pcs = made->pcs.data,
		.pcs_bytes = made->pcs.size,
		.pc_desc_bytes = DESC_BYTES,
		.decode_offset_at = 4,
		.scopes = hotspot_stream_over(made->scopes.data, made->scopes.size, (uint64_t)version),
		.metadata = metadata,
		.metadata_count = sizeof(metadata) / sizeof(metadata[0]) };
}

static void test_scopes_of_code(void **state)
{
	struct hotspot_scopes scopes;
	struct debug_bytes made;
	struct hotspot_debug debug;

	for (int version = OLD; version <= NEW; version += NEW - OLD) {
		put_debug(&made, version);
		debug = debug_of(&made, version);
		for (uint64_t offset = 0; offset <= 16; offset += 8) {
			assert_int_equal(count_scopes(&debug, offset, &scopes), 1);
			assert_int_equal(scopes.items[0].method, OUTER);
			assert_int_equal(scopes.items[0].bci, 7);
		}
		assert_int_equal(count_scopes(&debug, 17, &scopes), 3);
		assert_int_equal(scopes.items[0].method, INNER);
		assert_int_equal(scopes.items[0].bci, -1);
		assert_int_equal(scopes.items[1].method, MIDDLE);
		assert_int_equal(scopes.items[1].bci, 300);
		assert_int_equal(scopes.items[2].method, OUTER);
		assert_int_equal(count_scopes(&debug, 40, &scopes), 0);
		assert_int_equal(count_scopes(&debug, 49, &scopes), 0);
		assert_int_equal(count_scopes(&debug, UINT64_MAX, &scopes), 0);
	}
}

static void test_scopes_that_are_cut(void **state)
{
	struct hotspot_scopes scopes;
	struct debug_bytes made;
	struct hotspot_debug debug;

	put_debug(&made, NEW);
	debug = debug_of(&made, NEW);
	for (size_t size = 0; size < made.pcs.size; size++) {
		debug.pcs_bytes = size;
		count_scopes(&debug, 17, &scopes);
	}
	debug = debug_of(&made, NEW);
	for (size_t size = 0; size < made.scopes.size; size++) {
		debug.scopes = hotspot_stream_over(made.scopes.data, size, NEW);
		assert_int_equal(count_scopes(&debug, 17, &scopes), 0);
	}
	debug = debug_of(&made, NEW);
	debug.metadata_count = 2;
	assert_int_equal(count_scopes(&debug, 17, &scopes), 0);
	debug.pc_desc_bytes = 4;
	assert_int_equal(count_scopes(&debug, 17, &scopes), 0);
	debug.pc_desc_bytes = 0;
	assert_int_equal(count_scopes(&debug, 17, &scopes), 0);
}

static void test_scopes_in_a_circle(void **state)
{
	struct hotspot_scopes scopes;
	struct debug_bytes made = { 0 };
	struct hotspot_debug debug;

	put(&made.scopes, 0xff);
	put_scope(&made, 1, 1, 0, OLD); /* is its own caller */
	put_scope(&made, 7, 1, 0, OLD); /* calls the next one, which calls it */
	put_scope(&made, 4, 1, 0, OLD);
	put_desc(&made, -1, 0);
	put_desc(&made, 1, 1);
	put_desc(&made, 2, 4);
	put_desc(&made, 3, 1 << 20);
	put_desc(&made, 4, -1);
	put_desc(&made, INT32_MAX, 0);
	debug = debug_of(&made, OLD);
	for (uint64_t offset = 0; offset <= 5; offset++)
		assert_int_equal(count_scopes(&debug, offset, &scopes), 0);
}

/* ---- Names ---- */

static struct hotspot_text text_of(const char *text)
{
	return (struct hotspot_text){ text, strlen(text) };
}

static void expect_name(const char *class_name, const char *method, const char *signature, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 };
	bool is_name;

	buffer_init(&name, 4096);
	is_name = hotspot_append_name(&name, text_of(class_name), text_of(method), text_of(signature));
	assert_int_equal(is_name, expected != NULL);
	if (expected)
		assert_string_equal(name.data, expected);
}

static void test_names_as_in_perf_maps(void **state)
{
	expect_name("Hot", "inner", "(I)I", "int Hot.inner(int)");
	expect_name("com/example/Foo", "bar", "([Ljava/lang/String;[[IJ)V",
		"void com.example.Foo.bar(java.lang.String[], int[][], long)");
	expect_name("java/lang/Object", "<init>", "()V", "void java.lang.Object.<init>()");
	expect_name("A$B", "f", "(BCDFSZ)[Ljava/util/Map$Entry;",
		"java.util.Map$Entry[] A$B.f(byte, char, double, float, short, boolean)");
	expect_name("Hot$$Lambda$1+0x00007f42e8000c08", "f", "(J)J", "long Hot$$Lambda$1/0x00007f42e8000c08.f(long)");
	expect_name("a/B+0xnot", "f", "()I", "int a.B+0xnot.f()");
	expect_name("+0x", "f", "()I", "int +0x.f()");
}

static void test_signatures_that_are_none(void **state)
{
	static const char *const signatures[] = { "", "(", ")", "()", "I", "(I", "(L)V", "(Ljava/lang/String)V",
		"(Ljava;", "([)V", "()[", "()VV", "()L", "(Q)V", "(I)V;", "x(I)V", "[", "((I)V" };

	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
		expect_name("A", "f", signatures[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_come_back),
		cmocka_unit_test(test_numbers_have_five_bytes_at_most),
		cmocka_unit_test(test_zero_is_no_number_since_20),
		cmocka_unit_test(test_signs_are_in_the_lowest_bit),
		cmocka_unit_test(test_lines_of_bytecodes),
		cmocka_unit_test(test_lines_that_are_cut),
		cmocka_unit_test(test_scopes_of_code),
		cmocka_unit_test(test_scopes_that_are_cut),
		cmocka_unit_test(test_scopes_in_a_circle),
		cmocka_unit_test(test_names_as_in_perf_maps),
		cmocka_unit_test(test_signatures_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
