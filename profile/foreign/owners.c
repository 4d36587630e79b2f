/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/owners.h"

#include "profile/copy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* From this part of the time on, frames that are entered tell what the tool writes in front of each stack. */
static const double nearly_all = 0.9;
/* A tool writes the process, the thread, or both. */
enum { MOST_OWNERS = 2 };

struct owners_function {
	bool is_inside;  /* it stands behind a first frame, or at one place with other functions */
	bool is_first;   /* it is the first frame of a stack */
	bool has_callee; /* of a first frame */
	bool is_entered; /* a first frame that calls the entry of a program or a thread */
	bool is_mapped;  /* it is code of a mapping */
	double time;     /* of a first frame and all below it */
};

struct owners {
	struct profile_copy copy;
	const struct profile *from;
	struct owners_function *functions; /* owned: [function] */
	bool *is_owner;                    /* owned: [function] */
	uint32_t *first;                   /* owned: [stack] its first frame's function; PROFILE_NONE: of no stack */
	bool *is_used;                     /* owned: [location] it stays in a stack */
};

static void owners_deinit(struct owners *o)
{
	profile_copy_deinit(&o->copy);
	free(o->functions);
	free(o->is_owner);
	free(o->first);
	free(o->is_used);
}

static bool owners_init(struct owners *o, struct error *err)
{
	o->functions = calloc(o->from->function_count + 1, sizeof(*o->functions));
	o->is_owner = calloc(o->from->function_count + 1, sizeof(*o->is_owner));
	o->first = calloc(o->from->stack_count + 1, sizeof(*o->first));
	o->is_used = calloc(o->from->location_count + 1, sizeof(*o->is_used));
	return (o->functions && o->is_owner && o->first && o->is_used) || error_set_memory(err);
}

/* ---- Forms ---- */

static struct profile_frame_span owners_name(const struct owners *o, uint32_t function)
{
	uint32_t name = o->from->functions[function].name;

	return (struct profile_frame_span){ profile_string(o->from, name), string_table_size(o->from->strings, name) };
}

/*
 * Returns whether a name is words with a number at their end that no function's name has there: `worker-12`, `Thread
 * 7`, `java-7`. Functions of Erlang and Elixir end in `/2`, addresses in `+0x12`, what V8 calls a place in `:12`.
 */
static bool is_numbered(struct profile_frame_span name)
{
	const char *end = name.text + name.size, *at = end;

	while (at > name.text && isdigit((unsigned char)at[-1]))
		at--;
	if (at == end || at == name.text || !strchr("-# ", at[-1]) || !isalpha((unsigned char)*name.text))
		return false;
	for (const char *c = name.text; c < at; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_.# ", *c))
			return false;
	return true;
}

static bool has_owners_form(struct profile_frame_span name)
{
	struct profile_frame_owner owner;

	return is_numbered(name) || (name.size > 0 && profile_frame_owner(name, &owner) == name.size);
}

/* ---- Positions ---- */

static void owners_note_location(struct owners *o, uint32_t id, bool is_first)
{
	const struct profile_location *location = &o->from->locations[id];

	for (uint32_t k = 0; k < location->line_count; k++) {
		uint32_t function = o->from->lines[location->first_line + k].function;
		struct owners_function *f = &o->functions[function];

		f->is_mapped |= location->mapping != PROFILE_NONE;
		f->is_first |= is_first;
		f->is_inside |= !is_first || location->line_count > 1;
	}
}

static uint32_t outermost(const struct owners *o, uint32_t stack)
{
	const struct profile_location *location = &o->from->locations[o->from->stacks[stack].location];

	return location->line_count == 0 ? PROFILE_NONE
					 : o->from->lines[location->first_line + location->line_count - 1].function;
}

static const char *owners_name_at(const struct owners *o, uint32_t stack)
{
	uint32_t function = stack ? outermost(o, stack) : PROFILE_NONE;

	return function == PROFILE_NONE ? "" : owners_name(o, function).text;
}

/*
 * Returns the stack of the function in which the program or the thread began, if this stack tells that; 0: it does not.
 * A thread calls clone() to make another one, so that of clone() its callee tells which of the two it is.
 */
static uint32_t entered_at(const struct owners *o, uint32_t stack)
{
	const char *name = owners_name_at(o, stack);
	uint32_t parent = o->from->stacks[stack].parent;

	if (strcmp(name, "start_thread") == 0)
		return profile_is_first_function(owners_name_at(o, parent)) ? parent : 0;
	return profile_is_first_function(name) && !strstr(name, "clone") ? stack : 0;
}

/* Notes of the first frame, at most so many frames before it as there may be owners, that it is entered. */
static void note_entry(struct owners *o, uint32_t stack)
{
	uint32_t entry = entered_at(o, stack), before = entry;

	for (int i = 0; i <= MOST_OWNERS && before != 0; i++)
		before = o->from->stacks[before].parent;
	if (entry != 0 && before == 0 && o->first[stack] != PROFILE_NONE)
		o->functions[o->first[stack]].is_entered = true;
}

static void note_stacks(struct owners *o)
{
	const struct profile *from = o->from;

	o->first[0] = PROFILE_NONE;
	for (uint32_t i = 1; i < from->stack_count; i++) {
		uint32_t parent = from->stacks[i].parent;

		owners_note_location(o, from->stacks[i].location, parent == 0);
		o->first[i] = parent == 0 ? outermost(o, i) : o->first[parent];
		if (parent != 0 && o->first[i] != PROFILE_NONE)
			o->functions[o->first[i]].has_callee = true;
		note_entry(o, i);
	}
}

/* Returns the time of all samples. */
static double note_time(struct owners *o)
{
	const struct profile *from = o->from;
	double all = 0;

	for (size_t i = 0; i < from->sample_count; i++) {
		uint32_t first = o->first[from->samples[i].stack];
		double value = (double)from->values[i * from->value_type_count + from->default_value_type];

		all += value;
		if (first != PROFILE_NONE)
			o->functions[first].time += value;
	}
	return all;
}

/* ---- Which frames they are ---- */

/* Returns whether a function stands where an owner does. A file of single frames is a table, and has no stacks. */
static bool is_in_place(const struct owners_function *f)
{
	return f->is_first && f->has_callee && !f->is_inside && !f->is_mapped;
}

static bool may_be_owner(const struct owners *o, uint32_t function)
{
	struct profile_frame_span name = owners_name(o, function);

	return is_in_place(&o->functions[function]) && name.size > 0 && *name.text != '[' &&
	       !profile_is_first_function(name.text);
}

/* Chooses all first frames, if each of them may be one and is entered, or is such as those that are. */
static void choose_entered(struct owners *o, double all)
{
	double entered = 0;
	bool is_rule;

	for (uint32_t i = 0; i < o->from->function_count; i++)
		if (o->functions[i].is_entered && may_be_owner(o, i))
			entered += o->functions[i].time;
	is_rule = entered >= nearly_all * all;
	/* A stack that begins with an entry has no process in front of it. */
	for (uint32_t i = 0; i < o->from->function_count; i++)
		is_rule = is_rule && !(o->functions[i].is_first && profile_is_first_function(owners_name(o, i).text));
	for (uint32_t i = 0; i < o->from->function_count; i++)
		o->is_owner[i] |= (o->functions[i].is_entered || is_rule) && may_be_owner(o, i);
}

static bool choose_owners(struct owners *o)
{
	double all;
	bool any = false;

	note_stacks(o);
	all = note_time(o);
	for (uint32_t i = 0; i < o->from->function_count; i++)
		o->is_owner[i] = is_in_place(&o->functions[i]) && has_owners_form(owners_name(o, i));
	choose_entered(o, all);
	for (uint32_t i = 0; i < o->from->function_count; i++)
		any |= o->is_owner[i];
	return any;
}

/* ---- The profile without them ---- */

static bool owners_stands_for_owner(const struct owners *o, uint32_t stack)
{
	return o->from->stacks[stack].parent == 0 && o->first[stack] != PROFILE_NONE && o->is_owner[o->first[stack]];
}

static bool owners_copy_stacks(struct owners *o, struct error *err)
{
	const struct profile *from = o->from;

	for (uint32_t i = 1; i < from->stack_count; i++)
		o->is_used[from->stacks[i].location] |= !owners_stands_for_owner(o, i);
	if (!profile_copy_locations(&o->copy, o->is_used, err))
		return false;
	for (uint32_t i = 1; i < from->stack_count; i++) {
		uint32_t parent = o->copy.stacks[from->stacks[i].parent];

		if (owners_stands_for_owner(o, i))
			o->copy.stacks[i] = 0;
		else if (!profile_add_stack(o->copy.into, parent, o->copy.locations[from->stacks[i].location],
				 &o->copy.stacks[i], err))
			return false;
	}
	return true;
}

/* What the file tells in another way stays: the first frame says the process, and each one the thread. */
static bool name_thread(
	struct owners *o, uint32_t function, const struct profile_thread *from, uint32_t *thread, struct error *err)
{
	struct profile_frame_span name = owners_name(o, function);
	struct string_table *strings = o->copy.into->strings;
	struct profile_frame_owner owner;
	struct profile_thread made = *from;
	uint32_t process, own;

	made.labels = o->copy.strings[made.labels];
	if (profile_frame_owner(name, &owner) != name.size)
		owner = (struct profile_frame_owner){ .process = name, .thread = name };
	if (!string_table_add(strings, owner.process.text, owner.process.size, &process, err) ||
		!string_table_add(strings, owner.thread.text, owner.thread.size, &own, err))
		return false;
	made.pid = made.pid ? made.pid : owner.pid;
	made.tid = made.tid ? made.tid : owner.tid;
	made.name = from->name == 0 || from->name == from->process_name ? own : o->copy.strings[from->name];
	made.process_name = from->process_name == 0 ? process : o->copy.strings[from->process_name];
	return profile_add_thread(o->copy.into, &made, thread, err);
}

static bool owners_copy_samples(struct owners *o, struct error *err)
{
	const struct profile *from = o->from;
	struct profile *into = o->copy.into;
	size_t width = from->value_type_count;

	for (size_t i = 0; i < from->sample_count; i++) {
		const struct profile_sample *sample = &from->samples[i];
		const struct profile_thread *owner = &from->threads[sample->thread];
		uint32_t first = o->first[sample->stack], thread, id;

		if (!(first != PROFILE_NONE && o->is_owner[first]
				    ? name_thread(o, first, owner, &thread, err)
				    : profile_copy_thread(&o->copy, sample->thread, owner->run, &thread, err)) ||
			!profile_find_sample(into, o->copy.stacks[sample->stack], thread, &id, err))
			return false;
		for (size_t v = 0; v < width; v++)
			into->values[id * width + v] =
				saturating_add(into->values[id * width + v], from->values[i * width + v]);
	}
	return true;
}

static bool copy_without(struct owners *o, struct error *err)
{
	uint32_t id;

	for (size_t i = 0; i < o->from->run_count; i++) {
		struct profile_run run = profile_copied_run(&o->copy, i);

		if (!profile_add_run(o->copy.into, &run, &id, err))
			return false;
	}
	o->copy.into->has_timeline = o->from->has_timeline;
	if (!owners_copy_stacks(o, err) || !owners_copy_samples(o, err) || !profile_copy_requests(&o->copy, 0, err))
		return false;
	profile_copy_circumstances(&o->copy);
	return true;
}

/* Returns whether a file may have owners as frames: one of events, or of named processes, has what they would tell. */
static bool may_have_owners(const struct profile *profile)
{
	if (profile->event_count > 0 || profile->lock_count > 0 || profile->release_count > 0)
		return false;
	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].process_name != 0)
			return false;
	return true;
}

static bool take_first(struct profile **profile, bool *any, struct error *err)
{
	CLEANUP(owners_deinit) struct owners o = { .from = *profile };
	CLEANUP(profile_cleanup) struct profile *made = NULL;

	if (!owners_init(&o, err))
		return false;
	*any = choose_owners(&o);
	if (!*any)
		return true;
	if (!profile_create(&made, err) || !profile_copy_init(&o.copy, made, *profile, err) || !copy_without(&o, err) ||
		!profile_finish(made, err) || !profile_validate(made, err))
		return false;
	profile_destroy(*profile);
	*profile = TAKE(made);
	return true;
}

bool owners_take(struct profile **profile, struct error *err)
{
	bool any = may_have_owners(*profile);

	for (int i = 0; any && i < MOST_OWNERS; i++)
		if (!take_first(profile, &any, err))
			return false;
	return true;
}
