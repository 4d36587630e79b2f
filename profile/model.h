/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/activity.h"
#include "profile/bottleneck.h"
#include "profile/code.h"
#include "profile/cost_model.h"
#include "profile/counter_cost.h"
#include "profile/demangle.h"
#include "profile/expression.h"
#include "profile/facts.h"
#include "profile/frame_text.h"
#include "profile/function_name.h"
#include "profile/function_pattern.h"
#include "profile/generations.h"
#include "profile/identity.h"
#include "profile/increments.h"
#include "profile/interrupts.h"
#include "profile/java_name.h"
#include "profile/labels.h"
#include "profile/metric.h"
#include "profile/name_scan.h"
#include "profile/name_template.h"
#include "profile/nameless.h"
#include "profile/notes.h"
#include "profile/origin.h"
#include "profile/phases.h"
#include "profile/quality.h"
#include "profile/regroup.h"
#include "profile/requests.h"
#include "profile/sample_labels.h"
#include "profile/samples.h"
#include "profile/selection.h"
#include "profile/selection_where.h"
#include "profile/source.h"
#include "profile/source_bounds.h"
#include "profile/spelling.h"
#include "profile/symbols.h"
#include "profile/tree.h"
#include "profile/verification.h"
#include "profile/wait_life.h"
#include "profile/waits.h"
#include "profile/weights.h"

/*
 * The shared model: what was sampled, in which stacks, at what cost. All other rooms exchange their data through it.
 *
 * A profile is columns and tables indexed by 32-bit ids. Everything may be read directly; writing goes through the
 * functions below, which keep the indexes (deduplication) right. Ids are handed out in order of arrival and never
 * change. Strings are ids into `strings`; id 0 is "" and means "not known". Not thread-safe.
 */

#define PROFILE_NONE UINT32_MAX

/* ---- Value types ---- */

/*
 * The meaning of a sample's values; value type 0 is always `samples`/`count`. Where a file does not say how many
 * samples were taken, value 0 is 1 for each of its entries. This is a lower bound, which no statistical test may use;
 * counts_of[0] is PROFILE_NONE then.
 */
struct profile_value_type {
	uint32_t type; /* string: "samples", "cpu", "off-cpu", ... */
	/* string: "count", "nanoseconds", "bytes", ...; "": a folded file does not tell; "1/1000000": parts of one */
	uint32_t unit;
};

enum { PROFILE_MAX_VALUE_TYPES = 16 };

/* ---- Where: mappings, functions, locations ---- */

enum profile_mapping_kind {
	PROFILE_MAPPING_FILE,   /* a binary: program or shared object */
	PROFILE_MAPPING_KERNEL, /* [kernel.kallsyms]: the kernel and its modules */
	PROFILE_MAPPING_VDSO,   /* [vdso] */
	PROFILE_MAPPING_JIT,    /* code made at run time: named by a perf map or jitdump */
	PROFILE_MAPPING_ANON,   /* executable memory of unknown origin, memfd, [heap] */
};

/* The path and the module of mappings of code made at run time. */
#define PROFILE_JIT_MODULE "[jit]"

/*
 * A binary image, once per profile whatever the number of processes that mapped it.
 * Addresses of its locations are image addresses (ELF virtual addresses), so they are the same in every process and
 * run; start and end span its executable segments in those terms. For KERNEL, JIT and ANON, and in profiles of other
 * tools, they are runtime addresses.
 */
struct profile_mapping {
	uint64_t start, end, file_offset;
	uint32_t path;     /* string; "[vdso]", "[kernel.kallsyms]", "//anon" for what has no file */
	uint32_t build_id; /* string, lower-case hex */
	/* string: the path's last part without its version, `libfoo.so.1.2` -> `libfoo.so`; part of the diff key */
	uint32_t module;
	enum profile_mapping_kind kind;
	bool deleted; /* the file was replaced or deleted before it was sampled */
};

/* The source of a function's name. */
enum profile_name_source {
	PROFILE_NAME_NONE, /* no name is known: module+0xaddress */
	PROFILE_NAME_DWARF,
	PROFILE_NAME_SYMTAB,
	PROFILE_NAME_PLT,
	PROFILE_NAME_FDE, /* an FDE gives the bounds of the function, but no name */
	PROFILE_NAME_KALLSYMS,
	PROFILE_NAME_JIT,
	PROFILE_NAME_GO,
	PROFILE_NAME_IMPORTED, /* another tool gave it */
};
enum { PROFILE_NAME_SOURCE_COUNT = 9 };

/* Returns lower-case words for files, JSON and the page: "dwarf", ... */
const char *profile_name_source_name(enum profile_name_source source);

/*
 * A function. Functions with the same name, linkage name, file, start line and module are one. `key` is its identity
 * across builds, made by profile_add_function() (profile_function_key()).
 */
struct profile_function {
	uint32_t name;         /* string: demangled, for display */
	uint32_t linkage_name; /* string: as the compiler wrote it; 0 if it equals `name` */
	uint32_t file;         /* string: the file that defines it */
	uint32_t start_line;   /* 0: not known */
	uint32_t module;       /* string: module of its mapping */
	uint32_t key;          /* string: the diff key */
	uint64_t fingerprint;  /* hash over its code without addresses; 0: not known */
	enum profile_origin origin;
	uint16_t origin_rule; /* the rule that decided the origin, in symbolize's numbering; 0: none yet */
	enum profile_name_source name_source;
};

/*
 * One frame of a location. A location in inlined code has several: the innermost first, and last the function that
 * contains the code.
 */
struct profile_line {
	uint32_t function;
	uint32_t line; /* 0: not known */
	/*
	 * string: the file that the line is in where this is another one than its function's, as code of a macro or of
	 * a file that was included; 0: that of the function
	 */
	uint32_t file;
};

/* An address that occurs in a stack. For a caller it lies inside the call instruction (return address - 1). */
struct profile_location {
	uint32_t mapping;    /* PROFILE_NONE: the address is in no mapping */
	uint32_t first_line; /* index in `lines` */
	uint32_t line_count; /* 0 until symbolized */
	uint64_t address;
};

/* ---- Who and when: runs, threads ---- */

/* More rounds or iterations of a benchmark are an error in a file: so many are exact numbers also as a double. */
#define PROFILE_MAX_ROUNDS ((uint64_t)1 << 53)

/*
 * The time that a benchmark harness measured in a run that has the benchmark's name: the time of one iteration, over
 * the rounds after the warm-up. Where the harness does not say how many iterations a round has, a round counts as one.
 */
struct profile_measured {
	uint64_t rounds;     /* 0: nothing was measured */
	uint64_t iterations; /* in all these rounds; 0: not known */
	double quartile_ns;  /* the lower one, which other programs disturb least; 0: not known */
	double median_ns, mean_ns, stdev_ns;
	double error_ns; /* standard error of the mean, which counts that rounds in sequence resemble each other */
};

/*
 * One recording of one execution: attach to detach, or a command from start to end; or, where phases of an execution
 * have names, as the benchmarks of a suite, what was recorded in a phase (profile/phases.h).
 */
struct profile_run {
	int64_t start_unix_ns; /* wall clock, 0: not known */
	int64_t duration_ns;   /* of sampling, without the time in which it was paused */
	bool whole_command;    /* the command ran from start to exit under the recorder */
	/* of the command; -1: not known, or the recorder attached to processes */
	int32_t exit_status;
	int64_t wall_ns, cpu_ns, peak_memory_bytes; /* of the command, by wait4(); 0: not known */
	uint32_t name; /* string: that the program gave to this phase of its execution; 0: none */
	/*
	 * Strings: the instance of the program that was recorded, as a pod, container or host calls it, and the
	 * machine's CPU; 0: not known, or what the whole profile says (profile_run_instance(),
	 * profile_run_cpu_model()).
	 */
	uint32_t instance, cpu_model;
	/*
	 * Which layout of its side's code ran, counted from 1 (`bench --layouts`): the runs of one layout share where
	 * the linker put the functions. 0: not told; runs may then all be of one layout.
	 */
	uint32_t layout;
	struct profile_measured measured;
};

struct profile_thread {
	uint32_t run;
	int32_t pid, tid;
	uint32_t process_name; /* string: comm of the group leader */
	uint32_t name;         /* string: comm of the thread */
	uint32_t labels;       /* string: those of its samples (profile/sample_labels.h); 0: they have none */
};

/* ---- The profile ---- */

struct profile_index; /* private: the maps that deduplicate */

struct profile {
	struct string_table *strings; /* owned */

	struct profile_value_type value_types[PROFILE_MAX_VALUE_TYPES];
	uint32_t value_type_count;
	/*
	 * [value type] the value type that counts its samples. A heap profile counts what is in use and what was
	 * allocated by different ones. PROFILE_NONE: it is not known how many samples were taken.
	 */
	uint32_t counts_of[PROFILE_MAX_VALUE_TYPES];
	uint32_t count_name;         /* string: what the file calls value type 0, as `cpu-samples`; 0: `samples` */
	uint32_t default_value_type; /* the metric that reports show first: the CPU time */
	struct profile_value_type period_type;
	int64_t period;
	/*
	 * Value type 1, or the count where it is alone, is a number that its file does not name: a guess from the
	 * numbers says what it is (profile/weights.h).
	 */
	bool weight_is_unnamed;

	/* Owned heap arrays; the counts say how much is in use. */
	struct profile_mapping *mappings;
	struct profile_function *functions;
	struct profile_location *locations;
	struct profile_line *lines;
	struct profile_run *runs;
	struct profile_thread *threads;
	struct profile_stack *stacks;
	struct profile_sample *samples;
	int64_t *values; /* sample-major: values[sample * value_type_count + value type] */
	struct profile_event *events;
	/*
	 * [event] The event's own weight, such as the nanoseconds for which a thread waited; 0: it has none. The values
	 * of a sample belong to its events in proportion to their weights; all events of a sample have a weight, or
	 * none has. Events from `weighted_count` on have none, as all events of a recording of CPU time.
	 */
	int64_t *event_weights;
	size_t weighted_count;
	/* Owned: what waits were for, and who ended them (profile/waits.h). */
	struct profile_lock *locks;
	struct profile_release *releases;
	size_t lock_count, release_count;
	struct profile_requests requests; /* how much work the program did (profile/requests.h) */
	/* Owned: the source text around sampled functions (profile/source.h). */
	struct profile_source_file *source_files;
	struct profile_source_text *source_texts; /* by file, then by line */
	size_t source_file_count, source_text_count;
	struct profile_code *codes; /* owned: of sampled functions, by mapping, then by address (profile/code.h) */
	size_t code_count;
	size_t mapping_count, function_count, location_count, line_count, run_count, thread_count, stack_count,
		sample_count, event_count;

	struct profile_quality quality;
	struct profile_verification verification;
	struct profile_facts facts;
	struct profile_label labels[PROFILE_MAX_LABELS]; /* by key, in order of bytes */
	size_t label_count;
	struct profile_notes notes; /* what its file leaves open (profile/notes.h) */
	bool has_timeline;          /* events are complete: every sample's count is the number of its events */

	struct profile_index *index;
};

/* Makes an empty profile with the value type samples/count. */
COMMON_MUST_CHECK
bool profile_create(struct profile **profile, struct error *err);
void profile_destroy(struct profile *profile);

static inline void profile_cleanup(struct profile **profile)
{
	profile_destroy(*profile);
}

/* Borrowed until the profile is destroyed. */
static inline const char *profile_string(const struct profile *profile, uint32_t id)
{
	return string_table_get(profile->strings, id);
}

COMMON_MUST_CHECK
bool profile_intern(struct profile *profile, const char *string, uint32_t *id, struct error *err);

/*
 * May be called before the first sample only. The last value type added whose unit is nanoseconds becomes the default.
 */
COMMON_MUST_CHECK
bool profile_add_value_type(struct profile *profile, const char *type, const char *unit, struct error *err);

/*
 * Gives a mapping another path, and its functions the module of that one. To be called when all samples are added:
 * functions that become equal are one when the profile is read again.
 */
COMMON_MUST_CHECK
bool profile_rename_mapping(struct profile *profile, uint32_t mapping, const char *path, struct error *err);

/*
 * Gives back the memory of the maps by which what is added is found to be known already: a third of a profile of a
 * million functions. To be called when all is added; where something is added after all, the maps are made again.
 */
void profile_release_maps(struct profile *profile);

/* Returns whether a mapping has this build id. */
bool profile_has_build_id(const struct profile *profile, const char *build_id);

/*
 * Adds a mapping, or finds the equal one. Mappings are equal if kind, build id (path where there is none), start and
 * file offset are. Sets `module`.
 */
COMMON_MUST_CHECK
bool profile_add_mapping(
	struct profile *profile, const struct profile_mapping *mapping, uint32_t *id, struct error *err);

/*
 * Adds a mapping that is known to be of another file than any before, though nothing of it may say so. Where
 * profiles are merged, their locations are told apart by what they are called.
 */
COMMON_MUST_CHECK
bool profile_add_other_mapping(
	struct profile *profile, const struct profile_mapping *mapping, uint32_t *id, struct error *err);

/*
 * Adds a function, or finds the equal one, and fills `key`. If the function exists without an origin, rule or
 * fingerprint, or with a worse name source, these are taken over.
 */
COMMON_MUST_CHECK
bool profile_add_function(
	struct profile *profile, const struct profile_function *function, uint32_t *id, struct error *err);

/*
 * Returns the function that is equal to one, which profile_add_function() would find; PROFILE_NONE: it would be added.
 */
uint32_t profile_find_function(const struct profile *profile, const struct profile_function *function);

/* Adds a location, or finds it by (mapping, address). */
COMMON_MUST_CHECK
bool profile_add_location(struct profile *profile, uint32_t mapping, uint64_t address, uint32_t *id, struct error *err);

/*
 * Adds `by` (modulo 2^64) to the addresses of all locations in mappings of a kind, as a kernel's addresses change at
 * each boot. Must be called before locations are named. On failure the profile may only be destroyed.
 */
COMMON_MUST_CHECK
bool profile_move_locations(struct profile *profile, enum profile_mapping_kind kind, uint64_t by, struct error *err);

/*
 * Adds or finds a location that has frames but no address, as folded stacks and some other files have. Locations with
 * equal frames are one.
 */
COMMON_MUST_CHECK
bool profile_add_location_of_lines(struct profile *profile, uint32_t mapping, const struct profile_line *lines,
	size_t count, uint32_t *id, struct error *err);

/* Names a location, innermost frame first, in place of any earlier names. */
COMMON_MUST_CHECK
bool profile_set_lines(
	struct profile *profile, uint32_t location, const struct profile_line *lines, size_t count, struct error *err);

COMMON_MUST_CHECK
bool profile_add_run(struct profile *profile, const struct profile_run *run, uint32_t *id, struct error *err);

/*
 * Returns the name of the program's instance that a run is of: its own, else the profile's labels `instance`,
 * `service.instance.id`, `pod`, `k8s.pod.name`, its container, or its label `host`, the first that there is. Borrowed;
 * "" if it is not known.
 */
const char *profile_run_instance(const struct profile *profile, size_t run);

/*
 * Returns the model of the CPU that a run was recorded on: its own, else the profile's. Borrowed; "" if it is not
 * known.
 */
const char *profile_run_cpu_model(const struct profile *profile, size_t run);

/* Adds a thread, or finds it by all its members: a thread that renames itself becomes another one. */
COMMON_MUST_CHECK
bool profile_add_thread(struct profile *profile, const struct profile_thread *thread, uint32_t *id, struct error *err);

/*
 * Returns the weight of an event, in the unit of the weights of its sample; 1 for an event without a weight of its own.
 */
static inline int64_t profile_event_weight(const struct profile *profile, size_t event)
{
	return event < profile->weighted_count && profile->event_weights[event] ? profile->event_weights[event] : 1;
}

/* Sorts events by (run, time), and requests; adds up equal releases. Must be called once, after the last sample. */
COMMON_MUST_CHECK
bool profile_finish(struct profile *profile, struct error *err);

/* ---- Merging ---- */

/*
 * Adds `from` to `into`: runs stay runs, and take over what only `from` as a whole says of their instance and CPU;
 * equal mappings, functions, locations, stacks and threads become one; value types are matched by type and unit
 * (ERROR_FORMAT if they do not match); quality counts add up; facts that differ become "" (0), and labels that are not
 * the same in both are left out. Requests are added if the same counted them in both (source and event), else they are
 * not known; one_in becomes the greater one. One address that has two names stays two locations, except in a binary
 * with a build id. On failure `into` may only be destroyed.
 */
COMMON_MUST_CHECK
bool profile_merge(struct profile *into, const struct profile *from, struct error *err);

/* ---- Files ---- */

/*
 * Reads pprof that has been inflated. Everything is checked: a bad reference or a contradiction is ERROR_FORMAT with
 * its place. More than `most_stacks` different frames of stacks are ERROR_LIMIT.
 */
COMMON_MUST_CHECK
bool profile_read_pprof(
	const void *bytes, size_t size, size_t most_stacks, struct profile **profile, struct error *err);

/*
 * Reads folded stacks; of a text that is read in pieces only a few lines are in memory at a time: it can be 70 times as
 * large as the profile. The numbers at the ends of the lines decide what they are (profile/weights.h): counts of
 * samples; multiples of a period, which become value type 1, `time` for the period of a clock and `weight` else; or
 * amounts, a `weight` whose number of samples is not known, in the unit 1/1000000 (or 1/1000000000) if any has
 * decimals. `name` is for messages; `most_stacks` as above.
 */
COMMON_MUST_CHECK
bool profile_read_folded(const struct text_source *text, const char *name, size_t most_stacks, struct profile **profile,
	struct error *err);

/*
 * Writes gzipped pprof with Kelvin's extension field. profile_read_pprof() reads an equal profile back, except that
 * samples are in order of their stacks and event times are rounded to microseconds. Every location must have a line.
 */
COMMON_MUST_CHECK
bool profile_write_pprof(const struct profile *profile, struct buffer *out, struct error *err);

/* Writes such a file with these permissions, as file_write() has them; `bytes`: its size. */
COMMON_MUST_CHECK
bool profile_write_file(
	const struct profile *profile, const char *path, mode_t mode, uint64_t *bytes, struct error *err);

/*
 * Writes `comm;root;...;leaf count`, kernel frames with `_[k]`, inlined ones with `_[i]`, one line for each distinct
 * stack, sorted by bytes. PROFILE_NONE for `value_type` writes the number of samples, and where it is not known the
 * default value type; any other one writes that value in place of the count, of stacks that have it.
 */
COMMON_MUST_CHECK
bool profile_write_folded(const struct profile *profile, uint32_t value_type, struct buffer *out, struct error *err);

/*
 * Checks a profile's references and counts: ids in range, parents before children, no negative values, sums without
 * overflow. The functions that read files call it.
 */
COMMON_MUST_CHECK
bool profile_validate(const struct profile *profile, struct error *err);
