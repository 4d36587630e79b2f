/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "render/format.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>

static void times_have_a_unit_that_fits(void **state)
{
	assert_string_equal(format_value(0, "nanoseconds").text, "0");
	assert_string_equal(format_value(999, "nanoseconds").text, "999 ns");
	assert_string_equal(format_value(1500, "nanoseconds").text, "1.50 µs");
	assert_string_equal(format_value(999.6e6, "nanoseconds").text, "1.00 s");
	assert_string_equal(format_value(412e6, "nanoseconds").text, "412 ms");
	assert_string_equal(format_precise(3.214, "nanoseconds").text, "3.21 ns");
	assert_string_equal(format_precise(0.0312, "nanoseconds").text, "0.03 ns");
	assert_string_equal(format_precise(999.6, "nanoseconds").text, "1.00 µs");
	assert_string_equal(format_precise(412e6, "nanoseconds").text, "412 ms");
	assert_string_equal(format_precise(412, "count").text, "412");
	assert_string_equal(format_precise(NAN, "nanoseconds").text, format_unknown);
	assert_string_equal(format_precise_delta(-0.4, "nanoseconds").text, "-0.40 ns");
	assert_string_equal(format_precise_delta(12.6, "nanoseconds").text, "+12.6 ns");
	assert_string_equal(format_value(1203e9, "nanoseconds").text, "1,203 s");
	assert_string_equal(format_value(1536, "bytes").text, "1.54 kB");
	assert_string_equal(format_value(9.45e6, "bytes").text, "9.45 MB");
	assert_string_equal(format_value(1234567, "count").text, "1,234,567");
	assert_string_equal(format_value(12500000, "1/1000000").text, "12.5");
	assert_string_equal(format_delta(-1.5e6, "nanoseconds").text, "-1.50 ms");
	assert_string_equal(format_delta(1.5e6, "nanoseconds").text, "+1.50 ms");
	assert_string_equal(format_delta(0, "nanoseconds").text, "0");
}

static void what_is_no_number_is_a_dash(void **state)
{
	assert_string_equal(format_value(NAN, "nanoseconds").text, format_unknown);
	assert_string_equal(format_delta(INFINITY, "count").text, format_unknown);
	assert_string_equal(format_percent(NAN).text, format_unknown);
	assert_string_equal(format_points(-INFINITY).text, format_unknown);
	assert_string_equal(format_interval(NAN, 1).text, "");
	assert_true(isnan(format_share(1, 0)));
}

static void percentages_keep_their_sign(void **state)
{
	assert_string_equal(format_percent(12.34).text, "12.3 %");
	assert_string_equal(format_percent(2.83).text, "2.8 %");
	assert_string_equal(format_percent(0.04).text, "0.04 %");
	assert_string_equal(format_percent(99.96).text, "100 %");
	assert_string_equal(format_signed_percent(1234.5).text, "+1,235 %");
	assert_string_equal(format_signed_percent(-3.1).text, "-3.1 %");
	assert_string_equal(format_change(100, 112.3).text, "+12.3 %");
	assert_string_equal(format_change(100, 0).text, "-100 %");
	assert_string_equal(format_change(100, 876).text, "8.76×");
	assert_string_equal(format_change(100, 123456).text, "1,235×");
	assert_string_equal(format_change(0, 5).text, format_unknown);
	assert_string_equal(format_points(1.024).text, "+1.02");
	assert_string_equal(format_points(-0.001).text, "0");
	assert_string_equal(format_interval(-0.43, 12.34).text, "-0.43 to 12.3");
	assert_string_equal(format_percent_interval(-0.43, 12.34).text, "-0.4 to 12.3 %");
	assert_string_equal(format_percent_interval(-0.001, 0.04).text, "0 to 0.04 %");
	assert_string_equal(format_percent_interval(-100, 123).text, "-100 to 123 %");
	assert_string_equal(format_percent_interval(NAN, 1).text, "");
}

static void nothing_shown_can_move_the_cursor(void **state)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };

	buffer_init(&out, 4096);
	unicode_append_clean(&out, "a\033[2J\x7f\xc2\x9b\xe2\x80\xae\xff\xed\xa0\x80\xf5z\xe2\x82");
	for (size_t i = 0; i < out.size; i++)
		assert_true((uint8_t)out.data[i] >= 0x20 && (uint8_t)out.data[i] != 0x7f);
	assert_null(strstr(out.data, "\xe2\x80\xae"));
	assert_null(strstr(out.data, "\xc2\x9b"));
	assert_non_null(strchr(out.data, 'z'));
}

static void code_points_survive(void **state)
{
	static const uint32_t codes[] = { 'a', 0xe9, 0x6f22, 0x1f4a9 };
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	const char *at;

	buffer_init(&out, 4096);
	for (size_t i = 0; i < 4; i++)
		unicode_append(&out, codes[i]);
	at = out.data;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(unicode_next(&at), codes[i]);
	assert_int_equal(unicode_next(&at), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_a_unit_that_fits),
		cmocka_unit_test(what_is_no_number_is_a_dash),
		cmocka_unit_test(percentages_keep_their_sign),
		cmocka_unit_test(nothing_shown_can_move_the_cursor),
		cmocka_unit_test(code_points_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
