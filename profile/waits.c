/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

/* A class for readers, and its frame. */
#define NAMED(text) .words = (text), .frame = "[waiting: " text "]"

static const struct profile_wait_info wait_classes[PROFILE_WAIT_COUNT + 1] = {
	[PROFILE_WAIT_LOCK] = { "lock", NAMED("lock"), "for a lock", 0x9e270f, .is_ended_by_others = true },
	[PROFILE_WAIT_CONDITION] = { "condition", NAMED("condition"), "for another thread", 0xb18cac,
		.is_ended_by_others = true, .may_be_idle = true },
	[PROFILE_WAIT_IO] = { "io", NAMED("io"), "for input or output", 0x1a5093 },
	[PROFILE_WAIT_NETWORK] = { "network", NAMED("network"), "for the network", 0x25d9ff, .is_ended_by_others = true,
		.may_be_idle = true },
	[PROFILE_WAIT_TIMER] = { "timer", NAMED("timer"), "for a timer", 0x00a87d, .may_be_idle = true },
	[PROFILE_WAIT_IDLE] = { "idle", NAMED("idle"), "for work", 0xf3c034, .is_idle = true },
	[PROFILE_WAIT_RUN_QUEUE] = { "run-queue", NAMED("run queue"), "for a CPU", 0xd16837 },
	[PROFILE_WAIT_OTHER] = { "other", NAMED("other"), "for other reasons", 0x956fde },
	[PROFILE_WAIT_NONE] = { .name = NULL },
};

const struct profile_wait_info *profile_wait_info(enum profile_wait_class wait_class)
{
	return &wait_classes[wait_class];
}

size_t profile_waits_by_time(const int64_t ns[PROFILE_WAIT_COUNT], enum profile_wait_class order[PROFILE_WAIT_COUNT])
{
	size_t count = 0;

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		size_t at = count;

		if (wait_classes[i].is_idle || ns[i] == 0)
			continue;
		for (; at > 0 && ns[order[at - 1]] < ns[i]; at--)
			order[at] = order[at - 1];
		order[at] = (enum profile_wait_class)i;
		count++;
	}
	return count;
}

enum profile_wait_class profile_wait_class_of_name(const char *name)
{
	if (name[0] != '[')
		return PROFILE_WAIT_NONE;
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		if (strcmp(wait_classes[i].frame, name) == 0)
			return (enum profile_wait_class)i;
	return PROFILE_WAIT_NONE;
}

enum profile_wait_class profile_wait_class_of_function(const struct profile *profile, uint32_t function)
{
	const struct profile_function *named = &profile->functions[function];

	/* A function of this name in a binary is a function. */
	return profile_string(profile, named->module)[0] == '\0'
		       ? profile_wait_class_of_name(profile_string(profile, named->name))
		       : PROFILE_WAIT_NONE;
}

enum profile_wait_class profile_wait_class_of_stack(const struct profile *profile, uint32_t stack)
{
	const struct profile_location *leaf = stack == 0 ? NULL : &profile->locations[profile->stacks[stack].location];

	if (!leaf || leaf->mapping != PROFILE_NONE || leaf->line_count == 0)
		return PROFILE_WAIT_NONE;
	return profile_wait_class_of_function(profile, profile->lines[leaf->first_line].function);
}

/* ---- Values ---- */

enum wait_value { VALUE_CPU, VALUE_OFF_CPU, VALUE_IDLE, VALUE_WALL, VALUE_COUNT };

static const struct {
	const char *type, *words;
} wait_values[VALUE_COUNT] = {
	[VALUE_CPU] = { "cpu", "CPU time" },
	[VALUE_OFF_CPU] = { "off-cpu", "waiting time" },
	[VALUE_IDLE] = { "idle", "idle time" },
	[VALUE_WALL] = { "wall", "wall-clock time" },
};

const char *profile_wait_value_words(const char *type)
{
	for (size_t i = 0; i < VALUE_COUNT; i++)
		if (strcmp(wait_values[i].type, type) == 0)
			return wait_values[i].words;
	return NULL;
}

static uint32_t waits_find_value(const struct profile *profile, enum wait_value value)
{
	const char *type = wait_values[value].type;

	for (uint32_t i = 0; i < profile->value_type_count; i++)
		if (strcmp(profile_string(profile, profile->value_types[i].type), type) == 0 &&
			strcmp(profile_string(profile, profile->value_types[i].unit), "nanoseconds") == 0)
			return i;
	return PROFILE_NONE;
}

struct profile_wait_values profile_wait_values(const struct profile *profile)
{
	return (struct profile_wait_values){
		.cpu = waits_find_value(profile, VALUE_CPU),
		.off_cpu = waits_find_value(profile, VALUE_OFF_CPU),
		.idle = waits_find_value(profile, VALUE_IDLE),
		.wall = waits_find_value(profile, VALUE_WALL),
	};
}

bool profile_has_waits(const struct profile *profile)
{
	struct profile_wait_values values = profile_wait_values(profile);

	return values.off_cpu != PROFILE_NONE && values.idle != PROFILE_NONE && values.wall != PROFILE_NONE;
}

/* The scheduler of Go (runtime/proc.go) parks goroutines, and its threads go on, or have nothing to run. */
const char *profile_waits_unseen(const struct profile *profile)
{
	if (!profile_has_waits(profile))
		return NULL;
	for (size_t i = 0; i < profile->function_count; i++)
		if (strcmp(profile_string(profile, profile->functions[i].name), "runtime.findRunnable") == 0)
			return "what goroutines wait for, such as a sync.Mutex or a channel, is not in this recording: they wait "
			       "without a thread. Go's own profiles tell: call runtime.SetMutexProfileFraction(5) and "
			       "runtime.SetBlockProfileRate(10000) in the program, import net/http/pprof, and run "
			       "'go tool pprof http://HOST:PORT/debug/pprof/mutex' (or .../block); 'kelvin diff' compares what "
			       "it saves";
	return NULL;
}

bool profile_add_wait_values(struct profile *profile, struct error *err)
{
	for (size_t i = VALUE_OFF_CPU; i < VALUE_COUNT; i++)
		if (!profile_add_value_type(profile, wait_values[i].type, "nanoseconds", err))
			return false;
	return true;
}

void profile_wait_fill(
	const struct profile *profile, enum profile_wait_class wait_class, int64_t wait_ns, int64_t *values)
{
	struct profile_wait_values types = profile_wait_values(profile);

	memset(values, 0, profile->value_type_count * sizeof(*values));
	values[0] = 1;
	if (wait_classes[wait_class].is_idle)
		values[types.idle] = wait_ns;
	else
		values[types.off_cpu] = values[types.wall] = wait_ns;
}

/* ---- Stacks ---- */

bool profile_add_wait_stack(
	struct profile *profile, uint32_t stack, enum profile_wait_class wait_class, uint32_t *id, struct error *err)
{
	struct profile_function frame = { .origin = PROFILE_ORIGIN_SYSTEM, .name_source = PROFILE_NAME_IMPORTED };
	struct profile_line line = { 0 };
	uint32_t location;

	return profile_intern(profile, wait_classes[wait_class].frame, &frame.name, err) &&
	       profile_add_function(profile, &frame, &line.function, err) &&
	       profile_add_location_of_lines(profile, PROFILE_NONE, &line, 1, &location, err) &&
	       profile_add_stack(profile, stack, location, id, err);
}

/* ---- Locks and releases ---- */

bool profile_add_lock(struct profile *profile, const struct profile_lock *lock, uint32_t *id, struct error *err)
{
	if (!ARRAY_RESERVE(
		    &profile->locks, &profile->index->lock_capacity, profile->lock_count + 1, ARRAY_MAX_IDS, err))
		return false;
	profile->locks[profile->lock_count] = *lock;
	*id = (uint32_t)profile->lock_count++;
	return true;
}

bool profile_add_release(struct profile *profile, const struct profile_release *release, struct error *err)
{
	return ARRAY_APPEND(&profile->releases, &profile->index->release_capacity, &profile->release_count,
		ARRAY_MAX_IDS, err, *release);
}

/* ---- Other classes ---- */

bool profile_is_c_library(const char *module)
{
	return glob_matches_any(GLOBS("libc.so*", "libc-*", "libpthread*", "ld-musl*", "libc.musl*"), module);
}

/* The new ids of stacks and samples when waits change their class. */
struct reclassing {
	struct profile *profile;
	uint32_t *stacks;  /* owned: [stack] the stack that it becomes */
	uint32_t *samples; /* owned: [sample] the sample that it becomes */
	bool is_changed;
};

static bool classify_stacks(struct reclassing *r,
	enum profile_wait_class (*class_of)(void *context, uint32_t stack, enum profile_wait_class wait_class),
	void *context, struct error *err)
{
	struct profile *profile = r->profile;
	size_t count = profile->stack_count;

	if (!ARRAY_ZEROED(&r->stacks, count, err))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		enum profile_wait_class before = profile_wait_class_of_stack(profile, i), now;

		r->stacks[i] = i;
		if (before == PROFILE_WAIT_NONE)
			continue;
		now = class_of(context, profile->stacks[i].parent, before);
		if (now == before)
			continue;
		r->is_changed = true;
		if (!profile_add_wait_stack(profile, profile->stacks[i].parent, now, &r->stacks[i], err))
			return false;
	}
	return true;
}

/* Moves a wait's time between the values of those that are idle and those that are not. */
static void move_values(const struct profile *profile, const struct profile_wait_values *types, uint32_t from,
	uint32_t to, int64_t *values)
{
	bool was_idle = wait_classes[profile_wait_class_of_stack(profile, from)].is_idle;
	bool is_idle = wait_classes[profile_wait_class_of_stack(profile, to)].is_idle;
	int64_t wait_ns = values[was_idle ? types->idle : types->off_cpu];

	if (was_idle == is_idle)
		return;
	values[types->off_cpu] = values[types->wall] = is_idle ? 0 : wait_ns;
	values[types->idle] = is_idle ? wait_ns : 0;
}

/* Adds all samples anew, by their new stacks: two of one thread may have become one. */
static bool profile_waits_move_samples(
	struct reclassing *r, const struct profile_sample *samples, size_t count, int64_t *values, struct error *err)
{
	struct profile *profile = r->profile;
	struct profile_wait_values types = profile_wait_values(profile);
	size_t width = profile->value_type_count;

	for (size_t i = 0; i < count; i++) {
		uint32_t stack = r->stacks[samples[i].stack];

		move_values(profile, &types, samples[i].stack, stack, &values[i * width]);
		if (!profile_find_sample(profile, stack, samples[i].thread, &r->samples[i], err))
			return false;
		for (size_t v = 0; v < width; v++) {
			int64_t *sum = &profile->values[r->samples[i] * width + v];

			*sum = saturating_add(*sum, values[i * width + v]);
		}
	}
	return true;
}

static bool reclass(struct reclassing *r, struct error *err)
{
	struct profile *profile = r->profile;
	size_t count = profile->sample_count, values_size = count * profile->value_type_count * sizeof(int64_t);
	CLEANUP(cleanup_free) struct profile_sample *samples = malloc((count + 1) * sizeof(*samples));
	CLEANUP(cleanup_free) int64_t *values = malloc(values_size + 1);

	r->samples = malloc((count + 1) * sizeof(*r->samples));
	if (!samples || !values || !r->samples)
		return error_set_memory(err);
	if (count > 0) {
		memcpy(samples, profile->samples, count * sizeof(*samples));
		memcpy(values, profile->values, values_size);
	}
	profile_forget_samples(profile);
	if (!profile_waits_move_samples(r, samples, count, values, err))
		return false;
	for (size_t i = 0; i < profile->event_count; i++)
		profile->events[i].sample = r->samples[profile->events[i].sample];
	for (size_t i = 0; i < profile->release_count; i++)
		profile->releases[i].stack = r->stacks[profile->releases[i].stack];
	profile_sum_releases(profile);
	return true;
}

bool profile_classify_waits(struct profile *profile,
	enum profile_wait_class (*class_of)(void *context, uint32_t stack, enum profile_wait_class wait_class),
	void *context, struct error *err)
{
	struct reclassing r = { .profile = profile };
	bool ok = !profile_has_waits(profile) ||
		  (classify_stacks(&r, class_of, context, err) && (!r.is_changed || reclass(&r, err)));

	free(r.stacks);
	free(r.samples);
	return ok;
}
