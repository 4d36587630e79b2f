/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/filter.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { OURS = 100, CHILD = 101, FOREIGN = 200, FOREIGN_CHILD = 201 };

static const struct record_layout layout = { .sample_type = RECORD_SAMPLE_TYPE };

struct sample_bytes {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
};

static struct sample_bytes sample_of(uint32_t pid)
{
	return (struct sample_bytes){ { .type = PERF_RECORD_SAMPLE, .size = sizeof(struct sample_bytes) }, 0x1000, pid,
		pid };
}

static bool wants(const struct filter *filter, uint32_t pid)
{
	struct sample_bytes bytes = sample_of(pid);

	return filter_wants(filter, &layout, &bytes, sizeof(bytes));
}

static bool take(struct filter *filter, const struct record *record)
{
	struct error err;
	bool wanted;

	assert_true(filter_take(filter, record, &wanted, &err));
	return wanted;
}

static struct record fork_of(int32_t parent, int32_t child)
{
	return (struct record){ .kind = RECORD_FORK, .pid = child, .tid = child, .fork = { parent, parent } };
}

static void start(struct filter *filter)
{
	struct error err;

	filter_init(filter);
	filter_activate(filter);
	assert_true(filter_add(filter, OURS, &err));
}

static void test_everything_belongs_to_an_inactive_one(void **state)
{
	struct record comm = { .kind = RECORD_COMM, .pid = FOREIGN, .tid = FOREIGN };
	struct filter filter;

	filter_init(&filter);
	assert_true(wants(&filter, FOREIGN));
	assert_true(take(&filter, &comm));
	filter_deinit(&filter);
}

static void test_only_the_target_is_taken(void **state)
{
	struct record ours = { .kind = RECORD_COMM, .pid = OURS }, foreign = { .kind = RECORD_MMAP, .pid = FOREIGN };
	struct record lost = { .kind = RECORD_LOST, .pid = FOREIGN };
	struct filter filter;

	start(&filter);
	assert_true(wants(&filter, OURS));
	assert_false(wants(&filter, FOREIGN));
	assert_true(take(&filter, &ours));
	assert_false(take(&filter, &foreign));
	assert_true(take(&filter, &lost));
	filter_deinit(&filter);
}

static void test_children_are_followed(void **state)
{
	struct record ours = fork_of(OURS, CHILD), foreign = fork_of(FOREIGN, FOREIGN_CHILD),
		      grandchild = fork_of(CHILD, CHILD + 1);
	struct record thread = {
		.kind = RECORD_FORK, .pid = FOREIGN, .tid = FOREIGN + 5, .fork = { FOREIGN, FOREIGN }
	};
	struct filter filter;

	start(&filter);
	assert_true(take(&filter, &ours));
	assert_true(take(&filter, &grandchild));
	assert_false(take(&filter, &foreign));
	assert_false(take(&filter, &thread));
	assert_true(wants(&filter, CHILD));
	assert_true(wants(&filter, CHILD + 1));
	assert_false(wants(&filter, FOREIGN_CHILD));
	filter_deinit(&filter);
}

static void test_a_pid_that_somebody_else_gets(void **state)
{
	struct record born = fork_of(OURS, CHILD), again = fork_of(FOREIGN, CHILD);
	struct filter filter;

	start(&filter);
	assert_true(take(&filter, &born));
	assert_false(take(&filter, &again));
	assert_false(wants(&filter, CHILD));
	assert_true(take(&filter, &born));
	assert_true(wants(&filter, CHILD));
	filter_deinit(&filter);
}

/* Between the command's begin and its program's it executes our code. */
static void test_a_command_belongs_to_the_target_from_its_program_on(void **state)
{
	struct record named = { .kind = RECORD_COMM, .pid = OURS, .tid = OURS };
	struct record begins = { .kind = RECORD_COMM, .pid = OURS, .tid = OURS, .comm = { .is_exec = true } };
	struct record other = { .kind = RECORD_COMM, .pid = FOREIGN, .tid = FOREIGN, .comm = { .is_exec = true } };
	struct filter filter;

	start(&filter);
	filter_await_program(&filter, OURS);
	assert_true(take(&filter, &named));
	assert_false(take(&filter, &other));
	assert_false(wants(&filter, OURS));
	assert_true(take(&filter, &begins));
	assert_true(wants(&filter, OURS));
	filter_deinit(&filter);
}

static void test_cut_and_other_records(void **state)
{
	struct perf_event_header comm = { .type = PERF_RECORD_COMM, .size = sizeof(struct sample_bytes) };
	struct sample_bytes bytes = sample_of(FOREIGN);
	struct filter filter;

	start(&filter);
	for (size_t size = 0; size < 20; size++)
		assert_true(filter_wants(&filter, &layout, &bytes, size));
	memcpy(&bytes, &comm, sizeof(comm));
	assert_true(filter_wants(&filter, &layout, &bytes, sizeof(bytes)));
	filter_deinit(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_belongs_to_an_inactive_one),
		cmocka_unit_test(test_only_the_target_is_taken),
		cmocka_unit_test(test_children_are_followed),
		cmocka_unit_test(test_a_pid_that_somebody_else_gets),
		cmocka_unit_test(test_a_command_belongs_to_the_target_from_its_program_on),
		cmocka_unit_test(test_cut_and_other_records),
	};

	return cmocka_run_group_tests_name("sampler.filter", tests, NULL, NULL);
}
