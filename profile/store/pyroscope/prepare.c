/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fills a parcel. Part 0 has the pieces, one behind the other; part 1 says of them what the courier needs (parcel.h of
 * this folder): it does not read pprof.
 */
#include "profile/store/pyroscope/parcel.h"
#include "profile/store/pyroscope/pyroscope.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Returns what Pyroscope calls profiles of a kind, by a value type that they have; of others it is the CPU's name. */
static const char *family_of(const struct profile *profile)
{
	static const struct {
		const char *type, *family;
	} rows[] = { { "cpu", "process_cpu" }, { "inuse_space", "memory" }, { "alloc_space", "memory" },
		{ "contentions", "mutex" }, { "goroutine", "goroutines" }, { "wall", "wall" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t j = 0; j < profile->value_type_count; j++)
			if (strcmp(profile_string(profile, profile->value_types[j].type), rows[i].type) == 0)
				return rows[i].family;
	return "process_cpu";
}

static void append_type_word(struct buffer *type, const char *word)
{
	for (; *word; word++)
		buffer_append_byte(type, (uint8_t)((*word >= '0' && *word <= '9') || (*word >= 'a' && *word <= 'z') ||
								   (*word >= 'A' && *word <= 'Z')
							   ? *word
							   : '_'));
}

/* NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT, as the piece has them (split.c). */
static void prepare_append_type(
	const struct profile *profile, const char *family, uint32_t value_type, struct buffer *type)
{
	struct profile_value_type value = profile->value_types[value_type], period = profile->period_type;
	const uint32_t words[] = { value.type, value.unit,
		period.type ? period.type : profile->value_types[profile->default_value_type].type,
		period.type ? period.unit : profile->value_types[profile->default_value_type].unit };

	buffer_append_string(type, family);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		buffer_append_byte(type, ':');
		append_type_word(type, profile_string(profile, words[i]));
	}
}

static bool prepare_append_text(struct buffer *out, const struct buffer *text)
{
	uint32_t size = (uint32_t)text->size;

	buffer_append(out, &size, sizeof(size));
	buffer_append(out, text->data, text->size);
	return !out->failed;
}

/* Returns when the recording began: of several runs, the first one that says so. */
static int64_t start_of(const struct profile *profile)
{
	int64_t start_ns = 0;

	for (size_t i = 0; i < profile->run_count; i++)
		if (profile->runs[i].start_unix_ns > 0 && (start_ns == 0 || profile->runs[i].start_unix_ns < start_ns))
			start_ns = profile->runs[i].start_unix_ns;
	return start_ns;
}

static bool write_pieces(const struct profile *profile, const char *family, struct pyroscope_split *split,
	struct store_parcel *parcel, struct buffer *description, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer type = BUFFER_INIT(1 << 16);
	struct pyroscope_piece piece;
	uint32_t count = 0;
	bool is_there;

	for (;; count++) {
		struct pyroscope_described row;

		if (!pyroscope_split_next(split, &piece, &is_there, err))
			return false;
		if (!is_there)
			break;
		if (count == PYROSCOPE_MAX_PIECES)
			return error_set(err, ERROR_LIMIT,
				"the profile would be more than %d of the size that Pyroscope takes",
				PYROSCOPE_MAX_PIECES);
		row = (struct pyroscope_described){ .size = piece.size, .total = piece.total };
		type.size = 0;
		prepare_append_type(profile, family, piece.value_type, &type);
		buffer_append(description, &row, sizeof(row));
		prepare_append_text(description, &type);
		if (!file_write_all(parcel->parts[0], piece.bytes, piece.size))
			return error_set_errno(err, errno, "cannot write what is to be sent");
	}
	if (count == 0)
		return error_set(err, ERROR_EMPTY, "the profile has no samples");
	if (count > 1)
		buffer_printf(&parcel->notices,
			"it is stored as %" PRIu32
			" profiles, whose sum it is: Pyroscope takes %d stacks and 4 MiB of one\n",
			count, PYROSCOPE_MAX_SAMPLES);
	if (pyroscope_split_cut_stacks(split) > 0)
		buffer_printf(&parcel->notices,
			"%zu stacks are stored without their outermost callers: Pyroscope takes %d frames\n",
			pyroscope_split_cut_stacks(split), PYROSCOPE_MAX_DEPTH);
	return buffer_ok(&type, err);
}

bool pyroscope_prepare(const struct profile *profile, const struct store_filter *labels, size_t label_count,
	struct store_parcel *parcel, struct error *err)
{
	struct pyroscope_series series = { 0 };
	struct pyroscope_split *split = NULL;
	CLEANUP(buffer_deinit) struct buffer description = BUFFER_INIT((size_t)1 << 24);
	const struct pyroscope_head head = { .start_unix_ns = start_of(profile),
		.duration_ns = profile->run_count > 0 ? profile->runs[0].duration_ns : 0 };
	const char *family = family_of(profile);
	bool ok;

	if (head.start_unix_ns == 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"the profile does not say when it was recorded, so that Pyroscope has no place for it");
	for (size_t i = 0; i < label_count; i++)
		if (strcmp(labels[i].key, "__name__") == 0)
			family = labels[i].value;
	buffer_append(&description, &head, sizeof(head));
	ok = pyroscope_make_series(profile, labels, label_count, family, &series, &parcel->notices, err) &&
	     pyroscope_split_create(profile, &split, err);
	if (ok) {
		prepare_append_text(&description, &series.message);
		prepare_append_text(&description, &series.selector);
		ok = write_pieces(profile, family, split, parcel, &description, err) && buffer_ok(&description, err);
	}
	if (ok && !file_write_all(parcel->parts[1], description.data, description.size))
		ok = error_set_errno(err, errno, "cannot write what is to be sent");
	pyroscope_split_destroy(split);
	pyroscope_series_deinit(&series);
	return ok;
}
