/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Summaries of profiles: of each the sums of its functions with their noise, what was recorded, when and where. A
 * history of a thousand profiles is read as summaries, which take some 40 bytes a function, and not as stacks. The
 * cache of `kelvin history` and the tables of a store (profile/store/store.h) have the same rows.
 *
 * Summaries of a set share strings and functions. Ids are handed out in order of arrival and never change.
 */

/* A function of any profile of the set, identified by its key (profile/identity.h), as the latest profile has it. */
struct summary_function {
	uint32_t key, name, shown, shown_in, module, file; /* strings, as struct diff_function has them */
	enum profile_origin origin;
	enum profile_language language;
	/* Its time is shown and is never part of a total: that in interrupts and of a run-time compiler. */
	bool interrupt;
};

/* A function in one profile. Values are raw, in the metric's unit, and recursion is counted once in `total`. */
struct summary_row {
	uint32_t function;
	uint64_t fingerprint; /* of its code; 0: not known */
	double self, total;
	/* Standard errors of self and total by counting samples, in the metric's unit. */
	float self_error, total_error;
};

/* A binary that had samples. */
struct summary_binary {
	uint32_t module, path, build_id; /* strings */
	bool is_program;                 /* of the user's origin, or the one that the command runs */
};

struct summary {
	uint32_t name;                      /* string: the file, or what a store calls the profile */
	uint64_t id[2];                     /* hash of what was recorded: the same profile given twice counts once */
	int64_t start_unix_ns, duration_ns; /* 0: not known. Of several runs the first start, and the sum */
	bool is_time_of_file;               /* the profile has no time, so that this is when the file was changed */
	struct profile_facts facts;         /* strings are of the set */
	struct profile_label labels[PROFILE_MAX_LABELS];
	size_t label_count;
	uint32_t metric, unit, metric_words; /* strings */
	bool is_time, is_duration, is_counted, is_exact;
	double total, total_error; /* without interrupts; the error is that of the total by requests, 0: not counted */
	double interrupts;
	uint64_t samples; /* 0: not counted */
	double lost;      /* share of samples that were lost, or whose stacks were cut */
	uint64_t runs;
	bool whole_commands;           /* each run is a command from start to exit: costs are compared per run */
	enum profile_work_source work; /* what counts requests */
	uint32_t work_event;           /* string, as profile_requests.event */
	double requests;               /* that were answered; 0: not counted */
	struct summary_row *rows;      /* owned; by function, each once, without those that have no value */
	struct summary_row *own_rows;  /* owned: before summary_match_functions() changed them; NULL: it did not */
	size_t own_row_count;
	struct summary_binary *binaries; /* owned; by module, then build id */
	size_t row_count, binary_count;
};

struct summary_set {
	struct string_table *strings;       /* owned */
	struct summary_function *functions; /* owned */
	struct summary *items;              /* owned */
	size_t function_count, count;
	struct summary_index *index; /* private */
};

COMMON_MUST_CHECK
bool summary_set_create(struct summary_set **set, struct error *err);
void summary_set_destroy(struct summary_set *set);

static inline void summary_set_cleanup(struct summary_set **set)
{
	summary_set_destroy(*set);
}

static inline const char *summary_string(const struct summary_set *set, uint32_t id)
{
	return string_table_get(set->strings, id);
}

/* The way in which a profile is summed up (history_summarize()). */
struct summary_options {
	const char *metric; /* NULL: the profile's default */
	const char *name;   /* of the profile */
	uint64_t id[2];
	int64_t file_time_unix_ns; /* where the profile has no time; 0: none */
};

/* Adds an empty summary for whoever has the rows from elsewhere; borrowed until the next one is added. */
COMMON_MUST_CHECK
bool summary_add_empty(struct summary_set *set, struct summary **summary, struct error *err);

/* Adds a function, or finds it by its key and takes over what is new of it. Its strings are of the set. */
COMMON_MUST_CHECK
bool summary_add_function(
	struct summary_set *set, const struct summary_function *function, uint32_t *id, struct error *err);

/* Appends a row to the last summary; summary_finish() sorts them and adds up those of one function. */
COMMON_MUST_CHECK
bool summary_add_row(struct summary_set *set, const struct summary_row *row, struct error *err);
COMMON_MUST_CHECK
bool summary_add_binary(struct summary_set *set, const struct summary_binary *binary, struct error *err);
COMMON_MUST_CHECK
bool summary_finish(struct summary_set *set, struct error *err);

/*
 * Sorts a summary's rows by function, adds up those of one, and leaves out those without a value. summary_finish() has
 * done so, for whoever changed rows since.
 */
void summary_sort_rows(struct summary *summary);

/*
 * Matches functions that have other keys in other profiles, by the templates of their names (profile_key_template()):
 * their rows become those of the latest of them, beside what a profile has itself. Where a profile has several of one
 * template, and profiles have other ones, all of them are one function, whose time is their sum. It does not depend on
 * the order of the profiles.
 */
COMMON_MUST_CHECK
bool summary_match_functions(struct summary_set *set, struct error *err);

/* Takes the last summary out again; strings and functions that it brought stay. */
void summary_drop_last(struct summary_set *set);

/* Returns the row of a function; NULL: the profile has none of its time. */
const struct summary_row *summary_row_of(const struct summary *summary, uint32_t function);

/* Returns the value of a label; NULL: none. */
const char *summary_label(const struct summary_set *set, const struct summary *summary, const char *key);

/* ---- As bytes ---- */

/*
 * Summaries as bytes share strings and functions; each is found by a tag, which is whoever wrote them's. The bytes are
 * foreign where they are read: everything is checked, ERROR_FORMAT with the place, and those of another version are
 * ERROR_UNSUPPORTED.
 */
enum { SUMMARY_TAG_BYTES = 40 };

/* Appends summaries of a set, by their indices, with a tag each. */
COMMON_MUST_CHECK
bool summary_archive_write(const struct summary_set *set, const size_t *summaries, size_t count,
	const uint8_t (*tags)[SUMMARY_TAG_BYTES], struct buffer *out, struct error *err);

struct summary_archive;

/* Summaries that can be added to the set, which is borrowed, as are the bytes. Nothing is added yet. */
COMMON_MUST_CHECK
bool summary_archive_open(
	const void *bytes, size_t size, struct summary_set *set, struct summary_archive **archive, struct error *err);
void summary_archive_close(struct summary_archive *archive);

static inline void summary_archive_cleanup(struct summary_archive **archive)
{
	summary_archive_close(*archive);
}

size_t summary_archive_count(const struct summary_archive *archive);

/* Returns the last one of that tag; SIZE_MAX: there is none. */
size_t summary_archive_find(const struct summary_archive *archive, const uint8_t tag[SUMMARY_TAG_BYTES]);

/* Returns a tag, borrowed from the archive's bytes. */
const uint8_t *summary_archive_tag(const struct summary_archive *archive, size_t index);

/* Adds one to the set. */
COMMON_MUST_CHECK
bool summary_archive_add(struct summary_archive *archive, size_t index, struct error *err);

/* Writes one summary as such bytes, and reads all summaries of them into a set. */
COMMON_MUST_CHECK
bool summary_write(const struct summary_set *set, size_t summary, struct buffer *out, struct error *err);
COMMON_MUST_CHECK
bool summary_read(struct summary_set *set, const void *bytes, size_t size, struct error *err);
