/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the series that a profile becomes: names and values of its labels as Pyroscope takes them. */
#include "profile/store/pyroscope/pyroscope.h"

#include <ctype.h>
#include <string.h>

void pyroscope_label_name(const char *key, char *name, size_t size)
{
	size_t used = 0;

	if (strcmp(key, PROFILE_LABEL_SERVICE) == 0)
		key = "service_name";
	if (isdigit((unsigned char)*key) && used + 1 < size)
		name[used++] = '_';
	for (; *key && used + 1 < size; key++)
		name[used++] = (char)(isalnum((unsigned char)*key) ? *key : '_');
	name[used] = '\0';
}

/* Appends a string of PromQL, between quotes. */
void pyroscope_append_matcher(struct buffer *selector, const char *name, const char *relation, const char *value)
{
	buffer_printf(selector, "%s%s\"", name, relation);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buffer_append_byte(selector, '\\');
		if (*value == '\n')
			buffer_append_string(selector, "\\n");
		else
			buffer_append_byte(selector, (uint8_t)*value);
	}
	buffer_append_byte(selector, '"');
}

enum { NAME_BYTES = 128, VALUE_BYTES = 2048, MOST_PAIRS = PROFILE_MAX_LABELS + STORE_MAX_FILTERS + 4 };

struct pyroscope_pair {
	char name[NAME_BYTES];
	const char *value; /* borrowed */
};

struct pyroscope_pairs {
	struct pyroscope_pair items[MOST_PAIRS];
	size_t count, left_out;
};

/* One that is given later takes the place of one before. */
static void pyroscope_series_add_pair(struct pyroscope_pairs *pairs, const char *key, const char *value)
{
	struct pyroscope_pair pair = { .value = value };
	size_t at = 0;

	pyroscope_label_name(key, pair.name, sizeof(pair.name));
	while (at < pairs->count && strcmp(pairs->items[at].name, pair.name) != 0)
		at++;
	if (at == PYROSCOPE_MAX_LABELS) {
		pairs->left_out++;
		return;
	}
	pairs->items[at] = pair;
	pairs->count += at == pairs->count;
}

static bool has_pair(const struct pyroscope_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (strcmp(pairs->items[i].name, name) == 0)
			return true;
	return false;
}

/* The store sorts them, too. */
static int pair_order(const void *left, const void *right)
{
	const struct pyroscope_pair *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static void pyroscope_series_write_pairs(
	const struct pyroscope_pairs *pairs, struct pyroscope_series *series, struct buffer *entry)
{
	buffer_append_byte(&series->selector, '{');
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pyroscope_pair *pair = &pairs->items[i];

		entry->size = 0;
		pyroscope_put_text(entry, 1, pair->name);
		pyroscope_put_text(entry, 2, pair->value);
		pyroscope_put_bytes(&series->message, 1, entry->data, entry->size);
		if (strcmp(pair->name, "__name__") == 0)
			continue;
		buffer_append_string(&series->selector, series->selector.size > 1 ? "," : "");
		pyroscope_append_matcher(&series->selector, pair->name, "=", pair->value);
	}
	buffer_append_byte(&series->selector, '}');
}

/* The few that the store and this program need come first, so that they are not left out. */
static void list_pairs(const struct profile *profile, const struct store_filter *labels, size_t label_count,
	const char *family, struct pyroscope_pairs *pairs)
{
	const char *service = profile_label(profile, PROFILE_LABEL_SERVICE);

	pyroscope_series_add_pair(pairs, "__name__", family);
	pyroscope_series_add_pair(pairs, "pyroscope_spy", "kelvin");
	if (service)
		pyroscope_series_add_pair(pairs, PROFILE_LABEL_SERVICE, service);
	for (size_t i = 0; i < label_count; i++)
		pyroscope_series_add_pair(pairs, labels[i].key, labels[i].value);
	for (size_t i = 0; i < profile->label_count; i++) {
		const char *key = profile_string(profile, profile->labels[i].key);
		bool is_given = false;

		for (size_t j = 0; j < label_count; j++)
			is_given |= strcmp(labels[j].key, key) == 0;
		if (!is_given)
			pyroscope_series_add_pair(pairs, key, profile_string(profile, profile->labels[i].value));
	}
}

bool pyroscope_make_series(const struct profile *profile, const struct store_filter *labels, size_t label_count,
	const char *family, struct pyroscope_series *series, struct buffer *notices, struct error *err)
{
	CLEANUP(cleanup_free) struct pyroscope_pairs *pairs = calloc(1, sizeof(*pairs));
	CLEANUP(buffer_deinit) struct buffer entry = BUFFER_INIT((size_t)1 << 16);

	buffer_init(&series->message, (size_t)1 << 20);
	buffer_init(&series->selector, (size_t)1 << 20);
	if (!pairs)
		return error_set_memory(err);
	list_pairs(profile, labels, label_count, family, pairs);
	if (!has_pair(pairs, "service_name"))
		return error_set(err, ERROR_USAGE,
			"the profile does not say of which service it is, which Pyroscope asks for; name it: --label service=NAME");
	if (pairs->left_out > 0)
		buffer_printf(notices, "%zu labels are left out: Pyroscope takes %d of a profile\n", pairs->left_out,
			PYROSCOPE_MAX_LABELS);
	qsort(pairs->items, pairs->count, sizeof(pairs->items[0]), pair_order);
	pyroscope_series_write_pairs(pairs, series, &entry);
	return buffer_ok(&entry, err) && buffer_ok(&series->message, err) && buffer_ok(&series->selector, err);
}

void pyroscope_series_deinit(struct pyroscope_series *series)
{
	buffer_deinit(&series->message);
	buffer_deinit(&series->selector);
}
