/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of perf maps, as files in memory that a host hands out. */
#include "sampler/process/jit_growth.h"

#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { USER = 1000, OTHER_USER = 1001, PIDS_OF_ACCOUNT = 10000 };

/* Perf maps are of this file, if it is there. */
struct host {
	int file; /* owned; -1: no process writes one */
	unsigned int searches;
};

struct growing {
	struct host host;
	struct profile *profile;
	struct process_table table;
};

static int watch_map(void *context, const struct jit_place *place)
{
	struct host *host = context;

	(void)place;
	host->searches++;
	return host->file >= 0 ? fcntl(host->file, F_DUPFD_CLOEXEC, 0) : -1;
}

static bool find_account(int32_t pid, uint64_t *account)
{
	*account = (uint64_t)pid / PIDS_OF_ACCOUNT;
	return true;
}

static void identify_nobody(int32_t pid, struct profile_process *process)
{
	(void)pid;
	(void)process;
}

static bool read_nothing(struct process_table *table, struct process *process, struct error *err)
{
	(void)table;
	(void)process;
	(void)err;
	return true;
}

static int setup(void **state)
{
	static const struct process_host_functions functions = { .watch_jit_map = watch_map,
		.account_of = find_account,
		.identify = identify_nobody,
		.read_process = read_nothing };
	struct growing *growing = calloc(1, sizeof(*growing));
	struct error err;

	assert_non_null(growing);
	growing->host.file = -1;
	assert_true(profile_create(&growing->profile, &err));
	process_table_init(
		&growing->table, growing->profile, (struct process_host){ &functions, &growing->host }, NULL);
	*state = growing;
	return 0;
}

static int teardown(void **state)
{
	struct growing *growing = *state;

	process_table_deinit(&growing->table);
	profile_destroy(growing->profile);
	if (growing->host.file >= 0)
		close(growing->host.file);
	free(growing);
	return 0;
}

/* A process that has run code of its own making; its image. */
static struct process_image *add_maker(struct growing *growing, uint64_t account, int32_t number)
{
	int32_t pid = (int32_t)account * PIDS_OF_ACCOUNT + number;
	struct process_table *table = &growing->table;
	struct process_image *image;
	struct process *process;
	struct error err;

	assert_true(process_table_get(table, pid, &process, &err));
	assert_true(ARRAY_RESERVE(&table->places, &table->place_capacity, table->place_count + 1, SIZE_MAX, &err));
	assert_true(ARRAY_RESERVE(&table->images, &table->image_capacity, table->image_count + 1, SIZE_MAX, &err));
	table->places[table->place_count] =
		(struct process_place){ .image = (uint32_t)table->image_count, .is_walked = true };
	image = &table->images[table->image_count++];
	*image = (struct process_image){ .latest_place = (uint32_t)table->place_count++,
		.jit_map = { .path = strdup("/tmp/perf-1.map"), .pid = pid } };
	assert_non_null(image->jit_map.path);
	return image;
}

/* As if all pauses were over. */
static void look(struct growing *growing)
{
	struct process_table *table = &growing->table;
	struct error err;

	table->maps_next_ns = 0;
	for (size_t i = 0; i < table->image_count; i++)
		if (table->images[i].growth)
			table->images[i].growth->next_ns = 0;
	assert_true(jit_growth_look(table, &err));
}

static void make_file(struct growing *growing, off_t size)
{
	growing->host.file = memfd_create("map", MFD_CLOEXEC);
	assert_true(growing->host.file >= 0);
	assert_int_equal(ftruncate(growing->host.file, size), 0);
}

static void a_file_grows_between_two_looks(void **state)
{
	struct growing *growing = *state;
	const struct process_image *image = add_maker(growing, USER, 1);
	const struct profile_growth *known;

	make_file(growing, 10);
	look(growing);
	look(growing);
	assert_int_equal(ftruncate(growing->host.file, 30), 0);
	look(growing);
	known = &image->growth->growth;
	assert_int_equal(known->count, 2);
	assert_int_equal(known->steps[0].size, 10);
	assert_int_equal(known->steps[1].size, 30);
	assert_true(known->steps[0].to_ns <= known->steps[1].from_ns);
	/* One that became shorter is another file. */
	assert_int_equal(ftruncate(growing->host.file, 5), 0);
	look(growing);
	assert_true(image->growth->is_over);
	assert_int_equal(known->count, 0);
}

/* The owner of a file sets its time to any, of which no arithmetic may be wrong. */
static void any_time_of_a_file_is_borne(void **state)
{
	static const time_t times[] = { INT64_MAX, INT64_MAX / 1000000000 + 1, 1 << 30, 0, -1, INT64_MIN };
	struct growing *growing = *state;

	make_file(growing, 10);
	for (int32_t i = 0; i < (int32_t)(sizeof(times) / sizeof(times[0])); i++) {
		const struct timespec wanted[] = { { .tv_sec = times[i] }, { .tv_sec = times[i] } };
		const struct profile_growth *known;

		(void)add_maker(growing, USER, i);
		assert_int_equal(futimens(growing->host.file, wanted), 0);
		look(growing);
		known = &growing->table.images[i].growth->growth;
		assert_int_equal(known->count, 1);
		assert_in_range(known->steps[0].to_ns, 0, (uint64_t)clock_read_ns(CLOCK_MONOTONIC));
	}
}

/* Nothing tells what it said before. */
static void a_file_that_is_written_anew_is_noticed(void **state)
{
	static const struct {
		off_t size;
		bool is_other, expected;
	} cases[] = { { 200, false, false }, { 100, false, true }, { 50, false, true }, { 100, true, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(cleanup_close) int other = memfd_create("other", MFD_CLOEXEC);
		struct growing *growing = *state;
		struct process_image *image = add_maker(growing, USER, (int32_t)i + 1);
		char name[] = "map";
		struct file_opened now = { .name = name };

		if (growing->host.file >= 0)
			close(growing->host.file);
		make_file(growing, 100);
		look(growing);
		assert_int_equal(ftruncate(growing->host.file, 0), 0);
		assert_int_equal(ftruncate(growing->host.file, cases[i].size), 0);
		now.fd = cases[i].is_other ? other : growing->host.file;
		assert_int_equal(
			futimens(growing->host.file, (struct timespec[2]){ { .tv_sec = 7 }, { .tv_sec = 7 } }), 0);
		if (!cases[i].is_other)
			look(growing);
		assert_int_equal(jit_growth_was_rewritten(image, &now), cases[i].expected);
	}
}

/* What the next program of the pid writes is not what the first one wrote, whose last look came too late or not. */
static void what_the_next_program_writes_is_noticed(void **state)
{
	struct growing *growing = *state;
	struct process_image *image = add_maker(growing, USER, 1);
	char name[] = "map";
	struct file_opened now = { .name = name };

	make_file(growing, 100);
	look(growing);
	image->jit_map.ended_ns = 1;
	look(growing);
	assert_true(image->growth->is_over);
	now.fd = growing->host.file;
	assert_false(jit_growth_was_rewritten(image, &now));
	assert_int_equal(futimens(now.fd, (struct timespec[2]){ { .tv_sec = 7 }, { .tv_sec = 7 } }), 0);
	assert_true(jit_growth_is_anothers(image, &now));
}

/* Most programs write no perf map: when they have ended, no search for one is due any more. */
static void of_an_ended_process_no_file_is_searched(void **state)
{
	struct growing *growing = *state;
	const struct process_image *image = add_maker(growing, USER, 1);

	look(growing);
	look(growing);
	assert_int_equal(growing->host.searches, 2);
	growing->table.processes[0].is_alive = false;
	for (int i = 0; i < 10; i++)
		look(growing);
	assert_int_equal(growing->host.searches, 3);
	assert_true(image->growth->is_over);
}

static void what_an_ended_process_has_written_is_known(void **state)
{
	struct growing *growing = *state;
	const struct process_image *image = add_maker(growing, USER, 1);

	make_file(growing, 10);
	look(growing);
	assert_int_equal(ftruncate(growing->host.file, 30), 0);
	growing->table.processes[0].is_alive = false;
	look(growing);
	look(growing);
	assert_int_equal(image->growth->growth.count, 2);
	assert_true(image->growth->is_over);
}

static void one_account_leaves_files_to_others(void **state)
{
	struct growing *growing = *state;
	size_t watched = 0;

	make_file(growing, 10);
	for (int32_t i = 0; i < JIT_GROWTH_MOST_FILES; i++)
		(void)add_maker(growing, USER, i);
	look(growing);
	for (size_t i = 0; i < growing->table.image_count; i++)
		watched += growing->table.images[i].growth->fd >= 0;
	assert_int_equal(watched, JIT_GROWTH_MOST_FILES / 2);
	(void)add_maker(growing, OTHER_USER, 1);
	look(growing);
	assert_true(growing->table.images[growing->table.image_count - 1].growth->fd >= 0);
	/* One that has ended leaves room for the next. */
	assert_true(growing->table.images[JIT_GROWTH_MOST_FILES / 2].growth->fd < 0);
	for (size_t i = 0; i < JIT_GROWTH_MOST_FILES / 2; i++)
		growing->table.processes[i].is_alive = false;
	look(growing);
	look(growing);
	assert_true(growing->table.images[JIT_GROWTH_MOST_FILES / 2].growth->fd >= 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_grows_between_two_looks),
		TEST(a_file_that_is_written_anew_is_noticed),
		TEST(any_time_of_a_file_is_borne),
		TEST(what_the_next_program_writes_is_noticed),
		TEST(of_an_ended_process_no_file_is_searched),
		TEST(what_an_ended_process_has_written_is_known),
		TEST(one_account_leaves_files_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
