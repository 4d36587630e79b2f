/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/account.h"

#include "sampler/process/owner.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Who answers for a process, whichever namespaces it has made itself. */

enum { ANYBODY = 12345, FIRST_SUBORDINATE = 2000000, NAMESPACES = 10 };

/* A process that has become somebody, and in the end waits to be killed. */
struct process {
	pid_t pid;
	uid_t user;
	int levels;        /* user namespaces, one in the other */
	uid_t subordinate; /* 0, or the id that it has in the innermost: by its map, which root writes */
};

static void change_user(uid_t user)
{
	if (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)
		_exit(2);
}

static bool write_proc(const char *process, const char *name, const char *text)
{
	char path[64];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%s/%s", process, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Maps of one id, by another process outside of the namespace, as newuidmap(1) does it, or by itself. */
static bool write_maps(const char *process, uid_t inside, uid_t outside)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u 1\n", inside, outside);
	return write_proc(process, "setgroups", "deny") && write_proc(process, "uid_map", text) &&
	       write_proc(process, "gid_map", text);
}

/* Without a map of its user's own id nobody makes a namespace in a namespace. */
static bool enter_namespaces(const struct process *process)
{
	if (process->user)
		change_user(process->user);
	/* The change of user has given /proc/self to root. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)
		return false;
	for (int i = 0; i < process->levels; i++)
		if (unshare(CLONE_NEWUSER) != 0 ||
			(!process->subordinate && !write_maps("self", process->user, process->user)))
			return false;
	return true;
}

static _Noreturn void run_process(const struct process *process, int ready, int go)
{
	bool ok = enter_namespaces(process);
	char byte = 0;

	if (write(ready, &ok, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(4);
	ok = ok && (!process->subordinate || setresuid(0, 0, 0) == 0);
	if (write(ready, &ok, 1) != 1)
		_exit(4);
	for (;;)
		pause();
}

/* False: no user namespaces are to be had here. */
static bool start_process(struct process *process)
{
	int ready[2], go[2];
	char name[16];
	bool ok;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	process->pid = fork();
	if (process->pid == 0)
		run_process(process, ready[1], go[0]);
	assert_int_equal(read(ready[0], &ok, 1), 1);
	snprintf(name, sizeof(name), "%d", (int)process->pid);
	if (ok && process->subordinate)
		assert_true(write_maps(name, 0, process->subordinate));
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(ready[0], &ok, 1), 1);
	for (size_t i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
	return ok;
}

static void end_process(const struct process *process)
{
	kill(process->pid, SIGKILL);
	waitpid(process->pid, NULL, 0);
}

/* The account of a process of that kind; skips the test where there are no user namespaces. */
static uint64_t account_of_kind(struct process process)
{
	uint64_t account = 0;
	bool is_started = start_process(&process), is_known = is_started && account_of(process.pid, &account);

	end_process(&process);
	if (!is_started)
		skip();
	assert_true(is_known);
	return account;
}

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("not run as root: it cannot become another user\n");
	skip();
}

static void a_user_is_one_account(void **state)
{
	uint64_t account;

	need_root();
	account = account_of_kind((struct process){ .user = ANYBODY });
	assert_int_equal(account, ANYBODY);
	for (int levels = 1; levels <= 3; levels++)
		assert_int_equal(account_of_kind((struct process){ .user = ANYBODY, .levels = levels }), account);
	assert_int_not_equal(account_of_kind((struct process){ .user = ANYBODY + 1, .levels = 1 }), account);
}

/* Ids that /etc/subuid gives him count as his own. */
static void subordinate_ids_are_their_users(void **state)
{
	need_root();
	for (uid_t i = 0; i < 3; i++)
		assert_int_equal(account_of_kind((struct process){
					 .user = ANYBODY, .levels = 1, .subordinate = FIRST_SUBORDINATE + i }),
			ANYBODY);
}

static void containers_of_root_are_told_apart(void **state)
{
	uint64_t own, inner;
	struct process remapped = { .levels = 1, .subordinate = FIRST_SUBORDINATE };

	need_root();
	own = account_of_kind((struct process){ .user = 0 });
	assert_int_equal(account_user(own), 0);
	assert_int_equal(own, account_of_kind((struct process){ .user = 0 }));
	inner = account_of_kind(remapped);
	assert_int_equal(account_user(inner), 0);
	assert_int_not_equal(inner, own);
	assert_int_not_equal(inner, account_of_kind(remapped));
}

static void a_process_that_is_gone_has_none(void **state)
{
	uint64_t account;

	assert_false(account_of(0x7ffffff0, &account));
}

/* How often the users of these processes, together, may have an image opened. */
static unsigned int count_openings(struct process *processes, size_t count)
{
	unsigned int openings = 0;
	struct owners owners;

	owners_init(&owners);
	for (size_t i = 0; i < count; i++) {
		uint64_t account, spent = 0;

		assert_true(account_of(processes[i].pid, &account));
		while (owner_pay_opening(&owners, owners_at(&owners, owners_find(&owners, account)), &spent))
			openings++;
	}
	owners_deinit(&owners);
	return openings;
}

/* How much ten processes of a user get, each in so many namespaces of its own. */
static unsigned int count_openings_of_ten(int levels)
{
	struct process processes[NAMESPACES];
	unsigned int openings = 0;
	size_t started = 0;
	bool ok = true;

	while (started < NAMESPACES && ok) {
		processes[started] = (struct process){ .user = ANYBODY, .levels = levels };
		ok = start_process(&processes[started++]);
	}
	if (ok)
		openings = count_openings(processes, NAMESPACES);
	for (size_t i = 0; i < started; i++)
		end_process(&processes[i]);
	if (!ok)
		skip();
	return openings;
}

static void ten_namespaces_cost_no_more_than_one(void **state)
{
	unsigned int without;

	need_root();
	without = count_openings_of_ten(0);
	assert_true(without > 1000);
	assert_int_equal(count_openings_of_ten(1), without);
	assert_int_equal(count_openings_of_ten(3), without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_is_one_account),
		cmocka_unit_test(subordinate_ids_are_their_users),
		cmocka_unit_test(containers_of_root_are_told_apart),
		cmocka_unit_test(a_process_that_is_gone_has_none),
		cmocka_unit_test(ten_namespaces_cost_no_more_than_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
