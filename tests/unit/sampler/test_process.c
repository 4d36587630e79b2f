/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/process.h"

#include "sampler/process/reader.h"
#include "sampler/process/recorded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Pids that no process has: /proc tells nothing of them. */
enum { PID = 0x7ffffff0, CHILD = 0x7ffffff1 };

struct fixture {
	struct profile *profile;
	struct process_reader *reader;
	struct process_table table;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;

	assert_non_null(fixture);
	assert_true(profile_create(&fixture->profile, &err));
	assert_true(process_reader_create(&fixture->reader, &err));
	process_table_init(&fixture->table, fixture->profile, process_host_live(fixture->reader), NULL);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	process_table_deinit(&fixture->table);
	process_reader_destroy(fixture->reader);
	profile_destroy(fixture->profile);
	free(fixture);
	return 0;
}

static void map(struct fixture *fixture, int32_t pid, uint64_t start, uint64_t end, const char *path)
{
	struct record record = {
		.kind = RECORD_MMAP,
		.pid = pid,
		.tid = pid,
		.mmap = { .address = start,
			.size = end - start,
			.executable = true,
			.path = path,
			.inode = strlen(path) },
	};
	struct error err;

	assert_true(process_table_update(&fixture->table, &record, &err));
}

static void tell(struct fixture *fixture, const struct record *record)
{
	struct error err;

	assert_true(process_table_update(&fixture->table, record, &err));
}

static const char *path_at(struct fixture *fixture, int32_t pid, uint64_t address)
{
	struct process_space space = { .table = &fixture->table };
	struct process *process;
	struct unwind_code code;
	struct error err;

	assert_true(process_table_get(&fixture->table, pid, &process, &err));
	space.process = process;
	if (!process_space_find(&space, address, &code))
		return NULL;
	return profile_string(fixture->profile,
		fixture->profile->mappings[process_table_locate(&fixture->table, code.image, address).mapping].path);
}

static void expect_path(struct fixture *fixture, int32_t pid, uint64_t address, const char *path)
{
	const char *found = path_at(fixture, pid, address);

	if (!path) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, path);
}

static void test_bounds_are_half_open(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	expect_path(fixture, PID, 0xfff, NULL);
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	expect_path(fixture, PID, 0x1fff, "/no/such/a");
	expect_path(fixture, PID, 0x2000, NULL);
}

/* The kernel tells of new mappings only: they replace what they overlap. */
static void test_new_mapping_cuts_a_hole(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, PID, 0x1000, 0x9000, "/no/such/old");
	map(fixture, PID, 0x3000, 0x4000, "/no/such/newer");
	expect_path(fixture, PID, 0x2fff, "/no/such/old");
	expect_path(fixture, PID, 0x3000, "/no/such/newer");
	expect_path(fixture, PID, 0x4000, "/no/such/old");
	map(fixture, PID, 0x0, 0x10000, "/no/such/newest");
	expect_path(fixture, PID, 0x3000, "/no/such/newest");
	expect_path(fixture, PID, 0x8fff, "/no/such/newest");
}

static void test_overlap_at_either_end(void **state)
{
	struct fixture *fixture = *state;

	map(fixture, PID, 0x4000, 0x8000, "/no/such/b");
	map(fixture, PID, 0x2000, 0x5000, "/no/such/cc");
	map(fixture, PID, 0x7000, 0x9000, "/no/such/ddd");
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

	map(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	map(fixture, PID, 0x4000, 0x6000, "/no/such/b");
	map(fixture, PID, 0x6000, 0x7000, "/no/such/c");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	space.process = process;
	/* In any order: where none was found last is kept. */
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		for (size_t j = 0; j < sizeof(none) / sizeof(none[0]); j++) {
			assert_true(process_space_is_code(&space, code[i]));
			assert_false(process_space_is_code(&space, none[j]));
		}
}

static void test_fork_copies_and_exec_forgets(void **state)
{
	struct fixture *fixture = *state;
	struct record fork = { .kind = RECORD_FORK, .pid = CHILD, .tid = CHILD, .fork = { PID, PID } };
	struct record exec = { .kind = RECORD_COMM, .pid = CHILD, .tid = CHILD, .comm = { true, "other" } };
	uint64_t generation;
	struct process *child;
	struct error err;

	map(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell(fixture, &fork);
	expect_path(fixture, CHILD, 0x1000, "/no/such/a");
	map(fixture, CHILD, 0x5000, 0x6000, "/no/such/bb");
	expect_path(fixture, PID, 0x5000, NULL);
	assert_true(process_table_get(&fixture->table, CHILD, &child, &err));
	generation = child->generation;
	tell(fixture, &exec);
	expect_path(fixture, CHILD, 0x1000, NULL);
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	assert_true(process_table_get(&fixture->table, CHILD, &child, &err));
	assert_int_not_equal(child->generation, generation);
	assert_string_equal(child->name, "other");
}

/* The table of processes moves while it grows. */
static void test_many_children_have_their_parents_name(void **state)
{
	enum { CHILDREN = 20000 };
	struct fixture *fixture = *state;
	struct record comm = { .kind = RECORD_COMM, .pid = PID, .tid = PID, .comm = { false, "server" } };
	struct process *child;
	struct error err;

	tell(fixture, &comm);
	for (int32_t i = 0; i < CHILDREN; i++) {
		const struct record fork = { .kind = RECORD_FORK,
			.pid = CHILD - CHILDREN + i,
			.tid = CHILD - CHILDREN + i,
			.fork = { PID, PID } };

		tell(fixture, &fork);
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

	tell(fixture, &comm);
	tell(fixture, &fork);
	assert_true(process_table_thread_name(&fixture->table, PID, CHILD, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "server");
	tell(fixture, &rename);
	assert_true(process_table_thread_name(&fixture->table, PID, CHILD, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "worker");
	assert_true(process_table_thread_name(&fixture->table, PID, PID, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "server");
}

static void test_exit(void **state)
{
	struct fixture *fixture = *state;
	struct record thread_ends = { .kind = RECORD_EXIT, .pid = PID, .tid = CHILD };
	struct record process_ends = { .kind = RECORD_EXIT, .pid = PID, .tid = PID };
	struct process *process;
	struct error err;

	map(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell(fixture, &thread_ends);
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	assert_true(process->is_alive);
	tell(fixture, &process_ends);
	assert_false(process->is_alive);
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

	tell(fixture, &fork);
	tell(fixture, &comm);
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
	tell(fixture, &exec);
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

	tell(fixture, &comm);
	map(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	fixture->table.losses++;
	assert_true(process_table_heal(&fixture->table, process, PID, &err));
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	assert_string_equal(process->name, "known");
}

/* The ids of a recording are those of other processes now: of these nothing is asked, as they run here. */
static void test_processes_of_a_recording_are_not_asked(void **state)
{
	const uint64_t start = (uint64_t)(uintptr_t)test_processes_of_a_recording_are_not_asked & ~(uint64_t)0xfff;
	struct record record = { .kind = RECORD_EXIT, .pid = getpid(), .tid = getpid() };
	struct fixture recorded = { 0 };
	struct process_space space = { .table = &recorded.table };
	struct recorded_files files;
	struct machine_code code;
	struct process *process;
	struct error err;
	uint32_t name;

	(void)state;
	recorded_files_init(&files);
	files.kernel = (struct elf_build_id){ .size = 2, .bytes = { 0xab, 0xcd } };
	assert_true(profile_create(&recorded.profile, &err));
	process_table_init(&recorded.table, recorded.profile, recorded_files_host(&files), NULL);
	assert_true(process_table_get(&recorded.table, getpid(), &process, &err));
	assert_int_equal(process->mappings.count, 0);
	assert_true(process_table_thread_name(&recorded.table, getpid(), getpid(), &name, &err));
	assert_string_equal(profile_string(recorded.profile, name), "");
	map(&recorded, getpid(), start, start + 0x1000, "//anon");
	assert_string_equal(path_at(&recorded, getpid(), start), "//anon");
	space.process = process;
	assert_false(process_space_read(&space, start, sizeof(code), &code));
	process->has_threads = true;
	tell(&recorded, &record);
	assert_true(process_table_get(&recorded.table, getpid(), &process, &err));
	assert_false(process->is_alive);
	assert_true(process_table_kernel(&recorded.table, &name, &err));
	assert_string_equal(profile_string(recorded.profile, recorded.profile->mappings[name].build_id), "abcd");
	process_table_deinit(&recorded.table);
	profile_destroy(recorded.profile);
	recorded_files_deinit(&files);
}

/* perf.data tells the idle task's name under pid 0; here 0 is whoever has no pid in our namespace. */
static void test_pid_0_is_a_process_of_recordings_alone(void **state)
{
	const struct record record = { .kind = RECORD_COMM, .comm = { .name = "swapper" } };
	struct fixture *live = *state, recorded = { 0 };
	struct recorded_files files;
	struct error err;

	tell(live, &record);
	assert_int_equal(live->table.count, 0);
	recorded_files_init(&files);
	assert_true(profile_create(&recorded.profile, &err));
	process_table_init(&recorded.table, recorded.profile, recorded_files_host(&files), NULL);
	tell(&recorded, &record);
	assert_int_equal(recorded.table.count, 1);
	assert_string_equal(recorded.table.processes[0].name, "swapper");
	process_table_deinit(&recorded.table);
	profile_destroy(recorded.profile);
	recorded_files_deinit(&files);
}

/* Whoever owns the cache of perf may put anything there: a pipe into which nobody writes, a line without an end. */
static void test_copies_of_kernel_symbols_are_files(void **state)
{
	char folder[] = "/tmp/kelvin-test-kallsyms-XXXXXX", path[128];
	struct recorded_files files;
	struct recorded_kernel kernel;
	struct error err;
	FILE *file;

	(void)state;
	recorded_files_init(&files);
	files.kernel = (struct elf_build_id){ .size = 2, .bytes = { 0xab, 0xcd } };
	assert_non_null(mkdtemp(folder));
	files.cache_directory = folder;
	snprintf(path, sizeof(path), "%s/.build-id/ab/cd/kallsyms", folder);
	for (char *slash = path + strlen(folder); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_true(recorded_kernel_find(&files, NULL, 0x1000, "_text", &kernel, &err));
	alarm(0);
	assert_null(kernel.kallsyms);
	assert_int_equal(unlink(path), 0);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%5000s\nffffffff81000000 T _text\n", "x");
	fclose(file);
	assert_true(recorded_kernel_find(&files, NULL, 0x1000, "_text", &kernel, &err));
	assert_string_equal(kernel.kallsyms, path);
	assert_int_equal(kernel.moved, 0xffffffff81000000 - 0x1000);
	free(kernel.kallsyms);
	recorded_files_deinit(&files);
	unlink(path);
	for (char *slash = strrchr(path, '/'); strlen(path) > strlen("/tmp/"); slash = strrchr(path, '/')) {
		*slash = '\0';
		if (rmdir(path) != 0)
			break;
	}
}

/* Against one number for each page. */
static void test_mappings_are_what_was_added_last(void **state)
{
	enum { PAGES = 64, STEPS = 20000, PLACES = 3 };
	struct process_mappings mappings = { 0 };
	uint32_t expected[PAGES], random = 1;
	struct error err;

	(void)state;
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

	map(fixture, PID, 0x10000, 0x20000, "//anon");
	map(fixture, PID, 0x20000, 0x30000, "//anon");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	assert_int_equal(process->mappings.count, 1);
	generation = process->generation;
	map(fixture, PID, 0x18000, 0x28000, "//anon");
	assert_int_equal(process->mappings.count, 1);
	assert_int_equal(process->generation, generation);
	map(fixture, PID, 0x18000, 0x19000, "/no/such/a");
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
		tell(fixture, &record);
	}
	assert_true(process_table_get(table, getpid(), &process, &err));
	owner = owners_at(&table->owners, process->owner);
	assert_non_null(owner);
	assert_true(owner->left_out > 0);
	assert_int_equal(owner->records, STORM);
	owners_tell(&table->owners, false, &notices);
	assert_non_null(strstr(notices.data, " of their mappings are left out"));
	assert_true(process->mappings.count <= MAPPINGS_MOST);
	expect_path(fixture, getpid(), record.mmap.address, NULL);
	map(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	expect_path(fixture, PID, 0x1000, "/no/such/a");
	/* Nor does another process of the user. */
	map(fixture, getppid(), (uint64_t)1 << 46, ((uint64_t)1 << 46) + 0x1000, "/no/such/a");
	expect_path(fixture, getppid(), (uint64_t)1 << 46, "/no/such/a");
	/* A mapping that is left out replaces what was there all the same. */
	record = storm_mapping(0, second_ns);
	expect_path(fixture, getpid(), record.mmap.address, "//anon");
	record.mmap.path = "/no/such/other";
	record.mmap.inode = 77;
	tell(fixture, &record);
	expect_path(fixture, getpid(), record.mmap.address, NULL);
	/* In two seconds the user has earned enough for more. */
	record = storm_mapping(0, 3 * second_ns);
	tell(fixture, &record);
	expect_path(fixture, getpid(), record.mmap.address, "//anon");
}

/* Of all the names that a program gives itself, those are kept that a sample has. */
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

	map(fixture, PID, address, address + PAGE, "/no/such/a");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	space.process = process;
	assert_true(process_space_find(&space, address, &code));
	map(fixture, CHILD, address, address + PAGE, "/no/such/bb");
	map(fixture, CHILD, address, address + PAGE / 2, "//anon");
	assert_true(process_table_get(&fixture->table, PID, &process, &err));
	for (uint64_t i = 1; i < STORM; i++) {
		mappings_remove(&process->mappings, 0, UINT64_MAX);
		map(fixture, PID, PAGE * i, PAGE * i + PAGE, i % 3 ? "/no/such/ccc" : "/no/such/bb");
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

static void test_names_take_no_memory(void **state)
{
	struct fixture *fixture = *state;
	uint32_t before = string_table_count(fixture->profile->strings), name;
	char text[PROC_COMM_BYTES];
	struct error err;

	for (int i = 0; i < 1000; i++) {
		const struct record record = { .kind = RECORD_COMM, .pid = PID, .tid = PID, .comm = { .name = text } };

		snprintf(text, sizeof(text), "name %d", i);
		tell(fixture, &record);
	}
	assert_int_equal(string_table_count(fixture->profile->strings), before);
	assert_true(process_table_thread_name(&fixture->table, PID, PID, &name, &err));
	assert_string_equal(profile_string(fixture->profile, name), "name 999");
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

	map(fixture, PID, 0x1000, 0x2000, "/no/such/a");
	tell(fixture, &fork);
	expect_path(fixture, CHILD, 0x1000, "/no/such/a");
	tell(fixture, &end);
	assert_true(process_table_get(&fixture->table, CHILD, &child, &err));
	assert_null(child->mappings.items);
	expect_path(fixture, PID, 0x1000, "/no/such/a");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bounds_are_half_open),
		TEST(test_new_mapping_cuts_a_hole),
		TEST(test_overlap_at_either_end),
		TEST(test_what_is_code),
		cmocka_unit_test(test_mappings_are_what_was_added_last),
		TEST(test_mapping_the_same_again_changes_nothing),
		TEST(test_a_storm_costs_its_own_user),
		TEST(test_copies_of_kernel_symbols_are_files),
		TEST(test_places_are_used_again),
		TEST(test_walked_places_are_paid),
		TEST(test_names_take_no_memory),
		TEST(test_an_ended_process_has_no_mappings),
		TEST(test_fork_copies_and_exec_forgets),
		TEST(test_many_children_have_their_parents_name),
		TEST(test_threads_take_their_creators_name),
		TEST(test_exit),
		TEST(test_own_process),
		TEST(test_a_loss_is_healed_once),
		TEST(test_a_loss_is_healed_at_its_users_cost),
		TEST(test_of_a_process_that_is_gone_the_known_stays),
		TEST(test_processes_of_a_recording_are_not_asked),
		TEST(test_pid_0_is_a_process_of_recordings_alone),
	};

	return cmocka_run_group_tests_name("sampler.process", tests, NULL, NULL);
}
