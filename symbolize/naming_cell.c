/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/naming_cell.h"

#include "symbolize/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Limits of one task: a constant, and more for the bytes that its files have on disk. Naming takes some 10 ns and 4
 * bytes of memory for each byte of uncompressed debug information, and five times that for compressed one.
 */
static const int64_t least_cpu_ns = 500000000, cpu_ns_per_byte = 60;
static const uint64_t least_memory_bytes = (uint64_t)40 << 20, memory_factor = 12;
/* A thread's stack counts as the child's memory. */
static const uint64_t stack_bytes = NAMING_STACK_BYTES;

enum {
	/*
	 * A child that uses no CPU time for so many ticks of its parent waits for a file that does not come. Ticks,
	 * because on a machine with too much to do the parent has to wait as well.
	 */
	STALL_TICKS = 200,
	PIPE_BYTES = 1 << 20,
	CACHE_REQUESTS_OF_A_TASK = 8, /* more than the code of the child makes */
};

static struct naming_task *task_at(const struct naming_cell *cell, size_t index)
{
	return &cell->job->tasks[cell->chosen[index]];
}

static struct naming_progress *progress_at(const struct naming_cell *cell, size_t index)
{
	return &cell->job->progress[cell->chosen[index]];
}

/* ---- Limits ---- */

int64_t naming_cpu_limit_ns(const struct naming_cell *cell, size_t index)
{
	uint64_t bytes = atomic_load(&cell->shares->bytes[index]), most = (uint64_t)(INT64_MAX / 4 / cpu_ns_per_byte);

	return (least_cpu_ns + cpu_ns_per_byte * (int64_t)(bytes < most ? bytes : most)) * (int64_t)child_slowdown();
}

uint64_t naming_memory_limit_bytes(const struct naming_cell *cell, size_t index)
{
	return least_memory_bytes + memory_factor * atomic_load(&cell->shares->bytes[index]);
}

unsigned int naming_stall_seconds(void)
{
	return STALL_TICKS * NAMING_TICK_MS / 1000;
}

/* Shares the CPU time since the last time among the tasks in progress. */
static void naming_cell_charge(struct naming_cell *cell)
{
	pid_t child = atomic_load(&cell->shares->child);
	int64_t used_ns = child > 0 ? child_cpu_ns(child) : 0;

	if (used_ns <= cell->cpu_ns)
		return;
	for (size_t i = 0; i < cell->running_count; i++)
		progress_at(cell, cell->running[i])->used_ns += (used_ns - cell->cpu_ns) / (int64_t)cell->running_count;
	cell->cpu_ns = used_ns;
	cell->still_ticks = 0;
}

static void check_limits(struct naming_cell *cell)
{
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (now_ns - cell->checked_ns < NAMING_TICK_MS * 1000000L)
		return;
	cell->checked_ns = now_ns;
	cell->still_ticks++;
	naming_cell_charge(cell);
	for (size_t i = 0; i < cell->running_count; i++)
		if (progress_at(cell, cell->running[i])->used_ns > naming_cpu_limit_ns(cell, cell->running[i]))
			cell->failure = NAMING_CPU;
	if (cell->still_ticks > STALL_TICKS)
		cell->failure = NAMING_STALLED;
}

/* ---- Answers ---- */

/*
 * The cache is the parent's: whoever took over the child can change what is kept of the images of the same owner, which
 * that owner can change as well.
 */
static void keep_new(const struct naming_cell *cell, size_t index)
{
	const struct symbolize_options *options = cell->job->options;
	const struct naming_task *task = task_at(cell, index);
	struct frame_cache_key key;

	if (!cell->answer.is_new || !options->cache_directory || !task->image || !progress_at(cell, index)->is_kept)
		return;
	key = frame_cache_key_of(options, task->image, NULL, NULL);
	key.files[1] = cell->answer.debug;
	key.files[2] = cell->answer.alt;
	frame_cache_add(&key, &task->table);
}

static void naming_cell_note(const struct naming_cell *cell, const char *line)
{
	if (cell->job->notices && line[0])
		buffer_printf(cell->job->notices, "%s\n", line);
}

static void take_done(struct naming_cell *cell, size_t index)
{
	struct naming_task *task = task_at(cell, index);

	task->bytes = TAKE(cell->table);
	task->is_kallsyms_restricted = cell->answer.is_kallsyms_restricted;
	naming_cell_note(cell, cell->answer.message);
	keep_new(cell, index);
}

static void take_failed(struct naming_cell *cell, size_t index)
{
	struct error why = { 0 };

	if (cell->answer.code == ERROR_MEMORY) {
		progress_at(cell, index)->state = NAMING_SUSPECT;
		return;
	}
	snprintf(why.message, sizeof(why.message), "%.480s: its code stays unnamed", cell->answer.message);
	naming_cell_note(cell, why.message);
}

static void end_task(struct naming_cell *cell, size_t index)
{
	progress_at(cell, index)->state = NAMING_ENDED;
	cell->is_over = ++cell->ended_count == cell->count;
	for (size_t i = 0; i < cell->running_count; i++)
		if (cell->running[i] == index)
			cell->running[i] = cell->running[--cell->running_count];
	atomic_fetch_sub(&cell->shares->all_bytes, atomic_load(&cell->shares->bytes[index]));
}

static bool take_confined(struct naming_cell *cell)
{
	if (cell->is_confined)
		return false;
	cell->is_confined = true;
	cell->job->lacks |= cell->answer.lacks & CONFINED_WITHOUT_ANY;
	if (cell->answer.lacks && cell->job->options->require_confinement)
		cell->failure = NAMING_UNCONFINED;
	return true;
}

static bool take_begins(struct naming_cell *cell, uint32_t index)
{
	if (progress_at(cell, index)->state != NAMING_WAITING || cell->running_count == NAMING_MOST_RUNNING)
		return false;
	progress_at(cell, index)->state = NAMING_RUNNING;
	cell->running[cell->running_count++] = index;
	return true;
}

static bool naming_cell_take_end(struct naming_cell *cell, uint32_t index)
{
	struct naming_task *task = task_at(cell, index);
	bool is_done = cell->answer.kind == NAMING_DONE;

	if (progress_at(cell, index)->state != NAMING_RUNNING)
		return false;
	/* What runs beside a task may have written into its table: the task is not done then, but is tried again. */
	if (is_done && !naming_task_open_tables(task, cell->table, cell->table_size, cell->answer.code_bytes)) {
		task->table = task->data_table = (struct named_frames){ 0 };
		return false;
	}
	end_task(cell, index);
	if (is_done)
		take_done(cell, index);
	else
		take_failed(cell, index);
	return true;
}

/* False if the message cannot be one of the child's code: something else runs there. */
static bool naming_cell_take_answer(struct naming_cell *cell)
{
	naming_cell_charge(cell);
	cell->still_ticks = 0;
	if (cell->answer.kind == NAMING_CONFINED)
		return take_confined(cell);
	return cell->is_confined &&
	       (cell->answer.kind == NAMING_BEGINS ? take_begins(cell, cell->answer.task)
						   : naming_cell_take_end(cell, cell->answer.task));
}

/* Returns whether the start of a message allows for the rest of it, and makes room for that. */
static bool naming_cell_begin_table(struct naming_cell *cell)
{
	struct naming_answer *answer = &cell->answer;

	answer->message[sizeof(answer->message) - 1] = '\0';
	if (answer->kind > NAMING_FAILED || answer->task >= cell->count ||
		(answer->kind != NAMING_DONE && answer->bytes > 0) ||
		answer->bytes > naming_most_bytes(task_at(cell, answer->task)))
		return false;
	cell->table = malloc(answer->bytes + 1);
	return cell->table != NULL;
}

enum taken { TAKEN_BYTES, TAKEN_NOTHING, TAKEN_WRONG };

static enum taken take_bytes(struct naming_cell *cell)
{
	bool is_start = cell->answer_size < sizeof(cell->answer);
	uint8_t *into = is_start ? (uint8_t *)&cell->answer + cell->answer_size : cell->table + cell->table_size;
	size_t room = is_start ? sizeof(cell->answer) - cell->answer_size : cell->answer.bytes - cell->table_size;
	ssize_t got = read(cell->input, into, room);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return TAKEN_NOTHING;
	if (got <= 0) {
		cell->is_over = true;
		return TAKEN_NOTHING;
	}
	if (is_start)
		cell->answer_size += (size_t)got;
	else
		cell->table_size += (size_t)got;
	if (is_start && cell->answer_size == sizeof(cell->answer) && !naming_cell_begin_table(cell))
		return TAKEN_WRONG;
	if (cell->answer_size < sizeof(cell->answer) || cell->table_size < cell->answer.bytes)
		return TAKEN_BYTES;
	cell->answer_size = 0;
	if (!naming_cell_take_answer(cell))
		return TAKEN_WRONG;
	free(TAKE(cell->table));
	cell->table_size = 0;
	return TAKEN_BYTES;
}

/* Gives the child a file of the cache, if it keeps frames of the image of that task. */
static bool answer_cache_request(struct naming_cell *cell)
{
	const char *directory = cell->job->options->cache_directory;
	struct naming_cache_request request;
	CLEANUP(cleanup_close) int fd = -1;
	ssize_t got = message_receive(cell->cache, &request, sizeof(request), MSG_DONTWAIT, &fd);
	const struct elf_image *image;

	if (got < 0)
		return errno == EAGAIN;
	cleanup_close(&fd);
	fd = -1;
	if (got == 0) {
		close(cell->cache);
		cell->cache = -1;
		return true;
	}
	if (got != (ssize_t)sizeof(request) || request.task >= cell->count ||
		++cell->cache_requests > cell->count * CACHE_REQUESTS_OF_A_TASK)
		return false;
	image = task_at(cell, request.task)->image;
	fd = directory && image ? frame_cache_open_file(directory, request.name, image) : -1;
	return message_send(cell->cache, "", 1, fd);
}

void naming_cell_follow(struct naming_cell *cell)
{
	enum taken taken;

	/* The loop ends, as no task has more than three messages. */
	do
		taken = take_bytes(cell);
	while (taken == TAKEN_BYTES && !cell->is_over && cell->failure == NAMING_UNHARMED);
	if (taken == TAKEN_WRONG || (cell->cache >= 0 && !answer_cache_request(cell)))
		cell->failure = NAMING_CRASHED;
	if (cell->failure == NAMING_UNHARMED && cell->is_over && cell->running_count > 0)
		cell->failure = NAMING_CRASHED;
	if (cell->failure == NAMING_UNHARMED && !cell->is_over)
		check_limits(cell);
}

/* ---- Its processes ---- */

/*
 * The staff from which a cell's processes are made (naming_cell.h: the confined processes that name one owner's files).
 * The supervisor starts the other two, and when it ends, the kernel kills them: the broker has become another user by
 * then, who may not kill the child. It reads nothing at all.
 */
struct staff {
	const struct naming_cell *cell;
	struct naming_child child;
	int sockets[2]; /* the child's, the broker's */
	int alive[2];   /* a pipe whose second end only the supervisor keeps */
};

/* It too may wait for a file that does not come. One that cannot become the owner opens nothing. */
static _Noreturn void run_broker(const struct staff *staff)
{
	const struct naming_cell *cell = staff->cell;
	struct elf_image **images = calloc(cell->count + 1, sizeof(struct elf_image *));
	struct broker broker = { .images = images,
		.image_count = cell->count,
		.owner = cell->job->owners[cell->owner].who,
		.options = staff->child.options,
		.shares = cell->shares,
		.socket = staff->sockets[1] };

	if (!images)
		_exit(1);
	(void)prctl(PR_SET_NAME, "kelvin-broker");
	broker_open_root(&broker);
	for (size_t i = 0; i < cell->count; i++)
		images[i] = task_at(cell, i)->image;
	if (!broker_become(&broker))
		memset(images, 0, cell->count * sizeof(struct elf_image *));
	broker_serve(&broker);
	_exit(0);
}

static _Noreturn void naming_cell_run_child(struct staff *staff)
{
	(void)prctl(PR_SET_NAME, "kelvin-namer");
	munmap(staff->cell->shares, staff->cell->shares_bytes);
	staff->child.broker = staff->sockets[0];
	staff->child.alive = staff->alive[0];
	naming_child_run(&staff->child);
}

/*
 * Waits for the broker and the child, which is all that the supervisor still does: it waits, and reads nothing that
 * anybody wrote. CAP_KILL is for the kernel, which kills the others in its name.
 */
static void wait_for_both(const struct staff *staff)
{
	(void)confined_enter(&(struct confinement){ .descriptors = &staff->alive[1],
		.descriptor_count = 1,
		.capabilities = RIGHTS_CAPABILITY(CAP_KILL),
		.files = CONFINED_ANY_FILES,
		.calls = CONFINED_ANY_CALLS });
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* The broker is started outside of the namespaces that the child gets. */
static _Noreturn void run_supervisor(struct staff *staff)
{
	pid_t broker, child;

	(void)prctl(PR_SET_NAME, "kelvin-cell");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, staff->sockets) != 0 ||
		pipe2(staff->alive, O_CLOEXEC) != 0)
		_exit(1);
	broker = child_fork(CHILD_IS_QUIET);
	if (broker == 0)
		run_broker(staff);
	staff->child.user = rights_user(getpid());
	staff->child.left = confined_separate();
	child = broker > 0 ? child_fork(CHILD_IS_QUIET) : -1;
	if (child == 0)
		naming_cell_run_child(staff);
	if (child < 0)
		_exit(1);
	/* It is the child's number until somebody waits for the child. */
	atomic_store(&staff->cell->shares->child, child);
	wait_for_both(staff);
	_exit(0);
}

static bool make_shares(struct naming_cell *cell)
{
	void *shares;

	cell->shares_bytes = sizeof(*cell->shares) + cell->count * sizeof(cell->shares->bytes[0]);
	shares = mmap(NULL, cell->shares_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cell->shares = shares == MAP_FAILED ? NULL : shares;
	return cell->shares != NULL;
}

/*
 * Shares the memory that the child may take at first: the threads take tasks in order, so no more of them are in
 * progress.
 */
static void share_memory(struct naming_cell *cell, struct naming_child *child)
{
	uint64_t threads = work_pool_threads(child->options->threads), at_once = threads, all = 0;

	for (size_t i = 0; i < cell->count; i++) {
		atomic_store(&cell->shares->bytes[i], progress_at(cell, i)->own_bytes);
		all += progress_at(cell, i)->own_bytes;
	}
	if (at_once > cell->count)
		at_once = cell->count;
	child->memory_bytes = at_once * (least_memory_bytes + threads * stack_bytes);
	cell->shares->memory_factor = memory_factor;
	cell->shares->data_bytes = proc_own_memory().data + child->memory_bytes;
	atomic_store(&cell->shares->all_bytes, all);
	child->memory_bytes += all * memory_factor;
}

/* The parent waits for several children at once, and for none of them alone. */
static bool naming_cell_wait_for_none(const struct naming_cell *cell)
{
	(void)fcntl(cell->input, F_SETPIPE_SZ, PIPE_BYTES);
	return fcntl(cell->input, F_SETFL, O_NONBLOCK) == 0 && fcntl(cell->cache, F_SETFL, O_NONBLOCK) == 0;
}

static bool symbolize_naming_cell_start(struct naming_cell *cell)
{
	struct staff staff = { .cell = cell,
		.child = { .tasks = cell->job->tasks,
			.chosen = cell->chosen,
			.chosen_count = cell->count,
			.options = cell->job->options } };
	int cache[2], output;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, cache) != 0)
		return false;
	share_memory(cell, &staff.child);
	staff.child.cache = cache[1];
	cell->supervisor = child_fork_linked(CHILD_IS_QUIET, CHILD_PIPE, &output);
	if (cell->supervisor == 0) {
		staff.child.output = output;
		run_supervisor(&staff);
	}
	close(cache[1]);
	if (cell->supervisor < 0) {
		close(cache[0]);
		return false;
	}
	cell->input = output;
	cell->cache = cache[0];
	/* What one owner's processes share, others' do not get. */
	(void)madvise(cell->shares, cell->shares_bytes, MADV_DONTFORK);
	if (naming_cell_wait_for_none(cell))
		return true;
	naming_cell_end(cell);
	return false;
}

bool naming_cell_init(struct naming_cell *cell, struct naming_job *job, uint32_t owner, uint32_t *chosen, size_t count,
	struct error *err)
{
	*cell = (struct naming_cell){ .job = job,
		.owner = owner,
		.chosen = chosen,
		.count = count,
		.supervisor = -1,
		.input = -1,
		.cache = -1,
		.checked_ns = clock_read_ns(CLOCK_MONOTONIC) };
	if (make_shares(cell))
		return true;
	naming_cell_deinit(cell);
	return error_set_memory(err);
}

bool naming_cell_start(struct naming_cell *cell, struct error *err)
{
	return symbolize_naming_cell_start(cell) ||
	       error_set_errno(err, errno, "cannot start a process that names functions");
}

/* The child and the broker end with the supervisor. Nobody waits for that: what they had to say is here. */
void naming_cell_end(struct naming_cell *cell)
{
	cleanup_close(&cell->input);
	cleanup_close(&cell->cache);
	cell->input = cell->cache = -1;
	child_end(cell->supervisor);
}

void naming_cell_deinit(struct naming_cell *cell)
{
	if (cell->shares)
		munmap(cell->shares, cell->shares_bytes);
	free(cell->table);
	free(cell->chosen);
	*cell = (struct naming_cell){ 0 };
}
