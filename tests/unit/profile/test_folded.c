/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct profile *read_text(const char *text)
{
	return read_profile(text, strlen(text));
}

/* Written again: sorted, equal stacks added up. */
static void expect_written(const char *text, const char *expected)
{
	struct profile *profile = read_text(text);
	struct buffer out;
	struct error err;

	buffer_init(&out, 1 << 20);
	if (!profile_write_folded(profile, &out, &err))
		fail_msg("%s", err.message);
	assert_string_equal(out.data, expected);
	buffer_deinit(&out);
	profile_destroy(profile);
}

static void stacks_are_read_and_written(void **state)
{
	(void)state;
	expect_written("main;work 3\n", "main;work 3\n");
	expect_written("b 1\na 2\n", "a 2\nb 1\n");
	expect_written("main;work 3\nmain;work 4\n", "main;work 7\n");
	expect_written("main;work 3", "main;work 3\n");
	expect_written("main;work 3\r\nmain 1\r\n", "main 1\nmain;work 3\n");
	expect_written("\n# a comment\nmain 1\n\n", "main 1\n");
	expect_written("server;void f(int, char const*);operator new 5\n", "server;void f(int, char const*);operator new 5\n");
	expect_written("main;work    3   \n", "main;work 3\n");
	expect_written("main;;work 1\n", "main;[unnamed];work 1\n");
	expect_written("main;syscall_[k];read_[k] 2\n", "main;syscall_[k];read_[k] 2\n");
	expect_written("main 9000000000000000000\n", "main 9000000000000000000\n");
	expect_written("main 0\n", "main 0\n");
}

static void kernel_frames_are_the_kernels(void **state)
{
	struct profile *profile = read_text("main;entry_[k] 1\n");
	const struct profile_location *leaf = &profile->locations[profile->stacks[profile->samples[0].stack].location];

	(void)state;
	assert_int_equal(profile->mappings[leaf->mapping].kind, PROFILE_MAPPING_KERNEL);
	assert_string_equal(profile_string(profile, profile->functions[profile->lines[leaf->first_line].function].name), "entry");
	profile_destroy(profile);
}

static void expect_refused(const char *text, const char *words)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	assert_false(profile_read(text, strlen(text), "x.folded", &profile, &err));
	assert_null(profile);
	assert_int_equal(err.code, ERROR_FORMAT);
	assert_non_null(strstr(err.message, "x.folded"));
	if (!strstr(err.message, words))
		fail_msg("'%s' does not say '%s'", err.message, words);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
	(void)state;
	expect_refused("main;work 3\nmain;work\n", "line 2");
	expect_refused("main;work 3\nmain;work x\n", "line 2");
	expect_refused("main;work 3\nmain 99999999999999999999\n", "line 2");
	expect_refused("main;work 3\nmain -4\n", "line 2");
	expect_refused("main;work 3\nmain 1.5\n", "line 2");
	expect_refused("main;work 3 5\n", "two counts");
	expect_refused("main 9000000000000000000\nwork 9000000000000000000\n", "do not fit");
}

static void a_line_of_too_many_frames_is_refused(void **state)
{
	enum { FRAMES = 70000 };
	char *text = malloc(2 * FRAMES + 8);

	(void)state;
	for (size_t i = 0; i < FRAMES; i++)
		memcpy(&text[2 * i], "a;", 2);
	memcpy(&text[2 * FRAMES], "a 1\n", 5);
	expect_refused(text, "more than 65,536 frames");
	free(text);
}

static void names_cannot_break_a_line(void **state)
{
	static const char *const names[] = { "comm;x", "a;b\nc" };
	struct profile *profile = sample_profile();
	struct buffer out;
	struct error err;
	size_t lines = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_true(profile_intern(
			profile, names[i], i ? &profile->functions[0].name : &profile->threads[0].process_name, &err));
	buffer_init(&out, 1 << 20);
	assert_true(profile_write_folded(profile, &out, &err));
	assert_non_null(strstr(out.data, "comm:x;a:b c;"));
	assert_non_null(strstr(out.data, "ns::inlined(int)_[i]"));
	assert_non_null(strstr(out.data, "do_syscall_64_[k]"));
	for (const char *c = out.data; *c; c++)
		lines += *c == '\n';
	assert_true(lines > 0 && lines <= profile->sample_count);
	profile_destroy(profile);
	/* And what was written is a profile of as many samples. */
	profile = read_profile(out.data, out.size);
	assert_int_equal(profile_sum(profile, 0), 9);
	profile_destroy(profile);
	buffer_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_read_and_written),
		cmocka_unit_test(kernel_frames_are_the_kernels),
		cmocka_unit_test(what_is_wrong_is_named_with_its_line),
		cmocka_unit_test(a_line_of_too_many_frames_is_refused),
		cmocka_unit_test(names_cannot_break_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
