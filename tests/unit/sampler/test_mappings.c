/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>
#include <unistd.h>

static void test_bounds_are_half_open(void **state)
{
	struct fixture *fixture = *state;

	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	expect_path(fixture, PID, 0xfff, NULL);
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	expect_path(fixture, PID, 0x1fff, "/no/such/a");
	expect_path(fixture, PID, 0x2000, NULL);
}

/* The kernel tells of new mappings only: they replace what they overlap. */
static void test_new_mapping_cuts_a_hole(void **state)
{
	struct fixture *fixture = *state;

	tell_mapping(fixture, PID, 0x1000, 0x9000, "/no/such/old");
	tell_mapping(fixture, PID, 0x3000, 0x4000, "/no/such/newer");
	expect_path(fixture, PID, 0x2fff, "/no/such/old");
	expect_path(fixture, PID, 0x3000, "/no/such/newer");
	expect_path(fixture, PID, 0x4000, "/no/such/old");
	tell_mapping(fixture, PID, 0x0, 0x10000, "/no/such/newest");
	expect_path(fixture, PID, 0x3000, "/no/such/newest");
	expect_path(fixture, PID, 0x8fff, "/no/such/newest");
}

static void test_overlap_at_either_end(void **state)
{
	struct fixture *fixture = *state;

	tell_mapping(fixture, PID, 0x4000, 0x8000, "/no/such/b");
	tell_mapping(fixture, PID, 0x2000, 0x5000, "/no/such/cc");
	tell_mapping(fixture, PID, 0x7000, 0x9000, "/no/such/ddd");
	expect_path(fixture, PID, 0x4fff, "/no/such/cc");
	expect_path(fixture, PID, 0x5000, "/no/such/b");
	expect_path(fixture, PID, 0x6fff, "/no/such/b");
	expect_path(fixture, PID, 0x7000, "/no/such/ddd");
}

static void test_what_is_code(void **state)
{
	static const uint64_t code[] = { 0x1000, 0x1fff, 0x4000, 0x5fff, 0x6000, 0x6fff };
	static const uint64_t none[] = { 0, 0xfff, 0x2000, 0x3fff, 0x2001, 0x7000, UINT64_MAX };
	struct fixture *fixture = *state;
	struct process_space space = { .table = &fixture->table };
	struct process *process;
	struct error err;

	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell_mapping(fixture, PID, 0x4000, 0x6000, "/no/such/b");
	tell_mapping(fixture, PID, 0x6000, 0x7000, "/no/such/c");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	space.process = process;
	/* In any order: where none was found last is kept. */
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		for (size_t j = 0; j < sizeof(none) / sizeof(none[0]); j++) {
			assert_true(process_space_is_code(&space, code[i]));
			assert_false(process_space_is_code(&space, none[j]));
		}
}

/* Against one number for each page. */
static void test_mappings_are_what_was_added_last(void **state)
{
	enum { PAGES = 64, STEPS = 20000, PLACES = 3 };
	struct process_mappings mappings = { 0 };
	uint32_t expected[PAGES], random = 1;
	struct error err;

	memset(expected, 0xff, sizeof(expected));
	for (int i = 0; i < STEPS; i++) {
		struct process_mapping mapping = { .covered_place = PROFILE_NONE };

		random = random * 1664525 + 1013904223;
		mapping.start = random >> 8 & (PAGES - 1);
		mapping.end = mapping.start + 1 + (random >> 16 & 7);
		mapping.end = mapping.end < PAGES ? mapping.end : PAGES;
		mapping.place = random >> 24 & PLACES;
		if (mapping.place == PLACES)
			mappings_remove(&mappings, mapping.start, mapping.end);
		else if (!mappings_have(&mappings, &mapping))
			assert_true(mappings_add(&mappings, &mapping, &err));
		for (uint64_t page = mapping.start; page < mapping.end; page++)
			expected[page] = mapping.place == PLACES ? PROFILE_NONE : mapping.place;
		for (uint64_t page = 0; page < PAGES; page++) {
			const struct process_mapping *found = mappings_find(&mappings, page);

			assert_int_equal(found ? found->place : PROFILE_NONE, expected[page]);
		}
		for (size_t at = 1; at < mappings.count; at++)
			assert_true(mappings.items[at - 1].end <= mappings.items[at].start);
	}
	mappings_deinit(&mappings);
}

/* A run-time compiler that changes the protection of its memory again and again. */
static void test_mapping_the_same_again_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct process *process;
	struct error err;
	uint64_t generation;

	tell_mapping(fixture, PID, 0x10000, 0x20000, "//anon");
	tell_mapping(fixture, PID, 0x20000, 0x30000, "//anon");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	assert_int_equal(process->mappings.count, 1);
	generation = process->generation;
	tell_mapping(fixture, PID, 0x18000, 0x28000, "//anon");
	assert_int_equal(process->mappings.count, 1);
	assert_int_equal(process->generation, generation);
	tell_mapping(fixture, PID, 0x18000, 0x19000, "/no/such/a");
	assert_int_equal(process->mappings.count, 3);
	assert_int_not_equal(process->generation, generation);
}

static struct record storm_mapping(uint64_t number, uint64_t time_ns)
{
	return (struct record){ .kind = RECORD_MMAP,
		.pid = getpid(),
		.tid = getpid(),
		.time_ns = time_ns,
		.mmap = { .address = ((uint64_t)1 << 46) + 0x2000 * number,
			.size = 0x1000,
			.executable = true,
			.path = "//anon" } };
}

/* The user of a process that maps more than he can pay for loses mappings; nobody else does. */
static void test_a_storm_costs_its_own_user(void **state)
{
	enum { STORM = OWNER_MOST_WORK + 1000 };
	const uint64_t second_ns = 1000000000;
	struct fixture *fixture = *state;
	struct process_table *table = &fixture->table;
	struct process *process;
	struct record record;
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };
	struct owner *owner;
	struct error err;

	buffer_init(&notices, 1 << 12);
	for (uint64_t i = 0; i < STORM; i++) {
		record = storm_mapping(i, second_ns);
		tell_record(fixture, &record);
	}
	assert_true(process_table_get(table, getpid(), &process, &err));
	owner = owners_at(&table->owners, process->owner);
	assert_non_null(owner);
	assert_true(owner->left_out > 0);
	assert_int_equal(owner->records, STORM);
	owners_describe(&table->owners, false, &notices);
	assert_non_null(strstr(notices.data, " of their mappings are left out"));
	assert_true(process->mappings.count <= MAPPINGS_MOST);
	expect_path(fixture, getpid(), record.mmap.address, NULL);
	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	/* Nor does another process of the user. */
	tell_mapping(fixture, getppid(), (uint64_t)1 << 46, ((uint64_t)1 << 46) + 0x1000, "/no/such/a");
	expect_path(fixture, getppid(), (uint64_t)1 << 46, "/no/such/a");
	/* A mapping that is left out replaces what was there all the same. */
	record = storm_mapping(0, second_ns);
	expect_path(fixture, getpid(), record.mmap.address, "//anon");
	record.mmap.path = "/no/such/other";
	record.mmap.inode = 77;
	tell_record(fixture, &record);
	expect_path(fixture, getpid(), record.mmap.address, NULL);
	/* In two seconds the user has earned enough for more. */
	record = storm_mapping(0, 3 * second_ns);
	tell_record(fixture, &record);
	expect_path(fixture, getpid(), record.mmap.address, "//anon");
}

/* Of a file that is mapped at another address each time, no process has the older places, but stacks may. */
static void test_places_are_used_again(void **state)
{
	enum { STORM = 200000, MOST_PLACES = 1 << 16, PAGE = 0x1000 };
	const uint64_t address = (uint64_t)1 << 46;
	struct fixture *fixture = *state;
	struct process_space space = { .table = &fixture->table };
	struct process *process;
	struct unwind_code code;
	struct error err;

	tell_mapping(fixture, PID, address, address + PAGE, "/no/such/a");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	space.process = process;
	assert_true(process_space_find(&space, address, &code));
	tell_mapping(fixture, CHILD, address, address + PAGE, "/no/such/bb");
	tell_mapping(fixture, CHILD, address, address + PAGE / 2, "//anon");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	for (uint64_t i = 1; i < STORM; i++) {
		mappings_remove(&process->mappings, 0, UINT64_MAX);
		tell_mapping(fixture, PID, PAGE * i, PAGE * i + PAGE, i % 3 ? "/no/such/ccc" : "/no/such/bb");
		assert_true(
			process_table_locate(&fixture->table, process->mappings.items[0].place, PAGE * i).address == 0);
	}
	assert_true(fixture->table.place_count <= MOST_PLACES);
	assert_int_equal(process_table_locate(&fixture->table, code.image, address).address, code.image_address);
	expect_path(fixture, CHILD, address + PAGE / 2, "/no/such/bb");
}

/* A place that was met in a stack is kept; who has met too many is told of no more. */
static void test_walked_places_are_paid(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t address = (uint64_t)(uintptr_t)&test_walked_places_are_paid;
	struct owner *owner;
	struct process *process;
	struct error err;

	assert_true(process_table_get(&fixture->table, getpid(), &process, &err));
	owner = owners_at(&fixture->table.owners, process->owner);
	assert_non_null(owner);
	owner->places = OWNER_MOST_PLACES;
	expect_path(fixture, getpid(), address, NULL);
	assert_int_equal(owner->left_out, 1);
	owner->places--;
	assert_non_null(path_at(fixture, getpid(), address));
	assert_non_null(path_at(fixture, getpid(), address));
	assert_int_equal(owner->places, OWNER_MOST_PLACES);
}

static void fork_child(struct fixture *fixture, int32_t pid)
{
	const struct record record = {
		.kind = RECORD_FORK, .pid = pid, .tid = pid, .fork = { .parent_pid = PID, .parent_tid = PID }
	};

	tell_record(fixture, &record);
}

static void end_process(struct fixture *fixture, int32_t pid)
{
	const struct record record = { .kind = RECORD_EXIT, .pid = pid, .tid = pid };

	tell_record(fixture, &record);
}

/* Whoever changes its mappings changes them for itself. */
static void test_forks_have_their_parents_mappings_until_they_change(void **state)
{
	struct fixture *fixture = *state;
	size_t parents;

	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell_mapping(fixture, PID, 0x4000, 0x6000, "/no/such/bb");
	parents = fixture->table.owners.kept;
	fork_child(fixture, CHILD);
	fork_child(fixture, CHILD + 1);
	assert_int_equal(fixture->table.owners.kept, parents);
	tell_mapping(fixture, CHILD, 0x5000, 0x6000, "/no/such/ccc");
	expect_path(fixture, PID, 0x5000, "/no/such/bb");
	expect_path(fixture, CHILD, 0x5000, "/no/such/ccc");
	expect_path(fixture, CHILD, 0x4000, "/no/such/bb");
	tell_mapping(fixture, PID, 0x1000, 0x2000, "/no/such/dddd");
	expect_path(fixture, CHILD, 0x1000, "/no/such/a");
	expect_path(fixture, CHILD + 1, 0x1000, "/no/such/a");
	expect_path(fixture, CHILD + 1, 0x5000, "/no/such/bb");
	end_process(fixture, CHILD);
	end_process(fixture, CHILD + 1);
	assert_int_equal(fixture->table.owners.kept, parents);
	expect_path(fixture, PID, 0x1000, "/no/such/dddd");
}

/*
 * A file of few bytes may tell of a process with many mappings that forks all the time, and of children that map
 * something each. What they have together is kept once, and what each changes is bounded.
 */
static void test_forks_cost_what_they_change(void **state)
{
	enum { MAPPINGS = 10000, FORKS = 3000, PAGE = 0x1000 };
	struct fixture *fixture = *state;
	struct buffer notices;

	for (uint64_t i = 0; i < MAPPINGS; i++)
		tell_mapping(fixture, PID, 2 * i * PAGE, 2 * i * PAGE + PAGE, i % 2 ? "/no/such/a" : "/no/such/bb");
	for (int32_t i = 0; i < FORKS / 2; i++)
		fork_child(fixture, 1000000 + i);
	assert_true(fixture->table.owners.kept < 2 * MAPPINGS);
	expect_path(fixture, 1000000 + FORKS / 2 - 1, 0, "/no/such/bb");
	for (int32_t i = FORKS / 2; i < FORKS; i++) {
		fork_child(fixture, 1000000 + i);
		tell_mapping(fixture, 1000000 + i, PAGE, 2 * PAGE, "/no/such/ccc");
	}
	assert_true(fixture->table.owners.kept < OWNER_MOST_KEPT_OF_NOBODY + 2 * MAPPINGS);
	assert_true(fixture->table.owners.left_out > 0);
	buffer_init(&notices, 4096);
	owners_describe(&fixture->table.owners, false, &notices);
	assert_non_null(strstr(notices.data, "left out"));
	buffer_deinit(&notices);
	expect_path(fixture, PID, 0, "/no/such/bb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(test_bounds_are_half_open),
		PROCESS_TEST(test_new_mapping_cuts_a_hole),
		PROCESS_TEST(test_overlap_at_either_end),
		PROCESS_TEST(test_what_is_code),
		cmocka_unit_test(test_mappings_are_what_was_added_last),
		PROCESS_TEST(test_mapping_the_same_again_changes_nothing),
		PROCESS_TEST(test_a_storm_costs_its_own_user),
		PROCESS_TEST(test_places_are_used_again),
		PROCESS_TEST(test_walked_places_are_paid),
		PROCESS_TEST(test_forks_have_their_parents_mappings_until_they_change),
		PROCESS_TEST(test_forks_cost_what_they_change),
	};

	return cmocka_run_group_tests_name("sampler.mappings", tests, NULL, NULL);
}
