/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/frames.h"

#include <math.h>
#include <stdlib.h>

/*
 * The number of nodes visited in all is limited in proportion to the tree. The largest differences are examined first;
 * those beyond the limit keep their state.
 */
static const uint64_t visits_per_node = 4, least_visits = 5000000;

/* Callees whose difference is less than this part of the whole cannot show where the time went. */
static const double least_local_share = 0.01;

/*
 * A function is moved if other callers account for at least min_found_share of its difference, the largest of them (the
 * partner) for at least min_partner_share, and its callees take at most max_own_change of it more or less themselves.
 * Counting noise of counting_sigmas is allowed.
 */
static const double min_found_share = 0.7, min_partner_share = 0.4, max_own_change = 0.3, counting_sigmas = 2;

static bool is_candidate(const struct diff_function *f)
{
	return diff_state_is_difference((enum diff_state)f->total.state) &&
	       !diff_state_is_difference((enum diff_state)f->self.state);
}

/* The part of `part` that `whole` can account for. */
static double within(double part, double whole)
{
	if (part * whole <= 0)
		return 0;
	return fabs(part) < fabs(whole) ? part : whole;
}

/* The scratch data of one function's search for its partner. All arrays are zero before and after it. */
struct search {
	const struct diff_build *build;
	uint32_t *first; /* [function] its first node; `next` leads to the others; PROFILE_NONE: it has none */
	uint32_t *next;  /* [node] the next node of the same function */
	double *local;   /* [function] the difference of its self time below the function in question */
	double *partner; /* [function] the difference that it may have taken over or handed over */
	bool *is_below;  /* [function] it runs below the function in question, or is that function */
	bool *inside;    /* [node] it lies below the function in question */
	uint32_t *met;   /* functions with nodes below the function in question */
	size_t met_count;
	double found; /* part of the difference found at other callers */
	uint64_t visits;
};

static void list_nodes(struct search *s)
{
	const struct diff *diff = s->build->diff;

	for (size_t i = 0; i < diff->function_count; i++)
		s->first[i] = PROFILE_NONE;
	for (uint32_t n = 1; n < diff->node_count; n++) {
		s->next[n] = s->first[diff->nodes[n].function];
		s->first[diff->nodes[n].function] = n;
	}
}

static double self_delta(const struct diff *diff, uint32_t node)
{
	return diff->node_self[DIFF_HEAD][node] * diff->scale.factor - diff->node_self[DIFF_BASE][node];
}

/* Walks all nodes below the function. `enter`: adds up their differences; else clears them again. */
static void walk_below(struct search *s, uint32_t function, bool enter)
{
	const struct diff *diff = s->build->diff;
	bool has_waits = diff->waiting != DIFF_WAITING_NONE;

	for (uint32_t top = s->first[function]; top != PROFILE_NONE; top = s->next[top])
		for (uint32_t n = top; s->build->topmost[top] && n < diff->nodes[top].subtree_end; n++, s->visits++) {
			uint32_t owner = s->build->owners[n], f = diff->nodes[owner < top ? n : owner].function;

			/* Threads that wait elsewhere wait for something else: no wait has moved. */
			if ((diff->nodes[n].flags & DIFF_NODE_INTERRUPT) || (has_waits && build_is_wait(diff, n)))
				continue;
			s->inside[n] = enter;
			s->local[f] = enter ? s->local[f] + self_delta(diff, n) : 0;
			if (enter && !s->is_below[f])
				s->met[s->met_count++] = f;
			s->is_below[f] = enter;
		}
}

/* The difference of the functions below, wherever they run, beyond counting noise: this part did not move. */
static double own_change(const struct search *s)
{
	const struct diff *diff = s->build->diff;
	double sum = 0;

	for (size_t i = 0; i < s->met_count; i++) {
		const struct diff_estimate *self = &diff->functions[s->met[i]].self;
		double noise = counting_sigmas * sqrt((self->base + self->head) * s->build->sample_weight[DIFF_BASE]);

		if (fabs(self->delta) > noise)
			sum += within(self->delta - copysign(noise, self->delta), s->local[s->met[i]]);
	}
	return sum;
}

/* Keeps only the functions below whose difference is at least `least`. */
static void keep_large(struct search *s, double least)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->met_count; i++)
		if (fabs(s->local[s->met[i]]) >= least)
			s->met[kept++] = s->met[i];
	s->met_count = kept;
}

/* The nearest caller that does not also run below the function in question; PROFILE_NONE: none. */
static uint32_t caller_outside(struct search *s, uint32_t node)
{
	const struct diff *diff = s->build->diff;

	for (uint32_t n = diff->nodes[node].parent; n != 0; n = diff->nodes[n].parent, s->visits++)
		if (!s->is_below[diff->nodes[n].function])
			return diff->nodes[n].function;
	return PROFILE_NONE;
}

/* Adds the opposite differences of a function at other places to its callers there (`add`), or clears them. */
static void add_losses(struct search *s, uint32_t function, bool add, uint32_t *best)
{
	const struct diff *diff = s->build->diff;
	double left = s->local[function];

	for (uint32_t n = s->first[function]; n != PROFILE_NONE; n = s->next[n], s->visits++) {
		double amount = s->inside[n] ? 0 : within(-self_delta(diff, n), left);
		uint32_t caller = amount != 0 ? caller_outside(s, n) : PROFILE_NONE;

		left -= amount;
		s->found += add ? amount : 0;
		if (caller == PROFILE_NONE)
			continue;
		s->partner[caller] = add ? s->partner[caller] + amount : 0;
		if (*best == PROFILE_NONE || fabs(s->partner[caller]) > fabs(s->partner[*best]))
			*best = caller;
	}
}

/* The partner of a function whose total changed: the caller that lost or gained the time. PROFILE_NONE: none. */
static uint32_t find_partner(struct search *s, uint32_t function)
{
	const struct diff_estimate *total = &s->build->diff->functions[function].total;
	double noise = counting_sigmas * sqrt((total->base + total->head) * s->build->sample_weight[DIFF_BASE]);
	uint32_t best = PROFILE_NONE, ignored = PROFILE_NONE;
	bool fits;

	s->met_count = 0;
	s->found = 0;
	walk_below(s, function, true);
	fits = fabs(within(own_change(s), total->delta)) <= max_own_change * fabs(total->delta);
	keep_large(s, fits ? least_local_share * fabs(total->delta) : INFINITY);
	for (size_t i = 0; i < s->met_count; i++)
		add_losses(s, s->met[i], true, &best);
	fits = fits && best != PROFILE_NONE &&
	       fabs(within(s->found, total->delta)) + noise >= min_found_share * fabs(total->delta) &&
	       fabs(within(s->partner[best], total->delta)) + noise >= min_partner_share * fabs(total->delta);
	for (size_t i = 0; best != PROFILE_NONE && i < s->met_count; i++)
		add_losses(s, s->met[i], false, &ignored);
	walk_below(s, function, false);
	return fits ? best : PROFILE_NONE;
}

/*
 * Marks nodes that changed their place because a frame above them came or went: those below such a frame and, where it
 * is missing, those beside it.
 */
static void frames_mark_nodes(struct diff *diff, const bool *is_frame, bool *moved, bool *beside)
{
	for (uint32_t n = 1; n < diff->node_count; n++)
		if (is_frame[diff->nodes[n].function])
			beside[diff->nodes[n].parent] = true;
	for (uint32_t n = 1; n < diff->node_count; n++) {
		struct diff_node *node = &diff->nodes[n];
		enum diff_state total = diff->functions[node->function].total.state;
		bool one_sided = !(diff->node_total[DIFF_BASE][n] > 0) || !(diff->node_total[DIFF_HEAD][n] > 0);

		moved[n] = is_frame[node->function] || moved[node->parent] || (beside[node->parent] && one_sided);
		if (moved[n] && diff_state_is_difference((enum diff_state)node->state) &&
			!diff_state_is_difference(total))
			node->state = DIFF_STATE_MOVED;
	}
}

static void search_deinit(struct search *s)
{
	free(s->first);
	free(s->next);
	free(s->local);
	free(s->partner);
	free(s->is_below);
	free(s->inside);
	free(s->met);
}

static bool search_init(struct search *s, struct error *err)
{
	size_t functions = s->build->diff->function_count + 1, nodes = s->build->diff->node_count + 1;

	s->first = malloc(functions * sizeof(*s->first));
	s->next = malloc(nodes * sizeof(*s->next));
	s->local = calloc(functions, sizeof(*s->local));
	s->partner = calloc(functions, sizeof(*s->partner));
	s->is_below = calloc(functions, sizeof(*s->is_below));
	s->inside = calloc(nodes, sizeof(*s->inside));
	s->met = malloc(functions * sizeof(*s->met));
	if (!s->first || !s->next || !s->local || !s->partner || !s->is_below || !s->inside || !s->met)
		return error_set_memory(err);
	list_nodes(s);
	return true;
}

static bool mark_moved(struct diff *diff, const bool *is_frame, struct error *err)
{
	CLEANUP(cleanup_free) bool *moved = calloc(diff->node_count + 1, sizeof(*moved));
	CLEANUP(cleanup_free) bool *beside = calloc(diff->node_count + 1, sizeof(*beside));

	if (!moved || !beside)
		return error_set_memory(err);
	frames_mark_nodes(diff, is_frame, moved, beside);
	return true;
}

struct frame {
	double size;
	uint32_t function;
};

static int by_falling_size(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->size != y->size ? ORDER(y->size, x->size) : ORDER(x->function, y->function);
}

static bool list_frames(const struct diff *diff, struct frame **frames, size_t *count, struct error *err)
{
	*frames = malloc((diff->function_count + 1) * sizeof(**frames));
	*count = 0;
	if (!*frames)
		return error_set_memory(err);
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (is_candidate(&diff->functions[i]))
			(*frames)[(*count)++] = (struct frame){ fabs(diff->functions[i].total.delta), i };
	if (*count > 0)
		qsort(*frames, *count, sizeof(**frames), by_falling_size);
	return true;
}

bool frames_link(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	uint64_t max_visits = least_visits + visits_per_node * diff->node_count;
	CLEANUP(cleanup_free) bool *is_frame = calloc(diff->function_count + 1, sizeof(*is_frame));
	CLEANUP(cleanup_free) struct frame *frames = NULL;
	CLEANUP(search_deinit) struct search search = { .build = build };
	size_t count;
	bool any = false;

	if (!is_frame)
		return error_set_memory(err);
	if (!list_frames(diff, &frames, &count, err))
		return false;
	if (count == 0)
		return true;
	if (!search_init(&search, err))
		return false;
	for (size_t i = 0; i < count && search.visits < max_visits; i++) {
		uint32_t function = frames[i].function, partner = find_partner(&search, function);

		if (partner == PROFILE_NONE)
			continue;
		diff->functions[function].total.state = DIFF_STATE_MOVED;
		diff->functions[function].moved_to = partner;
		is_frame[function] = any = true;
	}
	return !any || mark_moved(diff, is_frame, err);
}
