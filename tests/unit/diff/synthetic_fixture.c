/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/profile.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 128, MAX_FRAME = 200 };

struct synthetic synthetic_create(void)
{
	struct synthetic synthetic = { .thread = PROFILE_NONE };
	struct error err;

	must(profile_create(&synthetic.profile, &err), &err);
	must(profile_add_value_type(synthetic.profile, "cpu", "nanoseconds", &err), &err);
	return synthetic;
}

void synthetic_run(struct synthetic *synthetic, bool whole_command, double duration_ms)
{
	struct profile_run run = { .duration_ns = (int64_t)(duration_ms * 1e6), .whole_command = whole_command };
	struct profile_thread thread = { .pid = 1, .tid = 1 };
	struct error err;

	must(profile_add_run(synthetic->profile, &run, &thread.run, &err), &err);
	must(profile_intern(synthetic->profile, "prog", &thread.name, &err), &err);
	thread.process_name = thread.name;
	must(profile_add_thread(synthetic->profile, &thread, &synthetic->thread, &err), &err);
}

/* What stands behind `mark` in the frame, cut off from it; NULL when there is none. */
static char *cut(char *frame, char mark)
{
	char *found = strchr(frame, mark);

	if (!found)
		return NULL;
	*found = '\0';
	return found + 1;
}

static uint32_t add_mapping(struct profile *profile, const char *module)
{
	bool kernel = strcmp(module, "kernel") == 0;
	struct profile_mapping mapping = {
		.start = 0x1000,
		.end = UINT64_C(1) << 40,
		.kind = kernel ? PROFILE_MAPPING_KERNEL : PROFILE_MAPPING_FILE,
	};
	char path[MAX_FRAME + 8];
	struct error err;
	uint32_t id;

	snprintf(path, sizeof(path), kernel ? "[%s]" : "/bin/%s", module);
	mapping.path = profile_id(profile, path);
	must(profile_add_mapping(profile, &mapping, &id, &err), &err);
	return id;
}

static bool is_of_the_system(const char *module)
{
	return strcmp(module, "kernel") == 0 || profile_language_interpreted_by("", module) != PROFILE_LANGUAGE_NATIVE;
}

static uint32_t add_function(struct profile *profile, char *frame, uint32_t *mapping)
{
	struct profile_function function = { .name_source = PROFILE_NAME_SYMTAB };
	char *linkage = cut(frame, '~'), *fingerprint = cut(frame, '#'), *module = cut(frame, '!');
	struct error err;
	uint32_t id;

	*mapping = add_mapping(profile, module ? module : "prog");
	function.name = profile_id(profile, frame);
	function.linkage_name = linkage ? profile_id(profile, linkage) : 0;
	function.module = profile->mappings[*mapping].module;
	function.fingerprint = fingerprint ? strtoull(fingerprint, NULL, 10) : 0;
	function.origin = !module                    ? PROFILE_ORIGIN_USER
			  : is_of_the_system(module) ? PROFILE_ORIGIN_SYSTEM
						     : PROFILE_ORIGIN_LIBRARY;
	must(profile_add_function(profile, &function, &id, &err), &err);
	return id;
}

/* Addresses come from names, so that profiles of one program agree on them. */
static uint64_t name_hash(const struct profile *profile, uint32_t function)
{
	const char *name = profile_string(profile, profile->functions[function].name);

	return hash_bytes(name, strlen(name));
}

uint32_t synthetic_stack(struct synthetic *synthetic, const char *frames)
{
	struct profile *profile = synthetic->profile;
	struct profile_line lines[MAX_FRAMES];
	uint32_t mappings[MAX_FRAMES], stack = 0, location;
	bool inlined[MAX_FRAMES + 1];
	char copy[MAX_FRAMES * 40], *at = copy, *frame;
	size_t count = 0;
	struct error err;

	assert_true(strlen(frames) < sizeof(copy));
	strcpy(copy, frames);
	while ((frame = strsep(&at, ";"))) {
		assert_true(count < MAX_FRAMES);
		inlined[count] = frame[0] == '^';
		lines[count] =
			(struct profile_line){ add_function(profile, frame + inlined[count], &mappings[count]), 0 };
		count++;
	}
	inlined[count] = false;
	for (size_t first = 0, end; first < count; first = end) {
		struct profile_line innermost_first[MAX_FRAMES];
		uint64_t address = 0;

		for (end = first + 1; inlined[end]; end++)
			;
		for (size_t i = first; i < end; i++) {
			innermost_first[end - 1 - i] = lines[i];
			address = address * 1000003 + name_hash(profile, lines[i].function);
		}
		must(profile_add_location(
			     profile, mappings[first], 0x1000 + address % (UINT64_C(1) << 39), &location, &err),
			&err);
		must(profile_set_lines(profile, location, innermost_first, end - first, &err), &err);
		must(profile_add_stack(profile, stack, location, &stack, &err), &err);
	}
	return stack;
}

/* Samples of CPU time: `wall`, where the profile has it, is the same. */
static void fill_values(const struct profile *profile, int64_t count, int64_t *values)
{
	memset(values, 0, PROFILE_MAX_VALUE_TYPES * sizeof(*values));
	values[0] = count;
	values[1] = count * SYNTHETIC_SAMPLE_NS;
	if (profile_has_waits(profile))
		values[profile_wait_values(profile).wall] = values[1];
}

void synthetic_add(struct synthetic *synthetic, uint32_t stack, int64_t count, double time_ms)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	struct error err;

	if (count == 0)
		return;
	fill_values(synthetic->profile, time_ms < 0 ? count : 1, values);
	if (time_ms < 0) {
		must(profile_add_sample(synthetic->profile, stack, synthetic->thread, values, -1, &err), &err);
		return;
	}
	for (int64_t i = 0; i < count; i++)
		must(profile_add_sample(
			     synthetic->profile, stack, synthetic->thread, values, (int64_t)(time_ms * 1e6), &err),
			&err);
}

struct profile *synthetic_finish(struct synthetic *synthetic)
{
	struct error err;

	must(profile_finish(synthetic->profile, &err), &err);
	return TAKE(synthetic->profile);
}

static void add_lines(struct synthetic *synthetic, const char *lines)
{
	while (*lines) {
		size_t size = strcspn(lines, "\n");
		char line[MAX_FRAMES * 40], *count;

		assert_true(size < sizeof(line));
		memcpy(line, lines, size);
		line[size] = '\0';
		lines += size + (lines[size] == '\n');
		count = strrchr(line, ' ');
		if (!count)
			continue;
		*count++ = '\0';
		synthetic_add(synthetic, synthetic_stack(synthetic, line), strtoll(count, NULL, 10), -1);
	}
}

struct profile *synthetic_profile(const char *lines)
{
	struct synthetic synthetic = synthetic_create();

	synthetic_run(&synthetic, false, 0);
	add_lines(&synthetic, lines);
	return synthetic_finish(&synthetic);
}

struct profile *synthetic_runs(const char *lines, size_t runs)
{
	struct synthetic synthetic = synthetic_create();

	for (size_t i = 0; i < runs; i++) {
		synthetic_run(&synthetic, true, 0);
		add_lines(&synthetic, lines);
	}
	return synthetic_finish(&synthetic);
}

struct diff *synthetic_diff(const struct profile *base, const struct profile *head, const struct diff_options *options)
{
	struct diff *diff = NULL;
	struct error err;

	must(diff_create(base, head, options, &diff, &err), &err);
	return diff;
}

struct profile *synthetic_changes(const struct synthetic_change changes[SYNTHETIC_MOST_CHANGES], enum diff_side side)
{
	struct synthetic s = synthetic_create();

	for (int run = 0; run < SYNTHETIC_CHANGE_RUNS; run++) {
		synthetic_run(&s, true, 0);
		for (size_t i = 0; i < SYNTHETIC_MOST_CHANGES && changes[i].frames; i++)
			synthetic_add(&s, synthetic_stack(&s, changes[i].frames),
				(side == DIFF_BASE ? changes[i].base : changes[i].head) * (100 + run) / 100, -1);
	}
	return synthetic_finish(&s);
}

struct diff *synthetic_compare(struct profile *base, struct profile *head, const struct diff_options *options)
{
	struct diff *diff = synthetic_diff(base, head, options);

	profile_destroy(base);
	profile_destroy(head);
	return diff;
}

void synthetic_assert_says(const struct diff *diff, const char *words)
{
	if (!strstr(diff_string(diff, diff->verdict_text), words))
		fail_msg("'%s' is not in '%s'", words, diff_string(diff, diff->verdict_text));
}

const struct diff_function *synthetic_function(const struct diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		if (strcmp(diff_string(diff, diff->functions[i].name), name) == 0)
			return &diff->functions[i];
	}
	fail_msg("no function %s", name);
	return NULL;
}
