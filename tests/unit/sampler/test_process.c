/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_fork_copies_and_exec_forgets(void **state)
{
	struct fixture *fixture = *state;
	struct record fork = { .kind = RECORD_FORK, .pid = CHILD, .tid = CHILD, .fork = { PID, PID } };
	struct record exec = { .kind = RECORD_COMM, .pid = CHILD, .tid = CHILD, .comm = { true, "other" } };
	uint64_t generation;
	struct process *child;
	struct error err;

	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell_record(fixture, &fork);
	expect_path(fixture, CHILD, 0x1000, "/no/such/a");
	tell_mapping(fixture, CHILD, 0x5000, 0x6000, "/no/such/bb");
	expect_path(fixture, PID, 0x5000, NULL);
	assert_true(process_table_get(&fixture->table, CHILD, &child, &err));
	generation = child->generation;
	tell_record(fixture, &exec);
	expect_path(fixture, CHILD, 0x1000, NULL);
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	assert_true(process_table_get(&fixture->table, CHILD, &child, &err));
	assert_int_not_equal(child->generation, generation);
	assert_string_equal(child->name, "other");
}

/* Of the profile, of what a process has mapped at an address. */
static uint32_t mapping_at(struct fixture *fixture, int32_t pid, uint64_t address)
{
	const struct process_mapping *mapping;
	struct process *process;
	struct error err;

	assert_true(process_table_get(&fixture->table, pid, &process, &err));
	mapping = mappings_find(&process->mappings, address);
	assert_non_null(mapping);
	return process_table_locate(&fixture->table, mapping->place, address).mapping;
}

/* The code that a pid's programs make is each one's own: it has other names. */
static void test_made_code_is_a_programs(void **state)
{
	struct record fork = { .kind = RECORD_FORK, .pid = CHILD, .tid = CHILD, .fork = { PID, PID } };
	struct record exec = { .kind = RECORD_COMM, .pid = CHILD, .tid = CHILD, .comm = { true, "other" } };
	struct fixture *fixture = *state;
	uint32_t first, second;

	tell_mapping(fixture, PID, 0x1000, 0x2000, "//anon");
	tell_record(fixture, &fork);
	assert_int_equal(mapping_at(fixture, CHILD, 0x1000), mapping_at(fixture, PID, 0x1000));
	tell_mapping(fixture, CHILD, 0x5000, 0x6000, "//anon");
	first = mapping_at(fixture, CHILD, 0x5000);
	tell_mapping(fixture, CHILD, 0x7000, 0x8000, "//anon");
	assert_int_equal(mapping_at(fixture, CHILD, 0x7000), first);
	tell_record(fixture, &exec);
	tell_mapping(fixture, CHILD, 0x5000, 0x6000, "//anon");
	second = mapping_at(fixture, CHILD, 0x5000);
	assert_int_not_equal(second, first);
	tell_record(fixture, &fork);
	tell_mapping(fixture, CHILD, 0x5000, 0x6000, "//anon");
	assert_int_not_equal(mapping_at(fixture, CHILD, 0x5000), first);
	assert_int_not_equal(mapping_at(fixture, CHILD, 0x5000), second);
}

static bool is_probed(struct fixture *fixture, int32_t pid, uint64_t address)
{
	struct unwind_code code = { 0 };
	struct process_space space = { .table = &fixture->table };
	struct process *process;
	struct error err;

	assert_true(process_table_get(&fixture->table, pid, &process, &err));
	space.process = process;
	return process_space_find(&space, address, &code) && code.is_return_probe;
}

/* What the kernel maps for probes of functions is known by its name, as long as it is mapped. */
static void test_code_for_probes(void **state)
{
	struct fixture *fixture = *state;
	struct record exec = { .kind = RECORD_COMM, .pid = PID, .tid = PID, .comm = { true, "other" } };

	tell_mapping(fixture, PID, 0x4000, 0x5000, "//anon");
	assert_false(is_probed(fixture, PID, 0x4000));
	tell_mapping(fixture, PID, 0x9000, 0xa000, "[uprobes]");
	assert_true(is_probed(fixture, PID, 0x9000));
	assert_true(is_probed(fixture, PID, 0x9fff));
	assert_false(is_probed(fixture, PID, 0xa000));
	assert_false(is_probed(fixture, PID, 0x4000));
	tell_record(fixture, &exec);
	tell_mapping(fixture, PID, 0x9000, 0xa000, "//anon");
	assert_false(is_probed(fixture, PID, 0x9000));
}

/* The table of processes moves while it grows. */
static void test_many_children_have_their_parents_name(void **state)
{
	enum { CHILDREN = 20000 };
	struct fixture *fixture = *state;
	struct record comm = { .kind = RECORD_COMM, .pid = PID, .tid = PID, .comm = { false, "server" } };
	struct process *child;
	struct error err;

	tell_record(fixture, &comm);
	for (int32_t i = 0; i < CHILDREN; i++) {
		const struct record fork = { .kind = RECORD_FORK,
			.pid = CHILD - CHILDREN + i,
			.tid = CHILD - CHILDREN + i,
			.fork = { PID, PID } };

		tell_record(fixture, &fork);
	}
	for (int32_t i = 0; i < CHILDREN; i++) {
		assert_true(process_table_get(&fixture->table, CHILD - CHILDREN + i, &child, &err));
		assert_string_equal(child->name, "server");
	}
}

static void test_threads_take_their_creators_name(void **state)
{
	struct fixture *fixture = *state;
	struct record comm = { .kind = RECORD_COMM, .pid = PID, .tid = PID, .comm = { false, "server" } };
	struct record fork = { .kind = RECORD_FORK, .pid = PID, .tid = CHILD, .fork = { PID, PID } };
	struct record rename = { .kind = RECORD_COMM, .pid = PID, .tid = CHILD, .comm = { false, "worker" } };
	struct error err;
	uint32_t name;

	tell_record(fixture, &comm);
	tell_record(fixture, &fork);
	assert_true(process_table_thread_name(&fixture->table, PID, CHILD, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "server");
	tell_record(fixture, &rename);
	assert_true(process_table_thread_name(&fixture->table, PID, CHILD, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "worker");
	assert_true(process_table_thread_name(&fixture->table, PID, PID, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "server");
}

/* Of all the names that a program gives itself, those are kept that a sample has. */
static void test_names_take_no_memory(void **state)
{
	struct fixture *fixture = *state;
	uint32_t before = string_table_count(fixture->profile->strings), name;
	char text[PROC_COMM_BYTES];
	struct error err;

	for (int i = 0; i < 1000; i++) {
		const struct record record = { .kind = RECORD_COMM, .pid = PID, .tid = PID, .comm = { .name = text } };

		snprintf(text, sizeof(text), "name %d", i);
		tell_record(fixture, &record);
	}
	assert_int_equal(string_table_count(fixture->profile->strings), before);
	assert_true(process_table_thread_name(&fixture->table, PID, PID, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "name 999");
}

static void test_exit(void **state)
{
	struct fixture *fixture = *state;
	struct record thread_ends = { .kind = RECORD_EXIT, .pid = PID, .tid = CHILD };
	struct record process_ends = { .kind = RECORD_EXIT, .pid = PID, .tid = PID };
	struct process *process;
	struct error err;

	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell_record(fixture, &thread_ends);
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	assert_true(process->is_alive);
	tell_record(fixture, &process_ends);
	assert_false(process->is_alive);
}

/*
 * The kernel reports the end of a thread from which it takes its events, where it executes a program that is not to be
 * watched: before any code of that is mapped. Here it is this process, which lives.
 */
static void test_a_refused_program_is_no_end(void **state)
{
	struct fixture *fixture = *state;
	int32_t self = (int32_t)getpid();
	const struct record exec = { .kind = RECORD_COMM, .pid = self, .tid = self, .comm = { true, "passwd" } };
	const struct record end = { .kind = RECORD_EXIT, .pid = self, .tid = self, .time_ns = 77 };
	struct process *process;
	struct error err;

	tell_record(fixture, &exec);
	tell_record(fixture, &end);
	assert_true(process_table_get(&fixture->table, self, &process, &err));
	assert_int_equal(fixture->table.refusals, 1);
	assert_int_equal(process->refused_ns, 77);
	assert_true(process->is_alive);
	/* It executes another program, and ends. */
	tell_record(fixture, &exec);
	tell_mapping(fixture, self, 0x1000, 0x2000, "/no/such/a");
	tell_record(fixture, &end);
	assert_int_equal(fixture->table.refusals, 1);
	assert_true(process_table_get(&fixture->table, self, &process, &err));
	assert_int_equal(process->refused_ns, 0);
}

/* A program that ends at its begin was refused, for all that is known, and does not live. */
static void test_a_refused_program_may_be_over(void **state)
{
	struct fixture *fixture = *state;
	const struct record exec = { .kind = RECORD_COMM, .pid = CHILD, .tid = CHILD, .comm = { true, "passwd" } };
	const struct record fork = { .kind = RECORD_FORK,
		.pid = CHILD + 1,
		.tid = CHILD + 1,
		.fork = { .parent_pid = CHILD, .parent_tid = CHILD } };
	const struct record end = { .kind = RECORD_EXIT, .pid = CHILD, .tid = CHILD, .time_ns = 77 };
	const struct record childs_end = { .kind = RECORD_EXIT, .pid = CHILD + 1, .tid = CHILD + 1, .time_ns = 78 };
	struct process *process;
	struct error err;

	tell_record(fixture, &exec);
	tell_record(fixture, &fork);
	tell_record(fixture, &childs_end);
	assert_int_equal(fixture->table.refusals, 0);
	tell_record(fixture, &end);
	assert_int_equal(fixture->table.refusals, 1);
	assert_true(process_table_get(&fixture->table, CHILD, &process, &err));
	assert_false(process->is_alive);
}

/* Where records were lost since a program began, its mappings may have been among them. */
static void test_a_loss_is_no_refusal(void **state)
{
	struct fixture *fixture = *state;
	const struct record exec = { .kind = RECORD_COMM, .pid = CHILD, .tid = CHILD, .comm = { true, "work" } };
	const struct record end = { .kind = RECORD_EXIT, .pid = CHILD, .tid = CHILD, .time_ns = 77 };
	struct process *process;
	struct error err;

	fixture->table.losses++;
	tell_record(fixture, &exec);
	fixture->table.losses++;
	tell_record(fixture, &end);
	assert_int_equal(fixture->table.refusals, 0);
	assert_true(process_table_get(&fixture->table, CHILD, &process, &err));
	assert_int_equal(process->refused_ns, 0);
	assert_false(process->is_alive);
	/* What was lost before says nothing of it. */
	tell_record(fixture, &exec);
	tell_record(fixture, &end);
	assert_int_equal(fixture->table.refusals, 1);
}

/* A process that has ended has no memory, and its mappings take none. */
static void test_an_ended_process_has_no_mappings(void **state)
{
	struct fixture *fixture = *state;
	const struct record fork = {
		.kind = RECORD_FORK, .pid = CHILD, .tid = CHILD, .fork = { .parent_pid = PID, .parent_tid = PID }
	};
	const struct record end = { .kind = RECORD_EXIT, .pid = CHILD, .tid = CHILD };
	struct process *child;
	struct error err;

	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell_record(fixture, &fork);
	expect_path(fixture, CHILD, 0x1000, "/no/such/a");
	tell_record(fixture, &end);
	assert_true(process_table_get(&fixture->table, CHILD, &child, &err));
	assert_null(child->mappings.items);
	expect_path(fixture, PID, 0x1000, "/no/such/a");
}

/* Of the test itself: the real maps, the real image, the address that nm prints. */
static void test_own_process(void **state)
{
	struct fixture *fixture = *state;
	struct process_space space = { .table = &fixture->table };
	uint64_t address = (uint64_t)(uintptr_t)&test_own_process;
	const struct profile_mapping *mapping;
	struct process_location location;
	struct process *process;
	struct unwind_code code;
	struct error err;
	char exe[4096];
	ssize_t size = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	assert_true(size > 0);
	exe[size] = '\0';
	assert_true(process_table_get(&fixture->table, getpid(), &process, &err));
	space.process = process;
	assert_true(process_space_find(&space, address, &code));
	assert_non_null(code.table);
	assert_memory_equal(code.code.bytes + code.code.at, (const void *)(uintptr_t)address, 16);
	location = process_table_locate(&fixture->table, code.image, address);
	mapping = &fixture->profile->mappings[location.mapping];
	assert_string_equal(profile_string(fixture->profile, mapping->path), exe);
	assert_in_range(code.image_address, mapping->start, mapping->end - 1);
	assert_int_equal(location.address, code.image_address);
	/* Whoever asks leaves no trace. */
	assert_int_equal(fixture->profile->location_count, 0);
}

/* The test's process as it is known after a fork whose later records were lost: without mappings, with another name. */
static struct process *stale_process(struct fixture *fixture)
{
	struct record fork = { .kind = RECORD_FORK, .pid = getpid(), .tid = getpid(), .fork = { PID, PID } };
	struct record comm = { .kind = RECORD_COMM, .pid = getpid(), .tid = getpid(), .comm = { .name = "stale" } };
	struct process *process;
	struct error err;

	tell_record(fixture, &fork);
	tell_record(fixture, &comm);
	assert_true(process_table_get(&fixture->table, getpid(), &process, &err));
	assert_int_equal(process->mappings.count, 0);
	return process;
}

static void test_a_loss_is_healed_once(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t address = (uint64_t)(uintptr_t)&test_a_loss_is_healed_once;
	struct record exec = { .kind = RECORD_COMM, .pid = getpid(), .tid = getpid(), .comm = { true, "new" } };
	struct process *process = stale_process(fixture);
	uint64_t generation = process->generation, version = fixture->table.version;
	struct error err;
	uint32_t name;

	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	assert_int_equal(process->generation, generation);
	fixture->table.losses++;
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	assert_int_not_equal(process->generation, generation);
	assert_int_not_equal(fixture->table.version, version);
	assert_non_null(path_at(fixture, getpid(), address));
	assert_string_not_equal(process->name, "stale");
	assert_true(process_table_thread_name(&fixture->table, getpid(), getpid(), &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), process->name);
	/* What is unknown afterwards stays so until the next loss. */
	mappings_remove(&process->mappings, 0, UINT64_MAX);
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	expect_path(fixture, getpid(), address, NULL);
	/* What is read before the record of a new program is older than this program for the table. */
	fixture->table.losses++;
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	assert_non_null(path_at(fixture, getpid(), address));
	tell_record(fixture, &exec);
	expect_path(fixture, getpid(), address, NULL);
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	assert_non_null(path_at(fixture, getpid(), address));
	/* A process that began before the loss has a child like it. */
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	fixture->table.losses++;
	process = stale_process(fixture);
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	assert_non_null(path_at(fixture, getpid(), address));
}

/* Code in no mapping may have been moved there, of which no record tells and none was lost. */
static void test_missed_code_is_looked_for_later_and_later(void **state)
{
	static const uint64_t ms_ns = 1000000;
	static const uint64_t times_ms[] = { 1000, 1040, 1060, 1140, 1170 };
	static const bool expected[] = { true, false, true, false, true };
	struct fixture *fixture = *state;
	struct process *process = stale_process(fixture);
	struct error err;

	for (size_t i = 0; i < sizeof(times_ms) / sizeof(times_ms[0]); i++) {
		mappings_remove(&process->mappings, 0, UINT64_MAX);
		assert_int_equal(process_table_miss(&fixture->table, process, times_ms[i] * ms_ns), expected[i]);
		assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
		assert_int_equal(process->mappings.count > 0, expected[i]);
	}
}

static void test_a_loss_is_healed_at_its_users_cost(void **state)
{
	struct fixture *fixture = *state;
	struct process *process = stale_process(fixture);
	struct owner *owner;
	struct error err;
	uint32_t before;

	fixture->table.losses++;
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	owner = owners_at(&fixture->table.owners, process->owner);
	assert_non_null(owner);
	assert_true(process->maps_bytes > 0);
	before = owner->work_left;
	fixture->table.losses++;
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	assert_int_equal(before - owner->work_left, OWNER_WORK_READING + process->maps_bytes / OWNER_TEXT_PER_UNIT);
	/* Who has nothing left keeps what is known. */
	owner->work_left = OWNER_WORK_READING - 1;
	mappings_remove(&process->mappings, 0, UINT64_MAX);
	fixture->table.losses++;
	assert_true(process_table_heal(&fixture->table, process, getpid(), &err));
	assert_int_equal(process->mappings.count, 0);
	assert_int_equal(owner->work_left, OWNER_WORK_READING - 1);
}

static void test_of_a_process_that_is_gone_the_known_stays(void **state)
{
	struct record comm = { .kind = RECORD_COMM, .pid = PID, .tid = PID, .comm = { .name = "known" } };
	struct fixture *fixture = *state;
	struct process *process;
	struct error err;

	tell_record(fixture, &comm);
	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	fixture->table.losses++;
	assert_true(process_table_heal(&fixture->table, process, PID, &err));
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	assert_string_equal(process->name, "known");
}

/* The image in whose data the address is, at least with this word in its path; NULL: it is in none. */
static void expect_data(struct fixture *fixture, const void *data, const char *word)
{
	struct process_location location;
	struct process *process;
	struct error err;
	bool is_found;

	assert_true(process_table_get(&fixture->table, getpid(), &process, &err));
	is_found = process_table_find_data(&fixture->table, process, (uint64_t)(uintptr_t)data, &location);
	assert_int_equal(is_found, word != NULL);
	if (word && !strstr(profile_string(fixture->profile, fixture->profile->mappings[location.mapping].path), word))
		fail_msg("the data is not in %s", word);
}

static void test_data_is_found_by_its_image(void **state)
{
	static int zeroed, initialized = 1;
	struct fixture *fixture = *state;
	CLEANUP(cleanup_free) char *heap = malloc(1);
	int local;

	expect_data(fixture, &zeroed, "test_sampler_process");
	expect_data(fixture, &initialized, "test_sampler_process");
	expect_data(fixture, stdout, "libc");
	expect_data(fixture, heap, NULL);
	expect_data(fixture, &local, NULL);
	expect_data(fixture, (const void *)(uintptr_t)test_data_is_found_by_its_image, NULL);
	expect_data(fixture, NULL, NULL);
	expect_data(fixture, (const void *)UINTPTR_MAX, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(test_fork_copies_and_exec_forgets),
		PROCESS_TEST(test_made_code_is_a_programs),
		PROCESS_TEST(test_code_for_probes),
		PROCESS_TEST(test_many_children_have_their_parents_name),
		PROCESS_TEST(test_threads_take_their_creators_name),
		PROCESS_TEST(test_names_take_no_memory),
		PROCESS_TEST(test_exit),
		PROCESS_TEST(test_a_refused_program_is_no_end),
		PROCESS_TEST(test_a_refused_program_may_be_over),
		PROCESS_TEST(test_a_loss_is_no_refusal),
		PROCESS_TEST(test_an_ended_process_has_no_mappings),
		PROCESS_TEST(test_own_process),
		PROCESS_TEST(test_data_is_found_by_its_image),
		PROCESS_TEST(test_a_loss_is_healed_once),
		PROCESS_TEST(test_missed_code_is_looked_for_later_and_later),
		PROCESS_TEST(test_a_loss_is_healed_at_its_users_cost),
		PROCESS_TEST(test_of_a_process_that_is_gone_the_known_stays),
	};

	return cmocka_run_group_tests_name("sampler.process", tests, NULL, NULL);
}
