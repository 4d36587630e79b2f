/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/summary/archive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above it not every whole number is a double. */
static const double max_whole_number = 9007199254740992.0;

struct archive_writing {
	const struct summary_set *set;
	uint32_t *strings;                       /* owned: [string of the set] its number here; UINT32_MAX: not met */
	uint32_t *functions;                     /* owned: [function of the set] likewise */
	uint64_t *fingerprints;                  /* owned: [function of the set] that of its latest row */
	uint32_t *string_order, *function_order; /* owned: [number here] of the set */
	size_t string_count, function_count;
};

static void archive_writing_deinit(struct archive_writing *w)
{
	free(w->strings);
	free(w->functions);
	free(w->fingerprints);
	free(w->string_order);
	free(w->function_order);
}

static bool archive_writing_init(struct archive_writing *w, struct error *err)
{
	size_t strings = string_table_count(w->set->strings), functions = w->set->function_count;

	if (!ARRAY_ZEROED(&w->strings, strings + 1, err) || !ARRAY_ZEROED(&w->string_order, strings + 1, err) ||
		!ARRAY_ZEROED(&w->functions, functions + 1, err) ||
		!ARRAY_ZEROED(&w->function_order, functions + 1, err) ||
		!ARRAY_ZEROED(&w->fingerprints, functions + 1, err))
		return false;
	memset(w->strings, 0xff, strings * sizeof(*w->strings));
	memset(w->functions, 0xff, functions * sizeof(*w->functions));
	w->strings[0] = 0;
	w->string_order[w->string_count++] = 0;
	return true;
}

static void archive_put_string(struct archive_writing *w, uint32_t string, struct buffer *out)
{
	if (w->strings[string] == UINT32_MAX) {
		w->strings[string] = (uint32_t)w->string_count;
		w->string_order[w->string_count++] = string;
	}
	buffer_append_varint(out, w->strings[string]);
}

static void archive_put_double(struct buffer *out, double value)
{
	buffer_append(out, &value, sizeof(value));
}

/* ---- A summary ---- */

static void archive_put_facts(struct archive_writing *w, const struct summary *summary, struct buffer *out)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	buffer_append_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		uint32_t value = profile_fact_get(&summary->facts, &facts[i]);

		if (facts[i].type == PROFILE_FACT_STRING)
			archive_put_string(w, value, out);
		else
			buffer_append_varint(out, value);
	}
	buffer_append_varint(out, summary->label_count);
	for (size_t i = 0; i < summary->label_count; i++) {
		archive_put_string(w, summary->labels[i].key, out);
		archive_put_string(w, summary->labels[i].value, out);
	}
}

static unsigned int archive_flags(const struct summary *s)
{
	return (s->is_time_of_file ? ARCHIVE_TIME_OF_FILE : 0U) | (s->is_time ? ARCHIVE_TIME : 0U) |
	       (s->is_duration ? ARCHIVE_DURATION : 0U) | (s->is_counted ? ARCHIVE_COUNTED : 0U) |
	       (s->is_exact ? ARCHIVE_EXACT : 0U) | (s->whole_commands ? ARCHIVE_WHOLE_COMMANDS : 0U);
}

static void archive_put_head(struct archive_writing *w, const struct summary *summary, struct buffer *out)
{
	archive_put_string(w, summary->name, out);
	buffer_append(out, summary->id, sizeof(summary->id));
	buffer_append_zigzag(out, summary->start_unix_ns);
	buffer_append_zigzag(out, summary->duration_ns);
	buffer_append_varint(out, archive_flags(summary));
	archive_put_facts(w, summary, out);
	archive_put_string(w, summary->metric, out);
	archive_put_string(w, summary->unit, out);
	archive_put_string(w, summary->metric_words, out);
	archive_put_double(out, summary->total);
	archive_put_double(out, summary->total_error);
	archive_put_double(out, summary->interrupts);
	buffer_append_varint(out, summary->samples);
	archive_put_double(out, summary->lost);
	buffer_append_varint(out, summary->runs);
	buffer_append_varint(out, summary->work);
	archive_put_string(w, summary->work_event, out);
	archive_put_double(out, summary->requests);
	buffer_append_varint(out, summary->binary_count);
	for (size_t i = 0; i < summary->binary_count; i++) {
		archive_put_string(w, summary->binaries[i].module, out);
		archive_put_string(w, summary->binaries[i].path, out);
		archive_put_string(w, summary->binaries[i].build_id, out);
		buffer_append_byte(out, summary->binaries[i].is_program);
	}
}

static bool archive_is_whole_number(double value)
{
	return value >= 0 && value <= max_whole_number && value == floor(value);
}

static void archive_put_value(struct buffer *out, unsigned int flags, double value)
{
	if (flags & ARCHIVE_ROW_WHOLE_NUMBERS)
		buffer_append_varint(out, (uint64_t)value);
	else
		archive_put_double(out, value);
}

static void archive_put_row(
	const struct archive_writing *w, const struct summary_row *row, uint32_t after, struct buffer *out)
{
	unsigned int flags = 0;

	if (row->self != 0 || row->self_error != 0)
		flags |= ARCHIVE_ROW_SELF;
	if (row->total != row->self || row->total_error != row->self_error)
		flags |= ARCHIVE_ROW_TOTAL;
	if (archive_is_whole_number(row->self) && archive_is_whole_number(row->total))
		flags |= ARCHIVE_ROW_WHOLE_NUMBERS;
	if (row->fingerprint == 0)
		flags |= ARCHIVE_ROW_NO_FINGERPRINT;
	else if (row->fingerprint != w->fingerprints[row->function])
		flags |= ARCHIVE_ROW_FINGERPRINT;
	buffer_append_zigzag(out, (int64_t)w->functions[row->function] - after);
	buffer_append_byte(out, (uint8_t)flags);
	if (flags & ARCHIVE_ROW_SELF) {
		archive_put_value(out, flags, row->self);
		buffer_append(out, &row->self_error, sizeof(row->self_error));
	}
	if (flags & ARCHIVE_ROW_TOTAL) {
		archive_put_value(out, flags, row->total);
		buffer_append(out, &row->total_error, sizeof(row->total_error));
	}
	if (flags & ARCHIVE_ROW_FINGERPRINT)
		buffer_append(out, &row->fingerprint, sizeof(row->fingerprint));
}

/* The rows that a profile has itself. */
static const struct summary_row *archive_rows(const struct summary *summary)
{
	return summary->own_rows ? summary->own_rows : summary->rows;
}

static size_t archive_row_count(const struct summary *summary)
{
	return summary->own_rows ? summary->own_row_count : summary->row_count;
}

static void archive_put_summary(struct archive_writing *w, const struct summary *summary, struct buffer *out)
{
	uint32_t after = 0;

	archive_put_head(w, summary, out);
	buffer_append_varint(out, archive_row_count(summary));
	for (size_t i = 0; i < archive_row_count(summary); i++) {
		archive_put_row(w, &archive_rows(summary)[i], after, out);
		after = w->functions[archive_rows(summary)[i].function];
	}
}

/* ---- The tables ---- */

static void archive_meet_functions(struct archive_writing *w, const struct summary *summary)
{
	for (size_t i = 0; i < archive_row_count(summary); i++) {
		uint32_t function = archive_rows(summary)[i].function;

		if (w->functions[function] == UINT32_MAX) {
			w->functions[function] = (uint32_t)w->function_count;
			w->function_order[w->function_count++] = function;
		}
		if (archive_rows(summary)[i].fingerprint)
			w->fingerprints[function] = archive_rows(summary)[i].fingerprint;
	}
}

static void archive_put_functions(struct archive_writing *w, struct buffer *out)
{
	buffer_append_varint(out, w->function_count);
	for (size_t i = 0; i < w->function_count; i++) {
		const struct summary_function *f = &w->set->functions[w->function_order[i]];

		archive_put_string(w, f->key, out);
		archive_put_string(w, f->name, out);
		archive_put_string(w, f->shown, out);
		archive_put_string(w, f->shown_in, out);
		archive_put_string(w, f->module, out);
		archive_put_string(w, f->file, out);
		buffer_append_byte(out, (uint8_t)f->origin);
		buffer_append_byte(out, (uint8_t)f->language);
		buffer_append_byte(out, f->interrupt);
		buffer_append(out, &w->fingerprints[w->function_order[i]], sizeof(uint64_t));
	}
}

static void archive_put_strings(const struct archive_writing *w, struct buffer *out)
{
	buffer_append_varint(out, w->string_count - 1);
	for (size_t i = 1; i < w->string_count; i++) {
		size_t size = string_table_size(w->set->strings, w->string_order[i]);

		buffer_append_varint(out, size);
		buffer_append(out, string_table_get(w->set->strings, w->string_order[i]), size);
	}
}

/* The part that is written twice, here for nothing but the strings that occur in it, is short: rows have none. */
static void archive_meet_strings(
	struct archive_writing *w, const size_t *summaries, size_t count, struct buffer *nothing)
{
	archive_put_functions(w, nothing);
	for (size_t i = 0; i < count; i++) {
		nothing->size = 0;
		archive_put_head(w, &w->set->items[summaries[i]], nothing);
	}
}

bool summary_archive_write(const struct summary_set *set, const size_t *summaries, size_t count,
	const uint8_t (*tags)[SUMMARY_TAG_BYTES], struct buffer *out, struct error *err)
{
	CLEANUP(archive_writing_deinit) struct archive_writing w = { .set = set };
	CLEANUP(buffer_deinit) struct buffer one = BUFFER_INIT(out->max_bytes);
	const uint32_t head[] = { ARCHIVE_MAGIC, ARCHIVE_VERSION };

	if (!archive_writing_init(&w, err))
		return false;
	for (size_t i = 0; i < count; i++)
		archive_meet_functions(&w, &set->items[summaries[i]]);
	archive_meet_strings(&w, summaries, count, &one);
	buffer_append(out, head, sizeof(head));
	archive_put_strings(&w, out);
	archive_put_functions(&w, out);
	buffer_append_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		one.size = 0;
		archive_put_summary(&w, &set->items[summaries[i]], &one);
		buffer_append(out, tags[i], SUMMARY_TAG_BYTES);
		buffer_append_varint(out, one.size);
		buffer_append(out, one.data, one.size);
	}
	return buffer_ok(&one, err) && buffer_ok(out, err);
}

bool summary_write(const struct summary_set *set, size_t summary, struct buffer *out, struct error *err)
{
	static const uint8_t none[1][SUMMARY_TAG_BYTES];

	return summary_archive_write(set, &summary, 1, none, out, err);
}
