/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/ask.h"
#include "profile/store/clickhouse/assemble.h"
#include "profile/store/clickhouse/clickhouse.h"
#include "profile/store/clickhouse/pairs.h"
#include "profile/store/clickhouse/parcel.h"
#include "profile/store/clickhouse/row.h"

#include "tests/unit/support/unit_test.h"

#include <math.h>

static struct byte_reader reader_of(const struct buffer *buffer)
{
	return byte_reader_over(buffer->data, buffer->size);
}

static void values_come_back(void **state)
{
	CLEANUP(buffer_deinit) struct buffer rows = { 0 };
	struct byte_reader reader;
	struct error err;

	buffer_init(&rows, 4096);
	row_append_u8(&rows, ROW_MARK);
	row_append_u8(&rows, 7);
	row_append_u16(&rows, 65535);
	row_append_u32(&rows, 1u << 31);
	row_append_u64(&rows, UINT64_MAX);
	row_append_f32(&rows, 1.5F);
	row_append_f64(&rows, -2.25);
	row_append_string(&rows, "a\tb");
	row_append_bytes(&rows, "\0\1", 2);
	row_append_count(&rows, 1);
	row_append_u8(&rows, 9);
	reader = reader_of(&rows);
	assert_true(row_next(&reader));
	assert_int_equal(row_u8(&reader), 7);
	assert_int_equal(row_u16(&reader), 65535);
	assert_int_equal(row_u32(&reader), 1u << 31);
	assert_true(row_u64(&reader) == UINT64_MAX);
	assert_true(row_f32(&reader) == 1.5F);
	assert_true(row_f64(&reader) == -2.25);
	assert_true(row_string_is(row_string(&reader), "a\tb"));
	assert_int_equal(row_bytes(&reader).size, 2);
	assert_int_equal(row_count(&reader), 1);
	assert_int_equal(row_u8(&reader), 9);
	assert_false(row_next(&reader));
	assert_true(row_end(&reader, &err));
}

static void a_number_that_is_none_is_refused(void **state)
{
	static const double values[] = { INFINITY, -INFINITY, NAN, 1e301 };

	for (size_t i = 0; i < 4; i++) {
		struct byte_reader reader = byte_reader_over(&values[i], sizeof(values[i]));

		assert_true(row_f64(&reader) == 0);
		assert_false(byte_reader_ok(&reader));
	}
}

static void a_string_with_nul_or_without_end_is_refused(void **state)
{
	static const char nul[] = { 3, 'a', 0, 'b' }, endless[] = "\xff\xff\xff\xff\x7f";
	struct byte_reader reader = byte_reader_over(nul, sizeof(nul));

	assert_int_equal(row_string(&reader).size, 0);
	assert_false(byte_reader_ok(&reader));
	reader = byte_reader_over(endless, sizeof(endless) - 1);
	assert_int_equal(row_string(&reader).size, 0);
	assert_false(byte_reader_ok(&reader));
	reader = byte_reader_over(endless, sizeof(endless) - 1);
	assert_int_equal(row_count(&reader), 0);
	assert_false(byte_reader_ok(&reader));
}

static void an_exception_behind_rows_is_the_error(void **state)
{
	static const char answer[] = "\xa5\7Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n";
	struct byte_reader reader = byte_reader_over(answer, sizeof(answer) - 1);
	struct error err = { 0 };

	assert_true(row_next(&reader));
	assert_int_equal(row_u8(&reader), 7);
	assert_false(row_next(&reader));
	assert_false(row_end(&reader, &err));
	assert_string_equal(
		err.message, "the server broke off its answer: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)");
	/* Also where it was taken for a part of a row. */
	reader = byte_reader_over(answer, sizeof(answer) - 1);
	byte_reader_skip(&reader, 60);
	assert_false(row_end(&reader, &err));
	assert_non_null(strstr(err.message, "Memory limit"));
}

static void texts_are_parameters(void **state)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };

	clickhouse_query_init(&query, "cannot");
	clickhouse_query_text(&query, "a'b\\ \t{p0:String}");
	clickhouse_query_text(&query, "");
	assert_string_equal(query.sql.data, "{p0:String}{p1:String}");
	assert_string_equal(query.parameters.data, "&param_p0=a%27b%5C%5C%20%5Ct%7Bp0%3AString%7D&param_p1=");
}

static void conditions_name_columns_or_labels(void **state)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	struct store_address address = { .filters = { { (char[]){ "service" }, (char[]){ "api" } },
						 { (char[]){ "x] = '' OR 1 --" }, (char[]){ "y" } },
						 { (char[]){ "metric" }, (char[]){ "cpu" } } },
		.filter_count = 3,
		.from_unix_ns = 1500000000 };

	clickhouse_query_init(&query, "cannot");
	clickhouse_query_profiles(&query, &address, "push");
	assert_string_equal(query.sql.data,
		"SELECT push FROM kelvin_profiles WHERE 1 AND start >= fromUnixTimestamp64Nano(toInt64(1500000000)) "
		"AND service = {p0:String} AND labels[{p1:String}] = {p2:String} ORDER BY push LIMIT 1 BY id");
}

static void some_exceptions_pass(void **state)
{
	assert_true(clickhouse_is_transient(252));
	assert_true(clickhouse_is_transient(999));
	assert_false(clickhouse_is_transient(CLICKHOUSE_ACCESS_DENIED));
	assert_false(clickhouse_is_transient(CLICKHOUSE_UNKNOWN_TABLE));
	assert_false(clickhouse_is_transient(0));
}

static void later_tables_are_refused(void **state)
{
	struct error err;

	assert_true(clickhouse_check_schema(CLICKHOUSE_SCHEMA, &err));
	assert_false(clickhouse_check_schema(CLICKHOUSE_SCHEMA + 1, &err));
	assert_int_equal(err.code, ERROR_UNSUPPORTED);
}

static void only_common_pairs_are_kept(void **state)
{
	CLEANUP(buffer_deinit) struct buffer rows = { 0 };
	struct byte_reader reader;
	struct pairs pairs;

	buffer_init(&rows, 4096);
	for (int i = 0; i < 2; i++) {
		row_append_count(&rows, 2);
		row_append_string(&rows, "host");
		row_append_string(&rows, i ? "b" : "a");
		row_append_string(&rows, "service");
		row_append_string(&rows, "api");
	}
	reader = reader_of(&rows);
	pairs_read_common(&reader, &pairs);
	assert_true(byte_reader_ok(&reader));
	assert_int_equal(pairs.count, 1);
	assert_true(row_string_is(pairs.keys[0], "service"));
}

static uint32_t line_of(struct profile *profile, const char *name)
{
	struct profile_function function = { 0 };
	struct error err;
	uint32_t id;

	assert_true(profile_intern(profile, name, &function.name, &err));
	assert_true(profile_add_function(profile, &function, &id, &err));
	return id;
}

static void hashes_become_stacks(void **state)
{
	struct assembly assembly;
	struct error err;
	const struct profile_run run = { .exit_status = -1 };
	const uint64_t frames[] = { 11, 12, 99 };
	const int64_t values[] = { 5 }, negative[] = { -1 };

	assert_true(assembly_init(&assembly, &err));
	assert_true(assembly_add_run(&assembly, 1, &run, &err));
	assert_false(assembly_add_run(&assembly, 1, &run, &err));
	for (uint64_t hash = 11; hash <= 12; hash++) {
		const struct profile_line line = { .function =
							   line_of(assembly.profile, hash == 11 ? "leaf" : "root") };

		assert_false(assembly_has_frame(&assembly, hash));
		assert_true(assembly_add_frame(&assembly, hash, PROFILE_NONE, &line, 1, &err));
	}
	/* Frame 99 is not there. */
	assert_true(assembly_add_stack(&assembly, 21, frames, 3, &err));
	assert_true(assembly_add_sample(&assembly, 1, 21, values, &err));
	assert_true(assembly_add_sample(&assembly, 1, 22, values, &err));
	assert_true(assembly_add_sample(&assembly, 2, 21, values, &err));
	assert_int_equal(assembly.missing, 2);
	assert_false(assembly_add_sample(&assembly, 1, 21, negative, &err));
	assert_int_equal(assembly.profile->sample_count, 1);
	assert_int_equal(assembly.profile->stack_count, 3);
	assert_int_equal(assembly.profile->values[0], 5);
	assembly_deinit(&assembly);
}

static void hashes_are_those_of_sql(void **state)
{
	/* SELECT reinterpretAsUInt64(MD5('main`api')) */
	assert_true(clickhouse_hash("main`api", 8) == 15233244902067043559U);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back),
		cmocka_unit_test(a_number_that_is_none_is_refused),
		cmocka_unit_test(a_string_with_nul_or_without_end_is_refused),
		cmocka_unit_test(an_exception_behind_rows_is_the_error),
		cmocka_unit_test(texts_are_parameters),
		cmocka_unit_test(conditions_name_columns_or_labels),
		cmocka_unit_test(some_exceptions_pass),
		cmocka_unit_test(later_tables_are_refused),
		cmocka_unit_test(only_common_pairs_are_kept),
		cmocka_unit_test(hashes_become_stacks),
		cmocka_unit_test(hashes_are_those_of_sql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
