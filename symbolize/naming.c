/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/naming.h"

#include "symbolize/cache.h"
#include "symbolize/naming_child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Limits of one task: a constant, and more for the bytes that its files have on disk. Naming takes some 10 ns and 4
 * bytes of memory for each byte of uncompressed debug information, and five times that for compressed one.
 */
static const int64_t least_cpu_ns = 500000000, cpu_ns_per_byte = 60;
static const uint64_t least_memory_bytes = (uint64_t)40 << 20, memory_factor = 12;
/* /proc/kallsyms has no bytes on disk. */
static const uint64_t kallsyms_bytes = (uint64_t)16 << 20;
/* A thread's stack counts as the child's memory. */
static const uint64_t stack_bytes = NAMING_STACK_BYTES;
/* When tasks of one owner have failed for longer than this together, the owner's other files are left unnamed. */
static const int64_t owner_cpu_ns = 1000000000;

enum {
	TICK_MS = 10,
	/*
	 * A child that uses no CPU time for so many ticks of its parent waits for a file that does not come. Ticks,
	 * because on a machine with too much to do the parent has to wait as well.
	 */
	STALL_TICKS = 200,
	MAX_RUNNING = 64, /* tasks in progress: more than a pool has threads */
	PIPE_BYTES = 1 << 20,
};

enum task_state {
	TASK_WAITING,
	TASK_RUNNING,
	TASK_SUSPECT, /* it was in progress when a child failed, with others */
	TASK_DONE,    /* named, or known not to be */
};

enum failure {
	FAILURE_NONE,
	FAILURE_CRASH,
	FAILURE_CPU,
	FAILURE_MEMORY,
	FAILURE_STALL,
	FAILURE_OWNER, /* files of the same owner failed for too long */
};

struct task_progress {
	enum task_state state;
	uid_t owner;        /* of the file */
	bool is_trusted;    /* only root could have written it */
	uint64_t own_bytes; /* of the image and the maps, on disk */
	int64_t used_ns;    /* CPU time in the present child, its share while that works on several */
	int64_t wasted_ns;  /* CPU time in children that failed */
};

struct naming {
	struct naming_task *tasks;
	struct task_progress *progress; /* [task] */
	uint32_t *order;                /* root's tasks first */
	size_t count;
	const struct symbolize_options *options;
	struct elf_image **images;    /* [task], for the broker */
	struct broker_shares *shares; /* NULL: none could be made */
	size_t shares_bytes;
	int64_t wasted_ns; /* by all tasks */
	struct buffer *notices;
	bool is_stopped;
};

/* A child process, and what has come from it. */
struct run {
	struct naming *naming;
	pid_t child, broker;
	int input;
	uint32_t running[MAX_RUNNING]; /* tasks in progress */
	size_t running_count;
	struct naming_answer answer;
	size_t answer_size; /* bytes of it that are here */
	uint8_t *table;     /* owned; the tables of the answer, when that is complete */
	size_t table_size;
	int64_t cpu_ns;           /* the child's CPU time when last asked */
	unsigned int still_ticks; /* since it last changed, or an answer came */
	bool is_over;             /* the child has closed its end */
	enum failure failure;
};

static int64_t naming_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_stopped(const struct naming *n)
{
	return n->is_stopped || (n->options->is_stopped && n->options->is_stopped());
}

/* ---- Limits ---- */

static uint64_t bytes_of(const struct naming *n, size_t task)
{
	return atomic_load(&n->shares->bytes[task]);
}

static int64_t cpu_limit_ns(const struct naming *n, size_t task)
{
	uint64_t bytes = bytes_of(n, task), most = (uint64_t)(INT64_MAX / 4 / cpu_ns_per_byte);

	return (least_cpu_ns + cpu_ns_per_byte * (int64_t)(bytes < most ? bytes : most)) * (int64_t)confined_slowdown();
}

/* Shares the CPU time since the last time among the tasks in progress. */
static void charge(struct run *run)
{
	int64_t used_ns = confined_cpu_ns(run->child);

	if (used_ns <= run->cpu_ns)
		return;
	for (size_t i = 0; i < run->running_count; i++)
		run->naming->progress[run->running[i]].used_ns += (used_ns - run->cpu_ns) / (int64_t)run->running_count;
	run->cpu_ns = used_ns;
	run->still_ticks = 0;
}

static void check_limits(struct run *run)
{
	const struct naming *n = run->naming;

	run->still_ticks++;
	charge(run);
	for (size_t i = 0; i < run->running_count; i++)
		if (n->progress[run->running[i]].used_ns > cpu_limit_ns(n, run->running[i]))
			run->failure = FAILURE_CPU;
	if (run->still_ticks > STALL_TICKS)
		run->failure = FAILURE_STALL;
}

/* ---- Answers ---- */

/* The cache is the parent's: whoever took over the child can change what is kept of its own image at most. */
static void keep_new(const struct naming *n, const struct naming_task *task, const struct naming_answer *answer)
{
	struct frame_cache_key key;

	if (!answer->is_new || !n->options->cache_directory || !task->image)
		return;
	key = frame_cache_key_of(n->options, task->image, NULL, NULL);
	key.files[1] = answer->debug;
	key.files[2] = answer->alt;
	frame_cache_add(&key, &task->table);
}

static void note(const struct naming *n, const char *line)
{
	if (n->notices && line[0])
		buffer_printf(n->notices, "%s\n", line);
}

static bool naming_read_tables(const struct run *run, struct naming_task *task)
{
	uint64_t code_bytes = run->answer.code_bytes, padding = -code_bytes % sizeof(uint64_t);

	return code_bytes < run->table_size && padding <= run->table_size - code_bytes &&
	       named_frames_init(&task->table, run->table, (size_t)code_bytes) &&
	       named_frames_init(&task->data_table, run->table + code_bytes + padding,
		       (size_t)(run->table_size - code_bytes - padding));
}

static void take_done(struct run *run, struct naming_task *task)
{
	struct naming *n = run->naming;

	task->bytes = TAKE(run->table);
	task->is_kallsyms_restricted = run->answer.is_kallsyms_restricted;
	note(n, run->answer.message);
	keep_new(n, task, &run->answer);
}

static void take_failed(struct run *run, struct task_progress *progress)
{
	struct naming *n = run->naming;
	struct error why = { 0 };

	if (run->answer.code == ERROR_MEMORY) {
		progress->state = TASK_SUSPECT;
		return;
	}
	snprintf(why.message, sizeof(why.message), "%.480s: its code stays unnamed", run->answer.message);
	note(n, why.message);
}

static void end_task(struct run *run, size_t number)
{
	struct naming *n = run->naming;

	n->progress[number].state = TASK_DONE;
	for (size_t i = 0; i < run->running_count; i++)
		if (run->running[i] == number)
			run->running[i] = run->running[--run->running_count];
	atomic_fetch_sub(&n->shares->all_bytes, bytes_of(n, number));
	broker_limit_memory(n->shares, run->child);
}

/* False if the message cannot be one of the child's code: something else runs there. */
static bool take_answer(struct run *run)
{
	struct naming *n = run->naming;
	const struct naming_answer *answer = &run->answer;
	struct task_progress *progress = &n->progress[answer->task];

	charge(run);
	run->still_ticks = 0;
	if (answer->kind == NAMING_BEGINS && progress->state == TASK_WAITING && run->running_count < MAX_RUNNING) {
		progress->state = TASK_RUNNING;
		run->running[run->running_count++] = answer->task;
		return true;
	}
	if (progress->state != TASK_RUNNING)
		return false;
	/* What runs beside a task may have written into its table: the task is not done then, but is tried again. */
	if (answer->kind == NAMING_DONE && !naming_read_tables(run, &n->tasks[answer->task])) {
		n->tasks[answer->task].table = n->tasks[answer->task].data_table = (struct named_frames){ 0 };
		run->failure = FAILURE_CRASH;
		return false;
	}
	end_task(run, answer->task);
	if (answer->kind == NAMING_DONE)
		take_done(run, &n->tasks[answer->task]);
	else
		take_failed(run, progress);
	return true;
}

/* Whether the start of a message allows for the rest of it, and makes room for that. */
static bool begin_table(struct run *run)
{
	struct naming_answer *answer = &run->answer;

	answer->message[sizeof(answer->message) - 1] = '\0';
	if (answer->kind > NAMING_FAILED || answer->task >= run->naming->count ||
		(answer->kind != NAMING_DONE && answer->bytes > 0) ||
		answer->bytes > naming_most_bytes(&run->naming->tasks[answer->task]))
		return false;
	run->table = malloc(answer->bytes + 1);
	return run->table != NULL;
}

static bool take_bytes(struct run *run)
{
	bool is_start = run->answer_size < sizeof(run->answer);
	uint8_t *into = is_start ? (uint8_t *)&run->answer + run->answer_size : run->table + run->table_size;
	size_t room = is_start ? sizeof(run->answer) - run->answer_size : run->answer.bytes - run->table_size;
	ssize_t got = read(run->input, into, room);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (got <= 0) {
		run->is_over = true;
		return true;
	}
	if (is_start)
		run->answer_size += (size_t)got;
	else
		run->table_size += (size_t)got;
	if (is_start && run->answer_size == sizeof(run->answer) && !begin_table(run))
		return false;
	if (run->answer_size < sizeof(run->answer) || run->table_size < run->answer.bytes)
		return true;
	run->answer_size = 0;
	if (!take_answer(run))
		return false;
	free(TAKE(run->table));
	run->table_size = 0;
	return true;
}

/* ---- A child ---- */

/* The broker only reads requests, but opens what the child names: it too may wait for a file that does not come. */
static void serve(const struct run *run, int socket, const struct naming *n)
{
	const struct broker broker = { n->images, n->count, n->options, n->shares, run->child, socket };
	int *kept = calloc(n->count + 1, sizeof(*kept));
	size_t count = 0;

	if (!kept)
		_exit(1);
	kept[count++] = socket;
	for (size_t i = 0; i < n->count; i++)
		if (n->images[i])
			kept[count++] = elf_image_descriptor(n->images[i]);
	confined_keep(kept, count);
	free(kept);
	broker_serve(&broker);
	_exit(0);
}

static bool start(struct run *run, const struct naming_child *child, const int sockets[2])
{
	struct naming *n = run->naming;

	run->child = confined_fork();
	if (run->child == 0) {
		munmap(n->shares, n->shares_bytes);
		naming_child_run(child);
	}
	if (run->child < 0)
		return false;
	run->broker = confined_fork();
	if (run->broker == 0)
		serve(run, sockets[1], n);
	return run->broker > 0;
}

/* What the child may take at first: the threads take tasks in order, so no more of them are in progress. */
static void share_memory(struct naming *n, struct naming_child *child)
{
	uint64_t threads = work_pool_threads(n->options->threads), at_once = threads, all = 0;

	for (size_t i = 0; i < child->chosen_count; i++) {
		uint32_t task = child->chosen[i];

		atomic_store(&n->shares->bytes[task], n->progress[task].own_bytes);
		all += n->progress[task].own_bytes;
	}
	if (at_once > child->chosen_count)
		at_once = child->chosen_count;
	child->memory_bytes = at_once * (least_memory_bytes + threads * stack_bytes);
	n->shares->memory_factor = memory_factor;
	n->shares->data_bytes = child_memory().data + child->memory_bytes;
	atomic_store(&n->shares->all_bytes, all);
	child->memory_bytes += all * memory_factor;
}

/* One that does not end is left to the kernel: it waits for a file that does not come, and ends when that comes. */
static void reap(pid_t pid)
{
	static const long longest_ns = 500000000; /* pauses double up to it: 1 s in all */
	struct timespec pause = { .tv_nsec = 20000 };

	if (pid <= 0)
		return;
	while (waitpid(pid, NULL, WNOHANG) == 0 && pause.tv_nsec < longest_ns) {
		(void)nanosleep(&pause, NULL);
		pause.tv_nsec *= 2;
	}
}

static bool open_channels(int output[2], int sockets[2], struct error *err)
{
	if (pipe2(output, O_CLOEXEC) != 0)
		return error_set_errno(err, errno, "cannot make a pipe");
	(void)fcntl(output[0], F_SETPIPE_SZ, PIPE_BYTES);
	(void)fcntl(output[0], F_SETFL, O_NONBLOCK);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0)
		return true;
	error_set_errno(err, errno, "cannot make a socket");
	close(output[0]);
	close(output[1]);
	return false;
}

static bool run_start(struct run *run, struct naming_child *child, struct error *err)
{
	int output[2], sockets[2];
	bool ok;

	if (!open_channels(output, sockets, err))
		return false;
	share_memory(run->naming, child);
	child->output = output[1];
	child->broker = sockets[0];
	ok = start(run, child, sockets) || error_set_errno(err, errno, "cannot start a process");
	run->input = output[0];
	close(output[1]);
	close(sockets[0]);
	close(sockets[1]);
	return ok;
}

static void run_end(struct run *run)
{
	if (run->child > 0)
		(void)kill(run->child, SIGKILL);
	if (run->broker > 0)
		(void)kill(run->broker, SIGKILL);
	reap(run->child);
	reap(run->broker);
	close(run->input);
	free(run->table);
}

/* Takes what the child sends, until it ends, fails, or is to be stopped. */
static void run_follow(struct run *run)
{
	struct naming *n = run->naming;
	struct pollfd from = { .fd = run->input, .events = POLLIN };
	int64_t checked_ns = naming_now_ns();

	while (!run->is_over && run->failure == FAILURE_NONE && !is_stopped(n)) {
		int ready = poll(&from, 1, TICK_MS);

		if (ready > 0 && !take_bytes(run))
			run->failure = FAILURE_CRASH;
		if (naming_now_ns() - checked_ns < TICK_MS * 1000000L)
			continue;
		check_limits(run);
		checked_ns = naming_now_ns();
	}
	n->is_stopped = is_stopped(n);
	if (run->failure == FAILURE_NONE && !n->is_stopped && run->running_count > 0)
		run->failure = FAILURE_CRASH;
}

/* ---- Tasks that failed ---- */

static void note_failure(const struct naming *n, size_t number, enum failure failure)
{
	const char *label = n->tasks[number].label;
	struct error line = { 0 };

	switch (failure) {
	case FAILURE_NONE:
		return;
	case FAILURE_CRASH:
		error_set(&line, ERROR_FORMAT, "%.200s: the process that named its functions crashed", label);
		break;
	case FAILURE_CPU:
		error_set(&line, ERROR_LIMIT, "%.200s: naming its functions took more than %.1f s of CPU time", label,
			(double)cpu_limit_ns(n, number) / 1e9);
		break;
	case FAILURE_MEMORY:
		error_set(&line, ERROR_LIMIT, "%.200s: naming its functions took more than %" PRIu64 " MB of memory",
			label, (least_memory_bytes + memory_factor * bytes_of(n, number)) >> 20);
		break;
	case FAILURE_STALL:
		error_set(&line, ERROR_LIMIT, "%.200s: its files did not arrive within %.0f s", label,
			STALL_TICKS * TICK_MS / 1e3);
		break;
	case FAILURE_OWNER:
		error_set(&line, ERROR_LIMIT, "%.200s: naming other files of the same owner crashed or took too long",
			label);
		break;
	}
	if (n->notices)
		buffer_printf(n->notices, "%s: its code stays unnamed\n", line.message);
}

static void give_up(struct naming *n, size_t number, enum failure failure)
{
	n->progress[number].state = TASK_DONE;
	note_failure(n, number, failure);
}

static bool is_owner_given_up(const struct naming *n, size_t number)
{
	int64_t wasted_ns = 0;

	for (size_t i = 0; n->wasted_ns > 0 && i < n->count; i++)
		if (n->progress[i].owner == n->progress[number].owner)
			wasted_ns += n->progress[i].wasted_ns;
	return !n->progress[number].is_trusted && wasted_ns > owner_cpu_ns * (int64_t)confined_slowdown();
}

static void waste(struct naming *n, size_t number, int64_t ns)
{
	n->progress[number].wasted_ns += ns;
	n->wasted_ns += ns;
}

/* What a failed child was about: one task has failed, several are to be tried again alone. */
static void settle(struct run *run, const uint32_t *chosen, size_t count)
{
	struct naming *n = run->naming;

	for (size_t i = 0; i < count && !n->is_stopped; i++) {
		struct task_progress *progress = &n->progress[chosen[i]];
		bool is_running = progress->state == TASK_RUNNING;

		if (!is_running && progress->state != TASK_SUSPECT)
			continue;
		waste(n, chosen[i], progress->used_ns);
		if (is_running && run->failure == FAILURE_STALL)
			waste(n, chosen[i], owner_cpu_ns);
		progress->used_ns = 0;
		if (count == 1 || (is_running && run->running_count == 1))
			give_up(n, chosen[i], is_running ? run->failure : FAILURE_MEMORY);
		else
			progress->state = TASK_SUSPECT;
	}
}

/* Runs a child for these tasks. */
static bool run_tasks(struct naming *n, const uint32_t *chosen, size_t count, struct error *err)
{
	struct run run = { .naming = n, .child = -1, .broker = -1 };
	struct naming_child child = {
		.tasks = n->tasks, .chosen = chosen, .chosen_count = count, .options = n->options
	};

	for (size_t i = 0; i < count; i++)
		n->progress[chosen[i]].state = TASK_WAITING;
	if (!run_start(&run, &child, err)) {
		run_end(&run);
		return false;
	}
	run_follow(&run);
	run_end(&run);
	settle(&run, chosen, count);
	for (size_t i = 0; i < count; i++)
		if (n->progress[chosen[i]].state != TASK_WAITING)
			return true;
	/* Another child would do no better. */
	return n->is_stopped || error_set(err, ERROR_SYSTEM, "the process that names functions ended at once");
}

/* ---- All tasks ---- */

/* The tasks in a state, root's first; those of owners that are given up are given up too. */
static size_t choose(struct naming *n, enum task_state state, uint32_t *chosen)
{
	size_t count = 0;

	for (size_t i = 0; i < n->count; i++) {
		uint32_t number = n->order[i];

		if (n->progress[number].state != state)
			continue;
		if (is_owner_given_up(n, number))
			give_up(n, number, FAILURE_OWNER);
		else
			chosen[count++] = number;
	}
	return count;
}

static bool run_all(struct naming *n, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *chosen = calloc(n->count + 1, sizeof(*chosen));
	size_t count;

	if (!chosen)
		return error_set_memory(err);
	while (!is_stopped(n) && (count = choose(n, TASK_WAITING, chosen)) > 0) {
		if (!run_tasks(n, chosen, count, err))
			return false;
		/* Alone, a task has its limits for itself, and fails for itself. */
		while (!is_stopped(n) && choose(n, TASK_SUSPECT, chosen) > 0)
			if (!run_tasks(n, chosen, 1, err))
				return false;
	}
	return true;
}

static void look_at(struct naming *n, size_t number)
{
	const struct naming_task *task = &n->tasks[number];
	struct task_progress *progress = &n->progress[number];
	const struct file_opened *maps[] = { task->map, task->inherited };
	int fd = task->image ? elf_image_descriptor(task->image) : -1;
	struct stat info;

	n->images[number] = task->image;
	progress->own_bytes = broker_disk_bytes(fd) + (task->kallsyms ? kallsyms_bytes : 0);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		if (!maps[i])
			continue;
		progress->own_bytes += broker_disk_bytes(maps[i]->fd);
		fd = fd < 0 ? maps[i]->fd : fd;
	}
	progress->is_trusted = fd < 0;
	if (fd >= 0 && fstat(fd, &info) == 0) {
		progress->owner = info.st_uid;
		progress->is_trusted = info.st_uid == 0 && !(info.st_mode & (S_IWGRP | S_IWOTH));
	}
}

static bool naming_init(struct naming *n, struct error *err)
{
	size_t count = 0;
	void *shares;

	n->shares_bytes = sizeof(*n->shares) + n->count * sizeof(n->shares->bytes[0]);
	shares = mmap(NULL, n->shares_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	n->shares = shares == MAP_FAILED ? NULL : shares;
	n->progress = calloc(n->count, sizeof(*n->progress));
	n->order = calloc(n->count, sizeof(*n->order));
	n->images = calloc(n->count, sizeof(struct elf_image *));
	if (!n->shares || !n->progress || !n->order || !n->images)
		return error_set_memory(err);
	for (size_t i = 0; i < n->count; i++)
		look_at(n, i);
	for (unsigned int is_trusted = 2; is_trusted-- > 0;)
		for (size_t i = 0; i < n->count; i++)
			if (n->progress[i].is_trusted == is_trusted)
				n->order[count++] = (uint32_t)i;
	return true;
}

static void naming_deinit(struct naming *n)
{
	if (n->shares)
		munmap(n->shares, n->shares_bytes);
	free(n->progress);
	free(n->order);
	free(n->images);
}

static void note_stopped(const struct naming *n)
{
	size_t unnamed = 0;

	for (size_t i = 0; i < n->count; i++)
		unnamed += n->progress[i].state != TASK_DONE;
	if (n->notices && unnamed > 0)
		buffer_printf(n->notices,
			"interrupted while functions were named: the code of %zu of %zu binaries stays unnamed\n",
			unnamed, n->count);
}

void naming_run(
	struct naming_task *tasks, size_t count, const struct symbolize_options *options, struct buffer *notices)
{
	struct symbolize_options naming = *options;
	struct naming n = { .tasks = tasks, .count = count, .options = &naming, .notices = notices };
	struct error why;

	naming.cache_program = frame_cache_program();
	if (count == 0)
		return;
	if ((!naming_init(&n, &why) || !run_all(&n, &why)) && notices)
		buffer_printf(notices, "%s: functions stay unnamed\n", why.message);
	if (n.is_stopped)
		note_stopped(&n);
	naming_deinit(&n);
}

void naming_task_deinit(struct naming_task *task)
{
	free(task->bytes);
	task->bytes = NULL;
}
