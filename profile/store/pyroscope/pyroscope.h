/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/courier.h"

/*
 * Pyroscope (github.com/grafana/pyroscope, api/push/v1 and api/querier/v1), by the Connect protocol: protobuf as the
 * body of a POST (connectrpc.com/docs/protocol).
 */

/*
 * The greatest sizes that Pyroscope takes by default (pkg/validation/limits.go); more is refused, or cut without a
 * word.
 */
enum {
	PYROSCOPE_MAX_LABELS = 30,
	PYROSCOPE_MAX_SAMPLES = 16000,
	PYROSCOPE_MAX_DEPTH = 1000, /* deeper stacks lose their leaves */
	/* A profile may have 4 MiB before it is packed, less what the courier adds. */
	PYROSCOPE_MAX_BYTES = (4 << 20) - (16 << 10),
	PYROSCOPE_MAX_STRING = 16 << 10, /* 65,535 */
	PYROSCOPE_MAX_PIECES = 200,
};

/* ---- Labels ---- */

/*
 * Writes the name that Pyroscope has for a label: `service` is service_name, and what is no letter, digit or `_` is
 * `_`. The name is written to `name`, of `size` bytes.
 */
void pyroscope_label_name(const char *key, char *name, size_t size);

/* Appends NAME="value" of a selector, or NAME=~"value". */
void pyroscope_append_matcher(struct buffer *selector, const char *name, const char *relation, const char *value);

/*
 * The labels of the series that a profile becomes: as a message of RawProfileSeries (repeated field 1), and as a
 * selector of PromQL that selects this series. `family` is the label __name__.
 */
struct pyroscope_series {
	struct buffer message, selector;
};
COMMON_MUST_CHECK
bool pyroscope_make_series(const struct profile *profile, const struct store_filter *labels, size_t label_count,
	const char *family, struct pyroscope_series *series, struct buffer *notices, struct error *err);
void pyroscope_series_deinit(struct pyroscope_series *series);

/* ---- Pieces: a profile as one or more pprof of a size that Pyroscope takes ---- */

struct pyroscope_piece {
	const void *bytes; /* pprof that is not packed and has no time, borrowed from the split */
	size_t size;
	uint32_t value_type; /* of the profile: one whose total is not 0; the default one if that is */
	int64_t total;       /* of that value type, over the samples of the piece */
};

struct pyroscope_split;
COMMON_MUST_CHECK
bool pyroscope_split_create(const struct profile *profile, struct pyroscope_split **split, struct error *err);
void pyroscope_split_destroy(struct pyroscope_split *split); /* NULL is allowed */

/* Makes the next piece; `*is_there` false: there is none left. All pieces together have each sample once. */
COMMON_MUST_CHECK
bool pyroscope_split_next(
	struct pyroscope_split *split, struct pyroscope_piece *piece, bool *is_there, struct error *err);

/* Returns how many stacks lost frames at their root, of all pieces so far. */
size_t pyroscope_split_cut_stacks(const struct pyroscope_split *split);

/* ---- Protobuf and Connect ---- */

void pyroscope_put_number(struct buffer *message, uint32_t field, uint64_t value);
void pyroscope_put_bytes(struct buffer *message, uint32_t field, const void *bytes, size_t size);
void pyroscope_put_text(struct buffer *message, uint32_t field, const char *text);

/*
 * Calls "querier.v1.QuerierService/METHOD", with retries as http_send() has them. The answer is 200 with protobuf;
 * else `err` has the server's words, and `*status` its status (0: there was no answer).
 */
struct pyroscope_call {
	const char *method; /* "push.v1.PusherService/Push" */
	const struct buffer *message;
	const char *what; /* for errors: "cannot push a profile" */
	uint64_t max_answer_bytes;
	double patience_s;
	bool (*is_done)(void *context, bool *is_done, struct error *err); /* as in struct http_patience */
	void *context;
};
COMMON_MUST_CHECK
bool pyroscope_ask(struct courier *courier, const struct pyroscope_call *call, struct http_answer *answer,
	bool *was_done, int *status, struct error *err);

/* ---- What store_pyroscope consists of ---- */

bool pyroscope_prepare(const struct profile *profile, const struct store_filter *labels, size_t label_count,
	struct store_parcel *parcel, struct error *err);
bool pyroscope_send(
	struct courier *courier, const struct store_parcel *parcel, enum store_sent *sent, struct error *err);
bool pyroscope_fetch(
	struct courier *courier, const struct store_address *query, struct store_profiles *profiles, struct error *err);
