/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/id_table.h"
#include "profile/pprof_extension.h"
#include "profile/pprof_format.h"

/*
 * Reading pprof, shared by its parts: tables (pprof_tables.c, pprof_values.c), then samples (pprof_samples.c), joined
 * in pprof_read.c. pprof_extension.c reads the fields that only Kelvin's files have.
 */

/* The place of a table of the profile, which is named by its member, in an array of all fields. */
#define PPROF_TABLE(member) (offsetof(Pprof__Profile, member) / sizeof(size_t))
enum { PPROF_TABLES = sizeof(Pprof__Profile) / sizeof(size_t) };

/* The place and the number of a table's entries. They nearly always follow each other. */
struct pprof_section {
	size_t start, end, count;
};

/* A function as the file has it. Strings are indexes into the file's table. module -1: the file does not say. */
struct pprof_function {
	int64_t name, system_name, file, start_line, module;
	uint64_t fingerprint;
	enum profile_origin origin;
	uint16_t origin_rule;
	enum profile_name_source name_source;
	bool added; /* it was added as `id`, for a location in `added_module` */
	uint32_t id, added_module;
};

/* The meaning of a sample's label, by its key. */
enum pprof_label { PPROF_LABEL_OTHER, PPROF_LABEL_PID, PPROF_LABEL_TID, PPROF_LABEL_PROCESS, PPROF_LABEL_THREAD };

/*
 * A pair of values of a heap profile: indexes in the file of objects and of their bytes, and our value type that counts
 * the sampled objects.
 */
struct pprof_heap {
	uint32_t objects, space, samples;
};

struct pprof_reader {
	struct byte_reader file;
	Pprof__Profile numbers; /* the members that are numbers */
	struct pprof_section sections[PPROF_TABLES];
	size_t max_stacks;
	bool is_growing;                  /* the increments of a recording are read: locations may stay without names */
	struct byte_reader period_type;   /* empty: the file has none */
	struct pprof_extension extension; /* empty in files of other tools */
	struct profile *profile;

	size_t string_count, type_count;
	uint32_t *strings; /* owned: [index in the file] string of the profile */
	/* owned: [index in the file] enum pprof_label of the key with that string */
	uint8_t *labels;
	uint32_t types[PROFILE_MAX_VALUE_TYPES]; /* [value in the file] value type of the profile */
	int64_t scales[PROFILE_MAX_VALUE_TYPES]; /* [value in the file] how many of the profile's unit one of its is */
	bool has_count;                          /* one of the file's values counts samples */
	bool counts_all; /* ... and does so for all other values that have no count of their own */
	/* the number of samples follows from the period, where no value counts them */
	bool has_period;
	/* value in the file that counts contentions, where neither of the two above holds; PROFILE_NONE: none */
	uint32_t contentions;
	struct pprof_heap heaps[PROFILE_MAX_VALUE_TYPES];
	size_t heap_count;
	uint32_t period_value; /* value in the file that the period belongs to; PROFILE_NONE: none */
	struct id_table mapping_ids, function_ids, location_ids;
	uint64_t line_gap;                /* how many lines there are before the next one with a file of its own */
	bool has_line_gap;                /* ... if there is one */
	uint32_t *mappings;               /* owned: [position] mapping of the profile */
	size_t lost_mappings;             /* locations in mappings that the file does not have */
	struct pprof_function *functions; /* owned: [position] */
	uint32_t *locations;              /* owned: [position] location of the profile */
	uint32_t *threads;                /* owned: [position] thread of the profile */
	bool has_thread_column;           /* a column holds the threads, so labels need not be read */
	uint32_t label_tag;               /* what stands before each label of a sample */
	uint32_t *stacks;                 /* owned: [stack of the file's table of stacks] stack of the profile */
	size_t stack_count;
	bool has_stack_column;     /* a column holds the stacks, so samples have no locations */
	bool in_order;             /* the samples are in order, as in our own files, so that each was new */
	int64_t thread_before;     /* thread of the sample before; -1: there is none */
	struct byte_reader before; /* locations of the sample before; empty: they are not in one piece */
	size_t depth_before;       /* number of locations of the sample before */
	uint32_t *frames;          /* owned: [depth] stack of the sample before, from the root down to that depth */
	uint32_t *path;            /* owned: locations that the current sample adds to the shared frames, leaf first */
	size_t frame_capacity, path_capacity;
};

/* Fails unless `index` is a string of the file. `what` names the reference in the message. */
COMMON_MUST_CHECK
bool pprof_string_id(const struct pprof_reader *r, int64_t index, uint32_t *id, const char *what, struct error *err);

/* Returns a walk over a table, which stands at PPROF_TABLE(). */
struct proto_walk pprof_walk_table(const struct pprof_reader *r, size_t table);

/* Returns a string of the file; "" where it is not there. Borrowed from the profile. */
const char *pprof_text_of(const struct pprof_reader *r, int64_t index);

/* Fails unless a message of the file was read well. */
COMMON_MUST_CHECK
bool pprof_check(bool ok, const char *what, size_t position, struct error *err);

/* Reads strings, then value types: the one that counts samples becomes value 0, the others follow in their order. */
COMMON_MUST_CHECK
bool pprof_read_value_types(struct pprof_reader *r, struct error *err);

/*
 * Settles the default after the samples: a default of which no sample has a value is replaced by the file's last value
 * that has some.
 */
void pprof_settle_default(struct pprof_reader *r);

/*
 * Three functions count samples (pprof_counts.c). pprof_plan_counts() decides it once the value types are known,
 * pprof_count_samples() counts the samples of an entry where the file has no column for it, and pprof_settle_counts()
 * completes it after the last entry.
 */
COMMON_MUST_CHECK
bool pprof_plan_counts(struct pprof_reader *r, struct error *err);
void pprof_count_samples(const struct pprof_reader *r, const int64_t *in_file, int64_t *values);
void pprof_settle_counts(struct pprof_reader *r);

/*
 * Which of the file's values counts samples: its only one, or that of its times. PROFILE_NONE: none. `*all`: it counts
 * the samples of all values, not only of those that share its prefix.
 */
uint32_t pprof_find_count(const struct pprof_reader *r, const Pprof__ValueType *types, bool *all);

/* Reads from Kelvin's extension which value types count samples. */
void pprof_read_counts_of(struct pprof_reader *r);

/* Reads strings, value types, mappings, functions and locations. */
COMMON_MUST_CHECK
bool pprof_read_tables(struct pprof_reader *r, struct error *err);

/* Each of these needs those above it. */
COMMON_MUST_CHECK
bool pprof_read_runs(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_threads(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_stacks(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_samples(struct pprof_reader *r, struct error *err);
/* Fails unless the columns from `first` to `last` have one number for each entry of their table. */
COMMON_MUST_CHECK
bool pprof_columns_agree(const struct pprof_reader *r, size_t first, size_t last, const char *what, struct error *err);
/* Reads requests (pprof_requests.c). Needs the runs. */
COMMON_MUST_CHECK
bool pprof_read_requests(struct pprof_reader *r, struct error *err);
/*
 * Reads source files and texts (pprof_sources.c), and, for each line of the locations in turn, the file that it is in.
 */
COMMON_MUST_CHECK
bool pprof_read_sources(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_line_file(struct pprof_reader *r, struct profile_line *line, struct error *err);
/* Fails if there are files of more lines than there were. */
COMMON_MUST_CHECK
bool pprof_line_files_end(const struct pprof_reader *r, struct error *err);
/* Reads the code of functions (pprof_code.c). */
COMMON_MUST_CHECK
bool pprof_read_code(struct pprof_reader *r, struct error *err);
/* Reads locks and releases (pprof_waits.c). */
COMMON_MUST_CHECK
bool pprof_read_waits(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_timeline(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_quality(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_verification(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_facts(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_labels(struct pprof_reader *r, struct error *err);
