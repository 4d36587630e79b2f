/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jit.h"

#include "symbolize/addresses.h"
#include "symbolize/hex.h"
#include "symbolize/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18, MAX_NAME_BYTES = 1 << 12 };
static const size_t max_dump_bytes = (size_t)1 << 30;

/* The addresses to name, and the last code that was placed at each. */
struct jit {
	uint64_t *addresses; /* owned, rising */
	uint64_t *placed; /* owned, [address]: 0: nothing; else 1 + where a perf map has the name, or a code's index */
	size_t count;
};

static bool jit_init(struct jit *jit, const uint64_t *addresses, size_t count, struct error *err)
{
	*jit = (struct jit){ addresses_sorted(addresses, count), calloc(count + 1, sizeof(*jit->placed)), count };
	return (jit->addresses && jit->placed) || error_set_memory(err);
}

static void jit_deinit(struct jit *jit)
{
	free(jit->addresses);
	free(jit->placed);
}

static void place(struct jit *jit, uint64_t start, uint64_t size, uint64_t what)
{
	size_t first = addresses_lower_bound(jit->addresses, jit->count, start);

	for (size_t i = first; i < jit->count && jit->addresses[i] - start < size; i++)
		jit->placed[i] = 1 + what;
}

/* ---- A perf map ---- */

/* The part of the map that is in memory. */
struct piece {
	char *bytes; /* owned */
	size_t size;
	uint64_t offset;     /* of its first byte in the file */
	bool is_within_line; /* continues a line that is too long to be valid */
};

/* Reads digits, with or without 0x before them, and moves behind them; without digits, `*text` is unchanged. */
static uint64_t take_number(const char **text, const char *end)
{
	const char *digits = *text, *pos;
	uint64_t number;

	if (end - digits > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x')
		digits += 2;
	pos = digits;
	number = hex_take(&pos, end);
	if (pos > digits)
		*text = pos;
	return number;
}

/* Parses `start size name`; the name extends to the end of the line. */
static void take_line(struct jit *jit, const struct piece *piece, const char *line, const char *end)
{
	const char *pos = line, *number;
	uint64_t start, size;

	start = take_number(&pos, end);
	if (pos == line || pos == end || *pos != ' ')
		return;
	number = ++pos;
	size = take_number(&pos, end);
	if (pos > number && end - pos > 1 && *pos == ' ')
		place(jit, start, size, piece->offset + (uint64_t)(pos + 1 - piece->bytes));
}

/* Parses the complete lines; the rest moves to the start of the buffer. */
static void jit_take_lines(struct jit *jit, struct piece *piece)
{
	const char *line = piece->bytes, *end = line + piece->size, *stop;

	for (; line < end && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
		if (!piece->is_within_line)
			take_line(jit, piece, line, stop);
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

/* Reads more. False at the end. */
static bool read_on(int fd, struct piece *piece)
{
	ssize_t got;

	do
		got = read(fd, piece->bytes + piece->size, PIECE_BYTES - piece->size);
	while (got < 0 && errno == EINTR);
	piece->size += got > 0 ? (size_t)got : 0;
	return got > 0;
}

static void read_name(int fd, uint64_t offset, char name[MAX_NAME_BYTES])
{
	ssize_t got = pread(fd, name, MAX_NAME_BYTES - 1, (off_t)offset);

	name[got > 0 ? got : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

static bool read_perf_map(struct jit *jit, int fd, struct piece *piece, struct symbol_map *map, struct error *err)
{
	struct symbol_map_symbol symbol = { .size = 1, .module = "", .file = "" };
	char name[MAX_NAME_BYTES];
	uint64_t named = 0;

	do
		jit_take_lines(jit, piece);
	while (read_on(fd, piece));
	if (!piece->is_within_line)
		take_line(jit, piece, piece->bytes, piece->bytes + piece->size);
	symbol.name = name;
	for (size_t i = 0; i < jit->count; i++) {
		if (jit->placed[i] == 0)
			continue;
		if (jit->placed[i] != named)
			read_name(fd, jit->placed[i] - 1, name);
		named = jit->placed[i];
		symbol.start = jit->addresses[i];
		if (name[0] && !symbol_map_add(map, &symbol, err))
			return false;
	}
	return true;
}

/* ---- A jitdump ---- */

/* Code that was placed, or moved. */
struct code {
	uint64_t start;
	const char *name;           /* borrowed from the log */
	struct jitdump_lines lines; /* empty: no entries */
};

struct codes {
	struct code *items; /* owned */
	size_t count, capacity;
	struct hash_map known; /* number -> code */
};

static void codes_deinit(struct codes *codes)
{
	free(codes->items);
	hash_map_deinit(&codes->known);
}

/* Code that moves keeps its name and lines. */
static void take_moved(const struct codes *codes, const struct jitdump_code *moved, struct code *code)
{
	uint32_t index = hash_map_get(&codes->known, &moved->index);
	const struct code *from = index == HASH_MAP_NONE ? NULL : &codes->items[index];

	code->name = from ? from->name : "";
	if (from)
		code->lines =
			(struct jitdump_lines){ from->lines.entries, from->lines.offset + (from->start - code->start) };
}

static bool take_code(struct jit *jit, struct codes *codes, const struct jitdump_code *placed, struct error *err)
{
	struct code code = { placed->start, placed->name, placed->lines };
	uint32_t *index;
	bool added;

	if (!code.name)
		take_moved(codes, placed, &code);
	if (code.name[0] == '\0')
		return true;
	if (!ARRAY_RESERVE(&codes->items, &codes->capacity, codes->count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&codes->known, &placed->index, 0, &index, &added, err))
		return false;
	*index = (uint32_t)codes->count;
	place(jit, placed->start, placed->size, codes->count);
	codes->items[codes->count++] = code;
	return true;
}

static bool read_codes(
	struct jit *jit, struct jitdump *dump, struct codes *codes, struct symbol_map *map, struct error *err)
{
	struct symbol_map_symbol symbol = { .size = 1, .module = "" };
	struct jitdump_code placed;

	while (jitdump_next(dump, &placed))
		if (!take_code(jit, codes, &placed, err))
			return false;
	for (size_t i = 0; i < jit->count; i++) {
		const struct code *code = jit->placed[i] ? &codes->items[jit->placed[i] - 1] : NULL;

		if (!code)
			continue;
		symbol.start = jit->addresses[i];
		symbol.name = code->name;
		if (!jitdump_find_line(&code->lines, symbol.start, &symbol.file, &symbol.line))
			symbol.file = "";
		if (!symbol_map_add(map, &symbol, err))
			return false;
	}
	return true;
}

static bool read_jitdump(struct jit *jit, const struct file_opened *file, struct symbol_map *map, struct error *err)
{
	struct codes codes = { 0 };
	struct jitdump dump;
	struct buffer bytes;
	bool ok;

	hash_map_init(&codes.known, sizeof(uint64_t));
	buffer_init(&bytes, max_dump_bytes);
	ok = file_read_opened(file, &bytes, err) &&
	     (!jitdump_init(&dump, bytes.data, bytes.size) || read_codes(jit, &dump, &codes, map, err));
	buffer_deinit(&bytes);
	codes_deinit(&codes);
	return ok;
}

/* ---- Both formats ---- */

static bool read_either(struct jit *jit, const struct file_opened *file, struct symbol_map *map, struct error *err)
{
	CLEANUP(cleanup_free) char *bytes = malloc(PIECE_BYTES);
	struct piece piece = { .bytes = bytes };
	struct jitdump ignored;

	if (!bytes)
		return error_set_memory(err);
	if (lseek(file->fd, 0, SEEK_SET) != 0)
		return error_set_errno(err, errno, "cannot read %s", file->name);
	if (read_on(file->fd, &piece) && jitdump_init(&ignored, piece.bytes, piece.size))
		return read_jitdump(jit, file, map, err);
	return read_perf_map(jit, file->fd, &piece, map, err);
}

bool jit_read(const struct file_opened *file, const uint64_t *addresses, size_t count, struct symbol_map **map,
	struct error *err)
{
	struct symbol_map *made;
	struct jit jit;
	bool ok;

	if (!symbol_map_create(&made, err))
		return false;
	ok = jit_init(&jit, addresses, count, err) && read_either(&jit, file, made, err);
	jit_deinit(&jit);
	if (!ok) {
		symbol_map_destroy(made);
		return false;
	}
	*map = made;
	return true;
}
