/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/activity.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[PROFILE_ACTIVITY_COUNT] = { "", "garbage collection", "just-in-time compilation",
	"compilation of scripts" };
static const char *const frames[PROFILE_ACTIVITY_COUNT] = { "", "[garbage collection]", "[just-in-time compilation]",
	"[compilation of scripts]" };

const char *profile_activity_words(enum profile_activity activity)
{
	return words[activity];
}

enum profile_activity profile_activity_of_frame(const char *name, const char *module)
{
	for (int i = PROFILE_ACTIVITY_NONE + 1; name[0] == '[' && module[0] == '\0' && i < PROFILE_ACTIVITY_COUNT; i++)
		if (strcmp(name, frames[i]) == 0)
			return (enum profile_activity)i;
	return PROFILE_ACTIVITY_NONE;
}

/* ---- Where activities begin ---- */

/* Returns the activity that begins in a function of a runtime. */
static enum profile_activity activity_of_function(const char *name, const char *module)
{
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++) {
		const struct profile_language_row *row = &profile_languages[i];

		for (int a = 0; a < PROFILE_ACTIVITY_COUNT; a++)
			if (glob_matches_any(row->activities[a].functions, name) &&
				(!row->modules || glob_matches_any(row->modules, module)))
				return (enum profile_activity)a;
	}
	return PROFILE_ACTIVITY_NONE;
}

/* Returns the activity of a thread in a profile of the languages' runtimes. */
static enum profile_activity activity_of_thread(const char *name, const bool has_runtime[PROFILE_LANGUAGE_COUNT])
{
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		for (int a = 0; has_runtime[i] && a < PROFILE_ACTIVITY_COUNT; a++)
			if (glob_matches_any(profile_languages[i].activities[a].threads, name))
				return (enum profile_activity)a;
	return PROFILE_ACTIVITY_NONE;
}

/* ---- Stacks with the frames ---- */

struct marker {
	struct profile *profile;
	uint8_t *locations;                      /* [location] activity that begins in one of its functions; owned */
	uint8_t *threads;                        /* [thread] activity that it is for; owned */
	bool *framed;                            /* [stack] whether it has the frame of an activity already; owned */
	uint32_t frames[PROFILE_ACTIVITY_COUNT]; /* locations of the frames; PROFILE_NONE: none yet */
	/* [activity of the thread][old stack] the new one; PROFILE_NONE: it is not needed; owned */
	uint32_t *stacks[PROFILE_ACTIVITY_COUNT];
	struct profile_stack *old; /* owned */
	size_t old_count;
	bool any;
};

static void marker_deinit(struct marker *m)
{
	free(m->locations);
	free(m->threads);
	free(m->framed);
	free(m->old);
	for (int i = 0; i < PROFILE_ACTIVITY_COUNT; i++)
		free(m->stacks[i]);
}

/* Finds the languages whose runtimes the profile has, so that names of threads are those of the runtimes. */
static void find_runtimes(const struct profile *profile, bool has_runtime[PROFILE_LANGUAGE_COUNT])
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		has_runtime[profile_language_of_module(profile_string(profile, profile->mappings[i].module))] = true;
}

static void find_entries(struct marker *m, const uint8_t *functions)
{
	const struct profile *profile = m->profile;

	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];

		for (uint32_t k = 0; k < location->line_count && !m->locations[i]; k++)
			m->locations[i] = functions[profile->lines[location->first_line + k].function];
		m->any = m->any || m->locations[i];
	}
}

static bool is_frame(const struct profile *profile, const struct profile_location *location)
{
	const struct profile_function *f =
		location->line_count ? &profile->functions[profile->lines[location->first_line].function] : NULL;

	return f && profile_activity_of_frame(profile_string(profile, f->name), profile_string(profile, f->module)) !=
			    PROFILE_ACTIVITY_NONE;
}

static bool marker_init(struct marker *m, struct error *err)
{
	const struct profile *profile = m->profile;
	CLEANUP(cleanup_free) uint8_t *functions = calloc(profile->function_count + 1, 1);
	bool has_runtime[PROFILE_LANGUAGE_COUNT] = { false };

	m->locations = calloc(profile->location_count + 1, 1);
	m->threads = calloc(profile->thread_count + 1, 1);
	if (!functions || !m->locations || !m->threads)
		return error_set_memory(err);
	memset(m->frames, 0xff, sizeof(m->frames));
	for (size_t i = 0; i < profile->function_count; i++)
		functions[i] = (uint8_t)activity_of_function(profile_string(profile, profile->functions[i].name),
			profile_string(profile, profile->functions[i].module));
	find_entries(m, functions);
	find_runtimes(profile, has_runtime);
	for (size_t i = 0; i < profile->thread_count; i++) {
		m->threads[i] =
			(uint8_t)activity_of_thread(profile_string(profile, profile->threads[i].name), has_runtime);
		m->any = m->any || m->threads[i];
	}
	return true;
}

/* Finds which stacks are needed as they are, and which in threads of an activity, with their callers. */
static bool find_needed(struct marker *m, struct error *err)
{
	const struct profile *profile = m->profile;
	size_t count = profile->stack_count;

	if (!ARRAY_ZEROED(&m->framed, count + 1, err))
		return false;
	for (int i = 0; i < PROFILE_ACTIVITY_COUNT; i++) {
		if (!ARRAY_ZEROED(&m->stacks[i], count + 1, err))
			return false;
		memset(m->stacks[i], 0xff, (count + 1) * sizeof(**m->stacks));
	}
	for (size_t i = 1; i < count; i++)
		m->framed[i] = m->framed[profile->stacks[i].parent] ||
			       is_frame(profile, &profile->locations[profile->stacks[i].location]);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		m->stacks[m->framed[sample->stack] ? PROFILE_ACTIVITY_NONE : m->threads[sample->thread]]
			 [sample->stack] = 0;
	}
	for (size_t i = 0; i < profile->release_count; i++)
		m->stacks[PROFILE_ACTIVITY_NONE][profile->releases[i].stack] =
			m->stacks[PROFILE_ACTIVITY_NONE][profile->releases[i].releaser] = 0;
	for (int a = 0; a < PROFILE_ACTIVITY_COUNT; a++)
		for (size_t i = count; i-- > 1;)
			if (m->stacks[a][i] == 0)
				m->stacks[a][profile->stacks[i].parent] = 0;
	return true;
}

/* Finds the location of the frame of an activity, which is the run time's. */
static bool frame_of(struct marker *m, enum profile_activity activity, uint32_t *location, struct error *err)
{
	struct profile_function function = { .origin = PROFILE_ORIGIN_SYSTEM, .name_source = PROFILE_NAME_IMPORTED };
	struct profile_line line = { 0 };

	if (m->frames[activity] == PROFILE_NONE &&
		(!profile_intern(m->profile, frames[activity], &function.name, err) ||
			!profile_add_function(m->profile, &function, &line.function, err) ||
			!profile_add_location_of_lines(m->profile, PROFILE_NONE, &line, 1, &m->frames[activity], err)))
		return false;
	*location = m->frames[activity];
	return true;
}

static bool activity_push_frame(struct marker *m, enum profile_activity activity, uint32_t *stack, struct error *err)
{
	uint32_t location;

	return frame_of(m, activity, &location, err) && profile_add_stack(m->profile, *stack, location, stack, err);
}

/* Adds all stacks again that are needed in threads of an activity, or of none. */
static bool activity_add_stacks(struct marker *m, enum profile_activity thread, struct error *err)
{
	CLEANUP(cleanup_free) bool *within = calloc(m->old_count + 1, sizeof(*within));
	uint32_t *stacks = m->stacks[thread];

	if (!within)
		return error_set_memory(err);
	within[0] = thread != PROFILE_ACTIVITY_NONE;
	if (stacks[0] == 0 && within[0] && !activity_push_frame(m, thread, &stacks[0], err))
		return false;
	for (size_t i = 1; i < m->old_count; i++) {
		const struct profile_stack *stack = &m->old[i];
		enum profile_activity begins = (enum profile_activity)m->locations[stack->location];
		uint32_t parent = stacks[stack->parent];

		within[i] = within[stack->parent] || m->framed[i] || begins != PROFILE_ACTIVITY_NONE;
		if (stacks[i] == PROFILE_NONE)
			continue;
		if (!within[stack->parent] && !m->framed[i] && begins != PROFILE_ACTIVITY_NONE &&
			!activity_push_frame(m, begins, &parent, err))
			return false;
		if (!profile_add_stack(m->profile, parent, stack->location, &stacks[i], err))
			return false;
	}
	return true;
}

static void activity_move_samples(struct marker *m)
{
	struct profile *profile = m->profile;

	for (size_t i = 0; i < profile->sample_count; i++) {
		struct profile_sample *sample = &profile->samples[i];
		int thread = m->framed[sample->stack] ? PROFILE_ACTIVITY_NONE : m->threads[sample->thread];

		sample->stack = m->stacks[thread][sample->stack];
	}
	for (size_t i = 0; i < profile->release_count; i++) {
		struct profile_release *release = &profile->releases[i];

		release->stack = m->stacks[PROFILE_ACTIVITY_NONE][release->stack];
		release->releaser = m->stacks[PROFILE_ACTIVITY_NONE][release->releaser];
	}
}

bool profile_mark_activities(struct profile *profile, struct error *err)
{
	CLEANUP(marker_deinit) struct marker m = { .profile = profile };

	if (!marker_init(&m, err))
		return false;
	if (!m.any)
		return true;
	if (!find_needed(&m, err))
		return false;
	m.old = profile_take_stacks(profile, &m.old_count);
	m.stacks[PROFILE_ACTIVITY_NONE][0] = 0;
	if (!profile_append_stack(profile, PROFILE_NONE, PROFILE_NONE, err))
		return false;
	for (int i = 0; i < PROFILE_ACTIVITY_COUNT; i++)
		if (!activity_add_stacks(&m, (enum profile_activity)i, err))
			return false;
	activity_move_samples(&m);
	return true;
}
