/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/summary/archive.h"

#include <stdlib.h>
#include <string.h>

struct archive_string {
	const char *bytes; /* borrowed */
	size_t size;
};

struct archive_function {
	struct summary_function function; /* with strings of the archive */
	uint64_t fingerprint;
};

struct archive_item {
	const uint8_t *tag; /* borrowed */
	struct byte_reader bytes;
};

struct summary_archive {
	struct summary_set *set;            /* borrowed */
	struct archive_string *strings;     /* owned */
	uint32_t *string_ids;               /* owned: [string] of the set; UINT32_MAX: it is not there yet */
	struct archive_function *functions; /* owned */
	uint32_t *function_ids;             /* owned: [function] of the set; UINT32_MAX likewise */
	struct archive_item *items;         /* owned */
	struct hash_map by_tag;
	size_t string_count, function_count, count;
};

/* The least bytes of an entry, which bound how many there can be. */
enum { STRING_BYTES = 1, FUNCTION_BYTES = 17, ITEM_BYTES = SUMMARY_TAG_BYTES + 1, ROW_BYTES = 2, BINARY_BYTES = 4 };

void summary_archive_close(struct summary_archive *archive)
{
	if (!archive)
		return;
	hash_map_deinit(&archive->by_tag);
	free(archive->strings);
	free(archive->string_ids);
	free(archive->functions);
	free(archive->function_ids);
	free(archive->items);
	free(archive);
}

static bool archive_bad(const struct byte_reader *r, const char *what, struct error *err)
{
	return error_set(err, ERROR_FORMAT, "summaries: bad %s at byte %zu", what, byte_reader_offset(r));
}

/* Returns a number of entries that the bytes that are left can hold; fails else. */
static size_t archive_count(struct byte_reader *r, size_t entry_bytes)
{
	uint64_t count = byte_reader_uleb128(r);

	if (count > byte_reader_left(r) / entry_bytes) {
		r->failed = true;
		return 0;
	}
	return (size_t)count;
}

static uint32_t archive_u32(struct byte_reader *r, uint64_t limit)
{
	uint64_t value = byte_reader_uleb128(r);

	if (value >= limit) {
		r->failed = true;
		return 0;
	}
	return (uint32_t)value;
}

static uint32_t archive_string(const struct summary_archive *archive, struct byte_reader *r)
{
	return archive_u32(r, archive->string_count);
}

/* An amount, which is a number of 0 or more; no profile has more of anything, and sums of these stay finite. */
static const double max_amount = 1e30;

static double archive_amount(struct byte_reader *r)
{
	double value = 0;

	byte_reader_copy(r, &value, sizeof(value));
	if (!(value >= 0 && value <= max_amount)) {
		r->failed = true;
		return 0;
	}
	return value;
}

/* ---- The tables ---- */

static bool archive_read_strings(struct summary_archive *archive, struct byte_reader *r, struct error *err)
{
	size_t count = archive_count(r, STRING_BYTES);

	if (!ARRAY_ZEROED(&archive->strings, count + 1, err) || !ARRAY_ZEROED(&archive->string_ids, count + 1, err))
		return false;
	memset(archive->string_ids, 0xff, (count + 1) * sizeof(*archive->string_ids));
	archive->strings[0].bytes = "";
	archive->string_ids[0] = 0;
	archive->string_count = count + 1;
	for (size_t i = 1; i <= count; i++) {
		size_t size = archive_count(r, 1);

		archive->strings[i].bytes = (const char *)byte_reader_bytes(r, size);
		archive->strings[i].size = size;
	}
	return byte_reader_ok(r) || archive_bad(r, "string", err);
}

static void archive_read_function(
	const struct summary_archive *archive, struct byte_reader *r, struct archive_function *into)
{
	struct summary_function *f = &into->function;
	uint8_t origin, language;

	f->key = archive_string(archive, r);
	f->name = archive_string(archive, r);
	f->shown = archive_string(archive, r);
	f->shown_in = archive_string(archive, r);
	f->module = archive_string(archive, r);
	f->file = archive_string(archive, r);
	origin = byte_reader_u8(r);
	language = byte_reader_u8(r);
	f->interrupt = byte_reader_u8(r) != 0;
	into->fingerprint = byte_reader_u64(r);
	if (origin >= PROFILE_ORIGIN_COUNT || language >= PROFILE_LANGUAGE_COUNT)
		r->failed = true;
	f->origin = (enum profile_origin)origin;
	f->language = (enum profile_language)language;
}

static bool archive_read_functions(struct summary_archive *archive, struct byte_reader *r, struct error *err)
{
	size_t count = archive_count(r, FUNCTION_BYTES);

	if (!ARRAY_ZEROED(&archive->functions, count + 1, err) || !ARRAY_ZEROED(&archive->function_ids, count + 1, err))
		return false;
	memset(archive->function_ids, 0xff, (count + 1) * sizeof(*archive->function_ids));
	archive->function_count = count;
	for (size_t i = 0; i < count && byte_reader_ok(r); i++)
		archive_read_function(archive, r, &archive->functions[i]);
	return byte_reader_ok(r) || archive_bad(r, "function", err);
}

static bool archive_read_items(struct summary_archive *archive, struct byte_reader *r, struct error *err)
{
	size_t count = archive_count(r, ITEM_BYTES);

	if (!ARRAY_ZEROED(&archive->items, count + 1, err))
		return false;
	hash_map_init(&archive->by_tag, SUMMARY_TAG_BYTES);
	for (size_t i = 0; i < count && byte_reader_ok(r); i++) {
		struct archive_item *item = &archive->items[i];
		uint32_t *found;
		bool added;

		item->tag = byte_reader_bytes(r, SUMMARY_TAG_BYTES);
		item->bytes = byte_reader_split(r, archive_count(r, 1));
		if (!byte_reader_ok(r))
			break;
		if (!hash_map_add(&archive->by_tag, item->tag, (uint32_t)i, &found, &added, err))
			return false;
		*found = (uint32_t)i;
		archive->count++;
	}
	return (byte_reader_ok(r) && byte_reader_left(r) == 0) || archive_bad(r, "summary", err);
}

bool summary_archive_open(
	const void *bytes, size_t size, struct summary_set *set, struct summary_archive **archive, struct error *err)
{
	CLEANUP(summary_archive_cleanup) struct summary_archive *made = calloc(1, sizeof(*made));
	struct byte_reader r = byte_reader_over(bytes, size);
	uint32_t magic = byte_reader_u32(&r), version = byte_reader_u32(&r);

	if (!made)
		return error_set_memory(err);
	made->set = set;
	hash_map_init(&made->by_tag, SUMMARY_TAG_BYTES);
	if (!byte_reader_ok(&r) || magic != ARCHIVE_MAGIC)
		return archive_bad(&r, "beginning", err);
	if (version != ARCHIVE_VERSION)
		return error_set(err, ERROR_UNSUPPORTED, "summaries of version %u; this program reads version %d",
			version, ARCHIVE_VERSION);
	if (!archive_read_strings(made, &r, err) || !archive_read_functions(made, &r, err) ||
		!archive_read_items(made, &r, err))
		return false;
	*archive = TAKE(made);
	return true;
}

size_t summary_archive_count(const struct summary_archive *archive)
{
	return archive->count;
}

size_t summary_archive_find(const struct summary_archive *archive, const uint8_t tag[SUMMARY_TAG_BYTES])
{
	uint32_t found = hash_map_get(&archive->by_tag, tag);

	return found == HASH_MAP_NONE ? SIZE_MAX : found;
}

const uint8_t *summary_archive_tag(const struct summary_archive *archive, size_t index)
{
	return archive->items[index].tag;
}

/* ---- A summary ---- */

static bool archive_intern(struct summary_archive *archive, uint32_t string, uint32_t *id, struct error *err)
{
	const struct archive_string *s = &archive->strings[string];
	uint32_t *known = &archive->string_ids[string];

	if (*known == UINT32_MAX && !string_table_add(archive->set->strings, s->bytes, s->size, known, err))
		return false;
	*id = *known;
	return true;
}

/* Reads the number of a string, and replaces it by the set's. */
static bool archive_take_string(struct summary_archive *archive, struct byte_reader *r, uint32_t *id, struct error *err)
{
	uint32_t string = archive_string(archive, r);

	return byte_reader_ok(r) ? archive_intern(archive, string, id, err) : archive_bad(r, "string", err);
}

static bool archive_intern_function(struct summary_archive *archive, uint32_t number, uint32_t *id, struct error *err)
{
	struct summary_function f = archive->functions[number].function;
	uint32_t *known = &archive->function_ids[number];

	if (*known == UINT32_MAX &&
		(!archive_intern(archive, f.key, &f.key, err) || !archive_intern(archive, f.name, &f.name, err) ||
			!archive_intern(archive, f.shown, &f.shown, err) ||
			!archive_intern(archive, f.shown_in, &f.shown_in, err) ||
			!archive_intern(archive, f.module, &f.module, err) ||
			!archive_intern(archive, f.file, &f.file, err) ||
			!summary_add_function(archive->set, &f, known, err)))
		return false;
	*id = *known;
	return true;
}

static bool archive_take_facts(
	struct summary_archive *archive, struct byte_reader *r, struct summary *summary, struct error *err)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	if (byte_reader_uleb128(r) != count)
		return error_set(err, ERROR_UNSUPPORTED, "summaries: other facts than this program knows");
	for (size_t i = 0; i < count; i++) {
		uint32_t value = 0;

		if (facts[i].type != PROFILE_FACT_STRING)
			value = archive_u32(r, facts[i].type == PROFILE_FACT_FLAG ? 2 : (uint64_t)UINT32_MAX + 1);
		else if (!archive_take_string(archive, r, &value, err))
			return false;
		profile_fact_set(&summary->facts, &facts[i], value);
	}
	summary->label_count = archive_u32(r, PROFILE_MAX_LABELS + 1);
	for (size_t i = 0; i < summary->label_count; i++)
		if (!archive_take_string(archive, r, &summary->labels[i].key, err) ||
			!archive_take_string(archive, r, &summary->labels[i].value, err))
			return false;
	return true;
}

static void archive_take_flags(struct byte_reader *r, struct summary *summary)
{
	uint64_t flags = byte_reader_uleb128(r);

	summary->is_time_of_file = flags & ARCHIVE_TIME_OF_FILE;
	summary->is_time = flags & ARCHIVE_TIME;
	summary->is_duration = flags & ARCHIVE_DURATION;
	summary->is_counted = flags & ARCHIVE_COUNTED;
	summary->is_exact = flags & ARCHIVE_EXACT;
	summary->whole_commands = flags & ARCHIVE_WHOLE_COMMANDS;
}

static bool archive_take_figures(
	struct summary_archive *archive, struct byte_reader *r, struct summary *summary, struct error *err)
{
	summary->total = archive_amount(r);
	summary->total_error = archive_amount(r);
	summary->interrupts = archive_amount(r);
	summary->samples = byte_reader_uleb128(r);
	summary->lost = archive_amount(r);
	summary->runs = byte_reader_uleb128(r);
	summary->work = (enum profile_work_source)archive_u32(r, PROFILE_WORK_SOURCE_COUNT);
	if (!archive_take_string(archive, r, &summary->work_event, err))
		return false;
	summary->requests = archive_amount(r);
	return (byte_reader_ok(r) && summary->lost <= 1 && summary->runs > 0) || archive_bad(r, "figure", err);
}

static bool archive_take_head(
	struct summary_archive *archive, struct byte_reader *r, struct summary *summary, struct error *err)
{
	if (!archive_take_string(archive, r, &summary->name, err))
		return false;
	byte_reader_copy(r, summary->id, sizeof(summary->id));
	summary->start_unix_ns = byte_reader_zigzag(r);
	summary->duration_ns = byte_reader_zigzag(r);
	archive_take_flags(r, summary);
	if (summary->duration_ns < 0)
		return archive_bad(r, "duration", err);
	return archive_take_facts(archive, r, summary, err) && archive_take_string(archive, r, &summary->metric, err) &&
	       archive_take_string(archive, r, &summary->unit, err) &&
	       archive_take_string(archive, r, &summary->metric_words, err) &&
	       archive_take_figures(archive, r, summary, err);
}

static bool archive_take_binaries(struct summary_archive *archive, struct byte_reader *r, struct error *err)
{
	size_t count = archive_count(r, BINARY_BYTES);

	for (size_t i = 0; i < count; i++) {
		struct summary_binary binary;

		if (!archive_take_string(archive, r, &binary.module, err) ||
			!archive_take_string(archive, r, &binary.path, err) ||
			!archive_take_string(archive, r, &binary.build_id, err))
			return false;
		binary.is_program = byte_reader_u8(r) != 0;
		if (!summary_add_binary(archive->set, &binary, err))
			return false;
	}
	return true;
}

static double archive_value(struct byte_reader *r, unsigned int flags)
{
	return flags & ARCHIVE_ROW_WHOLE_NUMBERS ? (double)byte_reader_uleb128(r) : archive_amount(r);
}

static float archive_error(struct byte_reader *r)
{
	float value = 0;

	byte_reader_copy(r, &value, sizeof(value));
	if (!((double)value >= 0 && (double)value <= max_amount))
		r->failed = true;
	return value;
}

static void archive_read_row(
	const struct summary_archive *archive, struct byte_reader *r, uint32_t number, struct summary_row *row)
{
	unsigned int flags = byte_reader_u8(r);

	if (flags > ARCHIVE_ROW_ALL)
		r->failed = true;
	*row = (struct summary_row){ .fingerprint = archive->functions[number].fingerprint };
	if (flags & ARCHIVE_ROW_SELF) {
		row->self = archive_value(r, flags);
		row->self_error = archive_error(r);
	}
	row->total = flags & ARCHIVE_ROW_TOTAL ? archive_value(r, flags) : row->self;
	row->total_error = flags & ARCHIVE_ROW_TOTAL ? archive_error(r) : row->self_error;
	if (flags & (ARCHIVE_ROW_FINGERPRINT | ARCHIVE_ROW_NO_FINGERPRINT))
		row->fingerprint = flags & ARCHIVE_ROW_FINGERPRINT ? byte_reader_u64(r) : 0;
}

static bool archive_take_rows(struct summary_archive *archive, struct byte_reader *r, struct error *err)
{
	size_t count = archive_count(r, ROW_BYTES);
	int64_t number = 0;

	for (size_t i = 0; i < count; i++) {
		struct summary_row row;
		int64_t step = byte_reader_zigzag(r);

		/* Steps outside the table are refused before they are added. */
		if (step < -number || step >= (int64_t)archive->function_count - number)
			return archive_bad(r, "function of a row", err);
		number += step;
		archive_read_row(archive, r, (uint32_t)number, &row);
		if (!byte_reader_ok(r))
			return archive_bad(r, "row", err);
		if (!archive_intern_function(archive, (uint32_t)number, &row.function, err) ||
			!summary_add_row(archive->set, &row, err))
			return false;
	}
	return (byte_reader_ok(r) && byte_reader_left(r) == 0) || archive_bad(r, "end of a summary", err);
}

bool summary_archive_add(struct summary_archive *archive, size_t index, struct error *err)
{
	struct byte_reader r = archive->items[index].bytes;
	struct summary *summary;

	if (!summary_add_empty(archive->set, &summary, err))
		return false;
	if (archive_take_head(archive, &r, summary, err) && archive_take_binaries(archive, &r, err) &&
		archive_take_rows(archive, &r, err) && summary_finish(archive->set, err))
		return true;
	summary_drop_last(archive->set);
	return false;
}

bool summary_read(struct summary_set *set, const void *bytes, size_t size, struct error *err)
{
	CLEANUP(summary_archive_cleanup) struct summary_archive *archive = NULL;
	size_t before = set->count;

	if (!summary_archive_open(bytes, size, set, &archive, err))
		return false;
	for (size_t i = 0; i < archive->count; i++) {
		if (summary_archive_add(archive, i, err))
			continue;
		while (set->count > before)
			summary_drop_last(set);
		return false;
	}
	return true;
}
