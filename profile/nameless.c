/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_PERCENT = 5 };

/* The kinds of frames that occur in a stack, or in any stack of a process, as a set of these bits. */
#define IN_LOOP(language) ((uint32_t)1 << (language))
#define IN_MODULE(language) ((uint32_t)1 << (PROFILE_LANGUAGE_COUNT + (language)))
_Static_assert(2 * PROFILE_LANGUAGE_COUNT <= 30, "a set has room for two bits of each language");
#define NAMELESS ((uint32_t)1 << 30) /* code made at run time without a name; in a stack: the innermost such code */
#define NAMED ((uint32_t)1 << 31)    /* code made at run time with a name, so the runtime was told to give names */

struct nameless_search {
	const struct profile *profile;
	uint32_t *mappings, *functions, *locations, *stacks; /* owned: [id] its set */
	uint32_t *processes;                                 /* owned: [thread] the first thread of the same process */
	uint32_t *in_process;                                /* owned: [first thread of a process] the process' set */
	double time[2 * PROFILE_LANGUAGE_COUNT],
		total; /* [language] that of its functions without names; then of those beside */
};

static bool nameless_search_init(struct nameless_search *s, const struct profile *profile, struct error *err)
{
	*s = (struct nameless_search){ .profile = profile };
	s->mappings = calloc(profile->mapping_count + 1, sizeof(uint32_t));
	s->functions = calloc(profile->function_count + 1, sizeof(uint32_t));
	s->locations = calloc(profile->location_count + 1, sizeof(uint32_t));
	s->stacks = calloc(profile->stack_count + 1, sizeof(uint32_t));
	s->processes = calloc(profile->thread_count + 1, sizeof(uint32_t));
	s->in_process = calloc(profile->thread_count + 1, sizeof(uint32_t));
	return (s->mappings && s->functions && s->locations && s->stacks && s->processes && s->in_process) ||
	       error_set_memory(err);
}

static void nameless_search_deinit(struct nameless_search *s)
{
	free(s->mappings);
	free(s->functions);
	free(s->locations);
	free(s->stacks);
	free(s->processes);
	free(s->in_process);
}

static uint32_t set_of_module(const char *module)
{
	enum profile_language language = profile_language_of_module(module);

	return profile_languages[language].makes_code ? IN_MODULE(language) : 0;
}

/* An interpreter is recognised by the function that executes the program: it is in the stack, however deep that is. */
static uint32_t set_of_function(const struct profile *profile, const struct profile_function *function)
{
	const char *name = profile_string(profile, function->name), *module = profile_string(profile, function->module);
	uint32_t set = 0;

	for (size_t i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if (glob_matches_any(profile_languages[i].loops, name) &&
			(profile_languages[i].is_loop_unique || profile_language_of_module(module) == i))
			set |= IN_LOOP(i);
	return set;
}

static uint32_t set_of_location(const struct nameless_search *s, const struct profile_location *location)
{
	const struct profile *profile = s->profile;
	const struct profile_mapping *in =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];
	bool is_made = in && (in->kind == PROFILE_MAPPING_ANON || in->kind == PROFILE_MAPPING_JIT), has_name = false;
	uint32_t set = in ? s->mappings[location->mapping] : 0;

	for (uint32_t i = 0; i < location->line_count; i++) {
		uint32_t function = profile->lines[location->first_line + i].function;

		set |= s->functions[function];
		has_name = has_name || profile->functions[function].name_source != PROFILE_NAME_NONE;
	}
	if (is_made)
		set |= has_name ? NAMED : NAMELESS;
	return set;
}

/* A stack holds what its parent holds, whose id is smaller; code that has a name takes the place of code without. */
static uint32_t set_of_stack(uint32_t parent, uint32_t location)
{
	return (location & NAMED ? parent & ~NAMELESS : parent) | location;
}

static void find_sets(struct nameless_search *s)
{
	const struct profile *profile = s->profile;

	for (size_t i = 0; i < profile->mapping_count; i++)
		s->mappings[i] = set_of_module(profile_string(profile, profile->mappings[i].module));
	for (size_t i = 0; i < profile->function_count; i++)
		s->functions[i] = set_of_function(profile, &profile->functions[i]);
	for (size_t i = 0; i < profile->location_count; i++)
		s->locations[i] = set_of_location(s, &profile->locations[i]);
	for (size_t i = 1; i < profile->stack_count; i++)
		s->stacks[i] =
			set_of_stack(s->stacks[profile->stacks[i].parent], s->locations[profile->stacks[i].location]);
}

/* A process is represented by its first thread. */
static bool find_processes(struct nameless_search *s, struct error *err)
{
	const struct profile *profile = s->profile;
	struct hash_map first;
	bool ok = true;

	hash_map_init(&first, 2 * sizeof(uint32_t));
	for (uint32_t i = 0; ok && i < profile->thread_count; i++) {
		const uint32_t key[2] = { profile->threads[i].run, (uint32_t)profile->threads[i].pid };
		uint32_t *value;
		bool added;

		ok = hash_map_add(&first, key, i, &value, &added, err);
		if (ok)
			s->processes[i] = *value;
	}
	hash_map_deinit(&first);
	return ok;
}

/*
 * A process may have a perf map although no sample was taken in the code that the map names: the interpreter alone
 * executed the program then.
 */
static bool find_maps(struct nameless_search *s, struct error *err)
{
	const struct profile *profile = s->profile;
	struct hash_map mapped;
	bool ok = true, added;
	uint32_t *value;

	hash_map_init(&mapped, sizeof(uint32_t));
	for (uint32_t i = 0; ok && i < profile->mapping_count; i++) {
		const uint32_t pid = (uint32_t)profile->mappings[i].file_offset;

		if (profile->mappings[i].kind == PROFILE_MAPPING_JIT)
			ok = hash_map_add(&mapped, &pid, i, &value, &added, err);
	}
	for (size_t i = 0; ok && i < profile->thread_count; i++) {
		const uint32_t pid = (uint32_t)profile->threads[i].pid;

		if (mapped.count > 0 && pid != 0 && hash_map_get(&mapped, &pid) != HASH_MAP_NONE)
			s->in_process[s->processes[i]] |= NAMED;
	}
	hash_map_deinit(&mapped);
	return ok;
}

static void find_sets_of_processes(struct nameless_search *s)
{
	const struct profile *profile = s->profile;

	for (size_t i = 0; i < profile->sample_count; i++)
		s->in_process[s->processes[profile->samples[i].thread]] |= s->stacks[profile->samples[i].stack];
}

/*
 * Returns what is missing from a stack, by its place in search.time: UNKNOWN for code made at run time of any other
 * language, NATIVE where nothing is. A runtime whose functions have names in the stack has made the nameless code for
 * something else.
 */
static int missing_from(uint32_t stack, uint32_t process)
{
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT && !(process & NAMED); i++)
		if (stack & IN_LOOP(i))
			return i;
	if (!(stack & NAMELESS))
		return PROFILE_LANGUAGE_NATIVE;
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if ((process & IN_MODULE(i)) && (!(stack & NAMED) || profile_languages[i].beside))
			return stack & NAMED ? PROFILE_LANGUAGE_COUNT + i : i;
	return PROFILE_LANGUAGE_UNKNOWN;
}

/* Waits are left out: whether functions have names is a question of the code that runs. */
static uint32_t value_type_of_time(const struct profile *profile)
{
	uint32_t cpu = profile_has_waits(profile) ? profile_wait_values(profile).cpu : PROFILE_NONE;

	return cpu != PROFILE_NONE ? cpu : profile->default_value_type;
}

static void nameless_add_up(struct nameless_search *s)
{
	const struct profile *profile = s->profile;
	uint32_t time_of = value_type_of_time(profile);

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		double time = (double)profile->values[i * profile->value_type_count + time_of];

		s->total += time;
		s->time[missing_from(s->stacks[sample->stack], s->in_process[s->processes[sample->thread]])] += time;
	}
}

static int nameless_compare(const void *left, const void *right)
{
	const struct profile_nameless *a = left, *b = right;

	if (a->percent != b->percent)
		return a->percent < b->percent ? 1 : -1;
	if (a->is_beside != b->is_beside)
		return a->is_beside ? 1 : -1;
	return strcmp(profile_languages[a->language].functions, profile_languages[b->language].functions);
}

bool profile_find_nameless(const struct profile *profile, struct profile_nameless found[PROFILE_LANGUAGE_COUNT],
	size_t *count, struct error *err)
{
	struct nameless_search s;
	bool ok = nameless_search_init(&s, profile, err);
	size_t used = 0;

	if (ok) {
		find_sets(&s);
		ok = find_processes(&s, err) && find_maps(&s, err);
	}
	if (ok) {
		find_sets_of_processes(&s);
		nameless_add_up(&s);
	}
	for (int i = PROFILE_LANGUAGE_NATIVE + 1; ok && s.total > 0 && i < 2 * PROFILE_LANGUAGE_COUNT; i++)
		if (100 * s.time[i] / s.total >= LEAST_PERCENT && used < PROFILE_LANGUAGE_COUNT)
			found[used++] = (struct profile_nameless){ (enum profile_language)(i % PROFILE_LANGUAGE_COUNT),
				i >= PROFILE_LANGUAGE_COUNT, 100 * s.time[i] / s.total };
	nameless_search_deinit(&s);
	if (!ok)
		return false;
	qsort(found, used, sizeof(*found), nameless_compare);
	*count = used;
	return true;
}

void profile_nameless_sentence(const struct profile_nameless *nameless, struct buffer *out)
{
	const struct profile_language_row *row = &profile_languages[nameless->language];

	buffer_printf(out, "%.0f %% of the time passes through %s that have no names: %s", nameless->percent,
		nameless->is_beside ? row->beside : row->functions, row->next_step);
}
