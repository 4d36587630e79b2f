/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/support/unit_test.h"
#include "watch/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* A directory of our own with programs that sleep. */
struct place {
	char directory[32], program[64], other[64];
};

static void copy_program(const char *to)
{
	char line[256];

	snprintf(line, sizeof(line), "cp \"$(readlink -f /bin/sleep)\" %s.new && mv %s.new %s", to, to, to);
	assert_int_equal(system(line), 0);
}

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	snprintf(place->directory, sizeof(place->directory), "/tmp/test-target-XXXXXX");
	if (!mkdtemp(place->directory))
		return -1;
	snprintf(place->program, sizeof(place->program), "%s/program", place->directory);
	snprintf(place->other, sizeof(place->other), "%s/other", place->directory);
	copy_program(place->program);
	copy_program(place->other);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	unlink(place->program);
	unlink(place->other);
	rmdir(place->directory);
	free(place);
	return 0;
}

static const char *const environment[] = { "OTEL_RESOURCE_ATTRIBUTES=service.version=4.2,service.name=shop", NULL };

static pid_t start(const char *program)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		execle(program, program, "100", (char *)NULL, (char *const *)(uintptr_t)environment);
		_exit(1);
	}
	/* It has been executed when the pipe is closed. */
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int64_t now_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

/* Looks later and later, until something has changed: so no rest is waited for. */
static enum watch_sight look(struct watch_target *target)
{
	enum watch_sight sight = WATCH_SAME;

	for (int64_t ahead_ns = 0; ahead_ns <= 100 * watch_rest_ns && sight == WATCH_SAME; ahead_ns += watch_rest_ns)
		sight = watch_target_look(target, now_ns() + ahead_ns);
	return sight;
}

static struct watch_target *create(const struct watch_wish *wish)
{
	struct watch_target *target;
	struct error err;

	if (!watch_target_create(wish, &target, &err))
		fail_msg("%s", err.message);
	return target;
}

static void programs_are_followed(void **state)
{
	const struct place *place = *state;
	CLEANUP(watch_target_cleanup)
	struct watch_target *target = create(&(struct watch_wish){ .kind = WATCH_EXE, .name = place->program });
	pid_t first, second;

	assert_int_equal(watch_target_look(target, now_ns()), WATCH_SAME);
	assert_null(watch_target_process(target));
	first = start(place->program);
	assert_int_equal(look(target), WATCH_THERE);
	assert_int_equal(watch_target_process(target)->pid, first);
	assert_string_equal(watch_target_process(target)->program, place->program);
	assert_int_equal(look(target), WATCH_SAME);
	/* The oldest is meant, and stays when its file is replaced. */
	second = start(place->program);
	copy_program(place->program);
	assert_int_equal(look(target), WATCH_SAME);
	assert_int_equal(watch_target_process(target)->pid, first);
	stop(first);
	assert_int_equal(look(target), WATCH_THERE);
	assert_int_equal(watch_target_process(target)->pid, second);
	stop(second);
	assert_int_equal(look(target), WATCH_GONE);
	assert_int_equal(look(target), WATCH_SAME);
	assert_null(watch_target_process(target));
}

static void a_process_has_a_successor(void **state)
{
	const struct timespec tick = { 0, 30000000 };
	const struct place *place = *state;
	pid_t first = start(place->program), beside = start(place->program), other, second;
	CLEANUP(watch_target_cleanup)
	struct watch_target *target = create(&(struct watch_wish){ .kind = WATCH_PID, .pid = first });

	assert_int_equal(watch_target_look(target, now_ns()), WATCH_THERE);
	nanosleep(&tick, NULL);
	assert_int_equal(watch_target_look(target, now_ns()), WATCH_SAME);
	stop(first);
	/* Neither one that ran beside it, nor another program. */
	other = start(place->other);
	assert_int_equal(look(target), WATCH_GONE);
	second = start(place->program);
	assert_int_equal(look(target), WATCH_THERE);
	assert_int_equal(watch_target_process(target)->pid, second);
	stop(beside);
	stop(other);
	stop(second);
}

/* What is looked for again and again costs less and less, and is found within the rest. */
static void searching_rests(void **state)
{
	const struct place *place = *state;
	CLEANUP(watch_target_cleanup)
	struct watch_target *target = create(&(struct watch_wish){ .kind = WATCH_EXE, .name = place->program });
	int64_t boot_ns = now_ns(), found_ns;
	pid_t pid;

	for (int i = 0; i < 1000; i++)
		assert_int_equal(watch_target_look(target, boot_ns += 20000000), WATCH_SAME);
	pid = start(place->program);
	for (found_ns = boot_ns; watch_target_look(target, found_ns) != WATCH_THERE;)
		found_ns += 20000000;
	assert_true(found_ns - boot_ns <= watch_rest_ns);
	stop(pid);
}

static void processes_tell_their_build(void **state)
{
	const struct place *place = *state;
	pid_t pid = start(place->program);
	CLEANUP(watch_target_cleanup)
	struct watch_target *target = create(&(struct watch_wish){ .kind = WATCH_PID, .pid = pid });
	struct watch_identity identity, again;
	struct error err;

	assert_int_equal(look(target), WATCH_THERE);
	assert_true(watch_identify(watch_target_process(target), &identity, &err));
	assert_true(identity.build.build_id[0]);
	assert_string_equal(identity.build.version, "4.2");
	assert_string_equal(identity.service, "shop");
	/* Also when another file has the name now. */
	copy_program(place->program);
	(void)look(target);
	assert_true(watch_identify(watch_target_process(target), &again, &err));
	assert_string_equal(again.build.build_id, identity.build.build_id);
	stop(pid);
	assert_true(watch_identify(watch_target_process(target), &identity, &err));
	assert_string_equal(identity.build.build_id, "");
}

static void who_is_not_there_is_refused(void **state)
{
	struct watch_target *target = NULL;
	struct error err;

	assert_false(watch_target_create(&(struct watch_wish){ .kind = WATCH_PID, .pid = 0x7ffffffe }, &target, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_null(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(programs_are_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_has_a_successor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(searching_rests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_tell_their_build, set_up, tear_down),
		cmocka_unit_test(who_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
