/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the number of samples, both of files that count them in a column and of files that do not. Comparing two
 * profiles needs it: chance depends on the number of samples, not on the sum of their values.
 */
#include "profile/pprof_reader.h"
#include "profile/weights.h"

#include <math.h>
#include <string.h>

static const char *pprof_counts_type_of(const struct pprof_reader *r, uint32_t value)
{
	return profile_string(r->profile, r->profile->value_types[r->types[value]].type);
}

static const char *pprof_counts_unit_of(const struct pprof_reader *r, uint32_t value)
{
	return profile_string(r->profile, r->profile->value_types[r->types[value]].unit);
}

/*
 * Returns the length of the prefix `alloc_` of `alloc_space`, or `cpu-` of `cpu-samples`: value types of the same
 * samples share it.
 */
static size_t family_size(const char *type)
{
	const char *end = type;

	for (const char *at = type; *at; at++)
		if (*at == '_' || *at == '-')
			end = at + 1;
	return (size_t)(end - type);
}

static bool same_family(const char *a, const char *b)
{
	size_t size = family_size(a);

	return size == family_size(b) && memcmp(a, b, size) == 0;
}

/*
 * `samples` of Go, pprof-rs and Kelvin, `sample` of Node, `cpu-samples` of Java, `cycles_sample` of perf_to_profile; of
 * async-profiler `cpu` and `wall`, which is counted by samples alone.
 */
static bool pprof_counts_is_count(const char *type, const char *unit)
{
	return strcmp(unit, "count") == 0 && glob_matches_any(GLOBS("*sample", "*samples", "cpu", "wall"), type);
}

/* Finds out whether the count of value `count` is that of times, and whether all other values are of its family. */
static void examine_family(
	const struct pprof_reader *r, const Pprof__ValueType *types, uint32_t count, bool *timed, bool *alone)
{
	const char *type = pprof_text_of(r, types[count].type);

	*timed = false;
	*alone = true;
	for (uint32_t i = 0; i < r->type_count; i++) {
		const char *other = pprof_text_of(r, types[i].type);

		if (!same_family(type, other))
			*alone = false;
		else if (strstr(pprof_text_of(r, types[i].unit), "seconds") || profile_event_is_time(other))
			*timed = true;
	}
}

uint32_t pprof_find_count(const struct pprof_reader *r, const Pprof__ValueType *types, bool *all)
{
	uint32_t found = PROFILE_NONE;

	for (uint32_t i = r->type_count; i-- > 0;) {
		const char *type = pprof_text_of(r, types[i].type);
		bool timed, alone;

		if (!pprof_counts_is_count(type, pprof_text_of(r, types[i].unit)))
			continue;
		examine_family(r, types, i, &timed, &alone);
		if (family_size(type) == 0 || alone) {
			*all = true;
			return i;
		}
		if (timed)
			found = i;
	}
	*all = false;
	return found;
}

/*
 * Finds the value type that counts each value's samples, as `cpu-samples` counts those of `cpu-time`. A value type
 * without one of its own is counted by value 0, if that counts all samples, or those of its family.
 */
static void find_counts_of(struct pprof_reader *r)
{
	struct profile *profile = r->profile;
	const char *first = profile_string(profile, profile->count_name);

	profile->counts_of[0] = r->has_count ? 0 : PROFILE_NONE;
	for (uint32_t i = 1; i < profile->value_type_count; i++) {
		const char *type = profile_string(profile, profile->value_types[i].type);

		profile->counts_of[i] = r->counts_all || (r->has_count && same_family(type, first)) ? 0 : PROFILE_NONE;
		for (uint32_t k = 1; k < profile->value_type_count && family_size(type) > 0; k++) {
			const char *other = profile_string(profile, profile->value_types[k].type);

			if (same_family(type, other) &&
				pprof_counts_is_count(other, profile_string(profile, profile->value_types[k].unit)))
				profile->counts_of[i] = k;
		}
	}
}

/* ---- Heap profiles ---- */

/*
 * Adds the value type that counts the sampled objects of a pair (objects, bytes). For the first pair this is value 0,
 * for the others a new one, such as `inuse_samples`.
 */
static bool add_heap(struct pprof_reader *r, uint32_t objects, uint32_t space, struct error *err)
{
	struct profile *profile = r->profile;
	struct pprof_heap *heap = &r->heaps[r->heap_count];
	const char *type = pprof_counts_type_of(r, space);
	char name[64];
	int size;

	*heap = (struct pprof_heap){ objects, space, 0 };
	if (r->heap_count > 0) {
		size = snprintf(name, sizeof(name), "%.*ssamples", (int)family_size(type), type);
		if (size < 0 || (size_t)size >= sizeof(name) || profile->value_type_count == PROFILE_MAX_VALUE_TYPES)
			return true;
		heap->samples = profile->value_type_count;
		if (!profile_add_value_type(profile, name, "count", err))
			return false;
	}
	profile->counts_of[r->types[objects]] = profile->counts_of[r->types[space]] = heap->samples;
	profile->counts_of[heap->samples] = heap->samples;
	r->heap_count++;
	return true;
}

static bool pprof_counts_find_heaps(struct pprof_reader *r, struct error *err)
{
	for (uint32_t space = 0; space < r->type_count; space++) {
		uint32_t objects = PROFILE_NONE;

		if (strcmp(pprof_counts_unit_of(r, space), "bytes") != 0)
			continue;
		for (uint32_t i = 0; i < r->type_count; i++)
			if (strcmp(pprof_counts_unit_of(r, i), "count") == 0 &&
				same_family(pprof_counts_type_of(r, i), pprof_counts_type_of(r, space)))
				objects = i;
		if (objects != PROFILE_NONE && !add_heap(r, objects, space, err))
			return false;
	}
	return true;
}

/*
 * A heap is sampled every `period` bytes on average, so an object of s bytes is sampled with probability 1 - exp(-s /
 * period). The profiler has divided its counts by that (Go: scaleHeapSample() in runtime/pprof/protomem.go; V8,
 * jemalloc and gperftools do the same). Each entry is of objects of one mean size, so multiplying by the same number
 * gives back how many were sampled.
 */
static int64_t sampled_objects(int64_t objects, int64_t space, int64_t period)
{
	double sampled;

	if (objects <= 0 || space <= 0)
		return 0;
	sampled = (double)objects * -expm1(-(double)space / (double)objects / (double)period);
	/*
	 * At most all objects were sampled. The comparison also keeps 2^63, which does not fit, from being converted.
	 */
	return sampled < 1 ? 1 : sampled < (double)objects ? (int64_t)llround(sampled) : objects;
}

/* ---- What a file says of its samples ---- */

static uint32_t find_contentions(const struct pprof_reader *r)
{
	for (uint32_t i = 0; i < r->type_count; i++)
		if (strcmp(pprof_counts_type_of(r, i), "contentions") == 0)
			return i;
	return PROFILE_NONE;
}

/*
 * Returns whether the number of samples follows from the period. A period of bytes needs the size of the objects too.
 * One of 1 counts things, and a time in which nothing can be sampled only names the unit, as .NET's nanosecond.
 */
static bool period_counts(const struct pprof_reader *r)
{
	static const int64_t least_period_ns = 10000;
	const char *unit = r->period_value == PROFILE_NONE ? "" : pprof_counts_unit_of(r, r->period_value);

	if (r->period_value == PROFILE_NONE || strcmp(unit, "bytes") == 0)
		return false;
	return r->profile->period >= (strcmp(unit, "nanoseconds") == 0 ? least_period_ns : 2);
}

bool pprof_plan_counts(struct pprof_reader *r, struct error *err)
{
	struct profile *profile = r->profile;
	const char *period_unit = profile_string(profile, profile->period_type.unit);

	find_counts_of(r);
	if (r->has_count)
		return true;
	if (profile->period > 0 && strcmp(period_unit, "bytes") == 0 && !pprof_counts_find_heaps(r, err))
		return false;
	r->contentions = find_contentions(r);
	r->has_period = period_counts(r);
	if (r->heap_count > 0)
		return true;
	for (uint32_t i = 0; i < profile->value_type_count && (r->has_period || r->contentions != PROFILE_NONE); i++)
		if (profile->counts_of[i] == PROFILE_NONE)
			profile->counts_of[i] = 0;
	return true;
}

static int64_t count_by_period(const struct pprof_reader *r, const int64_t *values)
{
	int64_t period = r->profile->period, value = values[r->period_value];
	int64_t count = value / period + (value % period > (period - 1) / 2);

	return value > 0 && count == 0 ? 1 : count;
}

void pprof_count_samples(const struct pprof_reader *r, const int64_t *in_file, int64_t *values)
{
	values[0] = 1;
	if (r->heap_count == 0 && r->has_period)
		values[0] = count_by_period(r, in_file);
	else if (r->heap_count == 0 && r->contentions != PROFILE_NONE)
		values[0] = in_file[r->contentions];
	for (size_t i = 0; i < r->heap_count; i++)
		values[r->heaps[i].samples] =
			sampled_objects(in_file[r->heaps[i].objects], in_file[r->heaps[i].space], r->profile->period);
}

/*
 * Go multiplies the contentions that it sampled by its rate, which the file does not name: all counts are multiples of
 * that rate. Their greatest common divisor may by chance exceed the rate: the number of samples is then too small,
 * which proves less, never more.
 */
static void divide_contentions(struct profile *profile)
{
	size_t width = profile->value_type_count;
	int64_t divisor = weights_divisor(profile->values, profile->sample_count, width);

	for (size_t i = 0; divisor > 1 && i < profile->sample_count; i++)
		profile->values[i * width] /= divisor;
}

void pprof_settle_counts(struct pprof_reader *r)
{
	struct profile *profile = r->profile;
	const char *unit = profile_string(profile, profile->value_types[profile->default_value_type].unit);

	if (r->has_count || r->heap_count > 0 || r->has_period)
		return;
	if (r->contentions != PROFILE_NONE)
		divide_contentions(profile);
	else if (strstr(unit, "seconds"))
		weights_settle(profile, profile->default_value_type);
}

/*
 * Reads from Kelvin's extension which value types count samples. Files without that column were written when value 0
 * counted all samples.
 */
void pprof_read_counts_of(struct pprof_reader *r)
{
	struct byte_reader *column = &r->extension.columns[PPROF_COLUMN(counts_of)];

	for (uint32_t i = 0; i < r->profile->value_type_count && column->pos < column->end; i++) {
		uint64_t counts = protobuf_varint(column);

		r->profile->counts_of[r->types[i]] =
			counts == 0 || counts > PROFILE_MAX_VALUE_TYPES ? PROFILE_NONE : (uint32_t)counts - 1;
	}
}
