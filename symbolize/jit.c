/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jit.h"

#include "symbolize/jitdump.h"
#include "symbolize/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18, MAX_NAME_BYTES = 1 << 12, MAX_MOVED = 1 << 20 };

/* The reading of a log, and its purpose. */
struct jit_reading {
	struct code_placement *placement;
	const struct jit_clock *clock;
	struct symbol_map *map; /* that is made */
};

/* ---- A perf map ---- */

/* The part of the map that is in memory. */
struct jit_piece {
	char *bytes; /* owned */
	size_t size;
	uint64_t offset;     /* of its first byte in the file */
	bool is_within_line; /* continues a line that is too long to be valid */
};

/* Takes digits, with or without 0x before them. */
static bool jit_take_number(struct text_cursor *text, uint64_t *number)
{
	struct text_cursor digits = *text;

	if (text_left(digits) > 2 && digits.at[0] == '0' && (digits.at[1] | 0x20) == 'x')
		digits.at += 2;
	if (!text_take_hex(&digits, number))
		return false;
	*text = digits;
	return true;
}

/* Returns when the byte at an offset was written, as far as the file's sizes tell. */
static struct placement_time time_of_offset(const struct jit_clock *clock, uint64_t offset)
{
	const struct profile_growth *growth = clock->growth;
	const struct profile_growth_step *step;
	size_t below;

	if (!growth || growth->count == 0 || clock->start_ns == 0)
		return placement_any_time;
	below = ARRAY_COUNT_UP_TO(growth->steps, growth->count, size, offset);
	if (below == growth->count)
		return (struct placement_time){ growth->steps[below - 1].to_ns - clock->start_ns, INT64_MAX };
	step = &growth->steps[below];
	return (struct placement_time){ step->from_ns - clock->start_ns, step->to_ns - clock->start_ns };
}

/* Parses `start size name`; the name extends to the end of the line. */
static void jit_take_line(struct jit_reading *reading, const struct jit_piece *piece, const char *line, const char *end)
{
	struct text_cursor text = { line, end };
	struct placement_code code = { 0 };
	uint64_t start, size;

	if (!jit_take_number(&text, &start) || !text_take_byte(&text, ' ') || !jit_take_number(&text, &size) ||
		!text_take_byte(&text, ' ') || text_left(text) == 0)
		return;
	code.name_at = piece->offset + (uint64_t)(text.at - piece->bytes);
	code.time = time_of_offset(reading->clock, code.name_at);
	placement_add(reading->placement, start, size, &code);
}

/* Parses the complete lines; the rest moves to the start of the buffer. */
static void jit_take_lines(struct jit_reading *reading, struct jit_piece *piece)
{
	const char *line = piece->bytes, *end = line + piece->size, *stop;

	for (; line < end && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
		if (!piece->is_within_line)
			jit_take_line(reading, piece, line, stop);
		piece->is_within_line = false;
	}
	if (line == piece->bytes && piece->size == PIECE_BYTES) {
		piece->is_within_line = true;
		line = end;
	}
	piece->offset += (uint64_t)(line - piece->bytes);
	piece->size = (size_t)(end - line);
	memmove(piece->bytes, line, piece->size);
}

/*
 * Passes over a hole of the file, in which no line can be: a file of a few bytes may say that it is as large as its
 * file system allows. A line into which a hole reaches is not valid. `*room`: the bytes up to the next hole, at most
 * those that the buffer has room for. False at the end.
 */
static bool skip_hole(int fd, struct jit_piece *piece, size_t *room)
{
	uint64_t at = piece->offset + piece->size;
	off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole;

	*room = PIECE_BYTES - piece->size;
	if (data < 0)
		return errno != ENXIO;
	if ((uint64_t)data != at) {
		piece->is_within_line = true;
		piece->offset = (uint64_t)data;
		piece->size = 0;
		*room = PIECE_BYTES;
	}
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole > data && (uint64_t)(hole - data) < *room)
		*room = (size_t)(hole - data);
	return true;
}

/* Reads more. False at the end. */
static bool jit_read_on(int fd, struct jit_piece *piece)
{
	size_t room;
	ssize_t got;

	if (!skip_hole(fd, piece, &room))
		return false;
	do
		got = pread(fd, piece->bytes + piece->size, room, (off_t)(piece->offset + piece->size));
	while (got < 0 && errno == EINTR);
	piece->size += got > 0 ? (size_t)got : 0;
	return got > 0;
}

static void jit_read_name(int fd, uint64_t offset, char name[MAX_NAME_BYTES])
{
	ssize_t got = pread(fd, name, MAX_NAME_BYTES - 1, (off_t)offset);

	name[got > 0 ? got : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

static bool name_address(struct jit_reading *reading, int fd, size_t address, uint64_t *named,
	char name[MAX_NAME_BYTES], struct error *err)
{
	struct placement_walk walk = placement_walk_at(reading->placement, address);
	struct symbol_map_symbol symbol = { .size = 1, .module = "", .file = "", .name = name };
	const struct placement_code *code;

	symbol.start = reading->placement->addresses[address];
	while ((code = placement_walk_next(&walk))) {
		if (code->name_at != *named)
			jit_read_name(fd, code->name_at, name);
		*named = code->name_at;
		symbol.time = code->time;
		if (name[0] && !symbol_map_add(reading->map, &symbol, err))
			return false;
	}
	return true;
}

static bool read_perf_map(struct jit_reading *reading, int fd, struct error *err)
{
	CLEANUP(cleanup_free) char *bytes = malloc(PIECE_BYTES);
	struct jit_piece piece = { .bytes = bytes };
	char name[MAX_NAME_BYTES];
	uint64_t named = 0;

	if (!bytes)
		return error_set_memory(err);
	while (jit_read_on(fd, &piece))
		jit_take_lines(reading, &piece);
	if (!piece.is_within_line)
		jit_take_line(reading, &piece, piece.bytes, piece.bytes + piece.size);
	placement_finish(reading->placement);
	for (size_t i = 0; i < reading->placement->count; i++)
		if (!name_address(reading, fd, i, &named, name, err))
			return false;
	return true;
}

/* ---- A jitdump ---- */

/* The numbers of functions that moved over an address, and the last code of each. */
struct moved {
	struct placement_code *codes; /* owned */
	size_t count, capacity;
	struct hash_map known; /* number -> code */
};

/* Reads the log once: which functions moved, and how its lines are counted. */
static bool find_moved(
	const struct code_placement *placement, struct jitdump *dump, struct moved *moved, struct error *err)
{
	struct jitdump_code placed;

	while (jitdump_next(dump, &placed)) {
		uint32_t *index;
		bool added;

		if (placed.name_at || moved->count == MAX_MOVED ||
			!placement_covers(placement, placed.start, placed.size))
			continue;
		if (!ARRAY_RESERVE(&moved->codes, &moved->capacity, moved->count + 1, MAX_MOVED, err) ||
			!hash_map_add(&moved->known, &placed.index, (uint32_t)moved->count, &index, &added, err))
			return false;
		moved->codes[moved->count] = (struct placement_code){ 0 };
		moved->count += added;
	}
	jitdump_rewind(dump);
	return true;
}

static struct placement_time time_of_code(const struct jit_clock *clock, const struct jitdump_code *placed)
{
	int64_t time_ns = (int64_t)(placed->time_ns - (uint64_t)clock->start_ns);

	return clock->start_ns == 0 || placed->time_ns == 0 ? placement_any_time
							    : (struct placement_time){ time_ns, time_ns };
}

/* Code that moves keeps its name and lines. */
static void jit_take_code(
	struct jit_reading *reading, struct moved *moved, const struct jitdump_code *placed, uint64_t line_offset)
{
	struct placement_code code = { placed->start, placed->name_at, placed->lines_at, placed->lines_bytes,
		line_offset, placement_any_time };
	uint32_t index = hash_map_get(&moved->known, &placed->index);
	struct placement_code *last = index == HASH_MAP_NONE ? NULL : &moved->codes[index];

	if (!code.name_at && last) {
		code = *last;
		code.start = placed->start;
		code.lines_offset += last->start - placed->start;
	}
	if (!code.name_at)
		return;
	code.time = time_of_code(reading->clock, placed);
	if (last)
		*last = code;
	placement_add(reading->placement, placed->start, placed->size, &code);
}

static bool jit_add_name(struct jit_reading *reading, uint64_t address, const struct placement_code *code,
	struct jitdump *dump, struct error *err)
{
	struct symbol_map_symbol symbol = { .start = address, .size = 1, .module = "", .file = "", .time = code->time };
	CLEANUP(cleanup_free) char *name = strdup(jitdump_text(dump, code->name_at));

	if (!name)
		return error_set_memory(err);
	symbol.name = name;
	if (!jitdump_find_line(dump, code->lines_at, code->lines_bytes, symbol.start + code->lines_offset, &symbol.file,
		    &symbol.line))
		symbol.file = "";
	return symbol_map_add(reading->map, &symbol, err);
}

static bool jit_add_names(struct jit_reading *reading, struct jitdump *dump, struct error *err)
{
	const struct code_placement *placement = reading->placement;

	for (size_t i = 0; i < placement->count; i++) {
		struct placement_walk walk = placement_walk_at(placement, i);
		const struct placement_code *code;

		while ((code = placement_walk_next(&walk)))
			if (!jit_add_name(reading, placement->addresses[i], code, dump, err))
				return false;
	}
	return true;
}

static bool read_jitdump(struct jit_reading *reading, struct jitdump *dump, struct error *err)
{
	struct moved moved = { 0 };
	struct jitdump_code placed;
	uint64_t line_offset;
	bool ok;

	hash_map_init(&moved.known, sizeof(uint64_t));
	ok = find_moved(reading->placement, dump, &moved, err);
	line_offset = jitdump_line_offset(dump);
	while (ok && jitdump_next(dump, &placed))
		jit_take_code(reading, &moved, &placed, line_offset);
	placement_finish(reading->placement);
	ok = ok && jit_add_names(reading, dump, err);
	free(moved.codes);
	hash_map_deinit(&moved.known);
	return ok;
}

/* ---- Both formats ---- */

static bool read_either(struct jit_reading *reading, const struct file_opened *file, struct error *err)
{
	struct jitdump dump;
	bool is_jitdump, ok;

	ok = jitdump_init(&dump, file->fd, &is_jitdump, err) &&
	     (is_jitdump ? read_jitdump(reading, &dump, err) : read_perf_map(reading, file->fd, err));
	jitdump_deinit(&dump);
	return ok;
}

bool jit_read(const struct file_opened *file, const struct jit_clock *clock, const uint64_t *addresses, size_t count,
	struct symbol_map **map, struct error *err)
{
	struct code_placement placement;
	struct jit_reading reading = { .placement = &placement, .clock = clock };
	bool ok;

	if (!symbol_map_create(&reading.map, err))
		return false;
	ok = placement_init(&placement, addresses, count, err) && read_either(&reading, file, err);
	placement_deinit(&placement);
	if (!ok) {
		symbol_map_destroy(reading.map);
		return false;
	}
	*map = reading.map;
	return true;
}
