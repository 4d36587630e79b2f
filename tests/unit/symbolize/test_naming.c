/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jit.h"
#include "symbolize/naming_child.h"
#include "symbolize/symbolize.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Naming in its child process. The reader of maps is replaced here: what a map says is what a reader does that has been
 * taken over, or that its input makes slow.
 */

bool __real_jit_read(const struct file_opened *file, const struct jit_clock *clock, const uint64_t *addresses,
	size_t count, struct symbol_map **map, struct error *err);
bool __wrap_jit_read(const struct file_opened *file, const struct jit_clock *clock, const uint64_t *addresses,
	size_t count, struct symbol_map **map, struct error *err);

static void spin(void)
{
	volatile uint64_t turns = 0;

	while (turns < UINT64_MAX)
		turns++;
}

/* The child is the first process of its namespace, which abort() ends by SIGSEGV: that is not for cmocka's handler. */
static _Noreturn void crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	abort();
}

static void wait_for_ever(void)
{
	const struct timespec day = { .tv_sec = 86400 };

	for (;;)
		(void)nanosleep(&day, NULL);
}

/* Takes memory until there is no more; false then. */
static bool eat(struct error *err)
{
	enum { PIECE_BYTES = 1 << 20, MOST_PIECES = 1 << 12 };

	for (size_t i = 0; i < MOST_PIECES; i++) {
		char *piece = malloc(PIECE_BYTES);

		if (!piece)
			return error_set_memory(err);
		memset(piece, 1, PIECE_BYTES);
	}
	return true;
}

/* Sends what is no answer, on whatever descriptor it can write to. */
static void babble(void)
{
	char garbage[4096];

	memset(garbage, 0xa5, sizeof(garbage));
	for (int fd = 0; fd < 64; fd++)
		(void)!write(fd, garbage, sizeof(garbage));
	wait_for_ever();
}

/* Other calls would kill the process at once (test_confined.c). */
static bool can_get_out(void)
{
	return open("/etc/passwd", O_RDONLY) >= 0 || open("/proc/1/status", O_RDONLY) >= 0;
}

/* Answers for all tasks that there may be, and asks for all files of the cache, wherever that may be heard. */
static void speak_for_others(void)
{
	struct naming_answer answer = { .kind = NAMING_BEGINS };
	struct naming_cache_request request = { 0 };

	for (int fd = 0; fd < 64; fd++)
		for (uint32_t task = 0; task < 2; task++) {
			answer.task = request.task = task;
			(void)!write(fd, &answer, sizeof(answer));
			(void)!message_send(fd, &request, sizeof(request), -1);
		}
	babble();
}

bool __wrap_jit_read(const struct file_opened *file, const struct jit_clock *clock, const uint64_t *addresses,
	size_t count, struct symbol_map **map, struct error *err)
{
	char what[16] = "";

	if (pread(file->fd, what, sizeof(what) - 1, 0) < 0)
		return error_set(err, ERROR_FORMAT, "unreadable");
	if (strncmp(what, "spin", 4) == 0)
		spin();
	if (strncmp(what, "wait", 4) == 0)
		wait_for_ever();
	if (strncmp(what, "crash", 5) == 0)
		crash();
	if (strncmp(what, "babble", 6) == 0)
		babble();
	if (strncmp(what, "speak", 5) == 0)
		speak_for_others();
	if (strncmp(what, "eat", 3) == 0 && !eat(err))
		return false;
	if (strncmp(what, "out", 3) == 0 && can_get_out())
		return error_set(err, ERROR_FORMAT, "it got out");
	return __real_jit_read(file, clock, addresses, count, map, err);
}

enum { MAPS = 40, ADDRESS = 0x1000 };

/* A profile with one address in each of some maps. */
struct subject {
	struct profile *profile;
	struct file_opened maps[MAPS];
	uint32_t locations[MAPS];
	size_t count;
	struct buffer notices;
};

static void subject_add(struct subject *s, const char *text)
{
	struct profile_mapping mapping = {
		.start = ADDRESS * (s->count + 1), .end = ADDRESS * (s->count + 1) + 0x100, .kind = PROFILE_MAPPING_JIT
	};
	struct file_opened *map = &s->maps[s->count];
	struct error err;
	uint32_t id;

	*map = (struct file_opened){ strdup(text), memfd_create("map", MFD_CLOEXEC) };
	assert_true(map->name && map->fd >= 0);
	assert_int_equal(write(map->fd, text, strlen(text)), strlen(text));
	assert_true(profile_intern(s->profile, text, &mapping.path, &err));
	assert_true(profile_add_mapping(s->profile, &mapping, &id, &err));
	assert_int_equal(id, s->count);
	assert_true(profile_add_location(s->profile, id, ADDRESS, &s->locations[s->count], &err));
	s->count++;
}

static void subject_init(struct subject *s)
{
	struct error err;

	*s = (struct subject){ 0 };
	buffer_init(&s->notices, 1 << 16);
	assert_true(profile_create(&s->profile, &err));
}

static void subject_deinit(struct subject *s)
{
	for (size_t i = 0; i < s->count; i++)
		file_opened_deinit(&s->maps[i]);
	profile_destroy(s->profile);
	buffer_deinit(&s->notices);
	/* Neither the child nor the broker goes on: on a machine with much to do they may take a while to end. */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void name_all(struct subject *s, bool (*is_stopped)(void))
{
	const struct symbolize_options options = { .threads = 2, .is_stopped = is_stopped };
	const struct profile_symbols symbols = { .jit_maps = s->maps, .kallsyms = (char *)"" };
	struct error err;

	assert_true(symbolize_profile(s->profile, &symbols, &options, &s->notices, &err));
	buffer_append_byte(&s->notices, 0);
}

static void expect_name(const struct subject *s, size_t index, const char *name)
{
	const struct profile *profile = s->profile;
	uint32_t line = profile->locations[s->locations[index]].first_line;

	assert_string_equal(profile_string(profile, profile->functions[profile->lines[line].function].name), name);
}

static void expect_notice(const struct subject *s, const char *part)
{
	if (!strstr(s->notices.data, part))
		fail_msg("'%s' is not in: %s", part, s->notices.data);
}

/* Names three maps, of which the one in the middle does not let itself be named. */
static void name_around(const char *hostile, const char *notice)
{
	struct subject s;

	subject_init(&s);
	subject_add(&s, "1000 100 before");
	subject_add(&s, hostile);
	subject_add(&s, "1000 100 after");
	name_all(&s, NULL);
	expect_name(&s, 0, "before");
	expect_name(&s, 2, "after");
	assert_null(strstr(s.notices.data, "before"));
	assert_null(strstr(s.notices.data, "after"));
	expect_notice(&s, notice);
	expect_notice(&s, "its code stays unnamed");
	subject_deinit(&s);
}

static void a_crash_costs_one_image(void **state)
{
	name_around("crash", "crash: the process that named its functions crashed");
}

static void what_is_no_answer_costs_one_image(void **state)
{
	name_around("babble", "babble: the process that named its functions crashed");
}

static void cpu_time_is_limited(void **state)
{
	if (child_slowdown() == 1)
		name_around("spin", "spin: naming its functions took more than 0.5 s of CPU time");
}

static void memory_is_limited(void **state)
{
	if (child_slowdown() == 1)
		name_around("eat", "eat: naming its functions took more than");
}

/* A user with many such files costs no more than with some; what is root's is named before. */
static void many_files_of_one_owner_cost_what_some_do(void **state)
{
	enum { USER = 54321, HOSTILE = 5 };
	struct subject s;

	if (child_slowdown() > 1 || geteuid() != 0)
		return;
	subject_init(&s);
	for (size_t i = 0; i < HOSTILE; i++) {
		subject_add(&s, "spin");
		assert_int_equal(fchown(s.maps[i].fd, USER, USER), 0);
	}
	subject_add(&s, "1000 100 ours");
	assert_int_equal(fchmod(s.maps[HOSTILE].fd, 0600), 0);
	name_all(&s, NULL);
	expect_name(&s, HOSTILE, "ours");
	expect_notice(&s, "naming other files of the same owner crashed or took too long");
	subject_deinit(&s);
}

/*
 * What one owner's files can do is about that owner's files alone: root's tasks have another child, even where root's
 * come first and the hostile one's number is theirs.
 */
static void one_owner_does_not_speak_for_another(void **state)
{
	enum { USER = 54321, OTHER = 54322 };
	struct subject s;

	if (geteuid() != 0)
		return;
	subject_init(&s);
	subject_add(&s, "1000 100 ours");
	subject_add(&s, "speak");
	subject_add(&s, "1000 100 others");
	assert_int_equal(fchmod(s.maps[0].fd, 0600), 0);
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(fchmod(s.maps[i].fd, 0600), 0);
		assert_int_equal(fchown(s.maps[i].fd, i == 1 ? USER : OTHER, 0), 0);
	}
	name_all(&s, NULL);
	expect_name(&s, 0, "ours");
	expect_name(&s, 1, "speak+0x1000");
	expect_name(&s, 2, "others");
	expect_notice(&s, "speak: the process that named its functions crashed");
	assert_null(strstr(s.notices.data, "ours"));
	assert_null(strstr(s.notices.data, "others:"));
	subject_deinit(&s);
}

/* More owners than may be at work at once, one of whom is hostile. */
static void every_owner_has_a_turn(void **state)
{
	enum { FIRST_USER = 50000, HOSTILE = 7 };
	struct subject s;

	if (geteuid() != 0)
		return;
	subject_init(&s);
	for (size_t i = 0; i < MAPS; i++) {
		subject_add(&s, i == HOSTILE ? "speak" : "1000 100 named");
		assert_int_equal(fchmod(s.maps[i].fd, 0600), 0);
		assert_int_equal(fchown(s.maps[i].fd, FIRST_USER + (uid_t)i, 0), 0);
	}
	name_all(&s, NULL);
	for (size_t i = 0; i < MAPS; i++)
		expect_name(&s, i, i == HOSTILE ? "speak+0x1000" : "named");
	subject_deinit(&s);
}

/* As after a signal, which comes when the child has begun. */
static bool is_stopped_soon(void)
{
	enum { TURNS = 8 };
	static unsigned int turns;

	return ++turns > TURNS;
}

static void a_stop_leaves_the_rest_unnamed(void **state)
{
	struct subject s;

	subject_init(&s);
	subject_add(&s, "wait");
	subject_add(&s, "1000 100 other");
	name_all(&s, is_stopped_soon);
	expect_name(&s, 0, "wait+0x1000");
	expect_notice(&s, "interrupted");
	subject_deinit(&s);
}

/* Readers that were taken over do not get further than their process. */
static void nobody_gets_out(void **state)
{
	struct subject s;

	subject_init(&s);
	subject_add(&s, "out\n1000 100 confined");
	name_all(&s, NULL);
	if (confined_probe() == 0)
		expect_name(&s, 0, "confined");
	subject_deinit(&s);
}

static void without_names_nothing_is_read(void **state)
{
	const struct symbolize_options options = { .threads = 2, .no_names = true };
	struct subject s;
	const struct profile_symbols symbols = { .jit_maps = s.maps };
	struct error err;

	subject_init(&s);
	subject_add(&s, "code");
	assert_true(symbolize_profile(s.profile, &symbols, &options, &s.notices, &err));
	expect_name(&s, 0, "code+0x1000");
	assert_int_equal(s.notices.size, 0);
	subject_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_costs_one_image),
		cmocka_unit_test(what_is_no_answer_costs_one_image),
		cmocka_unit_test(cpu_time_is_limited),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(many_files_of_one_owner_cost_what_some_do),
		cmocka_unit_test(one_owner_does_not_speak_for_another),
		cmocka_unit_test(every_owner_has_a_turn),
		cmocka_unit_test(a_stop_leaves_the_rest_unnamed),
		cmocka_unit_test(nobody_gets_out),
		cmocka_unit_test(without_names_nothing_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
