/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/id_table.h"
#include "profile/pprof_extension.h"
#include "profile/pprof_format.h"

/* Reading pprof, shared by its parts: tables (pprof_tables.c, pprof_values.c), then samples (pprof_samples.c), put
 * together in pprof_read.c. What only Kelvin's files hold is read by pprof_extension.c. */

/* Field numbers of profile.proto's Profile. */
enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING_TABLE = 6,
	PPROF_TIME_NANOS = 9,
	PPROF_DURATION_NANOS = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_DEFAULT_SAMPLE_TYPE = 14,
	PPROF_KELVIN = 9100,
	PPROF_RECORDING_MAGIC = 9101,
	PPROF_MESSAGE_HASH = 9102,
};

/* Where a table's entries lie, and how many there are; nearly always they stand together. */
struct pprof_section {
	size_t start, end, count;
};

/* A function as the file has it. Strings are indexes into the file's table; module -1: not told. */
struct pprof_function {
	int64_t name, system_name, file, start_line, module;
	uint64_t fingerprint;
	enum profile_origin origin;
	uint16_t origin_rule;
	enum profile_name_source name_source;
	bool added; /* as `id`, for a location in `added_module` */
	uint32_t id, added_module;
};

/* What a label of a sample says, by its key. */
enum pprof_label { PPROF_LABEL_OTHER, PPROF_LABEL_PID, PPROF_LABEL_TID, PPROF_LABEL_PROCESS, PPROF_LABEL_THREAD };

/* Values in the file, of objects and of their bytes; and our value for how many of them were sampled. */
struct pprof_heap {
	uint32_t objects, space, samples;
};

struct pprof_reader {
	struct byte_reader file;
	struct pprof_section sections[PPROF_STRING_TABLE + 1];
	struct pprof_section extension_section;
	bool is_growing;                /* the increments of a recording: locations without names stay without */
	struct byte_reader period_type; /* empty: none */
	int64_t time_nanos, duration_nanos, period, default_sample_type;
	struct pprof_extension extension; /* empty in other tools' files */
	struct profile *profile;

	size_t string_count, type_count;
	uint32_t *strings;                       /* owned: [index in the file] our id */
	uint8_t *labels;                         /* owned: [index in the file] enum pprof_label of that key */
	uint32_t types[PROFILE_MAX_VALUE_TYPES]; /* [value in the file] our value */
	bool has_count;                          /* one of the file's values counts samples */
	bool has_period;                         /* without it: the period tells how many they were */
	uint32_t contentions; /* without both: value in the file that counts waits; PROFILE_NONE: none */
	struct pprof_heap heaps[PROFILE_MAX_VALUE_TYPES];
	size_t heap_count;
	uint32_t period_value; /* value in the file that the period is of; PROFILE_NONE: none */
	struct id_table mapping_ids, function_ids, location_ids;
	uint32_t *mappings;               /* owned: [position] our id */
	struct pprof_function *functions; /* owned: [position] */
	uint32_t *locations;              /* owned: [position] our id */
	uint32_t *threads;                /* owned: [position] our id */
	bool has_thread_column;           /* labels need not be read */
	uint32_t *stacks;                 /* owned: [stack of a growing recording] our id */
	size_t stack_count;
	bool has_stack_column;     /* samples have no locations */
	bool in_order;             /* each sample came after those before it, as in our own files: all were new */
	int64_t thread_before;     /* of the sample before; -1: there is none */
	struct byte_reader before; /* its locations; empty: not in one piece */
	size_t depth_before;       /* how many they are */
	uint32_t *frames;          /* owned: [depth] the stack that the sample before has down to there */
	uint32_t *path;            /* owned: locations that the sample at hand adds to it, leaf first */
	size_t frame_capacity, path_capacity;
};

/* Fails unless `index` is a string of the file; `what` is for the message. */
COMMON_MUST_CHECK
bool pprof_string_id(const struct pprof_reader *r, int64_t index, uint32_t *id, const char *what, struct error *err);

/* Goes on in `walk` to the next entry of a table: while (pprof_next_entry(&walk, PPROF_SAMPLE, &message)) ... */
bool pprof_next_entry(struct byte_reader *walk, uint32_t field, struct byte_reader *message);
struct byte_reader pprof_walk(const struct pprof_reader *r, uint32_t field);

/* What is malformed within a message that lies in the file. */
COMMON_MUST_CHECK
bool pprof_check(const struct byte_reader *message, const char *what, size_t position, struct error *err);

/* What the values of a sample are: the one that counts samples becomes value 0, the others follow in their order. */
COMMON_MUST_CHECK
bool pprof_read_value_types(struct pprof_reader *r, struct error *err);

/*
 * How samples are counted (pprof_counts.c): pprof_plan_counts() finds out when the value types are known,
 * pprof_count_samples() does it for an entry of a file that has no column for it, pprof_settle_counts() when all are
 * read.
 */
COMMON_MUST_CHECK
bool pprof_plan_counts(struct pprof_reader *r, struct error *err);
void pprof_count_samples(const struct pprof_reader *r, const int64_t *in_file, int64_t *values);
void pprof_settle_counts(struct pprof_reader *r);

/* What Kelvin's own files say of it. */
void pprof_read_counts_of(struct pprof_reader *r);

/* Strings, value types, mappings, functions, locations. */
COMMON_MUST_CHECK
bool pprof_read_tables(struct pprof_reader *r, struct error *err);

/* Each needs those above it. */
COMMON_MUST_CHECK
bool pprof_read_runs(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_threads(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_stacks(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_samples(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_timeline(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_quality(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_verification(struct pprof_reader *r, struct error *err);
COMMON_MUST_CHECK
bool pprof_read_facts(struct pprof_reader *r, struct error *err);
