/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the profile of a part of another one's samples: those whose stacks have a function, without the frames that
 * somebody does not want to see. The page does the same to the call tree (render/viewer/model/filters.js, folding.js).
 */
#include "profile/selection.h"

#include "profile/copy.h"
#include "profile/function_pattern.h"
#include "profile/index.h"
#include "profile/selection_where.h"

#include <stdlib.h>
#include <string.h>

/* The state after a stack's last frame, for those that it calls. */
struct frame_state {
	uint8_t kind;                      /* enum profile_interrupt of its function */
	uint8_t visible_kind;              /* that of the last frame that stays */
	bool is_interrupt;                 /* it lies in what is no program's */
	struct profile_line hidden_caller; /* the frame, if it was left out; else its function is PROFILE_NONE */
};

struct selector {
	const struct profile *from;
	const struct profile_selection *selection;
	struct profile_copy copy;
	/* owned: [function] those of `focus` and of `hide`, those of other origins than `only`, frames of waits */
	bool *focused, *hidden, *foreign, *waiting;
	uint8_t *kinds;                    /* owned: [function] enum profile_interrupt */
	bool *chosen;                      /* owned: [sample] */
	bool *needed;                      /* owned: [stack] */
	bool *leads_to_wait;               /* owned: [stack] it leads to a wait that is the program's */
	bool *has_function, *has_location; /* owned: [function], [location] it has been copied */
	struct frame_state *states;        /* owned: [stack] */
	uint32_t *samples;                 /* owned: [sample] what it became; PROFILE_NONE: it was left out */
	struct profile_line *lines;        /* owned: frames of a location that stay */
	size_t line_capacity;
};

static void selector_deinit(struct selector *s)
{
	profile_copy_deinit(&s->copy);
	free(s->focused);
	free(s->hidden);
	free(s->foreign);
	free(s->waiting);
	free(s->kinds);
	free(s->chosen);
	free(s->needed);
	free(s->leads_to_wait);
	free(s->has_function);
	free(s->has_location);
	free(s->states);
	free(s->samples);
	free(s->lines);
}

static bool selector_init(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;

	s->focused = calloc(from->function_count + 1, sizeof(*s->focused));
	s->hidden = calloc(from->function_count + 1, sizeof(*s->hidden));
	s->foreign = calloc(from->function_count + 1, sizeof(*s->foreign));
	s->waiting = calloc(from->function_count + 1, sizeof(*s->waiting));
	s->kinds = calloc(from->function_count + 1, sizeof(*s->kinds));
	s->chosen = calloc(from->sample_count + 1, sizeof(*s->chosen));
	s->needed = calloc(from->stack_count + 1, sizeof(*s->needed));
	s->leads_to_wait = calloc(from->stack_count + 1, sizeof(*s->leads_to_wait));
	s->has_function = calloc(from->function_count + 1, sizeof(*s->has_function));
	s->has_location = calloc(from->location_count + 1, sizeof(*s->has_location));
	s->states = calloc(from->stack_count + 1, sizeof(*s->states));
	s->samples = calloc(from->sample_count + 1, sizeof(*s->samples));
	return (s->focused && s->hidden && s->foreign && s->waiting && s->kinds && s->chosen && s->needed &&
		       s->leads_to_wait && s->has_function && s->has_location && s->states && s->samples) ||
	       error_set_memory(err);
}

/* ---- Functions ---- */

/* A function of the other side counts as well, so that nothing has to be found here of what is hidden. */
static bool selection_find_functions(
	struct selector *s, const char *option, const char *text, bool *found, struct error *err)
{
	struct profile_pattern pattern;
	bool done;

	if (!text)
		return true;
	done = profile_pattern_init(&pattern, option, text, err) &&
	       (profile_pattern_find(&pattern, s->from, found) > 0 || found == s->hidden || s->selection->other_side ||
		       profile_pattern_refuse(&pattern, option, &s->from, 1, err));
	profile_pattern_deinit(&pattern);
	return done;
}

/* Takes functions that the other side's names decided about. */
static void take_others(struct selector *s)
{
	const struct profile_other_side *others = s->selection->other_side;

	for (size_t i = 0; others && i < s->from->function_count; i++) {
		const char *key = profile_string(s->from, s->from->functions[i].key);

		s->focused[i] |= s->selection->focus && others->is_focused(others->context, key);
		s->hidden[i] |= s->selection->hide && others->is_hidden(others->context, key);
	}
}

static bool choose_functions(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;
	enum profile_origin only = s->selection->only;

	if (!selection_find_functions(s, "--focus", s->selection->focus, s->focused, err) ||
		!selection_find_functions(s, "--hide", s->selection->hide, s->hidden, err))
		return false;
	take_others(s);
	for (uint32_t i = 0; i < from->function_count; i++) {
		const struct profile_function *f = &from->functions[i];

		/* Nobody knows whose code of unknown origin is. */
		s->foreign[i] =
			only != PROFILE_ORIGIN_UNKNOWN && f->origin != PROFILE_ORIGIN_UNKNOWN && f->origin != only;
		s->waiting[i] = profile_wait_class_of_function(from, i) != PROFILE_WAIT_NONE;
		if (only != PROFILE_ORIGIN_UNKNOWN || s->selection->hide)
			s->kinds[i] = (uint8_t)profile_interrupt_of(
				profile_string(from, f->name), profile_string(from, f->module));
	}
	return true;
}

/* ---- Samples and stacks ---- */

/* Whole stacks decide, before any frame is left out. */
static bool selection_choose_samples(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;
	CLEANUP(cleanup_free) bool *has = calloc(from->stack_count + 1, sizeof(*has));
	size_t count = 0;

	if (!has)
		return error_set_memory(err);
	for (size_t i = 1; i < from->stack_count; i++) {
		const struct profile_location *location = &from->locations[from->stacks[i].location];

		has[i] = has[from->stacks[i].parent];
		for (uint32_t k = 0; k < location->line_count && !has[i]; k++)
			has[i] = s->focused[from->lines[location->first_line + k].function];
	}
	for (size_t i = 0; i < from->sample_count; i++)
		s->chosen[i] = !s->selection->focus || has[from->samples[i].stack];
	if (!profile_where_samples(from, s->selection, s->chosen, err))
		return false;
	for (size_t i = 0; i < from->sample_count; i++)
		count += s->chosen[i];
	if (count > 0 || s->selection->other_side)
		return true;
	return s->selection->where_count > 0 && !s->selection->focus
		       ? profile_refuse_where(&from, 1, s->selection->where, s->selection->where_count, err)
		       : error_set(err, ERROR_EMPTY, "no stack has a function like '%.200s'",
				 s->selection->focus ? s->selection->focus : "");
}

static void selection_mark_stacks(struct selector *s)
{
	const struct profile *from = s->from;

	for (size_t i = 0; i < from->sample_count; i++) {
		enum profile_wait_class waits = profile_wait_class_of_stack(from, from->samples[i].stack);

		s->needed[from->samples[i].stack] |= s->chosen[i];
		/* Waiting for a CPU is the machine's: it makes no interrupt a part of the program. */
		s->leads_to_wait[from->samples[i].stack] |=
			waits != PROFILE_WAIT_NONE && waits != PROFILE_WAIT_RUN_QUEUE;
	}
	for (size_t i = 0; i < from->release_count; i++)
		s->needed[from->releases[i].releaser] |= s->needed[from->releases[i].stack];
	for (size_t i = from->stack_count; i-- > 1;) {
		s->needed[from->stacks[i].parent] |= s->needed[i];
		s->leads_to_wait[from->stacks[i].parent] |= s->leads_to_wait[i];
	}
}

/* ---- Frames ---- */

/* What hit a thread from outside is nobody's code. */
static bool selection_stays(const struct selector *s, uint32_t function, bool is_interrupt)
{
	return s->waiting[function] || is_interrupt || (!s->hidden[function] && !s->foreign[function]);
}

/* The frames of a stack's last location that stay. */
struct visible {
	size_t count; /* in selector.lines, the innermost first */
	bool is_whole;
};

/*
 * Whether the scheduler was called by the program or by an interrupt is told by its caller: where that was left
 * out, and the frame that is the caller now tells otherwise, it comes back.
 */
static bool needs_caller(const struct frame_state *state, uint8_t kind)
{
	return state->hidden_caller.function != PROFILE_NONE && !state->is_interrupt &&
	       kind == PROFILE_INTERRUPT_SCHEDULE &&
	       (state->kind == PROFILE_INTERRUPT_RETURN) != (state->visible_kind == PROFILE_INTERRUPT_RETURN);
}

static struct visible visible_lines(struct selector *s, size_t stack)
{
	const struct profile *from = s->from;
	const struct profile_location *location = &from->locations[from->stacks[stack].location];
	struct frame_state state = s->states[from->stacks[stack].parent];
	size_t most = 2 * (size_t)location->line_count, kept = most;
	struct visible visible = { .is_whole = true };

	for (uint32_t k = location->line_count; k-- > 0;) {
		const struct profile_line *line = &from->lines[location->first_line + k];
		uint8_t kind = s->kinds[line->function];
		bool begins =
			profile_interrupt_begins((enum profile_interrupt)kind, (enum profile_interrupt)state.kind);
		bool is_told_by_caller = !s->leads_to_wait[stack] && needs_caller(&state, kind);

		state.is_interrupt = !s->leads_to_wait[stack] && (state.is_interrupt || begins);
		state.kind = kind;
		if (!selection_stays(s, line->function, state.is_interrupt)) {
			state.hidden_caller = *line;
			visible.is_whole = false;
			continue;
		}
		if (is_told_by_caller) {
			s->lines[--kept] = state.hidden_caller;
			visible.is_whole = false;
		}
		s->lines[--kept] = *line;
		state.visible_kind = kind;
		state.hidden_caller.function = PROFILE_NONE;
	}
	s->states[stack] = state;
	visible.count = most - kept;
	memmove(s->lines, s->lines + kept, visible.count * sizeof(*s->lines));
	return visible;
}

static bool selection_copy_function(struct selector *s, uint32_t function, struct error *err)
{
	if (s->has_function[function])
		return true;
	s->has_function[function] = true;
	return profile_copy_function(&s->copy, function, err);
}

/* The location with all its frames, or one of those that stay, which has no address: that is of all. */
static bool place_location(
	struct selector *s, uint32_t location, struct visible visible, uint32_t *made, struct error *err)
{
	const struct profile_location *from = &s->from->locations[location];

	for (size_t k = 0; k < visible.count; k++)
		if (!selection_copy_function(s, s->lines[k].function, err))
			return false;
	if (visible.is_whole) {
		if (!s->has_location[location] && !profile_copy_location(&s->copy, location, err))
			return false;
		s->has_location[location] = true;
		*made = s->copy.locations[location];
		return true;
	}
	for (size_t k = 0; k < visible.count; k++)
		s->lines[k] = profile_copied_line(&s->copy, &s->lines[k]);
	return profile_add_location_of_lines(s->copy.into,
		from->mapping == PROFILE_NONE ? PROFILE_NONE : s->copy.mappings[from->mapping], s->lines, visible.count,
		made, err);
}

/* A stack without a frame that stays becomes that of its caller, which so gets its time. */
static bool select_stacks(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;

	s->states[0].hidden_caller.function = PROFILE_NONE;
	for (size_t i = 1; i < from->stack_count; i++) {
		uint32_t caller = s->copy.stacks[from->stacks[i].parent], location;
		size_t most = from->locations[from->stacks[i].location].line_count;
		struct visible visible;

		if (!s->needed[i])
			continue;
		if (!ARRAY_RESERVE(&s->lines, &s->line_capacity, 2 * most + 1, ARRAY_MAX_IDS, err))
			return false;
		visible = visible_lines(s, i);
		s->copy.stacks[i] = caller;
		/* A location that was not named yet stays as it is. */
		if (visible.count == 0 && most > 0)
			continue;
		if (!place_location(s, from->stacks[i].location, visible, &location, err) ||
			!profile_add_stack(s->copy.into, caller, location, &s->copy.stacks[i], err))
			return false;
	}
	return true;
}

/* ---- What the new profile has ---- */

static bool select_runs(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;
	uint32_t id;

	for (size_t i = 0; i < from->run_count; i++) {
		struct profile_run run = profile_copied_run(&s->copy, i);

		if (!profile_add_run(s->copy.into, &run, &id, err))
			return false;
	}
	for (uint32_t i = 0; i < from->thread_count; i++)
		if (!profile_copy_thread(&s->copy, i, from->threads[i].run, &id, err))
			return false;
	return true;
}

static bool select_samples(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;
	struct profile *into = s->copy.into;
	size_t width = from->value_type_count;

	for (size_t i = 0; i < from->sample_count; i++) {
		const struct profile_sample *sample = &from->samples[i];
		uint32_t thread, *id = &s->samples[i];

		*id = PROFILE_NONE;
		if (!s->chosen[i])
			continue;
		if (!profile_copy_thread(&s->copy, sample->thread, from->threads[sample->thread].run, &thread, err) ||
			!profile_find_sample(into, s->copy.stacks[sample->stack], thread, id, err))
			return false;
		for (size_t v = 0; v < width; v++) {
			int64_t *sum = &into->values[*id * width + s->copy.values[v]];

			*sum = saturating_add(*sum, from->values[i * width + v]);
		}
	}
	return true;
}

/*
 * Samples that became one may have events with and without weights of their own; its events then share its values
 * evenly.
 */
static bool find_even(const struct selector *s, bool **is_even, struct error *err)
{
	const struct profile *from = s->from;
	CLEANUP(cleanup_free) uint8_t *kinds = calloc(s->copy.into->sample_count + 1, sizeof(*kinds));

	*is_even = calloc(s->copy.into->sample_count + 1, sizeof(**is_even));
	if (!kinds || !*is_even)
		return error_set_memory(err);
	for (size_t i = 0; i < from->event_count; i++) {
		uint32_t sample = s->samples[from->events[i].sample];

		if (sample == PROFILE_NONE)
			continue;
		kinds[sample] |= i < from->weighted_count && from->event_weights[i] > 0 ? 1 : 2;
		(*is_even)[sample] = kinds[sample] == 3;
	}
	return true;
}

static bool select_events(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;
	CLEANUP(cleanup_free) bool *is_even = NULL;

	s->copy.into->has_timeline = from->has_timeline;
	if (!from->has_timeline)
		return true;
	if (!find_even(s, &is_even, err))
		return false;
	for (size_t i = 0; i < from->event_count; i++) {
		const struct profile_event *event = &from->events[i];
		uint32_t sample = s->samples[event->sample];
		int64_t weight = i < from->weighted_count ? from->event_weights[i] : 0;

		if (sample != PROFILE_NONE &&
			!profile_append_event(s->copy.into, event->time_ns, sample, is_even[sample] ? 0 : weight, err))
			return false;
	}
	return true;
}

static bool select_releases(struct selector *s, struct error *err)
{
	const struct profile *from = s->from;

	if (!profile_copy_locks(&s->copy, err))
		return false;
	for (size_t i = 0; i < from->release_count; i++) {
		struct profile_release release = from->releases[i];

		if (!s->needed[release.stack])
			continue;
		release.stack = s->copy.stacks[release.stack];
		release.releaser = s->copy.stacks[release.releaser];
		release.lock = release.lock == PROFILE_NONE ? PROFILE_NONE : s->copy.first_lock + release.lock;
		if (!profile_add_release(s->copy.into, &release, err))
			return false;
	}
	return true;
}

static bool make(struct selector *s, struct error *err)
{
	if (!choose_functions(s, err) || !selection_choose_samples(s, err))
		return false;
	selection_mark_stacks(s);
	if (!select_runs(s, err) || !select_stacks(s, err) || !select_samples(s, err) || !select_events(s, err) ||
		!select_releases(s, err) || !profile_copy_requests(&s->copy, 0, err))
		return false;
	profile_copy_circumstances(&s->copy);
	return true;
}

bool profile_selection_is_empty(const struct profile_selection *selection)
{
	return !selection->focus && !selection->hide && selection->only == PROFILE_ORIGIN_UNKNOWN &&
	       selection->where_count == 0;
}

bool profile_select(const struct profile *profile, const struct profile_selection *selection, struct profile **selected,
	struct error *err)
{
	CLEANUP(selector_deinit) struct selector s = { .from = profile, .selection = selection };
	CLEANUP(profile_cleanup) struct profile *made = NULL;

	if (!selector_init(&s, err) || !profile_create(&made, err) || !profile_copy_init(&s.copy, made, profile, err) ||
		!make(&s, err) || !profile_finish(made, err) || !profile_validate(made, err))
		return false;
	*selected = TAKE(made);
	return true;
}
