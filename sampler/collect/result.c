/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/result.h"

#include "sampler/verify/verify.h"

#include "sampler/process/jit_growth.h"
#include "sampler/process/jit_map.h"

#include <stdlib.h>
#include <sys/resource.h>

static bool make_jit(struct profile *profile, uint32_t mapping_id, struct error *err)
{
	struct profile_mapping *mapping = &profile->mappings[mapping_id];

	mapping->kind = PROFILE_MAPPING_JIT;
	return profile_intern(profile, PROFILE_JIT_MODULE, &mapping->path, err) &&
	       profile_intern(profile, PROFILE_JIT_MODULE, &mapping->module, err);
}

bool result_take_jit_map(const struct process_host *host, struct file_opened *maps, struct profile *profile,
	uint32_t mapping_id, const struct jit_place *place, struct buffer *notices, struct error *err)
{
	struct file_opened *map = &maps[mapping_id];

	if (map->name)
		return true;
	if (!host->functions->open_jit_map(host->context, place, map, notices, err))
		return false;
	return !map->name || make_jit(profile, mapping_id, err);
}

/* Half of the descriptors that we may have: naming needs others, and any user can make processes with maps. */
static size_t most_maps(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur / 2 : 0;
}

/* Counts the samples that pass through each mapping: a heap array that the caller frees; NULL where memory runs out. */
static uint64_t *samples_through(const struct profile *profile)
{
	CLEANUP(cleanup_free) size_t *latest = calloc(profile->mapping_count + 1, sizeof(*latest));
	uint64_t *through = latest ? calloc(profile->mapping_count + 1, sizeof(*through)) : NULL;

	for (size_t i = 0; through && i < profile->sample_count; i++)
		for (uint32_t at = profile->samples[i].stack; at != 0; at = profile->stacks[at].parent) {
			uint32_t mapping = profile->locations[profile->stacks[at].location].mapping;

			if (mapping == PROFILE_NONE || latest[mapping] == i + 1)
				continue;
			latest[mapping] = i + 1;
			through[mapping] += (uint64_t)profile->values[i * profile->value_type_count];
		}
	return through;
}

/* Appends the share of the samples that a line about a file of names concerns. */
static void append_share(struct process_table *table, uint32_t mapping, uint64_t **through)
{
	uint64_t all = table->profile->quality.samples;

	if (!*through)
		*through = samples_through(table->profile);
	if (*through && all > 0)
		buffer_printf(table->notices, "%.0f %% of the samples pass through code that this file would name\n",
			(double)(*through)[mapping] * 100 / (double)all);
}

/* Opens the files that name the code of an image, with lines about why they do not name it, or not all. */
static bool result_take_maps_of(struct profile_symbols *symbols, struct process_table *table,
	struct process_image *image, uint64_t **through, struct error *err)
{
	struct buffer *notices = table->notices;
	uint32_t id = image->mapping_id;
	size_t before = notices ? notices->size : 0;
	bool is_anothers;

	if (!result_take_jit_map(&table->host, symbols->jit_maps, table->profile, id, &image->jit_map, notices, err) ||
		!result_take_jit_map(&table->host, symbols->inherited_jit_maps, table->profile, id,
			&image->inherited_map, notices, err))
		return false;
	is_anothers = jit_growth_is_anothers(image, &symbols->jit_maps[id]);
	if (notices && is_anothers)
		buffer_printf(notices, "%s names nothing: " JIT_MAP_IS_ANOTHERS "\n", image->jit_map.path);
	else if (notices && jit_growth_was_rewritten(image, &symbols->jit_maps[id]))
		buffer_printf(notices,
			"%s was written anew meanwhile: functions that ran before have the names of what it lists now at their places, "
			"if any; a run time that only appends to its perf map, or writes a jitdump, avoids this\n",
			image->jit_map.path);
	if (is_anothers)
		file_opened_deinit(&symbols->jit_maps[id]);
	if (notices && notices->size > before)
		append_share(table, id, through);
	return true;
}

static bool result_take_maps(
	struct profile_symbols *symbols, struct process_table *table, const bool *is_sampled, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *through = NULL;
	size_t most = most_maps(), count = 0;

	for (size_t i = 0; i < table->image_count; i++) {
		struct process_image *image = &table->images[i];
		uint32_t id = image->mapping_id;

		if (!is_sampled[id])
			continue;
		if (count + 2 > most) {
			if (table->notices)
				buffer_printf(table->notices,
					"code made at run time stays partly unnamed: more than %zu files of names would have to be open; "
					"'ulimit -n' allows more\n",
					count);
			return true;
		}
		if (!result_take_maps_of(symbols, table, image, &through, err))
			return false;
		if (symbols->growths[id].count == 0)
			symbols->growths[id] = jit_growth_take(image, &symbols->jit_maps[id]);
		count += (symbols->jit_maps[id].name != NULL) + (symbols->inherited_jit_maps[id].name != NULL);
	}
	return true;
}

static bool *sampled_mappings(const struct profile *profile)
{
	bool *is_sampled = calloc(profile->mapping_count + 1, sizeof(*is_sampled));

	for (size_t i = 0; is_sampled && i < profile->location_count; i++)
		if (profile->locations[i].mapping != PROFILE_NONE)
			is_sampled[profile->locations[i].mapping] = true;
	return is_sampled;
}

bool result_take_images(struct recording *result, struct process_table *table, struct error *err)
{
	CLEANUP(cleanup_free) bool *is_sampled = sampled_mappings(table->profile);
	struct profile_symbols *symbols = &result->symbols;
	size_t count = table->profile->mapping_count;

	symbols->images = calloc(count + 1, sizeof(struct elf_image *));
	symbols->jit_maps = calloc(count + 1, sizeof(struct file_opened));
	symbols->inherited_jit_maps = calloc(count + 1, sizeof(struct file_opened));
	symbols->growths = calloc(count + 1, sizeof(*symbols->growths));
	if (!is_sampled || !symbols->images || !symbols->jit_maps || !symbols->inherited_jit_maps || !symbols->growths)
		return error_set_memory(err);
	symbols->mapping_count = count;
	for (size_t i = 0; i < table->image_count; i++) {
		struct process_image *image = &table->images[i];

		if (image->elf && !symbols->images[image->mapping_id])
			symbols->images[image->mapping_id] = elf_image_ref(image->elf);
	}
	return result_take_maps(symbols, table, is_sampled, err);
}

/* Returns what a process is when the recording has ended, beside what it was when it was met. */
static struct profile_process identify_again(const struct process_table *table, const struct process *process)
{
	struct profile_process known = process->identity, now = { 0 };

	known.pid = process->pid;
	table->host.functions->identify(process->pid, &now);
	known.has_stayed = known.is_user_known && now.is_user_known && known.user == now.user && known.tree == now.tree;
	if (known.has_stayed)
		known.start_ns = proc_start_unix_s(process->pid) * 1000000000;
	return known;
}

bool result_take_processes(struct recording *result, const struct process_table *table, struct error *err)
{
	const struct profile *profile = table->profile;
	CLEANUP(cleanup_free) bool *is_taken = calloc(table->count + 1, sizeof(*is_taken));
	struct profile_symbols *symbols = &result->symbols;

	symbols->processes = calloc(table->count + 1, sizeof(*symbols->processes));
	if (!is_taken || !symbols->processes)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->thread_count; i++) {
		uint32_t id = hash_map_get(&table->by_pid, &profile->threads[i].pid);

		if (id == HASH_MAP_NONE || is_taken[id])
			continue;
		is_taken[id] = true;
		symbols->processes[symbols->process_count++] = identify_again(table, &table->processes[id]);
	}
	return true;
}

static void close_maps(struct file_opened *maps, size_t count)
{
	for (size_t i = 0; maps && i < count; i++)
		file_opened_deinit(&maps[i]);
	free(maps);
}

void recording_release_symbols(struct recording *result)
{
	struct profile_symbols *symbols = &result->symbols;

	for (size_t i = 0; i < symbols->mapping_count; i++) {
		elf_image_unref(symbols->images[i]);
		if (symbols->growths)
			free(symbols->growths[i].steps);
	}
	free(symbols->growths);
	free(symbols->images);
	close_maps(symbols->jit_maps, symbols->mapping_count);
	close_maps(symbols->inherited_jit_maps, symbols->mapping_count);
	free(symbols->lock_addresses);
	free(symbols->kallsyms);
	free(symbols->processes);
	*symbols = (struct profile_symbols){ 0 };
}

void recording_deinit(struct recording *result)
{
	recording_release_symbols(result);
	profile_destroy(result->profile);
	compared_stacks_destroy(result->compared);
	*result = (struct recording){ 0 };
}
