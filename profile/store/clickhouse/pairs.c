/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/pairs.h"

static void pairs_read(struct byte_reader *rows, struct pairs *pairs)
{
	size_t count = row_count(rows);

	pairs->count = 0;
	for (size_t i = 0; i < count && byte_reader_ok(rows); i++) {
		struct row_string key = row_string(rows), value = row_string(rows);

		if (pairs->count == PAIRS_MAX)
			continue;
		pairs->keys[pairs->count] = key;
		pairs->values[pairs->count++] = value;
	}
}

static bool pairs_has(const struct pairs *pairs, struct row_string key, struct row_string value)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (pairs->keys[i].size == key.size && memcmp(pairs->keys[i].bytes, key.bytes, key.size) == 0)
			return pairs->values[i].size == value.size &&
			       memcmp(pairs->values[i].bytes, value.bytes, value.size) == 0;
	return false;
}

void pairs_read_common(struct byte_reader *rows, struct pairs *common)
{
	struct pairs most;
	size_t kept = 0;

	pairs_read(rows, common);
	pairs_read(rows, &most);
	for (size_t i = 0; i < common->count; i++) {
		if (!pairs_has(&most, common->keys[i], common->values[i]))
			continue;
		common->keys[kept] = common->keys[i];
		common->values[kept++] = common->values[i];
	}
	common->count = kept;
}

bool pairs_read_labels(struct byte_reader *rows, struct string_table *strings,
	struct profile_label labels[PROFILE_MAX_LABELS], size_t *count, struct error *err)
{
	struct pairs pairs;

	pairs_read_common(rows, &pairs);
	for (size_t i = 0; i < pairs.count && *count < PROFILE_MAX_LABELS; i++) {
		struct profile_label *label = &labels[*count];
		char key[PROFILE_LABEL_KEY_BYTES + 1], value[PROFILE_LABEL_VALUE_BYTES + 1];
		struct error unused;

		/* What a profile of a file may not have, one of a store may not either. */
		if (pairs.keys[i].size >= sizeof(key) || pairs.values[i].size >= sizeof(value))
			continue;
		memcpy(key, pairs.keys[i].bytes, pairs.keys[i].size);
		key[pairs.keys[i].size] = '\0';
		memcpy(value, pairs.values[i].bytes, pairs.values[i].size);
		value[pairs.values[i].size] = '\0';
		if (!profile_label_check(key, value, &unused))
			continue;
		if (!string_table_add(strings, key, strlen(key), &label->key, err) ||
			!string_table_add(strings, value, strlen(value), &label->value, err))
			return false;
		++*count;
	}
	return true;
}

static uint32_t pairs_number(struct row_string text)
{
	struct text_cursor left = text_over(text.bytes, text.size);
	uint64_t number;

	return text_take_number(&left, UINT32_MAX, &number) && text_left(left) == 0 ? (uint32_t)number : 0;
}

bool pairs_read_facts(
	struct byte_reader *rows, struct string_table *strings, struct profile_facts *facts, struct error *err)
{
	struct pairs pairs;
	size_t count;
	const struct profile_fact *known = profile_facts(&count);

	pairs_read_common(rows, &pairs);
	for (size_t i = 0; i < pairs.count; i++)
		for (size_t f = 0; f < count; f++) {
			uint32_t value;

			if (!row_string_is(pairs.keys[i], known[f].name))
				continue;
			value = pairs_number(pairs.values[i]);
			if (known[f].type == PROFILE_FACT_STRING &&
				!string_table_add(strings, pairs.values[i].bytes, pairs.values[i].size, &value, err))
				return false;
			profile_fact_set(facts, &known[f], known[f].type == PROFILE_FACT_FLAG ? value != 0 : value);
		}
	return true;
}

enum profile_work_source pairs_work_source(struct row_string name)
{
	for (int i = 0; i < PROFILE_WORK_SOURCE_COUNT; i++)
		if (row_string_is(name, profile_work_source_name((enum profile_work_source)i)))
			return (enum profile_work_source)i;
	return PROFILE_WORK_UNKNOWN;
}
