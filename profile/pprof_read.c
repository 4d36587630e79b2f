/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads pprof: finds where the tables of a file lie, and reads them in the order in which they need each other. */
#include "profile/pprof_reader.h"

#include <stdlib.h>
#include <string.h>

static bool pprof_read_add_key(const struct profile *profile, const char *key, uint32_t *id, struct error *err)
{
	return string_table_add(profile->strings, key, strlen(key), id, err);
}

bool pprof_label_keys_init(const struct profile *profile, struct pprof_label_keys *keys, struct error *err)
{
	if (!pprof_read_add_key(profile, "comm", &keys->comm, err) ||
		!pprof_read_add_key(profile, "thread_comm", &keys->thread_comm, err) ||
		!pprof_read_add_key(profile, "pid", &keys->pid, err) ||
		!pprof_read_add_key(profile, "tid", &keys->tid, err))
		return false;
	if (profile_has_phases(profile) && !pprof_read_add_key(profile, "benchmark", &keys->benchmark, err))
		return false;
	if (!profile_has_waits(profile))
		return true;
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		if (!pprof_read_add_key(
			    profile, profile_wait_info((enum profile_wait_class)i)->name, &keys->classes[i], err))
			return false;
	return pprof_read_add_key(profile, "wait", &keys->wait, err);
}

static void count_entry(struct pprof_section *section, size_t start, size_t end)
{
	if (section->count++ == 0)
		section->start = start;
	section->end = end;
}

/* Finds where each table lies: a file may have its tables in any order, but they must be read in one order. */
static bool pprof_survey(struct pprof_reader *r, struct error *err)
{
	struct byte_reader walk = r->file;
	size_t start = 0;
	struct protobuf_field field;

	for (; protobuf_next_field(&walk, &field); start = byte_reader_offset(&walk)) {
		size_t member = proto_member(&pprof__profile__descriptor, field.id);

		if (!field.has_bytes) {
			proto_set_member(&r->numbers.base, &field);
			continue;
		}
		count_entry(&r->sections[member / sizeof(size_t)], start, byte_reader_offset(&walk));
		if (member == offsetof(Pprof__Profile, period_type))
			r->period_type = field.bytes;
		if (member == offsetof(Pprof__Profile, kelvin) && !pprof_extension_add(&r->extension, field.bytes, err))
			return false;
	}
	return byte_reader_ok(&walk) ||
	       error_set(err, ERROR_FORMAT,
		       "not a pprof profile, or cut off: malformed at byte %zu; copy it again, or record it again",
		       start);
}

/*
 * In a growing recording the samples refer to the table of stacks. In any other file it has the stacks of releases,
 * most of which samples have, and have added before.
 */
static bool read_stacks_and_samples(struct pprof_reader *r, struct error *err)
{
	r->has_stack_column = byte_reader_left(&r->extension.columns[PPROF_COLUMN(sample_stack)]) > 0;
	if (r->has_stack_column)
		return pprof_read_stacks(r, err) && pprof_read_samples(r, err);
	return pprof_read_samples(r, err) && pprof_read_stacks(r, err);
}

static bool pprof_convert(struct pprof_reader *r, struct error *err)
{
	if (!profile_create(&r->profile, err))
		return false;
	profile_limit_stacks(r->profile, r->max_stacks);
	if (!pprof_survey(r, err) || !pprof_read_tables(r, err) || !pprof_read_runs(r, err) ||
		!pprof_read_threads(r, err) || !read_stacks_and_samples(r, err) || !pprof_read_waits(r, err) ||
		!pprof_read_requests(r, err) || !pprof_read_sources(r, err) || !pprof_read_code(r, err))
		return false;
	pprof_settle_default(r);
	pprof_settle_counts(r);
	if (!pprof_read_timeline(r, err) || !pprof_read_quality(r, err) || !pprof_read_verification(r, err) ||
		!pprof_read_facts(r, err) || !pprof_read_labels(r, err) || !pprof_extension_ok(&r->extension, err))
		return false;
	if (r->extension.is_there && r->extension.numbers.default_value_type < r->profile->value_type_count)
		r->profile->default_value_type = r->extension.numbers.default_value_type;
	pprof_read_counts_of(r);
	return profile_validate(r->profile, err);
}

static void reader_deinit(struct pprof_reader *r)
{
	id_table_deinit(&r->mapping_ids);
	id_table_deinit(&r->function_ids);
	id_table_deinit(&r->location_ids);
	pprof_extension_deinit(&r->extension);
	free(r->strings);
	free(r->labels);
	free(r->mappings);
	free(r->functions);
	free(r->locations);
	free(r->threads);
	free(r->stacks);
	free(r->frames);
	free(r->path);
}

static bool pprof_read_bytes(
	struct pprof_reader *r, const void *bytes, size_t size, struct profile **profile, struct error *err)
{
	bool ok;

	r->file = byte_reader_over(bytes, size);
	r->period_type = byte_reader_over(NULL, 0);
	pprof__profile__init(&r->numbers);
	pprof_extension_init(&r->extension);
	ok = pprof_convert(r, err);
	reader_deinit(r);
	if (ok)
		*profile = r->profile;
	else
		profile_destroy(r->profile);
	return ok;
}

bool profile_read_pprof(const void *bytes, size_t size, size_t most_stacks, struct profile **profile, struct error *err)
{
	struct pprof_reader r = { .max_stacks = most_stacks };

	return pprof_read_bytes(&r, bytes, size, profile, err);
}

bool pprof_read_growing(
	const void *bytes, size_t size, uint64_t *kernel_text, struct profile **profile, struct error *err)
{
	struct pprof_reader r = { .is_growing = true, .max_stacks = ARRAY_MAX_IDS };

	if (!pprof_read_bytes(&r, bytes, size, profile, err))
		return false;
	*kernel_text = r.extension.numbers.kernel_text;
	return true;
}
