/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/explained.h"

#include "diff/constants.h"

#include <math.h>
#include <string.h>

/*
 * Functions by which the run time gets from the first one to the program's, and which may count as the program's own
 * code.
 */
static const char *const *const entries =
	GLOBS("__libc_start_*", "_dl_start*", "start_thread", "runtime.main", "runtime.mstart*", "runtime.rt0_go*",
		"std::rt::lang_start*", "std::sys::*backtrace::__rust_begin_short_backtrace*");

void explained_deinit(struct explained *s)
{
	free(s->below);
	free(s->explained);
	free(s->depth);
	free(s->scratch);
	free(s->kind);
	free(s->is_under_user);
	free(s->responsible);
	free(s->caller);
}

/* ---- What is proven, and where ---- */

double explained_in_direction(const struct explained *s, double delta)
{
	return s->way * delta;
}

bool explained_is_proven(const struct explained *s, const struct diff_estimate *e)
{
	return (s->is_measured || proven_way_of(e->state) == s->way) && explained_in_direction(s, e->delta) > 0;
}

double explained_own(const struct explained *s, uint32_t node)
{
	const struct diff *diff = s->diff;

	if (node == 0 || (diff->nodes[node].flags & DIFF_NODE_INTERRUPT) ||
		!explained_is_proven(s, &diff->functions[build_owner(s->build, node)].self))
		return 0;
	return explained_in_direction(
		s, diff->node_self[DIFF_HEAD][node] * diff->scale.factor - diff->node_self[DIFF_BASE][node]);
}

static void sum_below(struct explained *s)
{
	for (uint32_t node = (uint32_t)s->diff->node_count; node-- > 1;) {
		s->below[node] += explained_own(s, node);
		s->below[s->diff->nodes[node].parent] += s->below[node];
	}
}

bool explained_has_no_name(const struct diff *diff, const struct diff_function *f)
{
	const char *name = diff_string(diff, f->name);

	return f->name_source == PROFILE_NAME_NONE || f->name_source == PROFILE_NAME_FDE ||
	       f->name_source == PROFILE_NAME_PLT || name[0] == '\0' || strncmp(name, "0x", 2) == 0 ||
	       strncmp(name, "[un", 3) == 0 || profile_language_of_gone(name) != PROFILE_LANGUAGE_NATIVE ||
	       strncmp(diff_string(diff, f->key), "[unnamed]", strlen("[unnamed]")) == 0;
}

/* What the interpreter does is its functions'. */
enum explained_kind explained_kind_of(const struct diff *diff, const struct diff_function *f, bool is_interpreter)
{
	const char *name = diff_string(diff, f->name);

	if (f->interrupt || is_interpreter || explained_has_no_name(diff, f) ||
		diff_wait_class(diff, f) != PROFILE_WAIT_NONE || profile_is_first_function(name) ||
		glob_matches_any(entries, name))
		return EXPLAINED_NEVER;
	/* Garbage collection says more than the run time's function that most of it is in. */
	if (profile_activity_of_frame(name, diff_string(diff, f->module)) == PROFILE_ACTIVITY_COLLECTION)
		return EXPLAINED_LIBRARY;
	switch (f->origin) {
	case PROFILE_ORIGIN_USER:
		return EXPLAINED_USER;
	case PROFILE_ORIGIN_LIBRARY:
		return EXPLAINED_LIBRARY;
	case PROFILE_ORIGIN_SYSTEM:
	case PROFILE_ORIGIN_UNKNOWN:
		return EXPLAINED_SYSTEM;
	}
	return EXPLAINED_NEVER;
}

bool explained_is_whole(const struct diff *diff, const struct diff_estimate *total)
{
	return total->base >= explained_whole_program * diff->total.base &&
	       total->head >= explained_whole_program * diff->total.head;
}

/* Tells each node which functions are above it. */
static void explained_find_above(struct explained *s)
{
	const struct diff *diff = s->diff;

	s->responsible[0] = s->caller[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t function = diff->nodes[node].function, parent = diff->nodes[node].parent,
			 above = s->responsible[parent];
		bool is_user_above = above != PROFILE_NONE && s->kind[above] == EXPLAINED_USER,
		     is_own = s->kind[function] == EXPLAINED_USER || s->kind[function] == EXPLAINED_LIBRARY;

		s->is_under_user[function] |= is_user_above;
		s->responsible[node] =
			s->kind[function] == EXPLAINED_USER || (is_own && !is_user_above) ? function : above;
		s->caller[node] = is_own && !explained_is_whole(diff, &diff->functions[function].total)
					  ? function
					  : s->caller[parent];
	}
}

double explained_weight(const struct explained *s, uint32_t node)
{
	const struct diff *diff = s->diff;
	double delta = diff->node_total[DIFF_HEAD][node] * diff->scale.factor - diff->node_total[DIFF_BASE][node];

	return fmax(fmax(s->below[node], explained_in_direction(s, delta)), 0);
}

bool explained_is_topmost(const struct explained *s, uint32_t node)
{
	return s->build->topmost[node] && !(s->diff->nodes[node].flags & DIFF_NODE_INTERRUPT);
}

static void classify_functions(struct explained *s)
{
	const struct diff *diff = s->diff;
	bool is_named[PROFILE_LANGUAGE_COUNT];

	proven_named_languages(diff, is_named);
	for (size_t i = 0; i < diff->function_count; i++)
		s->kind[i] = explained_kind_of(diff, &diff->functions[i], is_named[diff->functions[i].interprets]);
}

/* Adds up what is below the topmost nodes of each function, and how deep they are. */
static void explained_sum_functions(struct explained *s)
{
	const struct diff *diff = s->diff;

	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t function = diff->nodes[node].function;

		if (!explained_is_topmost(s, node))
			continue;
		s->explained[function] += s->below[node];
		s->depth[function] += explained_weight(s, node) * diff->nodes[node].depth;
		s->scratch[function] += explained_weight(s, node);
	}
}

static void explain_functions(struct explained *s)
{
	const struct diff *diff = s->diff;

	s->whole = s->below[0];
	if (explained_is_proven(s, &diff->total))
		s->whole = fmax(s->whole, explained_in_direction(s, diff->total.delta));
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		s->depth[i] = s->scratch[i] > 0 ? s->depth[i] / s->scratch[i] : 0;
		s->is_known |= (explained_is_proven(s, &f->total) && !explained_is_whole(diff, &f->total)) ||
			       explained_is_proven(s, &f->self);
		if (explained_is_proven(s, &f->total))
			s->explained[i] = fmax(s->explained[i], explained_in_direction(s, f->total.delta));
		if (s->kind[i] != EXPLAINED_NEVER)
			s->whole = fmax(s->whole, s->explained[i]);
	}
}

/*
 * All that is proven in the tree: at a node its own self time and what is proven below it, or the difference of its
 * function's total, if that is proven and larger. So functions in different places share the whole.
 */
static void sum_proven(const struct explained *s, double *sum)
{
	const struct diff *diff = s->diff;
	CLEANUP(cleanup_free) double *proven = memory_zeroed(diff->node_count + 1, sizeof(*proven));

	for (uint32_t node = (uint32_t)diff->node_count; node-- > 1;) {
		double delta = explained_in_direction(
			s, diff->node_total[DIFF_HEAD][node] * diff->scale.factor - diff->node_total[DIFF_BASE][node]);
		uint32_t function = diff->nodes[node].function;

		proven[node] += explained_own(s, node);
		if (explained_is_topmost(s, node) && s->kind[function] != EXPLAINED_NEVER &&
			explained_is_proven(s, &diff->functions[function].total))
			proven[node] = fmax(proven[node], delta);
		proven[diff->nodes[node].parent] += proven[node];
	}
	*sum = proven[0];
}

/* Allocates room for all that a search knows. */
static void explained_allocate(struct explained *s)
{
	size_t functions = s->diff->function_count + 1, nodes = s->diff->node_count + 1;

	s->below = memory_zeroed(nodes, sizeof(*s->below));
	s->explained = memory_zeroed(functions, sizeof(*s->explained));
	s->depth = memory_zeroed(functions, sizeof(*s->depth));
	s->scratch = memory_zeroed(functions, sizeof(*s->scratch));
	s->kind = memory_zeroed(functions, sizeof(*s->kind));
	s->is_under_user = memory_zeroed(functions, sizeof(*s->is_under_user));
	s->responsible = memory_zeroed(nodes, sizeof(*s->responsible));
	s->caller = memory_zeroed(nodes, sizeof(*s->caller));
}

void explained_init(struct explained *s)
{
	double proven = 0;

	explained_allocate(s);
	classify_functions(s);
	sum_below(s);
	explained_find_above(s);
	explained_sum_functions(s);
	explain_functions(s);
	sum_proven(s, &proven);
	s->whole = fmax(s->whole, proven);
	/* By chance, much is measured in both directions. */
	if (s->is_measured)
		s->whole = explained_in_direction(s, s->diff->total.delta);
}
