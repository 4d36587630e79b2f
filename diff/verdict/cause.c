/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/cause.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

/* The part of the whole that a cause explains at least, and the part of a caller's or a leaf's difference. */
static const double cause_part = 0.5;

/* From this part of both totals on the time of a function is that of the whole program. */
static const double whole_program = 0.9;

/* Parts below these are not worth naming: of the whole where a change is spread, and of a cause's time in its leaf. */
static const double least_spread = 0.05, least_leaf = 0.2;

/* Functions in which the run time enters a program or a thread, and which may count as the program's own code. */
static const char *const entries[] = { "_start", "__libc_start_*", "start_thread", "clone", "clone3", "_dl_start*",
	"runtime.goexit*", "runtime.main", "runtime.mstart*", "runtime.rt0_go*", "std::rt::lang_start*",
	"std::sys::*backtrace::__rust_begin_short_backtrace*" };

/* Whose code a function is, in the order in which causes are preferred. */
enum cause_kind { CAUSE_USER, CAUSE_LIBRARY, CAUSE_SYSTEM, CAUSE_KINDS, CAUSE_NEVER = CAUSE_KINDS };

struct cause_search {
	const struct diff_build *build;
	const struct diff *diff;
	int way;
	double whole;
	bool is_known;         /* something is proven of functions */
	double *below;         /* [node] proven self time in the direction, in the node's subtree; owned */
	double *explained;     /* [function] owned */
	double *depth;         /* [function] mean depth of its topmost nodes, by what is below them; owned */
	double *scratch;       /* [function] owned */
	enum cause_kind *kind; /* [function] owned */
	bool *is_under_user;   /* [function] whether a function of the user's code is above it; owned */
	/* [node] the nearest function at or above it: of the user's code, else of a library; PROFILE_NONE: none; owned
	 */
	uint32_t *responsible;
	uint32_t *caller; /* [node] the nearest one at or above it that a chain of callers may name; owned */
};

static void cause_search_deinit(struct cause_search *s)
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

static double in_direction(const struct cause_search *s, double delta)
{
	return s->way * delta;
}

static bool is_proven_in(const struct cause_search *s, const struct diff_estimate *e)
{
	return proven_way_of(e->state) == s->way && in_direction(s, e->delta) > 0;
}

/* The proven self time at a node, in the direction. */
static double own_difference(const struct cause_search *s, uint32_t node)
{
	const struct diff *diff = s->diff;

	if (node == 0 || (diff->nodes[node].flags & DIFF_NODE_INTERRUPT) ||
		!is_proven_in(s, &diff->functions[build_owner(s->build, node)].self))
		return 0;
	return in_direction(
		s, diff->node_self[DIFF_HEAD][node] * diff->scale.factor - diff->node_self[DIFF_BASE][node]);
}

static void sum_below(struct cause_search *s)
{
	for (uint32_t node = (uint32_t)s->diff->node_count; node-- > 1;) {
		s->below[node] += own_difference(s, node);
		s->below[s->diff->nodes[node].parent] += s->below[node];
	}
}

static bool has_no_name(const struct diff *diff, const struct diff_function *f)
{
	const char *name = diff_string(diff, f->name);

	return f->name_source == PROFILE_NAME_NONE || f->name_source == PROFILE_NAME_FDE ||
	       f->name_source == PROFILE_NAME_PLT || name[0] == '\0' || strncmp(name, "0x", 2) == 0 ||
	       strncmp(name, "[un", 3) == 0 || strcmp(name, PROFILE_PYTHON_GONE) == 0 ||
	       strncmp(diff_string(diff, f->key), "[unnamed]", strlen("[unnamed]")) == 0;
}

static bool is_entry(const char *name)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (fnmatch(entries[i], name, 0) == 0)
			return true;
	return false;
}

/* `is_interpreter`: its functions have names, so that what the interpreter does is theirs. */
static enum cause_kind kind_of(const struct diff *diff, const struct diff_function *f, bool is_interpreter)
{
	if (f->interrupt || is_interpreter || has_no_name(diff, f) || diff_wait_class(diff, f) != PROFILE_WAIT_NONE ||
		is_entry(diff_string(diff, f->name)))
		return CAUSE_NEVER;
	switch (f->origin) {
	case PROFILE_ORIGIN_USER:
		return CAUSE_USER;
	case PROFILE_ORIGIN_LIBRARY:
		return CAUSE_LIBRARY;
	case PROFILE_ORIGIN_SYSTEM:
	case PROFILE_ORIGIN_UNKNOWN:
		return CAUSE_SYSTEM;
	}
	return CAUSE_NEVER;
}

static bool is_whole_program(const struct diff *diff, const struct diff_estimate *total)
{
	return total->base >= whole_program * diff->total.base && total->head >= whole_program * diff->total.head;
}

/* Tells each node which functions are above it. */
static void find_above(struct cause_search *s)
{
	const struct diff *diff = s->diff;

	s->responsible[0] = s->caller[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t function = diff->nodes[node].function, parent = diff->nodes[node].parent,
			 above = s->responsible[parent];
		bool is_user_above = above != PROFILE_NONE && s->kind[above] == CAUSE_USER,
		     is_own = s->kind[function] == CAUSE_USER || s->kind[function] == CAUSE_LIBRARY;

		s->is_under_user[function] |= is_user_above;
		s->responsible[node] = s->kind[function] == CAUSE_USER || (is_own && !is_user_above) ? function : above;
		s->caller[node] = is_own && !is_whole_program(diff, &diff->functions[function].total)
					  ? function
					  : s->caller[parent];
	}
}

/* How much more of the direction head has than base in a subtree: what is proven there, or the net difference. */
static double weight_of(const struct cause_search *s, uint32_t node)
{
	const struct diff *diff = s->diff;
	double delta = diff->node_total[DIFF_HEAD][node] * diff->scale.factor - diff->node_total[DIFF_BASE][node];

	return fmax(fmax(s->below[node], in_direction(s, delta)), 0);
}

static bool is_topmost(const struct cause_search *s, uint32_t node)
{
	return s->build->topmost[node] && !(s->diff->nodes[node].flags & DIFF_NODE_INTERRUPT);
}

static void classify_functions(struct cause_search *s)
{
	const struct diff *diff = s->diff;
	bool is_named[PROFILE_LANGUAGE_COUNT];

	proven_named_languages(diff, is_named);
	for (size_t i = 0; i < diff->function_count; i++)
		s->kind[i] = kind_of(diff, &diff->functions[i], is_named[diff->functions[i].interprets]);
}

/* Adds up what is below the topmost nodes of each function, and how deep they are. */
static void sum_functions(struct cause_search *s)
{
	const struct diff *diff = s->diff;

	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t function = diff->nodes[node].function;

		if (!is_topmost(s, node))
			continue;
		s->explained[function] += s->below[node];
		s->depth[function] += weight_of(s, node) * diff->nodes[node].depth;
		s->scratch[function] += weight_of(s, node);
	}
}

static void explain_functions(struct cause_search *s)
{
	const struct diff *diff = s->diff;

	s->whole = s->below[0];
	if (is_proven_in(s, &diff->total))
		s->whole = fmax(s->whole, in_direction(s, diff->total.delta));
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		s->depth[i] = s->scratch[i] > 0 ? s->depth[i] / s->scratch[i] : 0;
		s->is_known |= is_proven_in(s, &f->total) || is_proven_in(s, &f->self);
		if (is_proven_in(s, &f->total))
			s->explained[i] = fmax(s->explained[i], in_direction(s, f->total.delta));
		if (s->kind[i] != CAUSE_NEVER)
			s->whole = fmax(s->whole, s->explained[i]);
	}
}

/* Room for all that a search knows. */
static bool cause_search_allocate(struct cause_search *s, struct error *err)
{
	size_t functions = s->diff->function_count + 1, nodes = s->diff->node_count + 1;

	s->below = calloc(nodes, sizeof(*s->below));
	s->explained = calloc(functions, sizeof(*s->explained));
	s->depth = calloc(functions, sizeof(*s->depth));
	s->scratch = calloc(functions, sizeof(*s->scratch));
	s->kind = calloc(functions, sizeof(*s->kind));
	s->is_under_user = calloc(functions, sizeof(*s->is_under_user));
	s->responsible = calloc(nodes, sizeof(*s->responsible));
	s->caller = calloc(nodes, sizeof(*s->caller));
	return (s->below && s->explained && s->depth && s->scratch && s->kind && s->is_under_user && s->responsible &&
		       s->caller) ||
	       error_set_memory(err);
}

static bool cause_search_init(struct cause_search *s, struct error *err)
{
	if (!cause_search_allocate(s, err))
		return false;
	classify_functions(s);
	sum_below(s);
	find_above(s);
	sum_functions(s);
	explain_functions(s);
	return true;
}

/* ---- The cause ---- */

static bool is_self_reason(const struct cause_search *s, uint32_t function)
{
	const struct diff_estimate *self = &s->diff->functions[function].self;

	return is_proven_in(s, self) && in_direction(s, self->delta) >= cause_part * s->whole;
}

/* How much a function that explains a change says of where it is. */
enum cause_rank {
	CAUSE_PART,  /* a part of the program, or the time is the function's own */
	CAUSE_INNER, /* the program is in it all the time, but another function of the user's code is above it */
	CAUSE_TOP,   /* such as main() */
};

static enum cause_rank rank_of(const struct cause_search *s, uint32_t function)
{
	if (is_self_reason(s, function) || !is_whole_program(s->diff, &s->diff->functions[function].total))
		return CAUSE_PART;
	return s->is_under_user[function] ? CAUSE_INNER : CAUSE_TOP;
}

/*
 * Where the sum of all is proven, a function whose own code is proven to differ may stand for what is proven below it,
 * although its total is not proven by itself: much else may be in that.
 */
static bool stands_for_total(const struct cause_search *s, const struct diff_function *f)
{
	return is_proven_in(s, &s->diff->total) && is_proven_in(s, &f->self) && in_direction(s, f->total.delta) > 0;
}

static bool may_be_cause(const struct cause_search *s, uint32_t function)
{
	const struct diff_function *f = &s->diff->functions[function];

	return s->build->redirect[function] == function && s->explained[function] >= cause_part * s->whole &&
	       (is_proven_in(s, &f->total) || is_self_reason(s, function) || stands_for_total(s, f));
}

static bool is_deeper(const struct cause_search *s, uint32_t a, uint32_t b)
{
	if (s->depth[a] != s->depth[b])
		return s->depth[a] > s->depth[b];
	return s->explained[a] > s->explained[b];
}

/* The deepest function of a kind and rank that explains enough. */
static uint32_t find_deepest(const struct cause_search *s, enum cause_kind kind, enum cause_rank rank)
{
	uint32_t found = PROFILE_NONE;

	for (uint32_t i = 0; i < s->diff->function_count; i++)
		if (s->kind[i] == kind && may_be_cause(s, i) && rank_of(s, i) == rank &&
			(found == PROFILE_NONE || is_deeper(s, i, found)))
			found = i;
	return found;
}

/* Sums up, by function, what is proven of its own code, or of all below its nodes, in the subtrees of the cause. */
static void sum_within(struct cause_search *s, uint32_t cause, bool is_self)
{
	const struct diff *diff = s->diff;

	memset(s->scratch, 0, diff->function_count * sizeof(*s->scratch));
	for (uint32_t top = 1; top < diff->node_count; top++) {
		if (diff->nodes[top].function != cause || !is_topmost(s, top))
			continue;
		for (uint32_t node = top + 1; node < diff->nodes[top].subtree_end; node++) {
			if (is_self)
				s->scratch[build_owner(s->build, node)] += own_difference(s, node);
			else if (is_topmost(s, node))
				s->scratch[diff->nodes[node].function] += weight_of(s, node);
		}
	}
	s->scratch[cause] = 0;
}

/*
 * The function below the cause that its difference comes from: the deepest one in which half of it or more is spent,
 * with all that it calls; else the one in whose own code most is. `*part`: the part of what the cause explains.
 */
static uint32_t find_leaf(struct cause_search *s, uint32_t cause, double *part)
{
	uint32_t leaf = PROFILE_NONE;

	sum_within(s, cause, false);
	for (uint32_t i = 0; i < s->diff->function_count; i++)
		if (s->kind[i] != CAUSE_NEVER && s->scratch[i] >= cause_part * s->explained[cause] &&
			is_proven_in(s, &s->diff->functions[i].total) && rank_of(s, i) == CAUSE_PART &&
			(leaf == PROFILE_NONE || is_deeper(s, i, leaf)))
			leaf = i;
	if (leaf == PROFILE_NONE) {
		sum_within(s, cause, true);
		for (uint32_t i = 0; i < s->diff->function_count; i++)
			if (s->kind[i] != CAUSE_NEVER && s->scratch[i] >= least_leaf * s->explained[cause] &&
				(leaf == PROFILE_NONE || s->scratch[i] > s->scratch[leaf]))
				leaf = i;
	}
	if (leaf != PROFILE_NONE)
		*part = fmin(s->scratch[leaf] / s->explained[cause], 1);
	return leaf;
}

/* The same, if what it calls says where: half of its difference or more is in one leaf. */
static uint32_t find_with_leaf(struct cause_search *s, enum cause_kind kind, enum cause_rank rank)
{
	uint32_t found = find_deepest(s, kind, rank);
	double part = 0;

	return found != PROFILE_NONE && find_leaf(s, found, &part) != PROFILE_NONE && part >= cause_part ? found
													 : PROFILE_NONE;
}

static uint32_t choose_cause(struct cause_search *s)
{
	uint32_t found = find_deepest(s, CAUSE_USER, CAUSE_PART);

	if (found == PROFILE_NONE)
		found = find_with_leaf(s, CAUSE_USER, CAUSE_INNER);
	if (found == PROFILE_NONE)
		found = find_deepest(s, CAUSE_LIBRARY, CAUSE_PART);
	if (found == PROFILE_NONE)
		found = find_with_leaf(s, CAUSE_USER, CAUSE_TOP);
	return found == PROFILE_NONE ? find_deepest(s, CAUSE_SYSTEM, CAUSE_PART) : found;
}

/* ---- Callers ---- */

/*
 * The function from which most of a function's difference is called; PROFILE_NONE: there is no such one. It is that of
 * the nearest callers, each with the weight of what is called from it.
 */
static uint32_t find_caller(struct cause_search *s, uint32_t callee)
{
	const struct diff *diff = s->diff;
	uint32_t caller = PROFILE_NONE;
	double all = 0;

	memset(s->scratch, 0, diff->function_count * sizeof(*s->scratch));
	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t above = s->caller[diff->nodes[node].parent];

		if (diff->nodes[node].function != callee || !is_topmost(s, node))
			continue;
		all += weight_of(s, node);
		if (above != PROFILE_NONE)
			s->scratch[above] += weight_of(s, node);
	}
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (s->scratch[i] > cause_part * all && (caller == PROFILE_NONE || s->scratch[i] > s->scratch[caller]))
			caller = i;
	return caller;
}

static void find_callers(struct cause_search *s, struct diff_cause *cause)
{
	uint32_t at = cause->function;

	for (size_t level = 0; level < DIFF_CAUSE_CALLERS; level++) {
		at = find_caller(s, at);
		if (at == PROFILE_NONE || at == cause->function || (cause->caller_count > 0 && at == cause->callers[0]))
			return;
		memmove(cause->callers + 1, cause->callers, (DIFF_CAUSE_CALLERS - 1) * sizeof(*cause->callers));
		cause->callers[0] = at;
		cause->caller_count++;
	}
}

/* ---- A change that is spread ---- */

static void find_spread(struct cause_search *s, struct cause *cause)
{
	const struct diff *diff = s->diff;

	memset(s->scratch, 0, diff->function_count * sizeof(*s->scratch));
	for (uint32_t node = 1; node < diff->node_count; node++) {
		double own = own_difference(s, node);
		uint32_t owner = build_owner(s->build, node), function = s->responsible[node];

		if (function == PROFILE_NONE && s->kind[owner] == CAUSE_SYSTEM)
			function = owner;
		if (function != PROFILE_NONE)
			s->scratch[function] += own;
	}
	for (size_t rank = 0; rank < CAUSE_SPREAD; rank++) {
		uint32_t greatest = 0;

		for (uint32_t i = 1; i < diff->function_count; i++)
			if (s->scratch[i] > s->scratch[greatest])
				greatest = i;
		if (diff->function_count == 0 || s->scratch[greatest] < least_spread * s->whole)
			return;
		cause->spread[cause->spread_count++] =
			(struct cause_part){ greatest, fmin(s->scratch[greatest] / s->whole, 1) };
		s->scratch[greatest] = 0;
	}
}

/* ---- */

struct diff_cause cause_none(void)
{
	return (struct diff_cause){ .function = PROFILE_NONE, .leaf = PROFILE_NONE };
}

bool cause_find(const struct diff_build *build, enum proven_way way, struct cause *cause, struct error *err)
{
	CLEANUP(cause_search_deinit) struct cause_search s = { .build = build, .diff = build->diff, .way = (int)way };

	*cause = (struct cause){ .named = cause_none() };
	if (way == PROVEN_NEITHER)
		return true;
	if (!cause_search_init(&s, err))
		return false;
	cause->is_known = s.is_known;
	if (!(s.whole > 0))
		return true;
	cause->named.function = choose_cause(&s);
	if (cause->named.function == PROFILE_NONE) {
		find_spread(&s, cause);
		return true;
	}
	cause->named.is_self = is_self_reason(&s, cause->named.function);
	cause->named.part = fmin(s.explained[cause->named.function] / s.whole, 1);
	if (!cause->named.is_self)
		cause->named.leaf = find_leaf(&s, cause->named.function, &cause->leaf_part);
	find_callers(&s, &cause->named);
	return true;
}

const struct diff_estimate *cause_estimate(const struct diff *diff, const struct diff_cause *cause, enum proven_way way)
{
	const struct diff_function *f = &diff->functions[cause->function];

	return proven_way_of(f->total.state) != way && cause->is_self ? &f->self : &f->total;
}

void cause_reorder(struct diff_cause *cause, const uint32_t *places)
{
	if (cause->function == PROFILE_NONE)
		return;
	cause->function = places[cause->function];
	for (size_t i = 0; i < cause->caller_count; i++)
		cause->callers[i] = places[cause->callers[i]];
	if (cause->leaf != PROFILE_NONE)
		cause->leaf = places[cause->leaf];
}
