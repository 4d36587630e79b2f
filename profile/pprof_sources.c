/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads and writes the source files and texts of pprof files, and which lines are in another file than their function,
 * in the columns that only Kelvin's files have.
 */
#include "profile/index.h"
#include "profile/pprof_reader.h"
#include "profile/pprof_writer.h"

/* Bits of source_flags; above them is the proof. */
enum { HAS_MD5 = 1, IS_MD5_OF_BUILD = 2, IS_EMBEDDED = 4, IS_MIXED = 8, PROOF_SHIFT = 4 };

/* ---- Reading ---- */

static bool pprof_sources_read_file(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *columns = r->extension.columns, *md5 = &columns[PPROF_COLUMN(source_md5)];
	int64_t path = (int64_t)protobuf_varint(&columns[PPROF_COLUMN(source_path)]);
	uint64_t flags = protobuf_varint(&columns[PPROF_COLUMN(source_flags)]);
	struct profile_source_file file = { .has_md5 = flags & HAS_MD5,
		.is_md5_of_build = flags & IS_MD5_OF_BUILD,
		.is_embedded = flags & IS_EMBEDDED,
		.is_mixed = flags & IS_MIXED,
		.proof = (enum profile_source_proof)(flags >> PROOF_SHIFT) };
	size_t count = r->profile->source_file_count;
	uint32_t id;

	if (flags >> PROOF_SHIFT >= PROFILE_SOURCE_PROOF_COUNT)
		return error_set(err, ERROR_FORMAT, "source file %zu is malformed", count);
	if (file.has_md5) {
		const uint8_t *bytes = byte_reader_bytes(md5, sizeof(file.md5));

		if (!bytes)
			return error_set(err, ERROR_FORMAT, "the MD5 of source file %zu is missing", count);
		memcpy(file.md5, bytes, sizeof(file.md5));
	}
	if (!pprof_string_id(r, path, &file.path, "the path of a source file", err) ||
		!profile_add_source_file(r->profile, &file, &id, err))
		return false;
	return id == count || error_set(err, ERROR_FORMAT, "source file %zu has the path of another one", count);
}

static bool pprof_sources_read_text(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *columns = r->extension.columns;
	uint64_t file = protobuf_varint(&columns[PPROF_COLUMN(source_text_file)]),
		 line = protobuf_varint(&columns[PPROF_COLUMN(source_text_line)]);
	int64_t text = (int64_t)protobuf_varint(&columns[PPROF_COLUMN(source_text)]);
	size_t count = r->profile->source_text_count;
	uint32_t string;

	if (file >= r->profile->source_file_count || line > UINT32_MAX)
		return error_set(err, ERROR_FORMAT, "source text %zu references what is not there", count);
	return pprof_string_id(r, text, &string, "a source text", err) &&
	       profile_append_source_text(r->profile, count, (uint32_t)file, (uint32_t)line, string, err);
}

bool pprof_read_sources(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *columns = r->extension.columns;
	const struct byte_reader *paths = &columns[PPROF_COLUMN(source_path)],
				 *texts = &columns[PPROF_COLUMN(source_text)];

	if (protobuf_count_varints(paths) > PROFILE_MAX_SOURCE_FILES ||
		protobuf_count_varints(texts) > PROFILE_MAX_SOURCE_TEXTS)
		return error_set(err, ERROR_FORMAT, "there are too many source texts");
	if (!pprof_columns_agree(r, PPROF_COLUMN(source_path), PPROF_COLUMN(source_flags), "source files", err) ||
		!pprof_columns_agree(r, PPROF_COLUMN(source_text_file), PPROF_COLUMN(source_text), "source texts", err))
		return false;
	while (paths->pos < paths->end)
		if (!pprof_sources_read_file(r, err))
			return false;
	while (texts->pos < texts->end)
		if (!pprof_sources_read_text(r, err))
			return false;
	return byte_reader_left(&columns[PPROF_COLUMN(source_md5)]) == 0 ||
	       error_set(err, ERROR_FORMAT, "there are MD5s of source files that are not there");
}

bool pprof_read_line_file(struct pprof_reader *r, struct profile_line *line, struct error *err)
{
	struct byte_reader *gaps = &r->extension.columns[PPROF_COLUMN(line_gap)],
			   *files = &r->extension.columns[PPROF_COLUMN(line_file)];

	line->file = 0;
	if (!r->has_line_gap) {
		if (gaps->pos == gaps->end)
			return true;
		r->line_gap = protobuf_varint(gaps);
		r->has_line_gap = true;
	}
	if (r->line_gap > 0) {
		r->line_gap--;
		return true;
	}
	r->has_line_gap = false;
	if (files->pos == files->end)
		return error_set(err, ERROR_FORMAT, "the columns of lines do not agree");
	return pprof_string_id(r, (int64_t)protobuf_varint(files), &line->file, "the file of a line", err);
}

bool pprof_line_files_end(const struct pprof_reader *r, struct error *err)
{
	const struct byte_reader *columns = r->extension.columns;

	return (!r->has_line_gap && byte_reader_left(&columns[PPROF_COLUMN(line_gap)]) == 0 &&
		       byte_reader_left(&columns[PPROF_COLUMN(line_file)]) == 0) ||
	       error_set(err, ERROR_FORMAT, "there are files of lines that are not there");
}

/* ---- Writing ---- */

static void write_source_files(struct pprof_writer *w)
{
	for (size_t i = 0; i < w->profile->source_file_count; i++) {
		const struct profile_source_file *file = &w->profile->source_files[i];

		pprof_append(w, PPROF_COLUMN(source_path), file->path);
		pprof_append(w, PPROF_COLUMN(source_flags),
			(file->has_md5 ? HAS_MD5 : 0) | (file->is_md5_of_build ? IS_MD5_OF_BUILD : 0) |
				(file->is_embedded ? IS_EMBEDDED : 0) | (file->is_mixed ? IS_MIXED : 0) |
				(uint64_t)file->proof << PROOF_SHIFT);
		if (file->has_md5)
			buffer_append(&w->columns[PPROF_COLUMN(source_md5)], file->md5, sizeof(file->md5));
	}
}

static void write_source_texts(struct pprof_writer *w)
{
	for (size_t i = 0; i < w->profile->source_text_count; i++) {
		const struct profile_source_text *text = &w->profile->source_texts[i];

		pprof_append(w, PPROF_COLUMN(source_text_file), text->file);
		pprof_append(w, PPROF_COLUMN(source_text_line), text->first_line);
		pprof_append(w, PPROF_COLUMN(source_text), text->text);
	}
}

static void write_line_files(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	uint64_t gap = 0;

	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];

		for (uint32_t k = 0; k < location->line_count; k++, gap++) {
			uint32_t file = profile->lines[location->first_line + k].file;

			if (file == 0)
				continue;
			pprof_append(w, PPROF_COLUMN(line_gap), gap);
			pprof_append(w, PPROF_COLUMN(line_file), file);
			gap = UINT64_MAX;
		}
	}
}

void pprof_write_sources(struct pprof_writer *w)
{
	/* Source is looked for when a recording has ended. */
	if (w->recording)
		return;
	write_source_files(w);
	write_source_texts(w);
	write_line_files(w);
}
