/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fetches profiles as one side of a comparison. Pyroscope merges what it answers with, and what Kelvin knew besides is
 * lost there: so replicates are made, which are its instances and slices of the period, in which the times that have
 * profiles are equally many.
 */
#include "profile/store/pyroscope/query.h"

#include "profile/pprof_message.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
	MOST_PROFILE_BYTES = 64 << 20,
	MOST_ALL_BYTES = 1 << 30,
	SLICES = 12,        /* of one instance, */
	SLICES_OF_MANY = 6, /* and of each of several */
};

/* The part of a period that one call fetches. */
struct slice {
	int64_t from_ms, until_ms;
};

struct fetch {
	struct pyroscope_query *query;
	struct store_profiles *profiles;
	struct slice slices[SLICES];
	size_t slice_count, group_count; /* a group: instances that are asked for together */
	bool has_no_merge_profile;       /* SelectMergeProfile is gone */
	size_t cut_count;
	uint64_t bytes;
};

/* ---- Slices ---- */

static void plan_slices(struct fetch *fetch)
{
	const struct pyroscope_query *query = fetch->query;
	size_t occupied = 0, most = query->instance_count > 1 ? SLICES_OF_MANY : SLICES, count, seen = 0, made = 0;
	size_t groups = query->instance_count > 0 ? query->instance_count : 1;

	for (size_t i = 0; i < query->bucket_count; i++)
		occupied += query->has_profiles[i];
	fetch->group_count = groups < QUERY_MAX_CALLS ? groups : QUERY_MAX_CALLS;
	if (most > QUERY_MAX_CALLS / fetch->group_count)
		most = QUERY_MAX_CALLS / fetch->group_count;
	count = occupied > most ? most : occupied > 0 ? occupied : 1;
	for (size_t i = 0; i < query->bucket_count; i++) {
		seen += query->has_profiles[i];
		/* The slice ends behind the bucket with which it has its share. */
		if (query->has_profiles[i] && made + 1 < count && seen * count >= (made + 1) * occupied)
			fetch->slices[made++].until_ms = query->from_ms + (int64_t)(i + 1) * query->bucket_ms;
	}
	fetch->slices[made++].until_ms = query->until_ms;
	fetch->slice_count = made;
	for (size_t i = 0; i < made; i++)
		fetch->slices[i].from_ms = i > 0 ? fetch->slices[i - 1].until_ms + 1 : query->from_ms;
}

/* ---- One call ---- */

static void pyroscope_fetch_append_pattern(struct buffer *pattern, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\.+*?()|[]{}^$", *text))
			buffer_append_byte(pattern, '\\');
		buffer_append_byte(pattern, (uint8_t)*text);
	}
}

/* Appends the selector of a group of instances. */
static bool append_selector(const struct fetch *fetch, size_t group, struct buffer *selector, struct error *err)
{
	const struct pyroscope_query *query = fetch->query;
	size_t from = group * query->instance_count / fetch->group_count;
	size_t until = (group + 1) * query->instance_count / fetch->group_count;
	CLEANUP(buffer_deinit) struct buffer pattern = BUFFER_INIT(1 << 20);

	buffer_printf(selector, "{%.*s%s", (int)query->matchers.size, query->matchers.data ? query->matchers.data : "",
		query->instance_label && query->matchers.size > 0 ? "," : "");
	for (size_t i = from; i < until; i++) {
		buffer_append_string(&pattern, i > from ? "|" : "");
		pyroscope_fetch_append_pattern(&pattern, query->instances[i]);
	}
	buffer_append_byte(&pattern, '\0');
	if (!buffer_ok(&pattern, err))
		return false;
	if (query->instance_label && until == from + 1)
		pyroscope_append_matcher(selector, query->instance_label, "=", query->instances[from]);
	else if (query->instance_label)
		pyroscope_append_matcher(selector, query->instance_label, "=~", pattern.data);
	buffer_append_byte(selector, '}');
	return buffer_ok(selector, err);
}

static bool ask_merged(const struct fetch *fetch, const struct slice *slice, const struct buffer *selector,
	struct http_answer *answer, int *status, struct error *err)
{
	enum { FORMAT_PPROF = 4 };
	const struct pyroscope_query *query = fetch->query;
	CLEANUP(buffer_deinit) struct buffer message = { 0 };
	const struct pyroscope_call call = {
		.method = fetch->has_no_merge_profile ? "querier.v1.QuerierService/SelectMergeStacktraces"
						      : "querier.v1.QuerierService/SelectMergeProfile",
		.message = &message,
		.what = "cannot fetch profiles",
		.max_answer_bytes = MOST_PROFILE_BYTES,
		.patience_s = query->courier->patience_s,
	};
	bool was_done;

	buffer_init(&message, 1 << 23);
	pyroscope_put_text(&message, 1, query->type);
	pyroscope_put_bytes(&message, 2, selector->data, selector->size);
	pyroscope_put_number(&message, 3, (uint64_t)slice->from_ms);
	pyroscope_put_number(&message, 4, (uint64_t)slice->until_ms);
	if (fetch->has_no_merge_profile)
		pyroscope_put_number(&message, 6, FORMAT_PPROF);
	return buffer_ok(&message, err) && pyroscope_ask(query->courier, &call, answer, &was_done, status, err);
}

/* Returns the pprof in an answer of either method. */
static struct byte_reader pprof_of(const struct fetch *fetch, const struct http_answer *answer)
{
	struct byte_reader message = byte_reader_over(answer->body.data, answer->body.size), found = { 0 };
	struct protobuf_field field, inner;

	if (!fetch->has_no_merge_profile)
		return message;
	while (protobuf_next_field(&message, &field))
		while (field.id == 5 && field.has_bytes && protobuf_next_field(&field.bytes, &inner))
			if (inner.id == 1 && inner.has_bytes)
				found = inner.bytes;
	return found;
}

/* Returns whether it has samples, and the node into which a server puts what it cuts; false: it is no protobuf. */
static bool pyroscope_fetch_look_at(struct byte_reader pprof, bool *has_samples, bool *is_cut)
{
	static const char other[] = "other";
	struct protobuf_field field;

	*has_samples = *is_cut = false;
	while (protobuf_next_field(&pprof, &field)) {
		*has_samples |= field.id == PPROF_PROFILE(sample) && field.has_bytes;
		*is_cut |= field.id == PPROF_PROFILE(string_table) && field.has_bytes &&
			   byte_reader_left(&field.bytes) == strlen(other) &&
			   memcmp(field.bytes.pos, other, strlen(other)) == 0;
	}
	return byte_reader_ok(&pprof);
}

/* ---- What is handed over ---- */

static void append_time(struct buffer *name, int64_t at_ms)
{
	time_t seconds = (time_t)(at_ms / 1000);
	struct tm parts;
	char text[32] = "";

	if (gmtime_r(&seconds, &parts))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	buffer_append_string(name, text);
}

static bool name_profile(
	const struct fetch *fetch, const struct slice *slice, size_t group, struct buffer *name, struct error *err)
{
	const struct pyroscope_query *query = fetch->query;

	if (query->instance_label) {
		const char *instance = query->instances[group * query->instance_count / fetch->group_count];

		buffer_printf(name, "%s=", query->instance_label);
		http_append_words(query->courier->http, name, instance, strlen(instance));
		buffer_append_string(name, ", ");
	}
	append_time(name, slice->from_ms);
	buffer_append_string(name, " to ");
	append_time(name, slice->until_ms);
	return buffer_ok(name, err);
}

/*
 * The answer says that it has lasted as long as the window of the query, and when that ended. How long was recorded in
 * it the store does not know. Of a field that is there twice, the last one counts.
 */
static void append_corrections(struct buffer *tail, const struct slice *slice)
{
	pyroscope_put_number(tail, PPROF_PROFILE(time_nanos), (uint64_t)slice->from_ms * 1000000);
	buffer_append_varint(tail, PPROF_PROFILE(duration_nanos) << 3);
	buffer_append_varint(tail, 0);
}

static bool pyroscope_fetch_hand_over(
	struct fetch *fetch, const struct slice *slice, size_t group, struct byte_reader pprof, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer tail = BUFFER_INIT(64);
	CLEANUP(buffer_deinit) struct buffer name = BUFFER_INIT(1024);
	CLEANUP(cleanup_close) int fd = -1;
	bool has_samples, is_cut;

	if (!pyroscope_fetch_look_at(pprof, &has_samples, &is_cut))
		return error_set(err, ERROR_FORMAT, "Pyroscope answers with a damaged profile");
	if (!has_samples)
		return true;
	fetch->cut_count += is_cut;
	fetch->bytes += byte_reader_left(&pprof);
	if (fetch->bytes > MOST_ALL_BYTES)
		return error_set(err, ERROR_LIMIT,
			"the profiles that the address asks for have more than %d MiB; ask for a shorter time, or fewer",
			MOST_ALL_BYTES >> 20);
	append_corrections(&tail, slice);
	if (!name_profile(fetch, slice, group, &name, err) || !courier_file(&fd, err))
		return false;
	if (!file_write_all(fd, pprof.pos, byte_reader_left(&pprof)) || !file_write_all(fd, tail.data, tail.size))
		return error_set_errno(err, errno, "cannot write to a file in memory");
	return courier_add(fetch->profiles, name.data, &fd, err);
}

static bool fetch_slice(struct fetch *fetch, const struct slice *slice, size_t group, struct error *err)
{
	enum { NOT_FOUND = 404, NOT_IMPLEMENTED = 501 };
	CLEANUP(buffer_deinit) struct buffer selector = BUFFER_INIT(1 << 22);
	struct http_answer answer = { .fd = -1 };
	int status;
	bool ok;

	if (!append_selector(fetch, group, &selector, err))
		return false;
	ok = ask_merged(fetch, slice, &selector, &answer, &status, err);
	if (!ok && (status == NOT_FOUND || status == NOT_IMPLEMENTED) && !fetch->has_no_merge_profile) {
		fetch->has_no_merge_profile = true;
		ok = ask_merged(fetch, slice, &selector, &answer, &status, err);
	}
	if (!ok)
		return false;
	ok = pyroscope_fetch_hand_over(fetch, slice, group, pprof_of(fetch, &answer), err);
	http_answer_deinit(&answer);
	return ok;
}

/* Appends what a reader of the result has to know. */
static void append_notices(const struct fetch *fetch, struct buffer *notices)
{
	if (fetch->profiles->count > 0 && fetch->profiles->count < SLICES_OF_MANY)
		buffer_printf(notices, "there are profiles at %zu times only: a change is proven with %d or more\n",
			fetch->profiles->count, SLICES_OF_MANY);
	if (fetch->cut_count > 0)
		buffer_printf(notices,
			"%zu of %zu answers have a node 'other', into which Pyroscope puts what it cuts: functions may have less than they took; ask for a shorter time\n",
			fetch->cut_count, fetch->profiles->count);
}

bool pyroscope_fetch(struct courier *courier, const struct store_address *address, struct store_profiles *profiles,
	struct error *err)
{
	CLEANUP(pyroscope_query_deinit) struct pyroscope_query query = { 0 };
	struct fetch fetch = { .query = &query, .profiles = profiles };

	if (!pyroscope_query_init(&query, courier, address, err) || !pyroscope_query_explore(&query, err))
		return false;
	plan_slices(&fetch);
	for (size_t group = 0; group < fetch.group_count; group++)
		for (size_t i = 0; i < fetch.slice_count; i++)
			if (!fetch_slice(&fetch, &fetch.slices[i], group, err))
				return false;
	append_notices(&fetch, courier->notices);
	return true;
}
