/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LINE = 4096 };

/* The key and the template of a function, as folded stacks name it. */
struct named {
	char key[MOST_LINE], template[MOST_LINE];
	bool is_numbered;
};

static void copy_text(const struct buffer *from, char *to)
{
	assert_false(from->failed);
	assert_true(from->size < MOST_LINE);
	memcpy(to, from->data ? from->data : "", from->size);
	to[from->size] = '\0';
}

static void name_function(const char *text, struct named *named)
{
	CLEANUP(buffer_deinit) struct buffer scratch = BUFFER_INIT(MOST_LINE);
	CLEANUP(buffer_deinit) struct buffer out = BUFFER_INIT(MOST_LINE);
	struct profile_frame_text parts =
		profile_frame_split((struct profile_frame_span){ text, strlen(text) }, &scratch);
	char name[MOST_LINE], file[MOST_LINE];

	snprintf(name, sizeof(name), "%.*s", (int)parts.name.size, parts.name.text);
	snprintf(file, sizeof(file), "%.*s", (int)parts.file.size, parts.file.text);
	out.size = 0;
	profile_demangle(name, &out);
	copy_text(&out, name);
	out.size = 0;
	profile_function_key(&(struct profile_key_source){ .name = name, .module = "m", .file = file }, &out);
	copy_text(&out, named->key);
	out.size = 0;
	named->is_numbered = profile_key_template(named->key, &out);
	copy_text(&out, named->template);
}

/* Calls `expect` for each pair of names of a file. */
static void read_pairs(const char *path, void (*expect)(const char *kind, const char *a, const char *b))
{
	FILE *file = fopen(path, "re");
	char line[MOST_LINE];
	size_t count = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		char *a, *b;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#')
			continue;
		a = strchr(line, '\t');
		b = a ? strchr(a + 1, '\t') : NULL;
		assert_non_null(b);
		*a++ = *b++ = '\0';
		expect(line, a, b);
		count++;
	}
	fclose(file);
	assert_true(count > 10);
}

static void expect_one(const char *kind, const char *a, const char *b)
{
	struct named left, right;

	name_function(a, &left);
	name_function(b, &right);
	if (strcmp(left.key, right.key) != 0 && strcmp(left.template, right.template) != 0)
		fail_msg("%s: %s and %s have the templates %s and %s", kind, a, b, left.template, right.template);
}

static void expect_two(const char *kind, const char *a, const char *b)
{
	struct named left, right;

	name_function(a, &left);
	name_function(b, &right);
	if (strcmp(left.key, right.key) == 0 || strcmp(left.template, right.template) == 0)
		fail_msg("%s: %s and %s have one template, %s", kind, a, b, left.template);
}

static void renumbered_functions_have_one_template(void **state)
{
	read_pairs(RENUMBERED_FILE, expect_one);
}

static void distinct_functions_have_two(void **state)
{
	read_pairs(DISTINCT_FILE, expect_two);
}

/* A template has no template of its own: what was left out stays out. */
static void only_numbers_that_count_are_told(void **state)
{
	static const struct {
		const char *name;
		bool is_numbered;
	} cases[] = {
		{ "main.run.func1", true },
		{ "com.acme.Svc.lambda$main$3", true },
		{ "run()::{lambda(int)#2}::operator()(int) const", true },
		{ "(anonymous) /app/p.js:10:3", false }, /* folded stacks tell the line of a sample */
		{ "JS:*(anonymous) /app/p.js:10:3", true },
		{ "app.core$eval$fn__8123.invoke", true },
		{ "sha256", false },
		{ "phase_2", false },
		{ "Svc$$EnhancerBySpringCGLIB$$8a1f3d2c.find", false },
		{ "JS:*parse /srv/releases/17/app.js:4:1", false },
		{ "parse(int)", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct named named;

		name_function(cases[i].name, &named);
		if (named.is_numbered != cases[i].is_numbered)
			fail_msg("%s is %snumbered", cases[i].name, named.is_numbered ? "" : "not ");
	}
}

/* Names are foreign bytes: any of them has a template, in a time that grows with its length. */
static void any_name_has_a_template(void **state)
{
	static const char *const pieces[] = { "(", "f(", "[", "x[", "<", "a/", "/", "{lambda(", "'lambda", "$_", ".v1",
		"::", "#", "1_", "a1", "__x_avx", "\xff", "`", " ", "std::basic_", ",std::allocator<",
		"[abi:", "/vendor/" };
	enum { LONG = 1 << 15 };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		CLEANUP(buffer_deinit) struct buffer name = BUFFER_INIT(SIZE_MAX / 2);
		CLEANUP(buffer_deinit) struct buffer key = BUFFER_INIT(SIZE_MAX / 2);
		CLEANUP(buffer_deinit) struct buffer template = BUFFER_INIT(SIZE_MAX / 2);

		while (name.size < LONG)
			buffer_append_string(&name, pieces[i]);
		profile_function_key(
			&(struct profile_key_source){ .name = name.data, .module = "m", .file = "" }, &key);
		profile_key_template(key.data, &template);
		assert_false(key.failed);
		assert_false(template.failed);
		assert_true(template.size <= 2 * key.size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(renumbered_functions_have_one_template),
		cmocka_unit_test(distinct_functions_have_two),
		cmocka_unit_test(only_numbers_that_count_are_told),
		cmocka_unit_test(any_name_has_a_template),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
