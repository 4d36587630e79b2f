/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/naming.h"

#include "symbolize/cache.h"
#include "symbolize/naming_cell.h"
#include "symbolize/naming_request.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* /proc/kallsyms has no bytes on disk. */
static const uint64_t kallsyms_bytes = (uint64_t)16 << 20;
/*
 * The CPU time after which the owner's other files are left unnamed: what failed tasks of one owner have taken
 * together.
 */
static const int64_t owner_cpu_ns = 1000000000;

/* Cells (sandboxes for one owner's files) at work at once. They share the machine's CPUs, and each takes some memory.
 */
enum { MOST_CELLS = 4 };

static bool is_stopped(const struct naming_job *n)
{
	return n->is_stopped || (n->options->is_stopped && n->options->is_stopped());
}

/* ---- Tasks that failed ---- */

static void write_failure(const struct naming_cell *cell, size_t index, enum naming_failure failure, struct error *line)
{
	const char *label = cell->job->tasks[cell->chosen[index]].label;
	char lacks[256];

	switch (failure) {
	case NAMING_UNHARMED:
	case NAMING_OWNER:
		return;
	case NAMING_CRASHED:
		error_set(line, ERROR_FORMAT, "%.200s: the process that named its functions crashed", label);
		return;
	case NAMING_CPU:
		error_set(line, ERROR_LIMIT, "%.200s: naming its functions took more than %.1f s of CPU time", label,
			(double)naming_cpu_limit_ns(cell, index) / 1e9);
		return;
	case NAMING_MEMORY:
		error_set(line, ERROR_LIMIT, "%.200s: naming its functions took more than %" PRIu64 " MB of memory",
			label, naming_memory_limit_bytes(cell, index) >> 20);
		return;
	case NAMING_STALLED:
		error_set(line, ERROR_LIMIT, "%.200s: its files did not arrive within %u s", label,
			naming_stall_seconds());
		return;
	case NAMING_UNCONFINED:
		confined_describe(cell->job->lacks, lacks, sizeof(lacks));
		error_set(line, ERROR_SYSTEM, "%.200s: the process that would read it lacks %s, which is required",
			label, lacks);
		return;
	}
}

static void note_unnamed(const struct naming_job *n, const char *why)
{
	if (n->notices)
		buffer_printf(n->notices, "%s: its code stays unnamed\n", why);
}

static void symbolize_naming_give_up(const struct naming_cell *cell, size_t index, enum naming_failure failure)
{
	struct error line = { 0 };

	cell->job->progress[cell->chosen[index]].state = NAMING_ENDED;
	write_failure(cell, index, failure, &line);
	note_unnamed(cell->job, line.message);
}

/* Root's files are never given up. */
static bool is_given_up(const struct naming_owner *owner)
{
	return !file_owner_is_root(&owner->who) && owner->wasted_ns > owner_cpu_ns * (int64_t)child_slowdown();
}

static void waste(const struct naming_cell *cell, size_t index, int64_t ns)
{
	struct naming_job *n = cell->job;

	n->progress[cell->chosen[index]].wasted_ns += ns;
	n->owners[cell->owner].wasted_ns += ns;
}

/* Settles what a failed child was about: one task has failed, several are to be tried again alone. */
static void settle_tasks(const struct naming_cell *cell)
{
	for (size_t i = 0; i < cell->count; i++) {
		struct naming_progress *progress = &cell->job->progress[cell->chosen[i]];
		bool is_running = progress->state == NAMING_RUNNING;

		if (!is_running && progress->state != NAMING_SUSPECT)
			continue;
		waste(cell, i, progress->used_ns);
		if (is_running && cell->failure == NAMING_STALLED)
			waste(cell, i, owner_cpu_ns);
		progress->used_ns = 0;
		if (cell->count == 1 || (is_running && cell->running_count == 1))
			symbolize_naming_give_up(cell, i, is_running ? cell->failure : NAMING_MEMORY);
		else
			progress->state = NAMING_SUSPECT;
	}
}

static void end_owner(struct naming_job *n, uint32_t owner, const char *why)
{
	size_t count = 0;

	for (size_t i = 0; i < n->count; i++) {
		if (n->progress[i].owner != owner || n->progress[i].state == NAMING_ENDED)
			continue;
		n->progress[i].state = NAMING_ENDED;
		count++;
	}
	if (n->notices && count > 0)
		buffer_printf(n->notices, "%s: the functions of %zu binaries stay unnamed\n", why, count);
}

/* A child that got no task further would do no better if it were started again. */
static void symbolize_naming_settle(const struct naming_cell *cell)
{
	bool has_moved = false;

	if (cell->job->is_stopped)
		return;
	for (size_t i = 0; i < cell->count; i++) {
		if (cell->failure == NAMING_UNCONFINED)
			symbolize_naming_give_up(cell, i, cell->failure);
		has_moved = has_moved || cell->job->progress[cell->chosen[i]].state != NAMING_WAITING;
	}
	settle_tasks(cell);
	if (!has_moved)
		end_owner(cell->job, cell->owner, "the process that names functions ended at once");
}

/* ---- Cells ---- */

static size_t choose_in_state(const struct naming_job *n, uint32_t owner, enum naming_state state, uint32_t *chosen)
{
	size_t count = 0;

	for (size_t i = 0; i < n->count; i++)
		if (n->progress[i].owner == owner && n->progress[i].state == state)
			chosen[count++] = (uint32_t)i;
	return count;
}

/* Chooses what the next child is for. Alone, a suspect has its limits for itself, and fails for itself. */
static size_t symbolize_naming_choose(struct naming_job *n, uint32_t owner, uint32_t *chosen)
{
	size_t count = choose_in_state(n, owner, NAMING_SUSPECT, chosen);

	count = count > 0 ? 1 : choose_in_state(n, owner, NAMING_WAITING, chosen);
	for (size_t i = 0; i < count; i++)
		n->progress[chosen[i]].state = NAMING_WAITING;
	return count;
}

static void give_up_owner(struct naming_job *n, uint32_t owner)
{
	for (size_t i = 0; i < n->count; i++) {
		struct error line;

		if (n->progress[i].owner != owner || n->progress[i].state == NAMING_ENDED)
			continue;
		n->progress[i].state = NAMING_ENDED;
		error_set(&line, ERROR_LIMIT, "%.200s: naming other files of the same owner crashed or took too long",
			n->tasks[i].label);
		note_unnamed(n, line.message);
	}
}

/* Starts a child for what is left of an owner's tasks; the owner has ended if that cannot be. */
static void start_cell(struct naming_job *n, uint32_t owner, struct naming_cell *cell)
{
	uint32_t *chosen = calloc(n->count, sizeof(*chosen));
	struct error why;
	size_t count;

	if (is_given_up(&n->owners[owner]))
		give_up_owner(n, owner);
	count = chosen ? symbolize_naming_choose(n, owner, chosen) : 0;
	if (chosen && count == 0) {
		free(chosen);
		return;
	}
	if (!chosen)
		error_set_memory(&why);
	else if (naming_cell_init(cell, n, owner, chosen, count, &why) && naming_cell_start(cell, &why)) {
		n->owners[owner].is_at_work = true;
		return;
	}
	naming_cell_deinit(cell);
	end_owner(n, owner, why.message);
}

/* Returns how many cells are at work. */
static size_t start_cells(struct naming_job *n, struct naming_cell cells[MOST_CELLS])
{
	uint32_t owner = 0;
	size_t running = 0;

	for (size_t i = 0; i < MOST_CELLS; i++) {
		for (; !cells[i].job && owner < n->owner_count; owner++)
			if (!n->owners[owner].is_at_work)
				start_cell(n, owner, &cells[i]);
		running += cells[i].job != NULL;
	}
	return running;
}

static void wait_for_cells(const struct naming_cell cells[MOST_CELLS])
{
	struct pollfd from[2 * MOST_CELLS];
	size_t count = 0;

	for (size_t i = 0; i < MOST_CELLS; i++) {
		if (!cells[i].job)
			continue;
		from[count++] = (struct pollfd){ .fd = cells[i].input, .events = POLLIN };
		from[count++] = (struct pollfd){ .fd = cells[i].cache, .events = POLLIN };
	}
	(void)poll(from, count, NAMING_TICK_MS);
}

static void end_cell(struct naming_job *n, struct naming_cell *cell)
{
	n->owners[cell->owner].is_at_work = false;
	naming_cell_end(cell);
	symbolize_naming_settle(cell);
	naming_cell_deinit(cell);
}

static void run_all(struct naming_job *n)
{
	struct naming_cell cells[MOST_CELLS] = { 0 };

	while (!is_stopped(n) && start_cells(n, cells) > 0) {
		wait_for_cells(cells);
		for (size_t i = 0; i < MOST_CELLS; i++) {
			if (!cells[i].job)
				continue;
			naming_cell_follow(&cells[i]);
			if (cells[i].is_over || cells[i].failure != NAMING_UNHARMED)
				end_cell(n, &cells[i]);
		}
	}
	n->is_stopped = is_stopped(n);
	for (size_t i = 0; i < MOST_CELLS; i++)
		if (cells[i].job)
			end_cell(n, &cells[i]);
}

/* ---- Owners ---- */

static uint32_t symbolize_naming_find_owner(struct naming_job *n, const struct file_owner *who)
{
	for (uint32_t i = 0; i < n->owner_count; i++)
		if (file_owner_is_same(&n->owners[i].who, who))
			return i;
	n->owners[n->owner_count] = (struct naming_owner){ .who = *who };
	return (uint32_t)n->owner_count++;
}

/*
 * Returns the owner of a task. Where its files have several owners, one that is not root's decides: what it says could
 * pass for the others' word.
 */
static struct file_owner owner_of_task(const struct naming_task *task)
{
	const struct file_opened *maps[] = { task->map, task->inherited };
	struct file_owner owner = { .is_known = true };

	if (task->image)
		owner = file_owner_of_image(task->image);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (maps[i] && file_owner_is_root(&owner))
			owner = file_owner_of(maps[i]->fd);
	return owner;
}

static void symbolize_naming_look_at(struct naming_job *n, size_t number)
{
	const struct naming_task *task = &n->tasks[number];
	struct naming_progress *progress = &n->progress[number];
	const struct file_opened *maps[] = { task->map, task->inherited };
	struct file_owner owner = owner_of_task(task), image;

	progress->owner = symbolize_naming_find_owner(n, &owner);
	progress->own_bytes = task->kallsyms ? kallsyms_bytes : 0;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (maps[i])
			progress->own_bytes += broker_disk_bytes(maps[i]->fd);
	if (!task->image)
		return;
	image = file_owner_of_image(task->image);
	progress->is_kept = file_owner_is_same(&image, &owner);
	progress->own_bytes += broker_disk_bytes(elf_image_descriptor(task->image));
}

static bool naming_job_init(struct naming_job *n, struct error *err)
{
	const struct file_owner root = { .is_known = true };

	if (!ARRAY_ZEROED(&n->progress, n->count, err) || !ARRAY_ZEROED(&n->owners, n->count + 1, err))
		return false;
	(void)symbolize_naming_find_owner(n, &root);
	for (size_t i = 0; i < n->count; i++)
		symbolize_naming_look_at(n, i);
	return true;
}

static void naming_job_deinit(struct naming_job *n)
{
	free(n->progress);
	free(n->owners);
}

/* ---- All of it ---- */

static void note_stopped(const struct naming_job *n)
{
	size_t unnamed = 0;

	for (size_t i = 0; i < n->count; i++)
		unnamed += n->progress[i].state != NAMING_ENDED;
	if (n->notices && unnamed > 0)
		buffer_printf(n->notices,
			"interrupted while functions were named: the code of %zu of %zu binaries stays unnamed\n",
			unnamed, n->count);
}

static void note_lacks(const struct naming_job *n)
{
	char lacks[256];

	if (!n->notices || n->lacks == 0 || n->options->require_confinement || child_is_sanitized())
		return;
	confined_describe(n->lacks, lacks, sizeof(lacks));
	buffer_printf(n->notices,
		"binaries were read by a process that is not confined in all ways, as this machine or container does "
		"not allow it: it lacked %s; --require-confinement reads none then\n",
		lacks);
}

void naming_run(
	struct naming_task *tasks, size_t count, const struct symbolize_options *options, struct buffer *notices)
{
	struct symbolize_options naming = *options;
	struct naming_job n = { .tasks = tasks, .count = count, .options = &naming, .notices = notices };
	struct error why;

	if (count > 0 && options->namer)
		naming_request(tasks, count, options, notices);
	if (count == 0 || options->namer)
		return;
	naming.cache_program = frame_cache_program();
	if (naming_job_init(&n, &why))
		run_all(&n);
	else if (notices)
		buffer_printf(notices, "%s: functions stay unnamed\n", why.message);
	if (n.is_stopped)
		note_stopped(&n);
	note_lacks(&n);
	naming_job_deinit(&n);
}

bool naming_task_open_tables(struct naming_task *task, const uint8_t *bytes, size_t size, uint64_t code_bytes)
{
	size_t padding = (size_t)(-code_bytes % sizeof(uint64_t));

	if (code_bytes >= size || padding > size - code_bytes ||
		!named_frames_init(&task->table, bytes, (size_t)code_bytes) ||
		!named_frames_init(
			&task->data_table, bytes + code_bytes + padding, size - (size_t)code_bytes - padding))
		return false;
	task->byte_count = size;
	task->code_bytes = (size_t)code_bytes;
	return true;
}

void naming_task_deinit(struct naming_task *task)
{
	free(task->bytes);
	task->bytes = NULL;
}
