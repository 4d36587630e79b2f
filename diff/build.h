/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

#include <string.h>

/* Why it cannot be told whether the load or the program changed (load.h). */
enum load_doubt {
	LOAD_KNOWN,
	LOAD_FEW_CONTROLS,
	LOAD_SMALL_CONTROLS,
	LOAD_BASE_CHANGED,
	LOAD_HEAD_CHANGED,
	LOAD_CONTRADICTION,
};

/* How much more or less work head had to do, by the functions that do the same for each unit of it (load.h). */
struct load {
	double factor;    /* head's raw values times this are at base's load */
	double variance;  /* of its logarithm */
	double typical;   /* the same by single functions, where these are known not to follow the program: of the
			     machine's speed */
	size_t functions; /* whose ratios it is the median of; 0: the factor is that of the totals */
	size_t controls;  /* those of unchanged code, when it rests on them alone */
	enum load_doubt doubt;
};

/*
 * What the steps of a comparison share while it is made. diff.c runs them in order; each step's header says what it
 * reads and fills. All arrays are owned by the build and freed by build_deinit().
 */
struct diff_build {
	const struct profile *profiles[DIFF_SIDES]; /* borrowed; NULL on the side that is not there */
	struct diff_options options;                /* with the defaults filled in */
	struct diff *diff;                          /* owned until the end */

	uint32_t metric[DIFF_SIDES];      /* index of the metric among that side's value types */
	uint32_t counts[DIFF_SIDES];      /* index of the value type that counts the metric's samples */
	double sample_weight[DIFF_SIDES]; /* the metric's mean value of one sample; 0 on both sides: how many there were
					     is not known */

	struct profile_tree *trees[DIFF_SIDES];
	uint32_t *function_ids[DIFF_SIDES]; /* [profile function] function of the diff, through `redirect`;
					       PROFILE_NONE: in no stack */
	uint32_t *module_of;       /* [string] modules of one side each that are one have the same number; 0: none */
	uint32_t *redirect;        /* [function] itself, or the function that it was recognised to be */
	uint32_t *met[DIFF_SIDES]; /* profile functions that the tree names, in the order of their first nodes */
	size_t met_count[DIFF_SIDES];
	bool *present[DIFF_SIDES]; /* [function] has nodes on that side */
	bool *only_inlined;        /* [function] its code is that of the functions that it is inlined into (code.h) */
	bool *has_nodes;           /* [function] where interrupt_of is known: the tree has ordinary nodes of it */
	uint32_t *interrupt_of;    /* [function] the function that its interrupt time has; PROFILE_NONE: none; NULL: no
				      interrupts */
	size_t function_capacity;

	uint32_t *union_nodes[DIFF_SIDES]; /* [tree node] node of the diff */
	bool *topmost;                     /* [node] no ancestor is of the same function */

	struct load load;        /* whatever the mode in use */
	bool speed_is_explained; /* per-run: what nearly all functions differ by may be the machine's speed */
	double speed_delta;      /* logarithm of that: of head's typical time per run over base's */
	double speed_rsd;        /* how much runs of one side vary */
};

/*
 * Whether a function was compiled at run time: what is inlined where, and in which tier it runs, is decided otherwise
 * in every process. Python's functions, which a perf map names too, are not compiled.
 */
static inline bool build_is_compiled_at_run_time(const struct diff *diff, const struct diff_function *f)
{
	return f->name_source == PROFILE_NAME_JIT && !f->interrupt &&
	       strncmp(diff_string(diff, f->name), "py::", 4) != 0;
}

/* The function a profile's function became, or PROFILE_NONE. */
static inline uint32_t build_function(const struct diff_build *build, enum diff_side side, uint32_t profile_function)
{
	uint32_t id = build->function_ids[side][profile_function];

	return id == PROFILE_NONE ? PROFILE_NONE : build->redirect[id];
}

/* Whether a side maps a module of that name. */
static inline bool build_has_module(const struct profile *profile, const char *module)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (strcmp(profile_string(profile, profile->mappings[i].module), module) == 0)
			return true;
	return false;
}

/* Whether the number of samples behind the metric is known: without it, chance shows only in what runs differ by. */
static inline bool build_is_counted(const struct diff_build *build)
{
	return build->sample_weight[DIFF_HEAD] > 0;
}

/* How many samples made a raw value of the metric; INFINITY where that is not known and the value is not 0. */
static inline double build_samples(const struct diff_build *build, enum diff_side side, double raw)
{
	return raw > 0 ? raw / build->sample_weight[side] : 0;
}

static inline bool build_two_sided(const struct diff_build *build)
{
	return build->diff->sides == DIFF_SIDES;
}

/* The greater of both scaled totals: what "points" are of. */
static inline double build_points_of(const struct diff *diff)
{
	return diff->total.base > diff->total.head ? diff->total.base : diff->total.head;
}

/* The least effect that matters, in scaled units. */
static inline double build_least_effect(const struct diff_build *build)
{
	return build->options.min_effect_points / 100 * build_points_of(build->diff);
}

/* Makes an empty diff for the profiles, with the defaults of its options filled in. */
COMMON_MUST_CHECK
bool build_init(struct diff_build *build, const struct diff_options *options, struct error *err);
void build_deinit(struct diff_build *build);

/* Frees what is needed no more once the samples have their nodes. */
void build_release_trees(struct diff_build *build);

/* Interns formatted text into the diff's strings. */
COMMON_MUST_CHECK __attribute__((format(printf, 4, 5))) bool build_text(
	struct diff *diff, struct error *err, uint32_t *id, const char *format, ...);
