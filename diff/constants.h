/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The conventions of comparisons, beside the numbers of the model of evidence (diff/evidence/constants.h), which alone
 * say what is proven, and those of matching (diff/match/constants.h): what is told, how, and from which size on. They
 * have no data of their own, but for what a comment names. Shares are parts of 1, points are percentage points of the
 * total, unless said otherwise.
 */

/* With fewer requests in a profile their rate is not known well enough: counting alone makes it vary by 10 %. */
static const double diff_min_requests = 100;

/* Values of which nobody knows the samples are as certain as so many of them: without counting noise. */
static const double diff_uncounted_samples = 1e9;

/* ---- requests.c ---- */

/* Quantiles are the same where both intervals together span less than this factor: a convention. */
static const double requests_same_factor = 1.1;
/* The least number of answers that lie beyond a quantile which is judged. */
static const double requests_least_beyond = 10;
/* With fewer answers on a side no quantile is judged. */
static const double requests_least_answers = 100;

/* ---- metric.c ---- */

/*
 * The least effect that matters, in points of the total. Exact counts have no noise of sampling that would hide a small
 * change: half of 1 % in a function that has 1 % of the total is reported. Below that, programs of equal code differ,
 * by the length of their own name, which the dynamic linker reads (decision 58).
 */
static const double metric_default_min_effect_points = 0.1, metric_default_min_exact_points = 0.005;

/* ---- statistics/instances.c ---- */

/* A run within this ratio of the median is no outlier, even if all others agree. */
static const double instances_least_ratio = 1.25;
/* A function is named if it has this part of what an outlier takes more, or less. */
static const double instances_mostly = 0.5;
/* A table of each function in each run that would be larger is not made, and no function is named. */
static const size_t instances_max_cells = (size_t)1 << 26;

/* ---- statistics/load.c ---- */

/* Fewer functions than this do not say what the load of their program was. */
static const size_t load_least_functions = 3;
/* Blocks of time in which requests are counted: this long, or longer where a run would have too many of them. */
static const double load_block_ns = 1e9;

/* ---- statistics/measured.c ---- */

/* A row with at least this share of both sides is all of them. */
static const double measured_least_share = 0.95;

/* ---- statistics/placement.c ---- */

/* The most that placement was seen to change a function by, as a logarithm: 35 % (Mytkowicz et al. 2009: 30 %). */
static const double placement_most_effect = 0.3;
/* Layouts of one side differ by so many of their standard deviations. */
static const double placement_most_spreads = 2;
/*
 * Functions whose times are known worse than this say little of placement: the error of a squared difference is as its
 * variance.
 */
static const double placement_known_rsd = 0.03;
/*
 * The variance of placement is of few functions, but not of any size: what is known of it from other programs is worth
 * this many degrees of freedom.
 */
static const double placement_known_freedom = 3;
/* Runs alone would call a function changed at this level. */
static const double placement_marked_p = 0.005;
/* From this part of the variance by runs on, placement makes an interval visibly wider. */
static const double placement_wide = 0.1;
/* Part of a function's time that may lie below code that differs. */
static const double placement_most_below_changed = 0.1;

/* ---- statistics/places.c ---- */

/* Scaled values that are equal may differ by this part of them, as they were multiplied and added up. */
static const double places_rounding = 1e-9;

/* ---- statistics/tiers.c ---- */

/* A function of the run time stands in for compiled code if this part of its time is in calls from such code. */
static const double tiers_most = 0.5;

/* ---- statistics/work.c ---- */

/* Bytes per request that differ by more than this ratio are those of other requests. */
static const double work_most_bytes_ratio = 1.5;
/* Requests in a connection that differ by more than this ratio, where a side has fewer than so many in each. */
static const double work_most_connection_ratio = 3, work_few_per_connection = 10;
/* If requests were in progress for less than this part of the CPU time, they are not what the program works on. */
static const double work_least_in_progress = 0.1;

/* ---- verdict/cause.c ---- */

/* The share of the whole that a cause explains at least, and the share of a caller's or a leaf's difference. */
static const double cause_least_share = 0.5;
/* Parts below these are not worth naming: of the whole where a change is spread, and of a cause's time in its leaf. */
static const double cause_least_spread = 0.05, cause_least_leaf = 0.2;

/* ---- verdict/changes.c ---- */

/* The part of the larger one of two differences from which on they are one, and a part that is nearly all. */
static const double changes_same_share = 0.9;
/* The part of a difference from which on it is called that of the function itself, and waiting at a place. */
static const double changes_greater_share = 0.5, changes_least_waiting = 0.2;

/* ---- verdict/check.c ---- */

/* Sums of the same values in another order differ by less than this part. */
static const double check_rounding = 1e-9;

/* ---- verdict/elapsed.c ---- */

/* A part of the difference is its reason from this share of it on. */
static const double elapsed_reason_share = 0.5;

/* ---- verdict/explained.c ---- */

/* From this part of both totals on the time of a function is that of the whole program. */
static const double explained_whole_program = 0.9;

/* ---- verdict/gate.c ---- */

/* A new function fails a limit if it has at least this many points of the total. */
static const double gate_least_new_points = 0.5;

/* ---- verdict/instance_words.c ---- */

/* A difference of the mix of CPU models that may be what differs: in points of the runs, and in parts of head's total.
 */
static const double instance_words_max_mix_points = 5, instance_words_max_cpu_effect = 0.01,
		    instance_words_least_effect = 0.0005;

/* ---- verdict/placed.c ---- */

/* Runs alone would prove the difference at this level. */
static const double placed_proven_p = 0.05;
/* A difference of less than this part is none that anybody asks about. */
static const double placed_least_change = 0.01;
/* All code that ran is the same if other code has less than this part of the time. */
static const double placed_most_changed = 0.01;

/* ---- verdict/programs.c ---- */

/*
 * Two programs with different names are taken for different programs if functions of both have less than this share of
 * either side's time.
 */
static const double programs_min_common_percent = 10;
/* With fewer samples of its own code, a side's program cannot be identified. */
static const double programs_min_own_samples = 5;

/* ---- verdict/proven.c ---- */

/* Less than this part of what is proven in one direction is no opposition in the other. */
static const double proven_opposed_share = 0.5;

/* ---- verdict/sentences.c ---- */

/* From this share on a cause is all of a change. */
static const double sentences_nearly_all = 0.995;

/* ---- verdict/timed.c ---- */

/* Least share of samples below a harness, which calls the code that it measures. */
static const double timed_least_harness_share = 0.3;
/* Runs that differ by at most this ratio in wall time, and last at least this long, probably have a fixed duration. */
static const double timed_most_wall_ratio = 1.03;
static const double timed_least_wall_ns = 5e8;
/*
 * The change that makes equal durations suspicious: points of functions in both directions, or a share of base's total.
 */
static const double timed_least_moved_points = 3;
static const double timed_least_total_change = 0.05;

/* ---- verdict/unproven.c ---- */

/* The least change that matters where the user does not say it. */
static const double unproven_default_percent = 5;
/* The verdict does not advise to record more than this many times the runs. */
static const double unproven_most_times_asked = 20;

/* ---- verdict/verdict.c ---- */

/* A total that is proven to differ by less than this is a minor change. */
static const double verdict_minor_total_percent = 1;

/* ---- verdict/waiting.c ---- */

/* A function waits at one site if that has this share of its difference; it mostly waits there from half on. */
static const double waiting_whole_share = 0.8, waiting_greater_share = 0.5;
/* A part of wall-clock time that changed by less than this share of the total is called unchanged. */
static const double waiting_least_share = 0.01;
/* A second site is worth naming from this share of the difference on. */
static const double waiting_second_share = 0.2;

/* ---- verdict/warmup.c ---- */

/* Compiling is busy above this part of the time, and has become less below this part of what it was. */
static const double warmup_least_share = 0.1, warmup_most_left = 0.5;

/* ---- verdict/warnings.c ---- */

/* Limits in percent of samples, or in points between the sides, above which a comparison is in doubt. */
static const double warnings_max_lost_percent = 1;
static const double warnings_max_cut_points = 5;
static const double warnings_max_unknown_points = 5;
static const double warnings_max_unsampled_points = 5; /* of the CPU time */
static const double warnings_max_interrupt_points = 3;
static const double warnings_max_cpu_wait_points = 10;
/* Largest ratio of the durations, or numbers of threads, of both sides. */
static const double warnings_max_duration_ratio = 4;
static const double warnings_max_thread_ratio = 2;
