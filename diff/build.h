/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

#include <string.h>

/*
 * The estimated change of load: how much more or less work head had to do, as shown by what functions have in common
 * (load.h).
 */
struct load {
	double factor;    /* head's raw values times this factor are at base's load */
	double variance;  /* variance of the logarithm of `factor` */
	size_t functions; /* that told it; 0: it is the ratio of the totals */
	bool is_known;    /* they tell it well enough to speak of a load */
};

/* The composition of groups of samples (statistics/mix.h). */
struct diff_mixes {
	const struct string_table *names; /* of the groups */
	const char *no_value;             /* the name of group 0 */
	const struct mix *items;          /* [id of the name] */
};

/* What is known of a function's name (profile_key_template()). */
struct build_name {
	uint32_t template; /* string of the build's templates; PROFILE_NONE: it has no digit, and was not taken apart */
	bool is_numbered;  /* a compiler may give another function the same name, or it has none */
};

/*
 * The state that the steps of a comparison share. compare.c runs the steps in order; each step's header says what it
 * reads and fills. All arrays are owned by the build and freed by build_deinit().
 */
struct diff_build {
	const struct profile *profiles[DIFF_SIDES]; /* borrowed; NULL for a side that does not exist */
	struct diff_options options; /* with the defaults filled in; that of the least effect by metric_choose() */
	struct diff *diff;           /* owned until the caller takes the finished diff */

	uint32_t metric[DIFF_SIDES]; /* index of the metric among the side's value types */
	uint32_t counts[DIFF_SIDES]; /* index of the value type that counts the metric's samples */
	/* the metric's mean value of one sample; 0 on both sides: the number of samples is not known */
	double sample_weight[DIFF_SIDES];

	bool *leads_of[DIFF_SIDES]; /* [profile function] those that lead stacks of this side alone (detail.h) */
	struct profile_tree_cut cuts[DIFF_SIDES]; /* what the trees leave out */
	struct profile_tree *trees[DIFF_SIDES];
	/* [profile function] function of the diff, through `redirect`; PROFILE_NONE: it occurs in no stack */
	uint32_t *function_ids[DIFF_SIDES];
	/* [string] modules that occur on one side each and are the same one have the same number; 0: none */
	uint32_t *module_of;
	size_t module_of_count;         /* strings that it knows */
	struct build_name *names;       /* [function] */
	struct string_table *templates; /* of names; NULL: there is one side */
	uint32_t *redirect;             /* [function] itself, or the function that it was merged into */
	uint32_t *met[DIFF_SIDES]; /* profile functions that occur in the tree, in the order of their first nodes */
	size_t met_count[DIFF_SIDES];
	bool *present[DIFF_SIDES]; /* [function] whether it has nodes on that side */
	/* [function] whether its code is part of the functions that it is inlined into (code.h) */
	bool *only_inlined;
	/* [function] if interrupt_of is not NULL: whether the tree has nodes of it outside interrupts */
	bool *has_nodes;
	/*
	 * [function] the function that stands for its time in interrupts; PROFILE_NONE: none; NULL: there are no
	 * interrupts
	 */
	uint32_t *interrupt_of;
	uint32_t *compilation_of; /* [function] likewise for its time in a run-time compiler */
	size_t function_capacity, member_capacity;

	uint32_t *union_nodes[DIFF_SIDES]; /* [tree node] node of the diff */
	bool *topmost;                     /* [node] whether no ancestor is of the same function */
	/*
	 * [node] the node to whose self time its own counts: itself, or for the frame of an interpreter the one of the
	 * function that it runs (union_tree.c)
	 */
	uint32_t *owners;

	/* [release] nodes of the thread that waited and of the one that let it go on; NULL: there are no releases */
	uint32_t (*release_nodes[DIFF_SIDES])[2];

	struct load load;               /* measured in every scale mode, whether it is used or not */
	const struct diff_mixes *mixes; /* borrowed: what the groups consist of; NULL: functions are no groups */
	bool is_grouped; /* functions are groups of samples (profile/regroup.h): none is code, or a rename of another */
	/* of one side: what a comparison takes out of the totals is out of these as well (interrupts.h) */
	bool is_for_comparison;
	/*
	 * The number of samples of base that one of head stands for, where samples are counted: a part of the factor of
	 * each mode but `share` and `robust`. 0: they cannot be compared.
	 */
	double sample_ratio;
	bool work_is_usable; /* both sides counted requests, and costs can be compared per request (work.h) */
};

/*
 * Returns whether a function is compiled at run time. The compiler decides anew in every process what is inlined where
 * and in which tier code runs. Functions of interpreters, which a perf map names too, are not compiled.
 */
static inline bool build_is_compiled_at_run_time(const struct diff_function *f)
{
	return f->name_source == PROFILE_NAME_JIT && !f->interrupt &&
	       profile_languages[f->language].variation != PROFILE_VARIATION_INTERPRETED;
}

/* Returns the function to whose self time a node's own counts. The root has none. */
static inline uint32_t build_owner(const struct diff_build *build, uint32_t node)
{
	return build->diff->nodes[build->owners[node]].function;
}

/* Returns whether a node is the frame of a class of waits. */
static inline bool build_is_wait(const struct diff *diff, uint32_t node)
{
	return node > 0 && diff_wait_class(diff, &diff->functions[diff->nodes[node].function]) != PROFILE_WAIT_NONE;
}

/* Returns the diff's function for a function of a profile, or PROFILE_NONE. */
static inline uint32_t build_function(const struct diff_build *build, enum diff_side side, uint32_t profile_function)
{
	uint32_t id = build->function_ids[side][profile_function];

	return id == PROFILE_NONE ? PROFILE_NONE : build->redirect[id];
}

/* Returns whether the profile has a mapping of a module of that name. */
static inline bool build_has_module(const struct profile *profile, const char *module)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (strcmp(profile_string(profile, profile->mappings[i].module), module) == 0)
			return true;
	return false;
}

/*
 * Returns whether the number of samples behind the metric is known. Without it, only differences between runs show how
 * large chance is.
 */
static inline bool build_is_counted(const struct diff_build *build)
{
	return build->sample_weight[DIFF_HEAD] > 0;
}

/*
 * Returns the metric's value of a sample of a side's profile. A sample without a value in the metric is no sample of
 * it: a wait is none of CPU time, however many of them there are.
 */
static inline double build_value(const struct diff_build *build, enum diff_side side, size_t sample)
{
	const struct profile *profile = build->profiles[side];

	return (double)profile->values[sample * profile->value_type_count + build->metric[side]];
}

/*
 * Returns the number of samples that make up a raw value of the metric; INFINITY if it is not known and the value is
 * not 0.
 */
static inline double build_samples(const struct diff_build *build, enum diff_side side, double raw)
{
	return raw > 0 ? raw / build->sample_weight[side] : 0;
}

static inline bool build_two_sided(const struct diff_build *build)
{
	return build->diff->sides == DIFF_SIDES;
}

/* Returns the denominator of points: the greater of both scaled totals. */
static inline double build_points_of(const struct diff *diff)
{
	return diff->total.base > diff->total.head ? diff->total.base : diff->total.head;
}

/* Returns the comparison of the whole: this one, unless it is a part of another. */
static inline const struct diff *build_whole(const struct diff *diff)
{
	return diff->whole ? diff->whole : diff;
}

/* Returns the least effect that matters, in scaled units: in a part as in the whole. */
static inline double build_least_effect(const struct diff_build *build)
{
	return build->options.min_effect_points / 100 * build_points_of(build_whole(build->diff));
}

/* Returns what the statistics keep for comparisons of parts (statistics/basis.h). */
struct basis *basis_create(void);
void basis_destroy(struct basis *basis);

/* Makes an empty diff for the profiles, with the defaults of its options filled in. */
void build_init(struct diff_build *build, const struct diff_options *options);
void build_deinit(struct diff_build *build);

/*
 * The first steps, which need no other side: the metric, the functions, the tree, and what each function and node has
 * of the metric.
 */
COMMON_MUST_CHECK
bool build_sum_up(struct diff_build *build, struct error *err);

/* Frees the sides' trees, which no step uses after the samples have their nodes. */
void build_release_trees(struct diff_build *build);

/* Compares regrouped profiles, as a part of the comparison `like` whose groups consist of `mixes`. */
COMMON_MUST_CHECK
bool build_compare_groups(const struct profile *const profiles[DIFF_SIDES], const struct diff *like,
	const struct diff_mixes *mixes, struct diff **diff, struct error *err);

/* Interns formatted text into the diff's strings. */
__attribute__((format(printf, 3, 4))) void build_text(struct diff *diff, uint32_t *id, const char *format, ...);
