/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/pyroscope/query.h"

#include <errno.h>
#include <string.h>

enum { MOST_ANSWER_BYTES = 32 << 20, MOST_MATCHER_BYTES = 1 << 16, MOST_TYPE_BYTES = 512 };

static const char type_label[] = "__profile_type__";
static const char usual_type[] = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

/* Labels by which agents tell instances of a service apart; the first one that has several values. */
static const char *const instance_labels[] = { "pod", "k8s_pod_name", "instance", "service_instance_id", "hostname",
	"host", "host_name" };
enum { LABEL_COUNT = sizeof(instance_labels) / sizeof(instance_labels[0]) };

/* ---- What the address asks for ---- */

/* Takes TYPE, TYPE{SELECTOR} or {SELECTOR}. */
static bool take_expression(struct pyroscope_query *query, const char *text, struct error *err)
{
	size_t size = strcspn(text, "{"), end = strlen(text);

	if (size > MOST_TYPE_BYTES || (text[size] == '{' && text[end - 1] != '}'))
		return error_set(err, ERROR_USAGE,
			"the query '%.100s' is none of Pyroscope; write it as in query=%s{service_name=\"api\"}", text,
			usual_type);
	if (size > 0) {
		query->type = strndup(text, size);
		if (!query->type)
			return error_set_memory(err);
	}
	if (text[size] == '{')
		buffer_append(&query->matchers, text + size + 1, end - size - 2);
	return true;
}

static bool take_filters(struct pyroscope_query *query, struct error *err)
{
	const struct store_address *address = query->address;

	for (size_t i = 0; i < address->filter_count; i++) {
		const struct store_filter *filter = &address->filters[i];
		char name[256];

		if (strcmp(filter->key, "query") == 0 || strcmp(filter->key, "metric") == 0)
			continue;
		pyroscope_label_name(filter->key, name, sizeof(name));
		buffer_append_string(&query->matchers, query->matchers.size > 0 ? "," : "");
		pyroscope_append_matcher(&query->matchers, name, "=", filter->value);
	}
	return buffer_ok(&query->matchers, err);
}

bool pyroscope_query_init(
	struct pyroscope_query *query, struct courier *courier, const struct store_address *address, struct error *err)
{
	const int64_t ms_ns = 1000000, hour_ms = 3600000;
	const char *expression = store_address_filter(address, "query");
	int64_t now_ms = clock_read_ns(CLOCK_REALTIME) / ms_ns;

	*query = (struct pyroscope_query){ .courier = courier, .address = address };
	buffer_init(&query->matchers, MOST_MATCHER_BYTES);
	query->until_ms = address->until_unix_ns ? address->until_unix_ns / ms_ns : now_ms;
	query->from_ms = address->from_unix_ns ? address->from_unix_ns / ms_ns : query->until_ms - hour_ms;
	if (query->from_ms >= query->until_ms || query->from_ms <= 0)
		return error_set(err, ERROR_USAGE, "the period of the query ends before it begins");
	return (!expression || take_expression(query, expression, err)) && take_filters(query, err);
}

void pyroscope_query_deinit(struct pyroscope_query *query)
{
	for (size_t i = 0; i < query->instance_count; i++)
		free(query->instances[i]);
	free(query->instances);
	free(query->type);
	buffer_deinit(&query->matchers);
}

/* ---- What the store has ---- */

static void put_selector(struct buffer *message, uint32_t field, const struct pyroscope_query *query)
{
	CLEANUP(buffer_deinit) struct buffer selector = BUFFER_INIT(MOST_MATCHER_BYTES + 2);

	buffer_printf(&selector, "{%.*s}", (int)query->matchers.size, query->matchers.data ? query->matchers.data : "");
	pyroscope_put_bytes(message, field, selector.data, selector.size);
	message->failed |= selector.failed;
}

static bool pyroscope_query_ask(const struct pyroscope_query *query, const char *method, const struct buffer *message,
	struct http_answer *answer, struct error *err)
{
	const struct pyroscope_call call = { .method = method,
		.message = message,
		.what = "cannot find out which profiles there are",
		.max_answer_bytes = MOST_ANSWER_BYTES,
		.patience_s = query->courier->patience_s };
	bool was_done;
	int status;

	return buffer_ok(message, err) && pyroscope_ask(query->courier, &call, answer, &was_done, &status, err);
}

static bool refuse_answer(struct error *err)
{
	return error_set(err, ERROR_FORMAT, "Pyroscope's answer is damaged; is it Pyroscope?");
}

/* Finds the value of a LabelPair, if it has this name. */
static bool is_pair_of(struct byte_reader pair, const char *name, struct byte_reader *value)
{
	struct protobuf_field field;
	bool is_it = false;

	*value = (struct byte_reader){ 0 };
	while (protobuf_next_field(&pair, &field)) {
		if (field.id == 1 && field.has_bytes)
			is_it = byte_reader_left(&field.bytes) == strlen(name) &&
				memcmp(field.bytes.pos, name, strlen(name)) == 0;
		else if (field.id == 2 && field.has_bytes)
			*value = field.bytes;
	}
	return is_it;
}

/* The value of a label in a message whose repeated field 1 are LabelPairs; false: it has none. */
static bool pyroscope_query_find_label(struct byte_reader labels, const char *name, struct byte_reader *value)
{
	struct protobuf_field field;

	while (protobuf_next_field(&labels, &field))
		if (field.id == 1 && field.has_bytes && is_pair_of(field.bytes, name, value) &&
			byte_reader_left(value) > 0)
			return true;
	return false;
}

struct values {
	char **items; /* owned, each of them */
	size_t count, capacity;
};

static bool add_value(struct values *values, struct byte_reader value, struct error *err)
{
	char *text;

	if (!ARRAY_RESERVE(&values->items, &values->capacity, values->count + 1, QUERY_MAX_VALUES, err))
		return false;
	text = strndup(byte_reader_left(&value) > 0 ? (const char *)value.pos : "", byte_reader_left(&value));
	if (!text)
		return error_set_memory(err);
	values->items[values->count++] = text;
	return true;
}

static int text_order(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void keep_distinct(struct values *values)
{
	size_t kept = 0;

	if (values->count > 0)
		qsort(values->items, values->count, sizeof(*values->items), text_order);
	for (size_t i = 0; i < values->count; i++) {
		if (kept > 0 && strcmp(values->items[kept - 1], values->items[i]) == 0)
			free(values->items[i]);
		else
			values->items[kept++] = values->items[i];
	}
	values->count = kept;
}

static void values_deinit(struct values *values)
{
	for (size_t i = 0; i < values->count; i++)
		free(values->items[i]);
	free(values->items);
	*values = (struct values){ 0 };
}

/*
 * Lists all values of a label in an answer of Series; "" if a series of the type has none. `type` NULL: of every type.
 */
static bool pyroscope_query_list_values(
	const struct http_answer *answer, const char *label, const char *type, struct values *values, struct error *err)
{
	struct byte_reader message = byte_reader_over(answer->body.data, answer->body.size);
	struct protobuf_field field;
	struct byte_reader value, its_type;

	while (protobuf_next_field(&message, &field)) {
		if (field.id != 2 || !field.has_bytes)
			continue;
		if (type && pyroscope_query_find_label(field.bytes, type_label, &its_type) &&
			(byte_reader_left(&its_type) != strlen(type) || memcmp(its_type.pos, type, strlen(type)) != 0))
			continue;
		if (!pyroscope_query_find_label(field.bytes, label, &value))
			value = (struct byte_reader){ 0 };
		if (!add_value(values, value, err))
			return false;
	}
	if (!byte_reader_ok(&message))
		return refuse_answer(err);
	keep_distinct(values);
	return true;
}

/* Returns whether a type is what the address calls its metric: `off-cpu` is process_cpu:off_cpu:... */
static bool is_metric(const char *type, const char *metric)
{
	const char *word = strchr(type, ':');

	if (!word)
		return false;
	for (word++; *metric && *word; word++, metric++)
		if (*word != (*metric == '-' ? '_' : *metric))
			return false;
	return *metric == '\0' && *word == ':';
}

static bool choose_type(struct pyroscope_query *query, const struct values *types, struct error *err)
{
	const char *metric = store_address_filter(query->address, "metric"), *chosen = NULL;
	CLEANUP(buffer_deinit) struct buffer names = BUFFER_INIT(HTTP_MAX_WORDS);

	for (size_t i = 0; i < types->count; i++) {
		const char *type = types->items[i];

		if (metric ? is_metric(type, metric) : types->count == 1 || strcmp(type, usual_type) == 0)
			chosen = type;
		buffer_printf(&names, "%s%s", i > 0 ? ", " : "", type);
	}
	if (types->count == 0)
		return error_set(err, ERROR_EMPTY, "Pyroscope has no profile that the address asks for");
	if (!chosen) {
		char words[HTTP_MAX_WORDS * 4];
		CLEANUP(buffer_deinit) struct buffer clean = { 0 };

		buffer_init(&clean, sizeof(words));
		http_append_words(query->courier->http, &clean, names.data, names.size);
		return error_set(err, ERROR_USAGE, "%s; name one, as in query=TYPE{...}: %s",
			metric ? "the profiles have no such metric" : "the profiles are of several types",
			clean.data ? clean.data : "");
	}
	query->type = strdup(chosen);
	return query->type || error_set_memory(err);
}

static bool choose_instances(struct pyroscope_query *query, const struct http_answer *answer, struct error *err)
{
	for (size_t i = 0; i < LABEL_COUNT; i++) {
		CLEANUP(values_deinit) struct values values = { 0 };

		if (!pyroscope_query_list_values(answer, instance_labels[i], query->type, &values, err))
			return false;
		if (values.count < 2)
			continue;
		query->instance_label = instance_labels[i];
		query->instances = values.items;
		query->instance_count = values.count;
		values = (struct values){ 0 };
		break;
	}
	return true;
}

/* Types and instances, by the labels that the series have. */
static bool ask_series(struct pyroscope_query *query, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer message = BUFFER_INIT(1 << 20);
	CLEANUP(values_deinit) struct values types = { 0 };
	struct http_answer answer = { .fd = -1 };
	bool ok;

	put_selector(&message, 1, query);
	pyroscope_put_text(&message, 2, type_label);
	for (size_t i = 0; i < LABEL_COUNT; i++)
		pyroscope_put_text(&message, 2, instance_labels[i]);
	pyroscope_put_number(&message, 3, (uint64_t)query->from_ms);
	pyroscope_put_number(&message, 4, (uint64_t)query->until_ms);
	if (!pyroscope_query_ask(query, "querier.v1.QuerierService/Series", &message, &answer, err))
		return false;
	ok = pyroscope_query_list_values(&answer, type_label, NULL, &types, err) &&
	     (query->type || choose_type(query, &types, err)) && choose_instances(query, &answer, err);
	http_answer_deinit(&answer);
	return ok;
}

/* ---- When there are profiles ---- */

static void mark_point(struct pyroscope_query *query, struct byte_reader point)
{
	struct protobuf_field field;
	int64_t at_ms = 0;

	while (protobuf_next_field(&point, &field))
		if (field.id == 2 && !field.has_bytes)
			at_ms = (int64_t)field.number;
	/* A point stands at the end of what it sums. */
	if (at_ms > query->from_ms && at_ms - query->bucket_ms < query->until_ms) {
		size_t bucket = (size_t)((at_ms - query->from_ms - 1) / query->bucket_ms);

		query->has_profiles[bucket < query->bucket_count ? bucket : query->bucket_count - 1] = true;
	} else if (at_ms == query->from_ms) {
		query->has_profiles[0] = true;
	}
}

static bool mark_points(struct pyroscope_query *query, const struct http_answer *answer, struct error *err)
{
	struct byte_reader message = byte_reader_over(answer->body.data, answer->body.size);
	struct protobuf_field series, field;

	while (protobuf_next_field(&message, &series))
		while (series.id == 1 && series.has_bytes && protobuf_next_field(&series.bytes, &field))
			if (field.id == 2 && field.has_bytes)
				mark_point(query, field.bytes);
	return byte_reader_ok(&message) || refuse_answer(err);
}

static bool ask_when(struct pyroscope_query *query, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer message = BUFFER_INIT(1 << 20);
	struct http_answer answer = { .fd = -1 };
	double step_s = (double)query->bucket_ms / 1000;
	bool ok;

	memset(query->has_profiles, 0, sizeof(query->has_profiles));
	pyroscope_put_text(&message, 1, query->type);
	put_selector(&message, 2, query);
	pyroscope_put_number(&message, 3, (uint64_t)query->from_ms);
	pyroscope_put_number(&message, 4, (uint64_t)query->until_ms);
	buffer_append_byte(&message, 6 << 3 | 1);
	buffer_append(&message, &step_s, sizeof(step_s));
	if (!pyroscope_query_ask(query, "querier.v1.QuerierService/SelectSeries", &message, &answer, err))
		return false;
	ok = mark_points(query, &answer, err);
	http_answer_deinit(&answer);
	return ok;
}

static void cut_buckets(struct pyroscope_query *query)
{
	int64_t period_ms = query->until_ms - query->from_ms;

	query->bucket_ms = period_ms / (QUERY_MAX_BUCKETS - 1) + 1;
	query->bucket_count = (size_t)(period_ms / query->bucket_ms) + 1;
}

/* Leaves out what is before the first profile and behind the last, if that is most of the period. */
static bool narrow(struct pyroscope_query *query)
{
	int64_t period_ms = query->until_ms - query->from_ms, from_ms = query->from_ms, until_ms;
	size_t first = 0, last = query->bucket_count;

	while (first < last && !query->has_profiles[first])
		first++;
	while (last > first && !query->has_profiles[last - 1])
		last--;
	if (first == last)
		return false;
	/* A bucket more on both sides: servers differ in what they count to which. */
	if (first > 1)
		from_ms += (int64_t)(first - 1) * query->bucket_ms;
	until_ms = query->from_ms + (int64_t)(last + 1) * query->bucket_ms;
	if (until_ms > query->until_ms)
		until_ms = query->until_ms;
	if (until_ms - from_ms >= period_ms / 4)
		return false;
	query->from_ms = from_ms;
	query->until_ms = until_ms;
	return true;
}

bool pyroscope_query_explore(struct pyroscope_query *query, struct error *err)
{
	enum { TIMES = 3 };

	if (!ask_series(query, err))
		return false;
	for (int i = 0; i < TIMES; i++) {
		cut_buckets(query);
		if (!ask_when(query, err))
			return false;
		if (i + 1 == TIMES || !narrow(query))
			break;
	}
	return true;
}
