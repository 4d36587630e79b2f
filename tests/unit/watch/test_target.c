/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
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
	if (!mkdtemp(place->directory) || chmod(place->directory, 0755) != 0)
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

enum { STRANGER = 12345 };

/* Has the process see the file `over` in the place of `path`, which nobody else does; NULL: its own tree, alike. */
static bool see_other_tree(const char *path, const char *over)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       (!over || mount(over, path, NULL, MS_BIND, NULL) == 0);
}

static pid_t start_as(const char *program, uid_t user, bool has_tree, const char *over)
{
	pid_t parent = getpid(), pid;
	int ends[2];
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if ((has_tree && !see_other_tree(program, over)) || (user != 0 && setresuid(user, user, user) != 0))
			_exit(1);
		/* Also when a test fails. */
		child_end_with(parent);
		execle(program, program, "100", (char *)NULL, (char *const *)(uintptr_t)environment);
		_exit(1);
	}
	/* It has been executed when the pipe is closed. */
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	return pid;
}

static pid_t start(const char *program)
{
	return start_as(program, 0, false, NULL);
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

/* The path is that of the watch: what a process sees there in a tree of its own is another file. */
static void another_file_of_the_path_is_none(void **state)
{
	const struct place *place = *state;
	CLEANUP(watch_target_cleanup)
	struct watch_target *target = create(&(struct watch_wish){ .kind = WATCH_EXE, .name = place->program });
	pid_t other, same, removed;

	if (geteuid() != 0)
		skip();
	other = start_as(place->program, 0, true, place->other);
	if (kill(other, 0) != 0 || waitpid(other, NULL, WNOHANG) == other)
		skip(); /* no namespace */
	assert_int_equal(watch_target_look(target, now_ns()), WATCH_SAME);
	assert_null(watch_target_process(target));
	/* The same file in another tree, as a service manager makes it; also when it has been replaced. */
	same = start_as(place->program, 0, true, NULL);
	assert_int_equal(look(target), WATCH_THERE);
	assert_int_equal(watch_target_process(target)->pid, same);
	removed = start_as(place->program, 0, true, NULL);
	copy_program(place->program);
	stop(same);
	assert_int_equal(look(target), WATCH_THERE);
	assert_int_equal(watch_target_process(target)->pid, removed);
	/* The other one is no more that file when its own is gone. */
	unlink(place->other);
	stop(removed);
	assert_int_equal(look(target), WATCH_GONE);
	stop(other);
}

static void links_lead_to_a_program(void **state)
{
	const struct place *place = *state;
	char name[64];
	pid_t pid;

	snprintf(name, sizeof(name), "%s/link", place->directory);
	assert_int_equal(symlink("program", name), 0);
	pid = start(place->program);
	for (int i = 0; i < 2; i++) {
		CLEANUP(watch_target_cleanup)
		struct watch_target *target = create(&(struct watch_wish){ .kind = WATCH_EXE, .name = name });

		assert_int_equal(look(target), WATCH_THERE);
		assert_int_equal(watch_target_process(target)->pid, pid);
		unlink(name);
		assert_int_equal(link(place->program, name), 0);
	}
	unlink(name);
	stop(pid);
}

/* By its path or its name: a program of another user, who runs it for longer, does not take the place of ours. */
static void a_target_stays_with_its_user(void **state)
{
	const struct place *place = *state;
	const char *const names[] = { place->program, "program" };

	if (geteuid() != 0)
		skip();
	for (int i = 0; i < 2; i++) {
		CLEANUP(watch_target_cleanup)
		struct watch_target *target = create(&(struct watch_wish){ .kind = WATCH_EXE, .name = names[i] });
		pid_t ours = start(place->program), theirs = start_as(place->program, STRANGER, false, NULL), next;

		assert_int_equal(look(target), WATCH_THERE);
		assert_int_equal(watch_target_process(target)->pid, ours);
		assert_true(watch_target_has_namesakes(target));
		stop(ours);
		assert_int_equal(look(target), WATCH_GONE);
		assert_true(watch_target_has_namesakes(target));
		next = start(place->program);
		assert_int_equal(look(target), WATCH_THERE);
		assert_int_equal(watch_target_process(target)->pid, next);
		stop(theirs);
		stop(next);
		assert_int_equal(look(target), WATCH_GONE);
		assert_false(watch_target_has_namesakes(target));
	}
}

/* Takes a byte from the pipe, becomes another user, and gives it back. */
static pid_t start_daemon(int to[2], int from[2])
{
	pid_t parent = getpid(), pid;
	char byte = 0;

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		child_end_with(parent);
		if (read(to[0], &byte, 1) != 1 || setresuid(STRANGER, STRANGER, STRANGER) != 0)
			_exit(1);
		child_end_with(parent);
		while (write(from[1], &byte, 1) >= 0)
			pause();
		_exit(1);
	}
	return pid;
}

static void become_stranger(int to[2], int from[2])
{
	char byte = 0;

	assert_int_equal(write(to[1], &byte, 1), 1);
	assert_int_equal(read(from[0], &byte, 1), 1);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}

/* A daemon that begins as root and gives that up is met before it has done so; the next one is met behind it. */
static void a_daemon_may_change_its_user(void **state)
{
	CLEANUP(watch_target_cleanup) struct watch_target *target = NULL;
	char name[256] = "";
	int to[2], from[2];
	pid_t first, second;

	if (geteuid() != 0)
		skip();
	assert_true(readlink("/proc/self/exe", name, sizeof(name) - 1) > 0);
	target = create(&(struct watch_wish){ .kind = WATCH_EXE, .name = name });
	first = start_daemon(to, from);
	assert_int_equal(look(target), WATCH_THERE);
	assert_int_equal(watch_target_process(target)->pid, first);
	become_stranger(to, from);
	assert_int_equal(watch_target_look(target, now_ns()), WATCH_SAME);
	assert_int_equal(watch_target_process(target)->user, STRANGER);
	stop(first);
	second = start_daemon(to, from);
	become_stranger(to, from);
	assert_int_equal(look(target), WATCH_THERE);
	assert_int_equal(watch_target_process(target)->pid, second);
	stop(second);
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
		cmocka_unit_test_setup_teardown(another_file_of_the_path_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_lead_to_a_program, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_target_stays_with_its_user, set_up, tear_down),
		cmocka_unit_test(a_daemon_may_change_its_user),
		cmocka_unit_test_setup_teardown(a_process_has_a_successor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(searching_rests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_tell_their_build, set_up, tear_down),
		cmocka_unit_test(who_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
