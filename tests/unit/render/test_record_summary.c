/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/record_summary.h"

#include "tests/unit/support/profile.h"

#include <string.h>
#include <unistd.h>

/* What is said of a profile, as text in `printed`. */
static void print_summary(const struct profile *profile, char *printed, size_t size)
{
	const struct record_summary summary = { .profile = profile, .path = "o.pb.gz", .refusals.name = "" };
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(1 << 20);

	render_record_summary(&summary, &text);
	assert_false(text.failed);
	snprintf(printed, size, "%.*s", (int)text.size, (const char *)text.data);
}

/* Samples in a function, by its name. */
static void add_function(struct profile *profile, const char *name, int64_t count)
{
	struct profile_function function = { .name = profile_id(profile, name), .name_source = PROFILE_NAME_DWARF };
	struct profile_mapping mapping = { .end = 0x10000, .path = profile_id(profile, "/p") };
	struct profile_thread thread = { .pid = 1, .tid = 1 };
	const int64_t values[] = { count, count };
	uint32_t in, location, stack, who;
	struct profile_line line = { 0 };
	struct error err;

	assert_true(profile_add_mapping(profile, &mapping, &in, &err));
	assert_true(profile_add_function(profile, &function, &line.function, &err));
	assert_true(profile_add_location(profile, in, 0x1000 + profile->location_count, &location, &err));
	assert_true(profile_set_lines(profile, location, &line, 1, &err));
	assert_true(profile_add_stack(profile, 0, location, &stack, &err));
	assert_true(profile_add_thread(profile, &thread, &who, &err));
	assert_true(profile_add_sample(profile, stack, who, values, -1, &err));
	profile->quality.samples += (uint64_t)count;
}

static void assert_says(const char *printed, const char *words, bool is_expected)
{
	if ((strstr(printed, words) != NULL) != is_expected)
		fail_msg("'%s' in: %s", words, printed);
}

/* Each reason for which a stack is cut says what shows more of it, or that nothing does. */
static void test_cut_stacks_have_a_way_out_or_none(void **state)
{
	struct profile *profile;
	char printed[8192];
	struct error err;

	(void)state;
	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_true(profile_add_run(profile, &(struct profile_run){ .exit_status = -1 }, &(uint32_t){ 0 }, &err));
	add_function(profile, "main", 3);
	profile->quality.stops[PROFILE_STOP_ROOT] = 3;
	print_summary(profile, printed, sizeof(printed));
	assert_says(printed, "100.0 % whole stacks", true);
	assert_says(printed, "stack switch", false);
	assert_says(printed, "no mapping", false);
	assert_says(printed, "[unnamed]", false);
	add_function(profile, "[unnamed]", 1);
	profile->quality.stops[PROFILE_STOP_ROOT] = 2;
	profile->quality.stops[PROFILE_STOP_STACK_SWITCH] = profile->quality.stops[PROFILE_STOP_NO_MAPPING] = 1;
	print_summary(profile, printed, sizeof(printed));
	assert_says(printed, "25 % of the samples pass through inlined functions that are '[unnamed]'", true);
	assert_says(printed, "\nstack switch: ", true);
	assert_says(printed, "-g fp follows it there", true);
	assert_says(printed, "\nno mapping: ", true);
	assert_says(printed, "nothing shows more of these stacks", true);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_stacks_have_a_way_out_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
