/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classifies waits by the frames of their stacks, and applies the rules of waits. */
#include "symbolize/origin.h"
#include "symbolize/wait_names.h"
#include "symbolize/wait_rules.h"

#include <stdlib.h>
#include <string.h>

/* The frames of a location, or those of a stack, say nothing. PROFILE_WAIT_NONE: a rule says that the class stays. */
enum { SAYS_NOTHING = PROFILE_WAIT_NONE + 1 };

struct wait_rules {
	const struct profile *profile;
	const struct symbolize_rules *theirs; /* NULL: none */
	struct symbolize_rules *ours;         /* NULL: theirs alone */
	uint8_t *stacks;                      /* [stack] enum profile_wait_class by rules, or SAYS_NOTHING */
	uint8_t *named;           /* likewise, by the names of the system's functions; NULL: the recording knows more */
	struct wait_means *means; /* [stack] what a futex is there */
	uint8_t *pools;           /* [stack] enum pool_part, or SAYS_NOTHING */
};

/*
 * Fills [stack] with what the innermost location says that says anything, which is not SAYS_NOTHING. A caller's stack
 * has a smaller id, so that it is decided when what it calls is.
 */
static bool decide_stacks(const struct wait_rules *w,
	uint8_t (*of_location)(const struct wait_rules *w, const struct profile_location *location), uint8_t **stacks,
	struct error *err)
{
	const struct profile *profile = w->profile;
	CLEANUP(cleanup_free) uint8_t *locations = malloc(profile->location_count + 1);

	*stacks = malloc(profile->stack_count);
	if (!locations || !*stacks)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->location_count; i++)
		locations[i] = of_location(w, &profile->locations[i]);
	(*stacks)[0] = SAYS_NOTHING;
	for (size_t i = 1; i < profile->stack_count; i++) {
		uint8_t own = locations[profile->stacks[i].location];

		(*stacks)[i] = own == SAYS_NOTHING ? (*stacks)[profile->stacks[i].parent] : own;
	}
	return true;
}

static bool waits_find_rule(const struct wait_rules *w, const struct origin_evidence *evidence, uint32_t *value)
{
	return (w->theirs && rules_match(w->theirs, evidence, value)) ||
	       (w->ours && rules_match(w->ours, evidence, value));
}

/* The innermost of the location's frames that a rule is about decides. */
static uint8_t rule_of_location(const struct wait_rules *w, const struct profile_location *location)
{
	const struct profile *profile = w->profile;

	for (uint32_t k = 0; k < location->line_count; k++) {
		const struct origin_evidence evidence = origin_evidence_of(profile, location, k);
		uint32_t value;

		if (waits_find_rule(w, &evidence, &value))
			return (uint8_t)value;
	}
	return SAYS_NOTHING;
}

/* Returns whether the code is the kernel's or the C library's: a program may have its own poll(). */
static bool is_of_system(const struct profile *profile, const struct profile_location *location)
{
	const struct profile_mapping *in =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];

	return in && (in->kind == PROFILE_MAPPING_KERNEL || profile_is_c_library(profile_string(profile, in->module)));
}

static uint8_t class_of_location(const struct wait_rules *w, const struct profile_location *location)
{
	const struct profile *profile = w->profile;

	if (!is_of_system(profile, location))
		return SAYS_NOTHING;
	for (uint32_t k = 0; k < location->line_count; k++) {
		uint32_t function = profile->lines[location->first_line + k].function;
		enum profile_wait_class found =
			wait_class_of_function(profile_string(profile, profile->functions[function].name));

		if (found != PROFILE_WAIT_NONE)
			return (uint8_t)found;
	}
	return SAYS_NOTHING;
}

/* The means of the location's functions; frames of the kernel know no more than that it is a futex. */
static struct wait_means means_of_location(const struct profile *profile, const struct profile_location *location)
{
	bool is_system = is_of_system(profile, location);
	struct wait_means found = { .wait_class = PROFILE_WAIT_NONE };

	if (location->mapping != PROFILE_NONE && profile->mappings[location->mapping].kind == PROFILE_MAPPING_KERNEL)
		return found;
	for (uint32_t k = 0; k < location->line_count; k++) {
		uint32_t function = profile->lines[location->first_line + k].function;
		struct wait_means means =
			wait_means_of_function(profile_string(profile, profile->functions[function].name), is_system);

		if (means.layer > found.layer)
			found = means;
	}
	return found;
}

static bool decide_means(struct wait_rules *w, struct error *err)
{
	const struct profile *profile = w->profile;
	CLEANUP(cleanup_free)
	struct wait_means *locations = malloc((profile->location_count + 1) * sizeof(*locations));

	w->means = malloc(profile->stack_count * sizeof(*w->means));
	if (!locations || !w->means)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->location_count; i++)
		locations[i] = means_of_location(profile, &profile->locations[i]);
	w->means[0] = (struct wait_means){ .wait_class = PROFILE_WAIT_NONE };
	for (size_t i = 1; i < profile->stack_count; i++) {
		struct wait_means own = locations[profile->stacks[i].location],
				  above = w->means[profile->stacks[i].parent];

		w->means[i] = own.layer > 0 && own.layer >= above.layer ? own : above;
	}
	return true;
}

/* ---- Pools of the JDK ---- */

enum pool_part { POOL_WORKER, POOL_TASK };

/* Functions in which workers of pools run their tasks. */
static const char *const *const pool_loops = GLOBS("*java.util.concurrent.ThreadPoolExecutor$Worker.run(*",
	"*java.util.concurrent.ThreadPoolExecutor.runWorker(*", "*java.util.concurrent.ForkJoinWorkerThread.run(*",
	"*java.util.concurrent.ForkJoinPool.runWorker(*");

/*
 * The compiler of HotSpot inlines the function in which a worker takes its tasks, which has a rule, into that which
 * runs them, so that its frame is not there. Then a worker waits for a task if all functions below its loop are the
 * JDK's own.
 */
static uint8_t pool_part_of(const struct wait_rules *w, const struct profile_location *location)
{
	const struct profile *profile = w->profile;

	for (uint32_t k = 0; k < location->line_count; k++) {
		uint32_t function = profile->lines[location->first_line + k].function;
		const char *name = profile_string(profile, profile->functions[function].name);

		if (!profile_java_is_method(name))
			continue;
		if (glob_matches_any(pool_loops, name))
			return POOL_WORKER;
		if (!profile_java_is_standard(name))
			return POOL_TASK;
	}
	return SAYS_NOTHING;
}

/* ---- Classes ---- */

/* A class by names comes before rules, which may keep it. */
static enum profile_wait_class class_by_names(
	const struct wait_rules *w, uint32_t stack, enum profile_wait_class wait_class)
{
	if (wait_class == PROFILE_WAIT_OTHER && w->named && w->named[stack] != SAYS_NOTHING)
		wait_class = (enum profile_wait_class)w->named[stack];
	if ((wait_class == PROFILE_WAIT_LOCK || wait_class == PROFILE_WAIT_CONDITION) &&
		w->means[stack].wait_class != PROFILE_WAIT_NONE)
		wait_class = w->means[stack].wait_class;
	return wait_class;
}

static enum profile_wait_class class_by_rules(void *context, uint32_t stack, enum profile_wait_class wait_class)
{
	const struct wait_rules *w = context;
	uint8_t decided = w->stacks[stack];

	if (wait_class == PROFILE_WAIT_RUN_QUEUE)
		return wait_class;
	if (decided < PROFILE_WAIT_NONE)
		return (enum profile_wait_class)decided;
	wait_class = class_by_names(w, stack, wait_class);
	return decided == SAYS_NOTHING && wait_class == PROFILE_WAIT_CONDITION && w->pools[stack] == POOL_WORKER
		       ? PROFILE_WAIT_IDLE
		       : wait_class;
}

bool symbolize_waits(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct error *err)
{
	struct wait_rules w = { .profile = profile, .theirs = options->wait_rules };
	bool ok;

	if (!profile_has_waits(profile))
		return true;
	ok = symbolize_rules_parse(SYMBOLIZE_RULES_OF_WAITS, wait_rules_shipped, strlen(wait_rules_shipped),
		     "our own rules", &w.ours, err) &&
	     decide_stacks(&w, rule_of_location, &w.stacks, err) && decide_means(&w, err) &&
	     decide_stacks(&w, pool_part_of, &w.pools, err) &&
	     (!symbols->waits_by_name || decide_stacks(&w, class_of_location, &w.named, err)) &&
	     profile_classify_waits(profile, class_by_rules, &w, err);
	symbolize_rules_destroy(w.ours);
	free(w.stacks);
	free(w.named);
	free(w.means);
	free(w.pools);
	return ok;
}

/* ---- Lives ---- */

/* Fills [stack] with whether a rule of the user is about it. Owned by the caller; NULL: there are no rules. */
static bool symbolize_waits_find_kept(
	const struct profile *profile, const struct symbolize_options *options, bool **kept, struct error *err)
{
	struct wait_rules w = { .profile = profile, .theirs = options->wait_rules };
	bool ok = true;

	*kept = NULL;
	if (!options->wait_rules || !profile_has_waits(profile))
		return true;
	*kept = malloc(profile->stack_count * sizeof(**kept));
	ok = *kept ? decide_stacks(&w, rule_of_location, &w.stacks, err) : error_set_memory(err);
	for (size_t i = 0; i < profile->stack_count && ok; i++)
		(*kept)[i] = w.stacks[i] != SAYS_NOTHING;
	free(w.stacks);
	return ok;
}

bool symbolize_idle_lives(
	struct profile *const *profiles, size_t count, const struct symbolize_options *options, struct error *err)
{
	bool **kept = calloc(count + 1, sizeof(*kept));
	bool ok = kept || error_set_memory(err);

	for (size_t i = 0; i < count && ok; i++)
		ok = symbolize_waits_find_kept(profiles[i], options, &kept[i], err);
	ok = ok && profile_find_idle_lives(profiles, (const bool *const *)kept, count, err);
	for (size_t i = 0; i < count && kept; i++)
		free(kept[i]);
	free(kept);
	return ok;
}
