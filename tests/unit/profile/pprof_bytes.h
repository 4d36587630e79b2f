/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * pprof files made by hand, as other tools write them: profile.proto's fields (github.com/google/pprof) in the order of
 * the calls, strings at the end.
 */
struct pprof_bytes {
	struct buffer file, strings;
	int64_t string_count;
	bool packed; /* repeated numbers of a sample in one field, as proto3 writes them */
};

enum { PPROF_MAX_DEPTH = 8, PPROF_MAX_VALUES = 4 };

/* Field numbers of Profile. */
enum pprof_field {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE,
	PPROF_MAPPING,
	PPROF_LOCATION,
	PPROF_FUNCTION,
	PPROF_STRING,
	PPROF_DROP_FRAMES,
	PPROF_KEEP_FRAMES,
	PPROF_TIME,
	PPROF_DURATION,
	PPROF_PERIOD_TYPE,
	PPROF_PERIOD,
	PPROF_COMMENT,
	PPROF_DEFAULT_TYPE,
	PPROF_KELVIN = 9100,
};

void pprof_bytes_init(struct pprof_bytes *p);
void pprof_bytes_deinit(struct pprof_bytes *p);

/* One field of a message: a number, or bytes (a string, a message, packed numbers). */
void pprof_number(struct buffer *message, uint32_t field, uint64_t value);
void pprof_text(struct buffer *message, uint32_t field, const void *bytes, size_t size);

/* Index of a string in the file; it is not looked for among those that are there. */
int64_t pprof_string(struct pprof_bytes *p, const char *string);

/* `field` is PPROF_SAMPLE_TYPE or PPROF_PERIOD_TYPE. */
void pprof_value_type(struct pprof_bytes *p, enum pprof_field field, const char *type, const char *unit);
void pprof_mapping(struct pprof_bytes *p, uint64_t id, uint64_t start, const char *path, const char *build_id);
void pprof_function(struct pprof_bytes *p, uint64_t id, const char *name);

/* With the functions of its lines, innermost first, ended by 0. */
void pprof_location(struct pprof_bytes *p, uint64_t id, uint64_t mapping, uint64_t address, const uint64_t *functions);

struct pprof_sample {
	uint64_t locations[PPROF_MAX_DEPTH]; /* leaf first, ended by 0 */
	int64_t values[PPROF_MAX_VALUES];
	size_t value_count;
	struct {
		const char *key, *string;
		int64_t number;
	} labels[4]; /* ended by a NULL key */
};
void pprof_sample(struct pprof_bytes *p, const struct pprof_sample *sample);

/* Adds the strings: the file is complete then. */
void pprof_finish(struct pprof_bytes *p);

/* Finish the file, read it, and free it; the test fails unless it is read, or refused by ERROR_FORMAT with `words`. */
struct profile *pprof_read(struct pprof_bytes *p);
void pprof_refuse(struct pprof_bytes *p, const char *words);
