/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the strings and the value types of pprof: which one counts samples, which is the default, and which has the
 * period. */
#include "profile/pprof_reader.h"

#include <stdlib.h>
#include <string.h>

struct proto_walk pprof_walk_table(const struct pprof_reader *r, size_t table)
{
	const struct pprof_section *section = &r->sections[table];

	return proto_walk(byte_reader_over(r->file.start + section->start, section->end - section->start),
		&pprof__profile__descriptor, table * sizeof(size_t));
}

bool pprof_string_id(const struct pprof_reader *r, int64_t index, uint32_t *id, const char *what, struct error *err)
{
	if (index < 0 || (uint64_t)index >= r->string_count)
		return error_set(err, ERROR_FORMAT, "%s is string %lld, which is not there", what, (long long)index);
	*id = r->strings[index];
	return true;
}

/* Returns what a label with this key means. Each tool has its own keys for process and thread. */
static enum pprof_label label_of_key(const char *key)
{
	static const struct {
		const char *key;
		enum pprof_label label;
	} keys[] = {
		{ "pid", PPROF_LABEL_PID },
		{ "process_id", PPROF_LABEL_PID },
		{ "tid", PPROF_LABEL_TID },
		{ "thread_id", PPROF_LABEL_TID },
		{ "thread id", PPROF_LABEL_TID },
		{ "comm", PPROF_LABEL_PROCESS },
		{ "process", PPROF_LABEL_PROCESS },
		{ "thread_comm", PPROF_LABEL_THREAD },
		{ "thread", PPROF_LABEL_THREAD },
		{ "thread_name", PPROF_LABEL_THREAD },
		{ "thread name", PPROF_LABEL_THREAD },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i].key) == 0)
			return keys[i].label;
	return PPROF_LABEL_OTHER;
}

/* Bytes of value 0, which would end a name, become spaces. */
static bool pprof_values_add_string(
	const struct pprof_reader *r, const struct byte_reader *string, uint32_t *id, struct error *err)
{
	CLEANUP(cleanup_free) char *copy = NULL;
	size_t size = byte_reader_left(string);

	if (size == 0 || !memchr(string->pos, '\0', size))
		return string_table_add(r->profile->strings, (const char *)string->pos, size, id, err);
	copy = malloc(size);
	if (!copy)
		return error_set_memory(err);
	memcpy(copy, string->pos, size);
	for (char *zero = copy; (zero = memchr(zero, '\0', (size_t)(copy + size - zero)));)
		*zero++ = ' ';
	return string_table_add(r->profile->strings, copy, size, id, err);
}

static bool pprof_values_read_strings(struct pprof_reader *r, struct error *err)
{
	struct proto_walk walk = pprof_walk_table(r, PPROF_TABLE(string_table));
	struct byte_reader string;
	size_t count = r->sections[PPROF_TABLE(string_table)].count;

	r->strings = malloc((count + 1) * sizeof(*r->strings));
	r->labels = malloc(count + 1);
	if (!r->strings || !r->labels)
		return error_set_memory(err);
	while (proto_next_entry(&walk, &string)) {
		uint32_t *id = &r->strings[r->string_count];

		if (r->string_count == 0 && byte_reader_left(&string) > 0)
			break;
		if (!pprof_values_add_string(r, &string, id, err))
			return false;
		r->labels[r->string_count++] = label_of_key(profile_string(r->profile, *id));
	}
	return r->string_count > 0 ||
	       error_set(
		       err, ERROR_FORMAT, "not a pprof profile: its string table does not start with an empty string");
}

const char *pprof_text_of(const struct pprof_reader *r, int64_t index)
{
	return index >= 0 && (uint64_t)index < r->string_count ? profile_string(r->profile, r->strings[index]) : "";
}

/* What a malformed value type lacks is string 0. */
static Pprof__ValueType read_value_type(struct byte_reader message)
{
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;

	(void)!proto_set_members(&type.base, message);
	return type;
}

static bool pprof_values_list_value_types(struct pprof_reader *r, Pprof__ValueType *types, struct error *err)
{
	struct proto_walk walk = pprof_walk_table(r, PPROF_TABLE(sample_type));
	struct byte_reader message;
	uint32_t ignored;

	while (proto_next_entry(&walk, &message)) {
		if (r->type_count == PROFILE_MAX_VALUE_TYPES)
			return error_set(err, ERROR_LIMIT, "more than %d value types", PROFILE_MAX_VALUE_TYPES);
		types[r->type_count] = read_value_type(message);
		if (!pprof_string_id(r, types[r->type_count].type, &ignored, "a sample type", err) ||
			!pprof_string_id(r, types[r->type_count].unit, &ignored, "a sample unit", err))
			return false;
		r->type_count++;
	}
	return r->type_count > 0 || error_set(err, ERROR_FORMAT, "not a pprof profile: it names no sample type");
}

/* Finds the value that the period belongs to: by name, else by unit. Without a period type it is the last value. */
static void find_period_value(struct pprof_reader *r, const Pprof__ValueType *types)
{
	Pprof__ValueType period = read_value_type(r->period_type);
	const char *name = pprof_text_of(r, period.type), *unit = pprof_text_of(r, period.unit);

	r->period_value = *name || *unit ? PROFILE_NONE : (uint32_t)r->type_count - 1;
	for (uint32_t i = 0; i < r->type_count; i++)
		if (strcmp(pprof_text_of(r, types[i].unit), unit) == 0)
			r->period_value = i;
	for (uint32_t i = 0; i < r->type_count; i++)
		if (strcmp(pprof_text_of(r, types[i].unit), unit) == 0 &&
			strcmp(pprof_text_of(r, types[i].type), name) == 0)
			r->period_value = i;
}

static bool pprof_values_add_value_types(struct pprof_reader *r, const Pprof__ValueType *types, struct error *err)
{
	uint32_t count = pprof_find_count(r, types, &r->counts_all);

	r->has_count = count != PROFILE_NONE;
	for (uint32_t i = 0; i < r->type_count; i++) {
		struct profile_unit unit = profile_unit(pprof_text_of(r, types[i].unit));

		r->types[i] = i == count ? 0 : r->profile->value_type_count;
		r->scales[i] = unit.scale;
		if (i != count && !profile_add_value_type(r->profile, pprof_text_of(r, types[i].type), unit.name, err))
			return false;
	}
	if (r->has_count && strcmp(pprof_text_of(r, types[count].type), "samples") != 0)
		r->profile->count_name = r->strings[types[count].type];
	/*
	 * In pprof the last value is the default, unless the file names another. The number of samples is value 0 here,
	 * so it is the default only if there is no other value.
	 */
	r->profile->default_value_type = r->profile->value_type_count - 1;
	for (uint32_t i = 0; r->numbers.default_sample_type > 0 && i < r->type_count; i++)
		if (strcmp(pprof_text_of(r, types[i].type), pprof_text_of(r, r->numbers.default_sample_type)) == 0)
			r->profile->default_value_type = r->types[i];
	return true;
}

static bool read_period(struct pprof_reader *r, Pprof__ValueType type, struct error *err)
{
	struct profile *profile = r->profile;
	struct profile_unit unit = profile_unit(pprof_text_of(r, type.unit));
	uint32_t ignored;

	if (__builtin_mul_overflow(r->numbers.period > 0 ? r->numbers.period : 0, unit.scale, &profile->period))
		return error_set(err, ERROR_FORMAT, "the period is too large");
	return pprof_string_id(r, type.type, &profile->period_type.type, "the period type", err) &&
	       pprof_string_id(r, type.unit, &ignored, "the period unit", err) &&
	       profile_intern(profile, unit.name, &profile->period_type.unit, err);
}

bool pprof_read_value_types(struct pprof_reader *r, struct error *err)
{
	Pprof__ValueType types[PROFILE_MAX_VALUE_TYPES], period = read_value_type(r->period_type);

	if (!pprof_values_read_strings(r, err) || !pprof_values_list_value_types(r, types, err) ||
		!pprof_values_add_value_types(r, types, err))
		return false;
	find_period_value(r, types);
	return read_period(r, period, err) && pprof_plan_counts(r, err);
}

void pprof_settle_default(struct pprof_reader *r)
{
	struct profile *profile = r->profile;

	if (profile_has_values(profile, profile->default_value_type))
		return;
	for (size_t i = r->type_count; i-- > 0;)
		if (r->types[i] > 0 && profile_has_values(profile, r->types[i])) {
			profile->default_value_type = r->types[i];
			return;
		}
}
