/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/frames.h"

#include "diff/match/constants.h"

#include <math.h>
#include <stdlib.h>

/*
 * The number of nodes visited in all is limited in proportion to the tree. The largest differences are examined first;
 * those beyond the limit keep their state.
 */
static const uint64_t visits_per_node = 4, least_visits = 5000000;

static bool match_frames_is_candidate(const struct diff_function *f)
{
	return diff_state_is_difference((enum diff_state)f->total.state) &&
	       !diff_state_is_difference((enum diff_state)f->self.state);
}

/* Returns the part of `part` that `whole` can account for. */
static double within(double part, double whole)
{
	if (part * whole <= 0)
		return 0;
	return fabs(part) < fabs(whole) ? part : whole;
}

/* The time that a node gave to a node below a frame, or took from it. */
struct match_frames_claim {
	double amount;
	uint32_t frame; /* the node of the frame */
};

/* The scratch data of the search for partners. `child` and `partner` are empty before and after each function. */
struct match_frames_search {
	const struct diff_build *build;
	uint32_t *first; /* [function] its first node; `next` leads to the others; PROFILE_NONE: it has none */
	uint32_t *next;  /* [node] the next node of the same function */
	uint32_t *child; /* [function] its node right below the place in question; PROFILE_NONE: it has none */
	double *partner; /* [function] the part of the difference that was found below it */
	struct match_frames_claim *claims; /* [node] what it gave away or took as another frame came or went */
	uint64_t visits, max_visits;
};

static void list_nodes(struct match_frames_search *s)
{
	const struct diff *diff = s->build->diff;

	for (size_t i = 0; i < diff->function_count; i++)
		s->first[i] = s->child[i] = PROFILE_NONE;
	for (uint32_t n = 1; n < diff->node_count; n++) {
		s->next[n] = s->first[diff->nodes[n].function];
		s->first[diff->nodes[n].function] = n;
	}
}

static double match_frames_node_delta(const struct diff *diff, uint32_t node)
{
	return diff->node_total[DIFF_HEAD][node] * diff->scale.factor - diff->node_total[DIFF_BASE][node];
}

/*
 * Returns whether both sides have been at a node. One that only one side has may be a frame that came or went itself.
 */
static bool has_both(const struct diff *diff, uint32_t node)
{
	return diff->node_total[DIFF_BASE][node] > 0 && diff->node_total[DIFF_HEAD][node] > 0;
}

/* Returns the nearest node above one that both sides have; 0 for the root. */
static uint32_t match_frames_place_of(struct match_frames_search *s, uint32_t node)
{
	const struct diff *diff = s->build->diff;
	uint32_t n = diff->nodes[node].parent;

	for (; n != 0 && !has_both(diff, n); s->visits++)
		n = diff->nodes[n].parent;
	return n;
}

/* Notes the nodes right below a place by function (`enter`), or forgets them. */
static void note_children(struct match_frames_search *s, uint32_t place, bool enter)
{
	const struct diff_node *nodes = s->build->diff->nodes;

	for (uint32_t n = place + 1; n < nodes[place].subtree_end; n = nodes[n].subtree_end, s->visits++)
		s->child[nodes[n].function] = enter ? n : PROFILE_NONE;
}

/* Returns what a node still has to give to a frame, or to take from it. Frames above and below each other share it. */
static double left_of(const struct match_frames_search *s, uint32_t node, uint32_t frame)
{
	const struct diff_node *nodes = s->build->diff->nodes;
	const struct match_frames_claim *claim = &s->claims[node];
	bool shared = (claim->frame <= frame && frame < nodes[claim->frame].subtree_end) ||
		      (frame <= claim->frame && claim->frame < nodes[frame].subtree_end);

	return -match_frames_node_delta(s->build->diff, node) - (shared ? 0 : claim->amount);
}

/*
 * Returns the part of the difference below a frame that the nodes of the same functions right below its place make up
 * for. With `claim`, they have no more to give.
 */
static double found_below(struct match_frames_search *s, uint32_t frame, bool claim)
{
	const struct diff *diff = s->build->diff;
	const struct diff_node *nodes = diff->nodes;
	double sum = 0;

	for (uint32_t n = frame + 1; n < nodes[frame].subtree_end; s->visits++) {
		uint32_t child = s->child[nodes[n].function];
		bool is_wait = diff->waiting != DIFF_WAITING_NONE && build_is_wait(diff, n);

		/* Threads that wait elsewhere wait for something else: no wait has moved. */
		if ((nodes[n].flags & DIFF_NODE_INTERRUPT) || is_wait) {
			n = nodes[n].subtree_end;
		} else if (child != PROFILE_NONE && !(child <= frame && frame < nodes[child].subtree_end)) {
			double amount = within(match_frames_node_delta(diff, n), left_of(s, child, frame));

			if (claim && amount != 0)
				s->claims[child] =
					(struct match_frames_claim){ s->claims[child].amount + amount, frame };
			sum += amount;
			n = nodes[n].subtree_end;
		} else {
			/* Below frames of one side there may be more. */
			n = has_both(diff, n) ? nodes[n].subtree_end : n + 1;
		}
	}
	return sum;
}

/* Adds up what is found at each place of a function. `best`: the function with the largest part; PROFILE_NONE: none. */
static void search_places(struct match_frames_search *s, uint32_t function, bool claim, uint32_t *best)
{
	const struct diff *diff = s->build->diff;

	for (uint32_t frame = s->first[function]; frame != PROFILE_NONE && s->visits < s->max_visits;
		frame = s->next[frame]) {
		uint32_t place = match_frames_place_of(s, frame), caller = diff->nodes[place].function;

		if (!s->build->topmost[frame] || place == 0 || (diff->nodes[frame].flags & DIFF_NODE_INTERRUPT))
			continue;
		note_children(s, place, true);
		s->partner[caller] += found_below(s, frame, claim);
		note_children(s, place, false);
		if (*best == PROFILE_NONE || fabs(s->partner[caller]) > fabs(s->partner[*best]))
			*best = caller;
	}
}

/* Adds up what was found, and empties the scratch data again. */
static double take_found(struct match_frames_search *s, uint32_t function)
{
	double sum = 0;

	for (uint32_t frame = s->first[function]; frame != PROFILE_NONE; frame = s->next[frame]) {
		uint32_t caller = s->build->diff->nodes[match_frames_place_of(s, frame)].function;

		if (caller == PROFILE_NONE)
			continue;
		sum += s->partner[caller];
		s->partner[caller] = 0;
	}
	return sum;
}

/*
 * Returns the partner of a function whose total changed: the caller that lost or gained the time. PROFILE_NONE: none.
 */
static uint32_t match_frames_find_partner(struct match_frames_search *s, uint32_t function)
{
	const struct diff_estimate *total = &s->build->diff->functions[function].total;
	double noise = frames_counting_sigmas * sqrt((total->base + total->head) * s->build->sample_weight[DIFF_BASE]);
	double largest, found;
	uint32_t best = PROFILE_NONE;

	search_places(s, function, false, &best);
	largest = best != PROFILE_NONE ? s->partner[best] : 0;
	found = take_found(s, function);
	if (best == PROFILE_NONE || found * total->delta <= 0 ||
		fabs(within(found, total->delta)) + noise < frames_min_found_share * fabs(total->delta) ||
		fabs(within(largest, total->delta)) + noise < frames_min_partner_share * fabs(total->delta))
		return PROFILE_NONE;
	search_places(s, function, true, &best);
	take_found(s, function);
	return best;
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

static void match_frames_search_deinit(struct match_frames_search *s)
{
	free(s->first);
	free(s->next);
	free(s->child);
	free(s->partner);
	free(s->claims);
}

static void match_frames_search_init(struct match_frames_search *s)
{
	size_t functions = s->build->diff->function_count + 1, nodes = s->build->diff->node_count + 1;

	s->first = memory_zeroed(functions, sizeof(*s->first));
	s->next = memory_zeroed(nodes, sizeof(*s->next));
	s->child = memory_zeroed(functions, sizeof(*s->child));
	s->partner = memory_zeroed(functions, sizeof(*s->partner));
	s->claims = memory_zeroed(nodes, sizeof(*s->claims));
	list_nodes(s);
}

static void mark_moved(struct diff *diff, const bool *is_frame)
{
	CLEANUP(cleanup_free) bool *moved = memory_zeroed(diff->node_count + 1, sizeof(*moved));
	CLEANUP(cleanup_free) bool *beside = memory_zeroed(diff->node_count + 1, sizeof(*beside));

	frames_mark_nodes(diff, is_frame, moved, beside);
}

struct match_frames_frame {
	double size;
	uint32_t function;
};

static int match_frames_by_falling_size(const void *a, const void *b)
{
	const struct match_frames_frame *x = a, *y = b;

	return x->size != y->size ? ORDER(y->size, x->size) : ORDER(x->function, y->function);
}

static void list_frames(const struct diff *diff, struct match_frames_frame **frames, size_t *count)
{
	*frames = memory_alloc((diff->function_count + 1) * sizeof(**frames));
	*count = 0;
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (match_frames_is_candidate(&diff->functions[i]))
			(*frames)[(*count)++] = (struct match_frames_frame){ fabs(diff->functions[i].total.delta), i };
	if (*count > 0)
		qsort(*frames, *count, sizeof(**frames), match_frames_by_falling_size);
}

void frames_link(struct diff_build *build)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) bool *is_frame = memory_zeroed(diff->function_count + 1, sizeof(*is_frame));
	CLEANUP(cleanup_free) struct match_frames_frame *frames = NULL;
	CLEANUP(match_frames_search_deinit)
	struct match_frames_search search = { .build = build,
		.max_visits = least_visits + visits_per_node * diff->node_count };
	size_t count;
	bool any = false;

	list_frames(diff, &frames, &count);
	if (count == 0)
		return;
	match_frames_search_init(&search);
	for (size_t i = 0; i < count && search.visits < search.max_visits; i++) {
		uint32_t function = frames[i].function, partner = match_frames_find_partner(&search, function);

		if (partner == PROFILE_NONE)
			continue;
		diff->functions[function].total.state = DIFF_STATE_MOVED;
		diff->functions[function].moved_to = partner;
		is_frame[function] = any = true;
	}
	if (any)
		mark_moved(diff, is_frame);
}
