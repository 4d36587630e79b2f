/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/jit_growth.h"

#include "sampler/process/jit_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int64_t ms_ns = 1000000;
enum { EVERY_MS = 10, FIRST_PAUSE_MS = 20, LONGEST_PAUSE_MS = 1000, MOST_STEPS = 1 << 14 };

void jit_growth_destroy(struct jit_growth *growth)
{
	if (!growth)
		return;
	if (growth->fd >= 0)
		close(growth->fd);
	free(growth->growth.steps);
	free(growth);
}

/* Two steps become one, which says less of when its lines were written. */
static void halve_steps(struct profile_growth *growth)
{
	for (size_t i = 0; i < growth->count / 2; i++)
		growth->steps[i] = (struct profile_growth_step){ growth->steps[2 * i].from_ns,
			growth->steps[2 * i + 1].to_ns, growth->steps[2 * i + 1].size };
	growth->count /= 2;
}

static bool jit_growth_add_step(struct jit_growth *growth, int64_t to_ns, uint64_t size, struct error *err)
{
	struct profile_growth *known = &growth->growth;

	if (known->count == MOST_STEPS)
		halve_steps(known);
	if (!ARRAY_RESERVE(&known->steps, &growth->capacity, known->count + 1, MOST_STEPS, err))
		return false;
	known->steps[known->count++] = (struct profile_growth_step){ growth->looked_ns, to_ns, size };
	return true;
}

/* The time of the last write, which the kernel knows to a tick. Who owns the file may set it to any other. */
static int64_t written_ns(const struct stat *info, int64_t now_ns)
{
	static const int64_t second_ns = 1000000000;
	int64_t unix_ns = clock_read_ns(CLOCK_REALTIME), ago_ns;

	if (info->st_mtim.tv_sec < 0 || info->st_mtim.tv_sec > unix_ns / second_ns)
		return now_ns;
	ago_ns = unix_ns - info->st_mtim.tv_sec * second_ns - info->st_mtim.tv_nsec;
	return ago_ns > JIT_TICK_NS ? now_ns - ago_ns + JIT_TICK_NS : now_ns;
}

/* Looks at the file's size. What is there at the first look was written at any time before. */
static bool look_at_size(struct jit_growth *growth, int64_t now_ns, struct error *err)
{
	const struct profile_growth *known = &growth->growth;
	uint64_t before = known->count > 0 ? known->steps[known->count - 1].size : 0;
	struct stat info;
	bool is_told = fstat(growth->fd, &info) == 0;
	int64_t to_ns;

	if (!is_told || info.st_size < 0 || (uint64_t)info.st_size < before) {
		growth->is_over = true;
		growth->was_rewritten |= is_told;
		growth->growth.count = 0;
		return true;
	}
	/* A write() that appends sets the time first, and the size behind it: it is looked at again. */
	if ((uint64_t)info.st_size == before && before > 0 &&
		memcmp(&info.st_mtim, &growth->written, sizeof(info.st_mtim)) != 0 && fstat(growth->fd, &info) == 0 &&
		(uint64_t)info.st_size == before)
		growth->was_rewritten = true;
	growth->written = info.st_mtim;
	growth->device = info.st_dev;
	growth->inode = info.st_ino;
	to_ns = written_ns(&info, now_ns);
	if (to_ns < growth->looked_ns)
		to_ns = growth->looked_ns;
	if ((uint64_t)info.st_size > before && !jit_growth_add_step(growth, to_ns, (uint64_t)info.st_size, err))
		return false;
	growth->looked_ns = now_ns;
	return true;
}

static void look_for_file(
	struct jit_growth *growth, struct process_table *table, const struct jit_place *place, int64_t now_ns)
{
	growth->account = process_table_account(table, place->pid);
	if (!shares_take(&table->watched_maps, growth->account, 1)) {
		growth->next_ns = now_ns + LONGEST_PAUSE_MS * ms_ns;
		return;
	}
	growth->fd = table->host.functions->watch_jit_map(table->host.context, place);
	if (growth->fd >= 0)
		return;
	shares_give_back(&table->watched_maps, growth->account, 1);
	growth->pause_ns = growth->pause_ns == 0 ? FIRST_PAUSE_MS * ms_ns : 2 * growth->pause_ns;
	if (growth->pause_ns > LONGEST_PAUSE_MS * ms_ns)
		growth->pause_ns = LONGEST_PAUSE_MS * ms_ns;
	growth->looked_ns = now_ns;
	growth->next_ns = now_ns + growth->pause_ns;
}

/* Leaves room for another file of the account. */
static void stop_watching(struct jit_growth *growth, struct process_table *table)
{
	growth->is_over = true;
	if (growth->fd < 0)
		return;
	close(growth->fd);
	growth->fd = -1;
	shares_give_back(&table->watched_maps, growth->account, 1);
}

static bool has_writer_ended(const struct process_table *table, const struct jit_place *place)
{
	uint32_t id = hash_map_get(&table->by_pid, &place->pid);

	return id == HASH_MAP_NONE || !table->processes[id].is_alive || place->ended_ns != 0;
}

static bool look_at_image(struct process_table *table, struct process_image *image, int64_t now_ns, struct error *err)
{
	struct jit_growth *growth = image->growth;
	bool is_last;

	if (!growth) {
		growth = image->growth = calloc(1, sizeof(*growth));
		if (!growth)
			return error_set_memory(err);
		growth->fd = -1;
	}
	if (growth->is_over || now_ns < growth->next_ns)
		return true;
	is_last = has_writer_ended(table, &image->jit_map);
	if (growth->fd < 0)
		look_for_file(growth, table, &image->jit_map, now_ns);
	if (growth->fd >= 0 && !look_at_size(growth, now_ns, err))
		return false;
	if (growth->is_over || is_last)
		stop_watching(growth, table);
	return true;
}

static bool is_watched(const struct process_table *table, const struct process_image *image)
{
	return image->jit_map.path && !image->jit_map.may_be_older && image->latest_place != PROFILE_NONE &&
	       table->places[image->latest_place].is_walked;
}

bool jit_growth_look(struct process_table *table, struct error *err)
{
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (now_ns < table->maps_next_ns)
		return true;
	table->maps_next_ns = now_ns + EVERY_MS * ms_ns;
	for (size_t i = 0; i < table->image_count; i++)
		if (is_watched(table, &table->images[i]) && !look_at_image(table, &table->images[i], now_ns, err))
			return false;
	return true;
}

static bool is_watched_file(const struct jit_growth *growth, const struct file_opened *file)
{
	struct stat found;

	return fstat(file->fd, &found) == 0 && growth->device == found.st_dev && growth->inode == found.st_ino;
}

static bool was_written_since(const struct jit_growth *growth, const struct file_opened *file)
{
	struct stat found;

	return fstat(file->fd, &found) == 0 && memcmp(&found.st_mtim, &growth->written, sizeof(found.st_mtim)) != 0;
}

bool jit_growth_was_rewritten(const struct process_image *image, const struct file_opened *file)
{
	const struct jit_growth *growth = image->growth;

	return growth && file->name &&
	       (growth->was_rewritten || (growth->growth.count > 0 && !is_watched_file(growth, file)));
}

bool jit_growth_is_anothers(const struct process_image *image, const struct file_opened *file)
{
	const struct jit_growth *growth = image->growth;

	return growth && file->name && growth->growth.count > 0 && image->jit_map.ended_ns != 0 &&
	       (!is_watched_file(growth, file) || was_written_since(growth, file));
}

struct profile_growth jit_growth_take(struct process_image *image, const struct file_opened *file)
{
	const struct jit_growth *growth = image->growth;

	if (!growth || growth->growth.count == 0 || !file->name || !is_watched_file(growth, file))
		return (struct profile_growth){ 0 };
	return (struct profile_growth){ TAKE(image->growth->growth.steps), growth->growth.count };
}
