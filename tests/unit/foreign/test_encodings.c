/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"
#include "profile/foreign/foreign.h"
#include "tests/unit/profile/profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* READS | texts in UTF-16, and with a byte order mark | what PowerShell and editors of Windows write | any text above */

/* One text of each format, in plain ASCII, and what they all say. */
static const char *const texts[] = {
	"main;f 3\n",
	"version: 1\nevents: Time\nfn=main\n1 0\ncfn=f\ncalls=1 1\n1 3\nfn=f\n1 3\n",
	"main 7 1.000001: 3 cycles:\n\t1000 f (/x)\n\n",
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[{\"name\":\"main\"},"
	"{\"name\":\"f\"}]},\"profiles\":[{\"unit\":\"none\",\"samples\":[[0,1]],\"weights\":[3]}]}",
};

enum encoding { PLAIN, UTF8_MARK, UTF16_LITTLE, UTF16_BIG, ENCODINGS };

static void encode(const char *text, enum encoding encoding, struct buffer *out)
{
	static const char *const marks[ENCODINGS] = { "", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff" };

	buffer_append_string(out, marks[encoding]);
	for (; *text; text++) {
		if (encoding == UTF16_BIG)
			buffer_append_byte(out, 0);
		buffer_append_byte(out, (uint8_t)*text);
		if (encoding == UTF16_LITTLE)
			buffer_append_byte(out, 0);
	}
}

static void every_text_is_read_in_every_encoding(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (int encoding = 0; encoding < ENCODINGS; encoding++) {
			CLEANUP(buffer_deinit) struct buffer bytes, packed;
			CLEANUP(profile_cleanup) struct profile *profile = NULL, *inflated = NULL;
			struct error err;

			buffer_init(&bytes, 1 << 16);
			buffer_init(&packed, 1 << 16);
			encode(texts[i], (enum encoding)encoding, &bytes);
			profile = read_profile(bytes.data, bytes.size);
			expect_stacks(profile, profile->default_value_type, "main;f 3\n");
			assert_true(gzip_compress(bytes.data, bytes.size, &packed, &err));
			inflated = read_profile(packed.data, packed.size);
			expect_stacks(inflated, inflated->default_value_type, "main;f 3\n");
		}
	}
}

static void a_mark_is_no_part_of_a_name(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
				   "a;b 3\na;c 4\n";
	const struct text_source source = { text, strlen(text), NULL, NULL };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;

	(void)state;
	assert_int_equal(foreign_kind(text, strlen(text)), FOREIGN_FOLDED);
	assert_true(foreign_read_text(&source, "text", &profile, &err));
	expect_stacks(profile, 0, "a;b 3\na;c 4\n");
}

/* Characters beyond 16 bits are two units; half of one, NUL and an odd byte stand for no character. */
static void units_become_characters(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *folded;
	} cases[] = {
		{ "\xfe\xff\x00\xe9\xd8\x3d\xde\x00\x00 \x00"
		  "3",
			12, "\xc3\xa9\xf0\x9f\x98\x80 3\n" },
		{ "\xff\xfe\x3d\xd8 \x00"
		  "3\x00",
			8, "\xef\xbf\xbd 3\n" },
		{ "\xff\xfe\x00\xde \x00"
		  "3\x00",
			8, "\xef\xbf\xbd 3\n" },
		{ "\xff\xfe\x00\x00 \x00"
		  "3\x00",
			8, "\xef\xbf\xbd 3\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = read_profile(cases[i].bytes, cases[i].size);

		assert_int_equal(foreign_kind(cases[i].bytes, cases[i].size), FOREIGN_UTF16);
		expect_stacks(profile, 0, cases[i].folded);
	}
	expect_refused("\xff\xfe"
		       "a\0 \0"
		       "3",
		7, ERROR_FORMAT, "cannot read");
	expect_refused("\xff\xfe\xff\xfe", 4, ERROR_FORMAT, "it is empty");
	expect_refused("\xff\xfe", 2, ERROR_FORMAT, "it is empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_text_is_read_in_every_encoding),
		cmocka_unit_test(a_mark_is_no_part_of_a_name),
		cmocka_unit_test(units_become_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
