/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lined_fixture.h"

#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FRAMES = 8 };

static struct profile_line line_of(struct profile *profile, const char *text)
{
	char name[64], file[64], other[64];
	const char *at = strchr(text, '@'), *colon = strchr(at, ':');
	struct profile_function function = { .name_source = PROFILE_NAME_DWARF };
	struct profile_line line = { 0 };
	struct error err;
	char *defined;

	snprintf(name, sizeof(name), "%.*s", (int)(at - text), text);
	if ((defined = strchr(name, '='))) {
		function.start_line = (uint32_t)atoi(defined + 1);
		*defined = '\0';
	}
	if (strncmp(name, "py::", 4) == 0)
		snprintf(file, sizeof(file), "w.py");
	else
		snprintf(file, sizeof(file), "%.40s.c", name);
	if (colon) {
		snprintf(other, sizeof(other), "%.*s", (int)(colon - at - 1), at + 1);
		assert_true(profile_intern(profile, other, &line.file, &err));
	}
	line.line = (uint32_t)atoi((colon ? colon : at) + 1);
	assert_true(profile_intern(profile, name, &function.name, &err));
	assert_true(profile_intern(profile, file, &function.file, &err));
	function.origin = strncmp(name, "Py", 2) == 0 ? PROFILE_ORIGIN_SYSTEM : PROFILE_ORIGIN_USER;
	assert_true(profile_intern(
		profile, function.origin == PROFILE_ORIGIN_SYSTEM ? "python3.11" : "prog", &function.module, &err));
	assert_true(profile_add_function(profile, &function, &line.function, &err));
	return line;
}

uint32_t lined_location(struct profile *profile, const char *text)
{
	struct profile_line lines[MOST_FRAMES];
	char copy[256], *rest = copy;
	struct error err;
	size_t count = 0;
	uint32_t id;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *frame; (frame = strsep(&rest, "<"));)
		lines[count++] = line_of(profile, frame);
	assert_true(profile_add_location_of_lines(profile, PROFILE_NONE, lines, count, &id, &err));
	return id;
}

void lined_add(struct profile *profile, const char *stack, int64_t count)
{
	char copy[256], *rest = copy;
	struct error err;
	uint32_t id = 0;

	snprintf(copy, sizeof(copy), "%s", stack);
	for (char *frame; (frame = strsep(&rest, ";"));)
		assert_true(profile_add_stack(profile, id, lined_location(profile, frame), &id, &err));
	assert_true(profile_add_sample(profile, id, (uint32_t)profile->thread_count - 1,
		(int64_t[]){ count, count * LINED_SAMPLE_NS }, -1, &err));
}

void lined_run(struct profile *profile)
{
	struct profile_run run = { .duration_ns = 1, .whole_command = true, .exit_status = 0 };
	struct profile_thread thread = { .pid = 1, .tid = 1 };
	struct error err;
	uint32_t id;

	assert_true(profile_add_run(profile, &run, &thread.run, &err));
	assert_true(profile_add_thread(profile, &thread, &id, &err));
}

struct profile *lined_profile(void)
{
	struct profile *profile = NULL;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	lined_run(profile);
	return profile;
}
