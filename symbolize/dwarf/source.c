/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes the MD5 of source files and the lines of embedded ones from line tables. */
#include "symbolize/dwarf/source.h"

#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_RANGES = 1 << 12,
	MOST_PIECE_BYTES = 1 << 18, /* of one function */
	MOST_TEXT_BYTES = 1 << 20,  /* of all pieces of a unit */
	LINES_AROUND = 2,
};

/* Lines of a function in an embedded text. */
struct dwarf_source_range {
	const struct dwarf_described_path *in;
	uint32_t definition; /* 0: in another file */
	uint32_t first, last;
};

struct collecting {
	struct dwarf_job *job;
	const struct dwarf_describer *describer;
	struct dwarf_source_range *ranges; /* owned */
	size_t range_count, range_capacity, text_bytes, source_capacity;
	struct dwarf_source *sources; /* owned */
	size_t source_count;
};

static bool dwarf_source_add_source(struct collecting *c, const struct dwarf_described_path *path, const char *text,
	uint32_t first_line, struct error *err)
{
	struct dwarf_source source = { .path = path->path, .text = text, .first_line = first_line };

	if (path->file->md5) {
		source.has_md5 = true;
		memcpy(source.md5, path->file->md5, sizeof(source.md5));
	}
	return ARRAY_APPEND(&c->sources, &c->source_capacity, &c->source_count, ARRAY_MAX_IDS, err, source);
}

/* ---- Which lines ---- */

/* The file that a frame's path is of, if its text is embedded; NULL: it is not. Equal paths are one string. */
static const struct dwarf_described_path *embedded(const struct dwarf_describer *d, const char *path)
{
	for (size_t i = 0; i < d->path_count; i++)
		if (d->paths[i].path == path && d->paths[i].file && d->paths[i].file->source)
			return &d->paths[i];
	return NULL;
}

static bool dwarf_source_add_frame(struct collecting *c, const struct dwarf_frame *frame, struct error *err)
{
	const struct dwarf_described_path *in = frame->line ? embedded(c->describer, frame->file) : NULL;
	struct dwarf_source_range range = { in, 0, frame->line, frame->line };

	if (!in || c->range_count == MOST_RANGES)
		return true;
	if (strcmp(frame->decl_file, frame->file) == 0 && frame->decl_line <= frame->line)
		range.definition = frame->decl_line;
	for (size_t i = c->range_count; i-- > 0;) {
		struct dwarf_source_range *other = &c->ranges[i];

		if (other->in != in || other->definition != range.definition ||
			(range.definition == 0 && other->first != range.first))
			continue;
		other->first = range.first < other->first ? range.first : other->first;
		other->last = range.last > other->last ? range.last : other->last;
		return true;
	}
	return ARRAY_APPEND(&c->ranges, &c->range_capacity, &c->range_count, MOST_RANGES, err, range);
}

static bool dwarf_source_add_frames(struct collecting *c, struct error *err)
{
	bool has_text = false;

	for (size_t i = 0; i < c->describer->path_count; i++)
		has_text |= c->describer->paths[i].file && c->describer->paths[i].file->source;
	for (size_t i = 0; has_text && i < c->job->count; i++) {
		const struct dwarf_answer *answer = c->job->answers[i];

		for (size_t k = 0; k < answer->count; k++)
			if (!dwarf_source_add_frame(c, &answer->frames[k], err))
				return false;
	}
	return true;
}

/* ---- Their text ---- */

static int dwarf_source_by_place(const void *left, const void *right)
{
	const struct dwarf_source_range *a = left, *b = right;

	return a->in != b->in ? ORDER(a->in, b->in) : ORDER(a->first, b->first);
}

/* A place in a text, from which it is read on. */
struct cursor {
	const struct dwarf_described_path *in;
	const char *at; /* NULL: the text has ended */
	uint32_t line;
};

static void move_to(struct cursor *cursor, const struct dwarf_source_range *range)
{
	if (cursor->in != range->in || range->first < cursor->line)
		*cursor = (struct cursor){ range->in, range->in->file->source, 1 };
	for (; cursor->at && cursor->line < range->first; cursor->line++) {
		cursor->at = strchr(cursor->at, '\n');
		cursor->at += cursor->at != NULL;
	}
}

/* The size of `count` lines, without the end of the last; SIZE_MAX: they are longer than `most`. */
static size_t size_of_lines(const char *text, uint32_t count, size_t most)
{
	size_t room = strnlen(text, most + 1), size = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *end = memchr(text + size, '\n', room - size);

		if (!end)
			return room > most ? SIZE_MAX : room;
		size = (size_t)(end - text) + 1;
	}
	return size - (size > 0);
}

/* Adds the lines of a range, as far as its file has them. */
static bool dwarf_source_add_piece(
	struct collecting *c, struct cursor *cursor, const struct dwarf_source_range *range, struct error *err)
{
	uint32_t last = range->last;
	size_t size;
	char *text;

	move_to(cursor, range);
	if (!cursor->at || cursor->at[0] == '\0')
		return true;
	if (range->definition)
		last = profile_source_end(cursor->at, strnlen(cursor->at, MOST_PIECE_BYTES), range->first,
			range->definition, range->last);
	size = last < range->first ? SIZE_MAX : size_of_lines(cursor->at, last - range->first + 1, MOST_PIECE_BYTES);
	if (size > MOST_TEXT_BYTES - c->text_bytes)
		return true;
	c->text_bytes += size;
	text = arena_copy_string(c->job->arena, cursor->at, size);
	return text ? dwarf_source_add_source(c, range->in, text, range->first, err) : error_set_memory(err);
}

/* A function is kept from its type or attributes on, other code with the lines around it. */
static void dwarf_source_widen(struct dwarf_source_range *range)
{
	uint32_t first = range->definition ? range->definition : range->first;

	range->first = first > LINES_AROUND ? first - LINES_AROUND : 1;
	if (!range->definition && range->last < UINT32_MAX - LINES_AROUND)
		range->last += LINES_AROUND;
}

static bool dwarf_source_add_pieces(struct collecting *c, struct error *err)
{
	struct cursor cursor = { 0 };

	for (size_t i = 0; i < c->range_count; i++)
		dwarf_source_widen(&c->ranges[i]);
	if (c->range_count > 1)
		qsort(c->ranges, c->range_count, sizeof(*c->ranges), dwarf_source_by_place);
	for (size_t i = 0; i < c->range_count; i++)
		if (!dwarf_source_add_piece(c, &cursor, &c->ranges[i], err))
			return false;
	return true;
}

static bool dwarf_source_add_all(struct collecting *c, struct error *err)
{
	for (size_t i = 0; i < c->describer->path_count; i++) {
		const struct dwarf_described_path *path = &c->describer->paths[i];

		if (path->path[0] && path->file && path->file->md5 && !dwarf_source_add_source(c, path, "", 0, err))
			return false;
	}
	return dwarf_source_add_frames(c, err) && dwarf_source_add_pieces(c, err);
}

bool dwarf_job_sources(struct dwarf_job *job, const struct dwarf_describer *describer, struct error *err)
{
	struct collecting c = { .job = job, .describer = describer };
	bool ok = dwarf_source_add_all(&c, err);

	/* Most units tell of no file: their arenas stay empty. */
	if (ok && c.source_count > 0) {
		job->sources = ARENA_ARRAY(job->arena, struct dwarf_source, c.source_count);
		ok = job->sources ? true : error_set_memory(err);
	}
	if (ok && c.source_count > 0) {
		memcpy(job->sources, c.sources, c.source_count * sizeof(*c.sources));
		job->source_count = c.source_count;
	}
	free(c.ranges);
	free(c.sources);
	return ok;
}
