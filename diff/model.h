/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "diff/evidence_summary.h"
#include "diff/gates.h"
#include "diff/renaming.h"
#include "profile/profile.h"

/*
 * Makes one aligned tree and one function list of two profiles, with deltas, evidence and a verdict. A single profile
 * is the one-sided case, a tree and a function list without deltas, so that everything that draws handles one structure
 * only.
 *
 * A diff never looks at addresses: its unit is the function identity (profile_function.key).
 *
 * Raw and scaled: `raw` values are as measured, in the metric's unit (CPU: nanoseconds). Scaled values are comparable
 * between the sides: base is as measured, head is multiplied by `scale.factor`. Percentages are of a side's scaled
 * total. "Points" are percent of the greater of the two totals, so that a point is the same length on both sides.
 */

struct diff;
struct diff_measured;

enum diff_side { DIFF_BASE, DIFF_HEAD };
enum { DIFF_SIDES = 2 };

enum diff_scale_mode {
	DIFF_SCALE_AUTO,
	DIFF_SCALE_PER_RUN,
	DIFF_SCALE_ROBUST,
	DIFF_SCALE_SHARE,
	DIFF_SCALE_RATE,
	DIFF_SCALE_PER_REQUEST, /* per request that the program answered (profile/requests.h) */
	DIFF_SCALE_WORK,
};

/* The state of a function or node: what is proven about it. `unproven`: it differs, but noise may explain that. */
enum diff_state {
	DIFF_STATE_SAME, /* no difference, or one below the least effect that matters */
	DIFF_STATE_UNPROVEN,
	DIFF_STATE_MORE,
	DIFF_STATE_LESS,
	DIFF_STATE_NEW,
	DIFF_STATE_GONE,
	DIFF_STATE_MOVED,
};
enum { DIFF_STATE_COUNT = 7 };

/*
 * `mixed`: there are proven changes in both directions, and the total does not decide; `minor`: the proven changes are
 * too small to decide; `machine`: the program's own work is not proven to differ, but it waited longer or shorter for a
 * CPU, which other programs and the size of the machine decide; `placement`: the time differs by more than runs
 * explain, but all code that ran is the same, so that where the linker put it is what differs.
 */
enum diff_verdict {
	DIFF_UNCHANGED,
	DIFF_REGRESSED,
	DIFF_IMPROVED,
	DIFF_INCONCLUSIVE,
	DIFF_MIXED,
	DIFF_MINOR,
	DIFF_MACHINE,
	DIFF_PLACEMENT,
};
enum { DIFF_VERDICT_COUNT = 8 };

/* What it was by which base and head of a function were found to be one. */
enum diff_tier {
	DIFF_TIER_SAME,       /* the key, or all of it but the module, which has another name */
	DIFF_TIER_CODE,       /* the machine code: it was renamed */
	DIFF_TIER_RENUMBERED, /* the words of the name that stay (match/renumber.h) */
	DIFF_TIER_GROUP,      /* it is several functions of a side, which nothing tells apart from build to build */
	DIFF_TIER_PLACE,      /* callers and callees: it was renamed */
	DIFF_TIER_ONE_SIDED,
};

/* Returns whether a function was found by something else than its name, so that its earlier name is shown. */
static inline bool diff_tier_is_rename(enum diff_tier tier)
{
	return tier == DIFF_TIER_CODE || tier == DIFF_TIER_PLACE;
}

/* The comparison of a function's machine code on both sides, by fingerprints. */
enum diff_code { DIFF_CODE_UNKNOWN, DIFF_CODE_SAME, DIFF_CODE_CHANGED };

/* Returns lower-case words for JSON and the page: "per-run", "more", "regressed", "same", "base". */
const char *diff_scale_mode_name(enum diff_scale_mode mode);
const char *diff_state_name(enum diff_state state);
const char *diff_verdict_name(enum diff_verdict verdict);
const char *diff_tier_name(enum diff_tier tier);
const char *diff_code_name(enum diff_code code);
const char *diff_side_name(int side);

/* Returns how values are compared, in words for a reader: "per run", "per request", "as a share of the total". */
const char *diff_scale_words(enum diff_scale_mode mode);

/* Returns whether the state is a proven difference: more, less, new or gone. */
bool diff_state_is_difference(enum diff_state state);

/*
 * Which part of a metric is waiting (profile/waits.h). Waits are compared per run or per second: how long threads wait
 * does not follow the load, and no wait shows what the load was.
 */
enum diff_waiting {
	DIFF_WAITING_NONE,
	DIFF_WAITING_PART, /* wall-clock and elapsed time */
	DIFF_WAITING_ALL,  /* waiting and idle time */
};

/* ---- Options ---- */

/* Parses the word of --scale; "work=B:H" fills `work`. */
COMMON_MUST_CHECK
bool diff_scale_parse(const char *text, enum diff_scale_mode *mode, double work[DIFF_SIDES], struct error *err);

/*
 * Base compared with other runs of base, which were made in the same turns as head's (`bench --control`): what the
 * machine and chance make of no change.
 */
struct diff_control {
	bool is_known; /* such runs were made */
	/* REGRESSED, IMPROVED or MIXED: a change is proven where there is none, so that nothing else is */
	enum diff_verdict verdict;
	double change, change_low, change_high; /* of the total, in parts of base; NAN: not known */
};

struct diff_options {
	enum diff_scale_mode scale;
	double work[DIFF_SIDES];  /* DIFF_SCALE_WORK: units of work done on each side */
	const char *metric;       /* name of a value type, such as "cpu"; NULL: the profiles' default */
	double min_effect_points; /* least effect that matters, in points of total; 0: 0.1, of exact counts 0.005 */
	double q;                 /* false discovery rate; 0: 0.05 */
	const struct diff_gate *gates;
	size_t gate_count;
	bool gates_ignore_warnings; /* gates decide although a warning blocks them */
	bool runs_in_pairs;         /* run i of both was made one after the other; else their times may tell it */
	/*
	 * The comparison of the whole, of which the profiles are a part, as chosen (profile/selection.h) or regrouped
	 * (profile/regroup.h) samples of its profiles with all their runs. Its metric, scale, load, machine and
	 * variation hold here: nothing of that is estimated anew, and the part's total is tested as the row of a
	 * function is. A side may be empty. It must outlive the diff. NULL: this is the whole.
	 */
	const struct diff *like;
	/*
	 * The total of a part: the estimate of all of it, where it is known from its row among other such parts
	 * (groups.h), so that it has one verdict wherever it is asked for. NULL: it is estimated by itself.
	 */
	const struct diff_estimate *total;
	const struct diff_control *control; /* NULL: there was none */
	/* what is nearly all of the time has this evidence (statistics/measured.h); NULL: that of its samples */
	const struct diff_measured *measured;
};

/* ---- Result ---- */

/* The explanation of metric `elapsed`: why more or less time passes. Scaled, as the total is (verdict/elapsed.h). */
struct diff_elapsed {
	bool is_known;
	bool is_by_together;                    /* by_together is most of a proven difference */
	double cpu[DIFF_SIDES];                 /* CPU time of all threads together */
	double waiting[DIFF_SIDES];             /* of the total: no thread ran */
	double by_cpu, by_waiting, by_together; /* parts of the total's delta, which they add up to */
	/*
	 * by_waiting is most of a proven difference, and all threads together wait about as long for what is most of
	 * it: they wait one after the other, or no longer do.
	 */
	bool is_overlapped;
	enum profile_wait_class overlapped;
	double overlapped_waiting[DIFF_SIDES]; /* of that class, by all threads together */
};

/* A difference and its uncertainty, in scaled units of the metric. */
struct diff_estimate {
	double base, head;      /* scaled */
	double delta;           /* head - base */
	double ci_low, ci_high; /* 95 % interval of delta; NAN without evidence, and of exact counts */
	double q;               /* p adjusted by Benjamini-Hochberg; NAN if not tested, and of exact counts */
	/*
	 * the least |delta| that this pair of recordings shows with 80 % power; of exact counts, the least that is
	 * proven: a larger one than noise and the least effect that matters. NAN if not known
	 */
	double detectable;
	enum diff_state state;
};

/*
 * A function of either side, identified by its key. Strings are ids into diff.strings; the name is that of head where
 * both sides have the function. A renamed function is one entry with the values of both sides (tier and state `moved`).
 * Its earlier name stays in the table as an empty entry of state `moved`; moved_to of each is the other.
 */
struct diff_function {
	uint32_t name, module, file, key;
	uint32_t shown; /* the name as people read it (profile_shown_name()): `S.run` for `py::S.run:/srv/w.py` */
	/* where people look for it: its module; for a Python function its file and line, `w.py:12` */
	uint32_t shown_in;
	uint32_t base_file; /* string: the file in base, of a function that both sides have; 0: not known */
	uint32_t line;      /* of its definition; 0: not known */
	uint32_t moved_to;  /* function id of the other end of a move or rename, or PROFILE_NONE */
	uint16_t origin_rule;
	/* There may be millions of functions: what has few values takes a byte. */
	enum profile_language language : 8;
	/* the language whose functions it interprets, as the system's code does; NATIVE: none (profile/language.h) */
	enum profile_language interprets : 8;
	enum profile_origin origin : 8;
	enum profile_name_source name_source : 8;
	bool by_tier; /* its time depends on what a compiler decides anew in every process (statistics/modes.h) */
	enum diff_tier tier : 8;
	enum diff_code code : 8;
	/*
	 * its time in interrupts and preemption, or waiting for a CPU in a comparison: shown, but neither tested as the
	 * program's nor part of any other total
	 */
	bool interrupt;
	bool compiles; /* of such time, that in the run-time compiler of the program's language: no interrupt */
	/* its self time differs, but its code is the same, so that no change is proven (statistics/placement.h) */
	bool is_placement;
	/*
	 * In total, recursion is counted once. Self time is that of the function and of the interpreter that runs it:
	 * frames of the interpreter right below it, or below others of these, have no self time of their own.
	 */
	double raw_self[DIFF_SIDES], raw_total[DIFF_SIDES];
	struct diff_estimate self, total;
	/*
	 * Standard deviation between layouts of what the function takes in one, in parts of their mean, of both sides
	 * together (statistics/layouts.h); NAN: not known.
	 */
	double layout_rsd;
	/* [side] what its self cost consists of, raw: its place in diff.function_costs; NULL: profiles do not tell */
	struct profile_cost *cost;
};

/* A function of a side that is a part of one of the diff under another key (DIFF_TIER_GROUP, DIFF_TIER_RENUMBERED). */
struct diff_member {
	uint32_t function;  /* of the diff */
	uint32_t name, key; /* strings */
	enum diff_side side;
	double raw_self, raw_total; /* in the metric's unit; the total counts recursion as often as it occurs */
};

/*
 * Returns the class of waits whose frame a function is; PROFILE_WAIT_NONE: it is a function like any other. The total
 * of such a frame is the total of its class.
 */
enum profile_wait_class diff_wait_class(const struct diff *diff, const struct diff_function *function);

/* Returns whether waits of the class are in the metric. */
bool diff_has_wait_class(const struct diff *diff, enum profile_wait_class wait_class);

/* A node of the union of both calling-context trees. Node 0 is the root; nodes are in preorder, siblings in order of
 * key. */
struct diff_node {
	uint32_t parent;
	uint32_t function;     /* PROFILE_NONE for the root */
	uint32_t subtree_end;  /* id after the last node of the subtree */
	uint16_t depth;        /* 0 for the root; a tree deeper than 65,535 is ERROR_LIMIT */
	uint8_t state;         /* enum diff_state of its total */
	uint8_t flags;         /* DIFF_NODE_* */
	float ci_low, ci_high; /* of the total's delta, scaled; NAN if not tested */
};
enum {
	DIFF_NODE_INLINED = 1, /* every occurrence was inlined into the parent */
	/* within an interrupt of the thread, or the run-time compiler: its time is not part of the totals above it */
	DIFF_NODE_INTERRUPT = 2,
	/*
	 * its function is proven to have changed, and this node has changed in the same direction: in its self time
	 * where that of the function is proven, else in its total. A node whose own state already says so of its total
	 * has no such flag for the total of its function.
	 */
	DIFF_NODE_PLACE = 4,
};

/*
 * The difference by origin: raw and scaled sums of self values. The deltas of all origins add up to the delta of the
 * totals.
 */
struct diff_origin {
	double raw[DIFF_SIDES];
	double base, head, delta; /* scaled */
};

struct diff_scale {
	enum diff_scale_mode mode;      /* never AUTO */
	double factor;                  /* head's raw values times this factor are comparable with base's */
	double factor_low, factor_high; /* 95 % interval of a robust factor; NAN in other modes */
	/*
	 * Nobody counted the work of both sides. In mode `robust`: the functions do not distinguish load from change
	 * (load.h). In other modes: head's load may be any (evidence_load).
	 */
	bool load_is_unknown;
	bool length_is_unknown; /* a side does not say for how long, or how often, it was sampled: mode `share` */
	enum diff_scale_mode other_mode; /* the mode that was not chosen; where both disagree, both are shown */
	double other_factor;             /* factor of other_mode; 0: there is none */
};

/*
 * A warning for the user about what limits the comparison: "head lost 3.1 % of its samples". Strings in diff.strings.
 */
struct diff_warning {
	uint32_t text;
	bool blocks_gate; /* with this warning, gates do not decide */
};

enum diff_run_figure { DIFF_RUN_WALL, DIFF_RUN_CPU, DIFF_RUN_MEMORY };
enum { DIFF_RUN_FIGURE_COUNT = 3 };

/* Statistics of one figure, in nanoseconds or bytes per run, with 95 % intervals by Student's t; NAN with one run. */
struct diff_run_summary {
	double mean[DIFF_SIDES], low[DIFF_SIDES], high[DIFF_SIDES];
	double change, change_low,
		change_high; /* of head in parts of base, by the runs' logarithms: 0.1 is 10 % more */
};

/* A run whose figure lies far from its side's median. It is named, never dropped. */
struct diff_outlier {
	enum diff_side side;
	enum diff_run_figure figure;
	size_t run;
	double value, median;
};

/* Statistics of whole runs of commands. Empty for recordings that lack these figures. */
struct diff_runs {
	bool known[DIFF_RUN_FIGURE_COUNT];
	struct diff_run_summary figures[DIFF_RUN_FIGURE_COUNT];
	struct diff_outlier *outliers; /* owned; by figure, side, run */
	size_t outlier_count;
};

/* ---- Layouts ---- */

/*
 * The effect of the place of code in memory alone on the program's time: between layouts where there are several on a
 * side, else as functions of the same code differ between base and head.
 */
struct diff_layouts {
	size_t count[DIFF_SIDES]; /* layouts; 0: runs tell of none */
	double rsd; /* standard deviation of the layouts' means of the total, in parts of it; NAN: not known */
	/* one layout a side: the functions of the same code that tell */
	size_t same_code_functions;
	double same_code_rsd; /* how far their times differ beyond chance, in parts of each; NAN: not known */
	bool widens;          /* the interval of the total is wider for it */
};

/* ---- Instances ---- */

/* A CPU model that runs were made on. */
struct diff_cpu {
	uint32_t model; /* string; "": not known of these runs */
	size_t runs[DIFF_SIDES];
	/* what its runs take over those of the same side on models that both sides have; NAN: there are none */
	double cost;
};

/* A run that takes far more or less than the other runs of its side. It is named, never left out. */
struct diff_instance {
	enum diff_side side;
	size_t run;
	uint32_t name;     /* string: the instance; "run 3" where that is not known */
	double ratio;      /* what it takes over the median of its side's runs */
	uint32_t function; /* most of the difference is in the function itself; PROFILE_NONE: in none */
};

/* The runs as instances of a program (statistics/instances.h). */
struct diff_instances {
	enum diff_scale_mode per;       /* PER_REQUEST, RATE or PER_RUN: how runs were compared with each other */
	struct diff_instance *outliers; /* owned; by side, then run */
	struct diff_cpu *cpus;          /* owned; none where each side is of one model */
	size_t outlier_count, cpu_count;
	double cpu_mix_points; /* how far the sides' shares of models differ: half the sum of |differences|, in points
				*/
	/* by what part head takes more because its runs were made on other models; NAN: not known */
	double cpu_effect;
};

/* ---- Requests ---- */

/* The work that the program of one side did while it was recorded (profile/requests.h). */
struct diff_requests {
	enum profile_work_source source;
	double count, per_s;           /* 0: not counted, or the length of the recording is not known */
	double p50_ns, p90_ns, p99_ns; /* of the time until an answer began; NAN: not known */
	/* a connection counts as one request, since most exchanges are handshakes (diff/requests.h) */
	bool is_by_connection;
	double calls_out, calls_out_per_s;
	double calls_out_p50_ns, calls_out_p99_ns;
	uint32_t event;  /* string: what PROFILE_WORK_EVENT counts; "": requests are */
	uint32_t one_in; /* as in struct profile_requests */
};

/*
 * The latencies of both sides, and whether they differ. A state is MORE, LESS, SAME or UNPROVEN; it is never proven by
 * the sampling error of the quantile alone, since what differs between two starts of a service is not in it
 * (diff/requests.h).
 */
struct diff_latency {
	bool is_known; /* both sides tell of the latencies of enough answers */
	double p50_low_ns[DIFF_SIDES],
		p50_high_ns[DIFF_SIDES]; /* 95 % interval of the sampling error; NAN: not known */
	double p99_low_ns[DIFF_SIDES], p99_high_ns[DIFF_SIDES];
	enum diff_state p50, p99, state; /* `state`: of both together */
};

/* ---- The cause ---- */

enum { DIFF_CAUSE_CALLERS = 2 };

/*
 * The cause that the verdict names: the deepest proven function of the user's code, else of a library, whose subtree
 * explains the greater part of what is proven.
 */
struct diff_cause {
	uint32_t function;                    /* PROFILE_NONE: no function is named */
	bool is_self;                         /* its self time explains it; else its time with all it calls */
	double share;                         /* of the proven difference in its direction: 0.68 */
	uint32_t callers[DIFF_CAUSE_CALLERS]; /* those above it, the outermost first */
	size_t caller_count;
	uint32_t leaf; /* the function below it in which most of the difference is spent; PROFILE_NONE: it is itself */
};

/* ---- Changes ---- */

enum { DIFF_CHANGE_WAITS = 2 };

/*
 * A change: functions of a chain of calls whose proven differences are one and the same (verdict/changes.h). A function
 * belongs to one change at most. What is listed and counted as proven, in any output, are these.
 */
struct diff_change {
	/* that names it: the innermost of the user's own code, else of a library, else the innermost one */
	uint32_t function;
	bool is_self;        /* the difference is that of the function's self time; else of its total */
	bool is_of_others;   /* other changes say all of it: it is listed behind them, and not counted */
	size_t first, count; /* its functions: diff.change_functions[first] and those after it, the outermost first */
	/* the user's function that nearly all of it is called from, where none of its own is one; PROFILE_NONE */
	uint32_t caller;
	/* the places where much of it is waiting, those with most of it first, each with a fifth of it or more */
	uint32_t wait_sites[DIFF_CHANGE_WAITS];
	size_t wait_count;
};

/* ---- Bottlenecks ---- */

/* The bottleneck of a function or a node on each side, and the components of the difference between them. */
struct diff_bottleneck {
	enum profile_bottleneck side[DIFF_SIDES], change;
};

/* ---- Waits ---- */

/*
 * The waits of threads (profile/waits.h), in nanoseconds whatever the metric is. Scaled values are comparable between
 * the sides, as those of functions.
 */

/* All waits of a class. */
struct diff_wait {
	double raw[DIFF_SIDES];
	/* interval and state only where the metric has these waits; those for a CPU are in no other total */
	struct diff_estimate total;
};

/*
 * The waits of one class in one function: the innermost of the user's own code on their stacks, else the innermost of a
 * library. Functions that exist to wait (pthread_mutex_lock, std::mutex::lock) are passed over.
 */
struct diff_wait_site {
	uint32_t function; /* PROFILE_NONE: there is none on the stacks */
	enum profile_wait_class wait_class;
	double raw[DIFF_SIDES];
	double base, head, delta; /* scaled */
	uint32_t lock;            /* string: the name of the lock that most of these waits in head are for; "": none */
	uint32_t lock_number;     /* where that lock has no name: which of its recording it is, from 1; 0: none */
	/* releases of these waits: diff.wait_releases[first_release] and those after it */
	size_t first_release, release_count;
};

/* The waits of a site that one function ended, as far as that is known. */
struct diff_wait_release {
	uint32_t function; /* as of a site: the innermost of the user's own code in the thread that let them go on */
	double raw[DIFF_SIDES];
};

struct diff {
	struct string_table *strings; /* owned */
	size_t sides;                 /* 1: a single profile (in DIFF_HEAD); 2 */

	uint32_t metric, unit;        /* strings: "cpu", "nanoseconds" */
	uint32_t metric_words;        /* string: the metric in words, as in struct profile_metric: "CPU time" */
	bool is_duration, is_counted; /* as in struct profile_metric */
	bool is_time;                 /* it is a time, or samples that were taken as time passed */
	/*
	 * The values count what the program did, in a simulator: they are neither samples nor times, and a program that
	 * does the same has the same values. They have no intervals, and no load or speed of a machine is in them.
	 */
	bool is_exact;
	enum diff_waiting waiting;
	bool is_idle;                 /* the metric is idle time: it has the idle waits, which no other metric has */
	double raw_total[DIFF_SIDES]; /* without interrupts */
	struct diff_estimate total;   /* of the whole program, without interrupts */

	struct diff_node *nodes;
	double *node_self[DIFF_SIDES]; /* [node] raw; a frame of an interpreter has its own here */
	/* [node] raw; nodes outside interrupts do not include the interrupts below them */
	double *node_total[DIFF_SIDES];
	size_t node_count;

	/*
	 * by falling |delta of total|, then name; in the one-sided case by falling total. The frames of waits come
	 * last.
	 */
	struct diff_function *functions;
	size_t function_count;

	uint32_t *sample_nodes[DIFF_SIDES]; /* [sample id of that side's profile] the node of its leaf */

	struct diff_origin origins[PROFILE_ORIGIN_COUNT];
	struct diff_origin
		/* the machine's work in the program's threads: shown beside the origins, not part of the total */
		interrupts,
		/* likewise the work of a run-time compiler, which depends on how long the program has run */
		compilation;
	/* likewise, in a comparison of waits: time in which threads could run and waited for a CPU (match/interrupts.h)
	 */
	struct diff_origin run_queue;
	struct diff_scale scale;
	struct diff_evidence evidence;
	struct diff_runs runs;
	struct diff_instances instances;
	struct diff_member *members; /* owned; by function */
	size_t member_count;
	/* owned: keys of the functions whose frames are left out where they lead a stack of this side (match/detail.h)
	 */
	uint32_t *leads[DIFF_SIDES];
	size_t lead_count[DIFF_SIDES];
	struct diff_renaming *renamings; /* owned */
	size_t renaming_count;
	bool without_inlined[DIFF_SIDES]; /* the other side tells no inlined frames: those of this one are no nodes */
	struct diff_layouts layouts;
	struct diff_control control;
	struct diff_requests requests[DIFF_SIDES];
	struct diff_latency latency;
	uint32_t requests_doubt; /* string: why counted requests are shown and not used: "bytes per exchange ..."; "" */
	struct diff_warning *warnings;
	size_t warning_count;

	/* Bottlenecks, if all sides' profiles tell of them (profile/bottleneck.h); else all is empty. */
	bool has_bottlenecks;
	bool bottlenecks_explain;                   /* the metric is the cost whose components are known */
	double bottleneck_samples;                  /* a function or node of fewer samples has no class */
	struct profile_cost *node_cost[DIFF_SIDES]; /* [node] raw, of its self value; owned */
	struct profile_cost *function_costs;        /* those of each side for every function, in no order; owned */

	/* Waits, if a side is a recording of them; else all is empty. */
	bool has_waits;
	struct diff_wait waits[PROFILE_WAIT_COUNT];
	/* by falling |delta|, in the one-sided case by falling time; those of class idle come last */
	struct diff_wait_site *wait_sites;
	struct diff_wait_release *wait_releases; /* of each site by falling time in head */
	size_t wait_site_count, wait_release_count;
	/* the site that the verdict names: most of a proven difference in the metric is waiting there; PROFILE_NONE */
	uint32_t named_wait;
	struct diff_elapsed elapsed;

	/*
	 * The one that the verdict names comes first, those that are of others last; else by falling |delta|. Owned, as
	 * is change_functions.
	 */
	struct diff_change *changes;
	uint32_t *change_functions;
	size_t change_count;

	enum diff_verdict verdict;
	struct diff_cause cause;
	bool gate_failed;
	/* string: one sentence to quote: "head takes 12.3 % more CPU time per run (95 % interval 9.8 to 14.9 %)" */
	uint32_t verdict_text;
	uint32_t scale_text;        /* string: why and how head was scaled, in one sentence; "" if the factor is 1 */
	double needs_times_samples; /* INCONCLUSIVE: about this many times the samples would decide; 0: not known */

	bool interrupts_are_work; /* a side has no other time than that in interrupts: none is marked */
	const struct diff *whole; /* borrowed: the comparison that this is a part of (diff_options.like); NULL: none */
	struct basis *basis;      /* private: what parts need of this one (statistics/basis.h); owned; NULL: a part */
};

/*
 * Compares two profiles, which are borrowed for the call. ERROR_EMPTY if they share no function, or one of them has no
 * time in the metric; ERROR_USAGE if a metric is not in both.
 */
COMMON_MUST_CHECK
bool diff_create(const struct profile *base, const struct profile *head, const struct diff_options *options,
	struct diff **diff, struct error *err);

/* Makes a one-sided diff of a single profile. */
COMMON_MUST_CHECK
bool diff_create_single(
	const struct profile *profile, const struct diff_options *options, struct diff **diff, struct error *err);

void diff_destroy(struct diff *diff);

static inline void diff_cleanup(struct diff **diff)
{
	diff_destroy(*diff);
}

/* ---- Figures of whole runs ---- */

/*
 * Sums up what the runs of commands took. in_pairs: run i of either side were made one after the other. False, and
 * `summary` untouched, when a run does not say it.
 */
COMMON_MUST_CHECK
bool diff_summarize_runs(const struct profile *base, const struct profile *head, enum diff_run_figure figure,
	bool in_pairs, struct diff_run_summary *summary);

/* Finds out whether a run's figure lies far from its side's median, which is written to `*median`. */
void diff_run_is_outlier(
	const struct profile *profile, enum diff_run_figure figure, size_t run, double *median, bool *outlier);

/* Returns whether head's load may be any in a range: it was neither counted nor guessed. */
static inline bool diff_load_is_open(const struct diff *diff)
{
	return diff->scale.load_is_unknown && diff->scale.mode != DIFF_SCALE_ROBUST;
}

static inline const char *diff_string(const struct diff *diff, uint32_t id)
{
	return string_table_get(diff->strings, id);
}

/* Returns the estimate of a change: that of the total or self time of the function that names it. */
static inline const struct diff_estimate *diff_change_estimate(
	const struct diff *diff, const struct diff_change *change)
{
	const struct diff_function *f = &diff->functions[change->function];

	return change->is_self ? &f->self : &f->total;
}

/* Returns whether the verdict names the change: its wait if it names one, else its cause. */
bool diff_change_is_named(const struct diff *diff, const struct diff_change *change);

/* Returns the function that ended most of a site's waits in head; PROFILE_NONE: it is not known. */
uint32_t diff_released_by(const struct diff *diff, const struct diff_wait_site *site);

/* Returns the same of one side. Of a lock it is the function that held it, until it let it go. */
uint32_t diff_released_by_on(const struct diff *diff, const struct diff_wait_site *site, enum diff_side side);

/* Returns what is said of the function that ended waits of a class: "held by" of a lock, else "ended by". Static. */
const char *diff_release_words(enum profile_wait_class wait_class);

/*
 * Returns what explains a change of a function whose machine code is the same, as a clause: "only its placement or its
 * workload differs". `with_callees`: a change of the function with all that it calls. Static.
 */
const char *diff_same_code_words(const struct diff *diff, bool with_callees);

/* Returns what holds a function up; NONE everywhere if the profiles do not tell. Without a base, so is the change. */
struct diff_bottleneck diff_function_bottleneck(const struct diff *diff, const struct diff_function *function);

/* Returns the same of a node's self value. */
struct diff_bottleneck diff_node_bottleneck(const struct diff *diff, uint32_t node);

/*
 * Returns what a difference of a function's self value consists of, in words: "cache misses". "" if that is not known,
 * if no component is large enough to be named, or if the metric is not the cost that the components explain.
 */
const char *diff_cause(const struct diff *diff, const struct diff_function *function);
