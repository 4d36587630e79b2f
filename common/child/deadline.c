/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/deadline.h"

#include "common/child/confined.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/message.h"
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_OWNERS = 64, MOST_STUCK_OF_OWNER = 2, LOOKS_PER_JOB = 4, MOST_LOOKS = 60 };

/* The party whose turn it is in a slot. */
enum turn { TURN_CALLER, TURN_HELPER };

/* The memory that the caller and one helper share. */
struct deadline_slot {
	_Atomic uint32_t turn; /* a futex */
	_Atomic pid_t pid;     /* of the helper; 0: it does not run yet */
	int (*job)(void *room);
	bool sends_fd; /* the job's descriptor waits in the socket */
	_Alignas(4096) uint8_t room[DEADLINE_ROOM_BYTES];
};

/* The memory that all processes share. Who has taken a helper over may write to it. */
struct deadline_shared {
	_Atomic uint32_t left; /* RIGHTS_LEFT_* of each that has given up its rights */
	struct deadline_slot slots[DEADLINE_MOST_HELPERS];
};

struct scheduling {
	int policy, nice;
};

enum helper_state { HELPER_NONE, HELPER_READY, HELPER_STUCK };

/* The caller's side of a slot. */
struct helper {
	enum helper_state state;
	int socket;     /* owned unless HELPER_NONE; at its end when the helper has ended */
	uint64_t owner; /* of the job that it is stuck in */
	struct scheduling scheduling;
};

struct debt {
	uint64_t owner;
	int64_t ns;
};

struct deadline {
	struct deadline_limits limits;
	const struct deadline_rights *rights; /* borrowed */
	struct deadline_shared *shared;
	struct helper helpers[DEADLINE_MOST_HELPERS];
	struct helper *current; /* has the room of the next job; NULL: none yet */
	pid_t keeper;
	struct scheduling keeper_scheduling;
	int control;                    /* to the keeper */
	struct debt debts[MOST_OWNERS]; /* the last one is shared by all owners beyond these */
	size_t debt_count;
	int64_t all_ns, forgiven_at_ns;
};

/* An order to the keeper, with the helper's end of a socket if a helper is to be started. */
struct deadline_order {
	uint32_t slot;
	bool starts; /* else the helper is killed */
};

/* Futexes here are in shared memory, so they are not private ones. `wait_ns` 0: without end. */
static void deadline_wait(_Atomic uint32_t *word, uint32_t value, int64_t wait_ns)
{
	const struct timespec wait = { wait_ns / 1000000000, wait_ns % 1000000000 };

	(void)syscall(SYS_futex, word, FUTEX_WAIT, value, wait_ns ? &wait : NULL, NULL, 0);
}

static void deadline_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- Helpers ---- */

/*
 * A helper makes the calls of its jobs, and beside them it waits, takes memory, hands over a descriptor, and ends. The
 * keeper has given up all else already.
 */
static unsigned int deadline_confine_helper(const struct deadline_rights *rights, int socket)
{
	const struct filter_rule own[] = {
		FILTER_ALWAYS(futex),
		FILTER_ALWAYS(restart_syscall),
		FILTER_ALWAYS(close),
		FILTER_ALWAYS(brk),
		FILTER_ALWAYS(munmap),
		{ SYS_mmap, 2, { { 2, PROT_EXEC, 0 }, { 3, MAP_SHARED, 0 } } },
		FILTER_IF(mremap, 3, MREMAP_FIXED, 0),
		FILTER_IF(madvise, 2, UINT32_MAX, MADV_DONTNEED),
		FILTER_ALWAYS(getrandom),
		FILTER_ALWAYS(clock_gettime),
		FILTER_ALWAYS(rt_sigreturn),
		FILTER_ALWAYS(exit_group),
		FILTER_IF(sendmsg, 0, UINT32_MAX, (uint64_t)socket),
	};

	return confined_enter(&(struct confinement){ .keeps_open = true,
		.capabilities = rights->capabilities,
		.files = CONFINED_ANY_FILES,
		.calls = CONFINED_ONLY,
		.more_calls = { FILTER_SET(own), rights->calls } });
}

static _Noreturn void run_helper(
	struct deadline_shared *shared, struct deadline_slot *slot, const struct deadline_rights *rights, int socket)
{
	/* Written before getpid() is refused. */
	atomic_store(&slot->pid, getpid());
	atomic_fetch_or(&shared->left, deadline_confine_helper(rights, socket));
	for (;;) {
		int fd;

		while (atomic_load(&slot->turn) != TURN_HELPER)
			deadline_wait(&slot->turn, TURN_CALLER, 0);
		fd = slot->job(slot->room);
		slot->sends_fd = fd >= 0 && message_send(socket, "", 1, fd);
		if (fd >= 0)
			close(fd);
		atomic_store(&slot->turn, TURN_CALLER);
		deadline_wake(&slot->turn);
	}
}

/* ---- The keeper ---- */

/*
 * Leaves all that a helper would hold for as long as it is stuck: descriptors, such as a pipe whose reader waits for
 * its end, and the current directory's mount. Signals are for the caller.
 */
static unsigned int deadline_leave_caller(const struct deadline_rights *rights, int control)
{
	const int kept[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, control };
	int null = open("/dev/null", O_RDWR);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
	(void)!chdir("/");
	(void)prctl(PR_SET_NAME, "kelvin-reader");
	return confined_enter(&(struct confinement){ .descriptors = kept,
		.descriptor_count = sizeof(kept) / sizeof(kept[0]),
		.capabilities = rights->capabilities,
		.files = CONFINED_ANY_FILES,
		.calls = CONFINED_ANY_CALLS });
}

static void reap_helpers(pid_t *pids)
{
	pid_t ended;

	while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
		for (size_t i = 0; i < DEADLINE_MOST_HELPERS; i++)
			pids[i] = pids[i] == ended ? 0 : pids[i];
}

static _Noreturn void run_keeper(struct deadline_shared *shared, const struct deadline_rights *rights, int control)
{
	pid_t pids[DEADLINE_MOST_HELPERS] = { 0 };
	struct deadline_order order;
	int socket;

	atomic_fetch_or(&shared->left, deadline_leave_caller(rights, control));
	while (message_receive(control, &order, sizeof(order), 0, &socket) == sizeof(order)) {
		reap_helpers(pids);
		if (order.starts) {
			pids[order.slot] = child_fork(CHILD_ENDS_WITH_PARENT);
			if (pids[order.slot] == 0) {
				close(control);
				run_helper(shared, &shared->slots[order.slot], rights, socket);
			}
		} else if (pids[order.slot] > 0) {
			(void)kill(pids[order.slot], SIGKILL);
		}
		if (socket >= 0)
			close(socket);
	}
	_exit(0);
}

/* ---- The caller ---- */

static bool start_keeper(struct deadline *deadline, struct error *err)
{
	int control;

	deadline->keeper = child_fork_linked(CHILD_ENDS_WITH_PARENT, CHILD_MESSAGES, &control);
	if (deadline->keeper < 0)
		return error_set_errno(err, errno, "cannot start a process");
	if (deadline->keeper == 0)
		run_keeper(deadline->shared, deadline->rights, control);
	deadline->control = control;
	return true;
}

bool deadline_create(const struct deadline_limits *limits, const struct deadline_rights *rights,
	struct deadline **deadline, struct error *err)
{
	struct deadline *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->limits = *limits;
	made->rights = rights;
	made->control = -1;
	made->keeper_scheduling = (struct scheduling){ sched_getscheduler(0), getpriority(PRIO_PROCESS, 0) };
	made->forgiven_at_ns = clock_read_ns(CLOCK_MONOTONIC);
	made->shared = mmap(
		NULL, sizeof(*made->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made->shared == MAP_FAILED) {
		free(made);
		return error_set_memory(err);
	}
	/* What is read of others goes into no core dump. */
	(void)madvise(made->shared, sizeof(*made->shared), MADV_DONTDUMP);
	if (!start_keeper(made, err)) {
		deadline_destroy(made);
		return false;
	}
	*deadline = made;
	return true;
}

/*
 * Gives a process the caller's scheduling policy and nice value, as far as they have changed since. It cannot do that
 * itself: it would have to get a CPU first.
 */
static void share_scheduling(pid_t pid, struct scheduling *known)
{
	struct scheduling now = { sched_getscheduler(0), getpriority(PRIO_PROCESS, 0) };
	struct sched_param parameter;

	if (now.policy != known->policy && sched_getparam(0, &parameter) == 0)
		(void)sched_setscheduler(pid, now.policy & ~SCHED_RESET_ON_FORK, &parameter);
	if (now.nice != known->nice)
		(void)setpriority(PRIO_PROCESS, (id_t)pid, now.nice);
	*known = now;
}

static void order_keeper(struct deadline *deadline, const struct helper *helper, bool starts, int socket)
{
	const struct deadline_order order = { (uint32_t)(helper - deadline->helpers), starts };

	share_scheduling(deadline->keeper, &deadline->keeper_scheduling);
	(void)!message_send(deadline->control, &order, sizeof(order), socket);
}

static void forget_helper(struct helper *helper)
{
	close(helper->socket);
	*helper = (struct helper){ 0 };
}

/* The keeper ends by itself when its socket is closed, but it may not run for a while, so it is killed. */
void deadline_destroy(struct deadline *deadline)
{
	if (!deadline)
		return;
	for (size_t i = 0; i < DEADLINE_MOST_HELPERS; i++)
		if (deadline->helpers[i].state != HELPER_NONE)
			forget_helper(&deadline->helpers[i]);
	if (deadline->keeper > 0) {
		(void)kill(deadline->keeper, SIGKILL);
		(void)child_reap(deadline->keeper);
	}
	if (deadline->control >= 0)
		close(deadline->control);
	munmap(deadline->shared, sizeof(*deadline->shared));
	free(deadline);
}

unsigned int deadline_rights_left(const struct deadline *deadline)
{
	return atomic_load(&deadline->shared->left);
}

static bool deadline_has_ended(const struct helper *helper)
{
	char byte;

	/* A descriptor that a late job sent is dropped by reading it without room for it. */
	return recv(helper->socket, &byte, sizeof(byte), MSG_DONTWAIT) == 0;
}

static bool start_helper(struct deadline *deadline, struct helper *helper)
{
	struct deadline_slot *slot = &deadline->shared->slots[helper - deadline->helpers];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	atomic_store(&slot->pid, 0);
	atomic_store(&slot->turn, TURN_CALLER);
	*helper = (struct helper){ .state = HELPER_READY, .socket = ends[0] };
	order_keeper(deadline, helper, true, ends[1]);
	helper->scheduling = deadline->keeper_scheduling;
	close(ends[1]);
	deadline->current = helper;
	return true;
}

void *deadline_room(struct deadline *deadline)
{
	for (size_t i = 0; i < DEADLINE_MOST_HELPERS && !deadline->current; i++) {
		struct helper *helper = &deadline->helpers[i];

		if (helper->state == HELPER_STUCK && deadline_has_ended(helper))
			forget_helper(helper);
		if (helper->state == HELPER_NONE && !start_helper(deadline, helper))
			return NULL;
	}
	return deadline->current ? deadline->shared->slots[deadline->current - deadline->helpers].room : NULL;
}

/* ---- Debts ---- */

static void forgive(struct deadline *deadline)
{
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC),
		ns = (now_ns - deadline->forgiven_at_ns) / deadline->limits.forgiveness;
	size_t kept = 0;

	deadline->forgiven_at_ns += ns * deadline->limits.forgiveness;
	deadline->all_ns = deadline->all_ns > ns ? deadline->all_ns - ns : 0;
	for (size_t i = 0; i < deadline->debt_count; i++)
		if (deadline->debts[i].ns > ns) {
			deadline->debts[kept] = deadline->debts[i];
			deadline->debts[kept++].ns -= ns;
		}
	deadline->debt_count = kept;
}

static size_t count_stuck(const struct deadline *deadline, uint64_t owner)
{
	size_t count = 0;

	for (size_t i = 0; i < DEADLINE_MOST_HELPERS; i++) {
		const struct helper *helper = &deadline->helpers[i];

		count += helper->state == HELPER_STUCK && helper->owner == owner && !deadline_has_ended(helper);
	}
	return count;
}

static struct debt *find_debt(struct deadline *deadline, uint64_t owner)
{
	size_t i = 0;

	while (i < deadline->debt_count && i < MOST_OWNERS - 1 && deadline->debts[i].owner != owner)
		i++;
	if (i == deadline->debt_count)
		deadline->debts[deadline->debt_count++] = (struct debt){ owner, 0 };
	return &deadline->debts[i];
}

static bool is_refused(struct deadline *deadline, uint64_t owner)
{
	if (deadline->debt_count == 0)
		return false;
	if (count_stuck(deadline, owner) >= MOST_STUCK_OF_OWNER)
		return true;
	forgive(deadline);
	if (deadline->all_ns >= deadline->limits.all_ns)
		return true;
	for (size_t i = 0; i < deadline->debt_count; i++)
		if (deadline->debts[i].owner == owner)
			return deadline->debts[i].ns >= deadline->limits.owner_ns;
	return false;
}

/* ---- Jobs ---- */

/* Returns whether the helper waits for a CPU rather than in the kernel. It may not have been started yet. */
static bool is_starved(const struct deadline_slot *slot)
{
	pid_t pid = atomic_load(&slot->pid);

	return pid == 0 || proc_thread_state(pid, pid) == 'R';
}

/*
 * Waits until the job is done or late. The helper is looked at several times, and is late when it was found waiting in
 * the kernel each time but those when it waited for a CPU.
 */
static bool wait_for_helper(struct deadline_slot *slot, int64_t wait_ns)
{
	int64_t look_ns = wait_ns / LOOKS_PER_JOB;
	int waiting = 0;

	for (int i = 0; i < MOST_LOOKS && waiting < LOOKS_PER_JOB; i++) {
		int64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + look_ns, now_ns;

		while (atomic_load(&slot->turn) == TURN_HELPER && (now_ns = clock_read_ns(CLOCK_MONOTONIC)) < until_ns)
			deadline_wait(&slot->turn, TURN_HELPER, until_ns - now_ns);
		if (atomic_load(&slot->turn) == TURN_CALLER)
			return true;
		waiting += !is_starved(slot);
	}
	return false;
}

static void deadline_give_up(struct deadline *deadline, uint64_t owner, int64_t wait_ns)
{
	struct helper *helper = deadline->current;

	order_keeper(deadline, helper, false, -1);
	helper->state = HELPER_STUCK;
	helper->owner = owner;
	deadline->current = NULL;
	forgive(deadline);
	find_debt(deadline, owner)->ns += wait_ns;
	deadline->all_ns += wait_ns;
	/* The next helper starts while the caller does something else. */
	(void)deadline_room(deadline);
}

enum deadline_end deadline_run(
	struct deadline *deadline, uint64_t owner, int64_t wait_ns, int (*job)(void *room), int *fd)
{
	struct deadline_slot *slot;
	char byte;

	*fd = -1;
	if (is_refused(deadline, owner) || !deadline_room(deadline))
		return DEADLINE_REFUSED;
	slot = &deadline->shared->slots[deadline->current - deadline->helpers];
	if (atomic_load(&slot->pid) != 0)
		share_scheduling(atomic_load(&slot->pid), &deadline->current->scheduling);
	slot->job = job;
	slot->sends_fd = false;
	atomic_store(&slot->turn, TURN_HELPER);
	deadline_wake(&slot->turn);
	if (!wait_for_helper(slot, wait_ns)) {
		deadline_give_up(deadline, owner, wait_ns);
		return DEADLINE_LATE;
	}
	if (slot->sends_fd)
		(void)!message_receive(deadline->current->socket, &byte, sizeof(byte), MSG_DONTWAIT, fd);
	return DEADLINE_DONE;
}
