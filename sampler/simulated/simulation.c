/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulated/simulation.h"

#include "profile/profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)SIMULATE_QUARTERS == (int)COST_MODEL_QUARTERS, "the tool counts by the model of cycles");

enum { MAX_FILES = 1 << 20 };

/*
 * The sizes at which a profile becomes too large. Below the first it takes a few hundred kB and is written in less than
 * a second; at the second it would take gigabytes of memory to write. python3, for 200 million instructions: 6.1
 * million lines in contexts (39 MB, 36 s), 1.1 million functions in contexts (8.6 MB, 9 s).
 */
enum { MOST_LINES = 100000, MOST_FUNCTIONS = 4000000 };

/* ---- Files ---- */

/* Returns whether a directory's entry is the file of a process: PID.GENERATION. */
static bool parse_name(const char *name, struct simulation_file *file)
{
	int end = 0;

	return sscanf(name, "%d.%u%n", &file->pid, &file->generation, &end) == 2 && end > 0 && name[end] == '\0' &&
	       file->pid > 0;
}

static bool simulation_add_file(struct sampler_simulation *simulation, const char *name, struct error *err)
{
	struct simulation_file file = { 0 };
	struct stat info;

	if (!parse_name(name, &file) || fstatat(simulation->directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		!S_ISREG(info.st_mode))
		return true;
	if (!ARRAY_RESERVE(&simulation->files, &simulation->file_capacity, simulation->file_count + 1, MAX_FILES, err))
		return false;
	file.bytes = (uint64_t)info.st_size;
	file.name = strdup(name);
	if (!file.name)
		return error_set_memory(err);
	simulation->files[simulation->file_count++] = file;
	return true;
}

static int simulation_compare_files(const void *left, const void *right)
{
	const struct simulation_file *a = left, *b = right;

	return a->pid != b->pid ? ORDER(a->pid, b->pid) : ORDER(a->generation, b->generation);
}

static bool list_files(struct sampler_simulation *simulation, const char *path, struct error *err)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool ok = directory != NULL;

	if (!directory)
		return error_set_errno(err, errno, "cannot read %.300s", path);
	simulation->directory = fcntl(dirfd(directory), F_DUPFD_CLOEXEC, 3);
	if (simulation->directory < 0)
		ok = error_set_errno(err, errno, "cannot read %.300s", path);
	while (ok && (entry = readdir(directory)) != NULL)
		ok = simulation_add_file(simulation, entry->d_name, err);
	closedir(directory);
	if (simulation->file_count > 0)
		qsort(simulation->files, simulation->file_count, sizeof(*simulation->files), simulation_compare_files);
	return ok && (simulation->file_count > 0 || error_set(err, ERROR_EMPTY, "no process was simulated"));
}

void sampler_simulation_destroy(struct sampler_simulation *simulation)
{
	if (!simulation)
		return;
	for (size_t i = 0; i < simulation->file_count; i++) {
		struct simulation_file *file = &simulation->files[i];

		for (size_t j = 0; j < file->dump_count; j++)
			free(file->dumps[j].name);
		free(file->name);
		free(file->mappings);
		free(file->dumps);
		free(file->threads);
	}
	free(simulation->files);
	free(simulation->path);
	if (simulation->directory >= 0)
		close(simulation->directory);
	free(simulation);
}

static inline void simulation_cleanup(struct sampler_simulation **simulation)
{
	sampler_simulation_destroy(*simulation);
}

/* ---- The profile ---- */

/* A period of one instruction says that nothing was sampled (profile_metric()). */
static bool simulation_add_value_types(struct profile *profile, struct error *err)
{
	static const char *const types[COLUMN_COUNT] = {
		[COLUMN_SAMPLES] = "samples",
		[COLUMN_CYCLES] = COST_MODEL_CYCLES,
		[COLUMN_INSTRUCTIONS] = COST_MODEL_INSTRUCTIONS,
		[COLUMN_FIRST_MISSES] = COST_MODEL_FIRST_MISSES,
		[COLUMN_LAST_MISSES] = COST_MODEL_LAST_MISSES,
		[COLUMN_BRANCH_MISSES] = COST_MODEL_BRANCH_MISSES,
		[COLUMN_SYSTEM_CALLS] = COST_MODEL_SYSTEM_CALLS,
		[COLUMN_SYSTEM_NS] = COST_MODEL_SYSTEM,
	};

	for (size_t i = 1; i < COLUMN_COUNT; i++)
		if (!profile_add_value_type(profile, types[i], i == COLUMN_SYSTEM_NS ? "nanoseconds" : "count", err))
			return false;
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		profile->counts_of[i] = PROFILE_NONE;
	profile->default_value_type = COLUMN_CYCLES;
	profile->period = 1;
	profile->has_timeline = false;
	return profile_intern(profile, COST_MODEL_INSTRUCTIONS, &profile->period_type.type, err) &&
	       profile_intern(profile, "count", &profile->period_type.unit, err);
}

/* Fills the facts of a profile. Nothing of the machine is kept: the counts do not depend on it. */
static bool simulation_fill_facts(struct profile *profile, const struct sampler_simulated *simulated, struct error *err)
{
	for (size_t i = 0; i < simulated->label_count; i++)
		if (!profile_set_label(profile, simulated->labels[i].key, simulated->labels[i].value, err))
			return false;
	return profile_intern(profile, simulated->command, &profile->facts.command, err) &&
	       profile_intern(profile, simulated->tool, &profile->facts.tool, err) &&
	       profile_intern(profile, "simulated", &profile->facts.call_graph, err);
}

bool sampler_simulation_read(const struct sampler_simulated *simulated, struct sampler_simulation **simulation,
	struct recording *result, struct buffer *notices, struct error *err)
{
	CLEANUP(simulation_cleanup) struct sampler_simulation *made = calloc(1, sizeof(*made));
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	uint32_t run;

	if (!made)
		return error_set_memory(err);
	made->directory = -1;
	made->run = simulated->run;
	made->run.name = 0;
	made->path = strdup(simulated->directory);
	if (!made->path)
		return error_set_memory(err);
	if (!list_files(made, simulated->directory, err) || !profile_create(&profile, err) ||
		!simulation_fill_facts(profile, simulated, err) || !profile_add_run(profile, &made->run, &run, err) ||
		!simulation_add_addresses(made, profile, result, notices, err))
		return false;
	result->profile = TAKE(profile);
	*simulation = TAKE(made);
	return true;
}

static bool simulation_copy_facts(struct profile *made, const struct profile *named, struct error *err)
{
	for (size_t i = 0; i < named->label_count; i++)
		if (!profile_set_label(made, profile_string(named, named->labels[i].key),
			    profile_string(named, named->labels[i].value), err))
			return false;
	return profile_intern(made, profile_string(named, named->facts.command), &made->facts.command, err) &&
	       profile_intern(made, profile_string(named, named->facts.tool), &made->facts.tool, err) &&
	       profile_intern(made, profile_string(named, named->facts.call_graph), &made->facts.call_graph, err);
}

/* Sums stay far from the largest number when the model multiplies them. */
static int64_t bounded(int64_t count)
{
	return count < INT64_MAX / 1024 ? count : INT64_MAX / 1024;
}

static void estimate_cycles(struct profile *made)
{
	for (size_t i = 0; i < made->sample_count; i++) {
		int64_t *values = &made->values[i * COLUMN_COUNT], last = bounded(values[COLUMN_LAST_MISSES]);
		int64_t first = bounded(values[COLUMN_FIRST_MISSES]);

		values[COLUMN_CYCLES] = cost_model_cycles(bounded(values[COLUMN_CYCLES]), first > last ? first : last,
			last, bounded(values[COLUMN_BRANCH_MISSES]));
	}
}

static void simulation_describe_losses(const struct simulation_losses *losses, struct buffer *notices)
{
	if (!notices)
		return;
	if (losses->deep_nodes > 0)
		buffer_printf(notices,
			"%llu contexts are deeper than a stack may be: their counts stand below their outermost frames, without those between\n",
			(unsigned long long)losses->deep_nodes);
	if (losses->cut_tables > 0)
		buffer_printf(notices,
			"%llu process%s called functions in more contexts than are kept apart: further calls are counted to the function that made them\n",
			(unsigned long long)losses->cut_tables, losses->cut_tables == 1 ? "" : "es");
}

/* Counts what one pass over the files makes. Its `made` is owned; NULL where it was given up, and after a failure. */
static bool count_by(struct sampler_simulation *simulation, struct profile *named, enum simulation_detail detail,
	struct simulation_counting *counting, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	uint32_t run;
	bool ok;

	*counting->losses = (struct simulation_losses){ 0 };
	if (!profile_create(&made, err) || !simulation_add_value_types(made, err) ||
		!simulation_copy_facts(made, named, err) || !profile_add_run(made, &simulation->run, &run, err) ||
		!simulation_names_create(named, made, detail, &counting->names, err))
		return false;
	counting->made = made;
	ok = true;
	for (size_t i = 0; ok && i < simulation->file_count; i++)
		ok = simulation_count_file(simulation, &simulation->files[i], counting, err);
	simulation_names_destroy(counting->names);
	counting->made = ok ? TAKE(made) : NULL;
	return ok;
}

bool sampler_simulation_count(
	struct sampler_simulation *simulation, struct recording *result, struct buffer *notices, struct error *err)
{
	struct simulation_losses losses;
	struct simulation_counting counting = { .most_samples = MOST_LINES, .losses = &losses };

	if (!count_by(simulation, result->profile, SIMULATION_BY_LINE, &counting, err)) {
		if (!losses.is_too_large)
			return false;
		counting.most_samples = MOST_FUNCTIONS;
		if (!count_by(simulation, result->profile, SIMULATION_BY_FUNCTION, &counting, err))
			return false;
		if (notices)
			buffer_printf(notices,
				"there are more than %d lines in contexts: they are counted by function, and without lines\n",
				MOST_LINES);
	}
	if (counting.made->sample_count == 0) {
		profile_destroy(counting.made);
		return error_set(err, ERROR_EMPTY, "nothing was counted: %s",
			losses.cut_files ? "the files of counts end before the first count"
					 : "the program never switched the counting on");
	}
	estimate_cycles(counting.made);
	simulation_describe_losses(&losses, notices);
	profile_destroy(result->profile);
	result->profile = counting.made;
	return true;
}
