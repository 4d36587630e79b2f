/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAGIC = 0x4a695444,
	LEAST_HEADER_BYTES = 40,
	RECORD_HEADER_BYTES = 16,
	FLAG_ARCH_TIMESTAMP = 1,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_DEBUG_INFO = 2,
	/* Size of the header that perf writes before the code when it makes an ELF file. */
	ELF_HEADER_BYTES = 0x40,
	MAX_LINES = 1 << 13,
	WINDOW_BYTES = 1 << 18,
	/* The bytes of a record that are read: its numbers and a name. */
	START_BYTES = 1 << 12,
};

struct jitdump_record {
	uint32_t id;
	uint64_t time_ns;
	uint64_t at, bytes;      /* its body */
	struct byte_reader body; /* its start */
};

/* A reader over the bytes at an offset: `bytes` of them, or fewer where the log or the window ends. */
static struct byte_reader window_read(struct jitdump *dump, uint64_t offset, size_t bytes)
{
	ssize_t got;
	size_t into;

	if (offset < dump->window_at || offset - dump->window_at + bytes > dump->window_bytes) {
		do
			got = pread(dump->fd, dump->window, WINDOW_BYTES, (off_t)offset);
		while (got < 0 && errno == EINTR);
		dump->window_at = offset;
		dump->window_bytes = got > 0 ? (size_t)got : 0;
	}
	into = (size_t)(offset - dump->window_at);
	return byte_reader_over(
		dump->window + into, bytes < dump->window_bytes - into ? bytes : dump->window_bytes - into);
}

static bool next_record(struct jitdump *dump, struct jitdump_record *record)
{
	struct byte_reader r = window_read(dump, dump->next, RECORD_HEADER_BYTES + START_BYTES);
	uint64_t size, next;

	record->id = byte_reader_u32(&r);
	size = byte_reader_u32(&r);
	record->time_ns = byte_reader_u64(&r);
	if (!byte_reader_ok(&r) || size < RECORD_HEADER_BYTES || !checked_add(dump->next, size, &next) ||
		next > INT64_MAX)
		return false;
	record->at = dump->next + RECORD_HEADER_BYTES;
	record->bytes = size - RECORD_HEADER_BYTES;
	record->body = byte_reader_over(
		r.pos, record->bytes < byte_reader_left(&r) ? (size_t)record->bytes : byte_reader_left(&r));
	dump->next = next;
	return true;
}

struct line_entry {
	uint64_t address;
	uint32_t line;
	const char *file;
};

/* Reads a line entry. The file name 0xff, of one byte, stands for the previous entry's file. An empty one ends them. */
static bool jitdump_next_line(struct byte_reader *r, struct line_entry *entry)
{
	const char *file;

	if (byte_reader_left(r) == 0)
		return false;
	entry->address = byte_reader_u64(r);
	entry->line = byte_reader_u32(r);
	byte_reader_u32(r); /* discriminator */
	file = byte_reader_string(r, NULL);
	if (file && strcmp(file, "\xff") != 0)
		entry->file = file;
	return file && file[0];
}

bool jitdump_init(struct jitdump *dump, int fd, bool *is_jitdump, struct error *err)
{
	uint32_t magic, header_size;
	struct byte_reader r;

	*dump = (struct jitdump){ .fd = fd, .window = malloc(WINDOW_BYTES) };
	if (!dump->window)
		return error_set_memory(err);
	r = window_read(dump, 0, LEAST_HEADER_BYTES);
	magic = byte_reader_u32(&r);
	byte_reader_u32(&r); /* version */
	header_size = byte_reader_u32(&r);
	byte_reader_u64(&r); /* machine, padding */
	byte_reader_u32(&r); /* process */
	byte_reader_u64(&r); /* time */
	dump->has_other_clock = byte_reader_u64(&r) & FLAG_ARCH_TIMESTAMP;
	dump->first = dump->next = header_size;
	*is_jitdump = byte_reader_ok(&r) && magic == MAGIC && header_size >= LEAST_HEADER_BYTES;
	return true;
}

void jitdump_deinit(struct jitdump *dump)
{
	free(dump->window);
}

void jitdump_rewind(struct jitdump *dump)
{
	dump->next = dump->first;
	dump->lines_bytes = 0;
}

static void jitdump_read_lines(struct jitdump *dump, struct jitdump_record *record)
{
	struct byte_reader *r = &record->body;
	struct line_entry entry = { 0 };
	size_t before = byte_reader_offset(r), numbers;

	dump->lines_start = byte_reader_u64(r);
	byte_reader_u64(r); /* count */
	numbers = byte_reader_offset(r) - before;
	dump->lines_bytes = byte_reader_ok(r) ? record->bytes - numbers : 0;
	dump->lines_at = record->at + numbers;
	if (jitdump_next_line(r, &entry) && entry.address - dump->lines_start < ELF_HEADER_BYTES)
		dump->lines_are_near = true;
}

static void read_move(struct byte_reader *r, struct jitdump_code *code)
{
	byte_reader_u64(r); /* its old address */
	code->start = byte_reader_u64(r);
	code->size = byte_reader_u64(r);
	code->index = byte_reader_u64(r);
}

/* A function without a name is not placed. */
static void read_load(const struct jitdump *dump, struct jitdump_record *record, struct jitdump_code *code)
{
	struct byte_reader *r = &record->body;

	code->start = byte_reader_u64(r);
	code->size = byte_reader_u64(r);
	code->index = byte_reader_u64(r);
	if (!byte_reader_ok(r))
		return;
	code->name_at = record->at + byte_reader_offset(r);
	if (byte_reader_left(r) == 0 || *r->pos == '\0' ||
		(!memchr(r->pos, '\0', byte_reader_left(r)) && record->bytes <= START_BYTES))
		code->size = 0;
	if (dump->lines_start == code->start) {
		code->lines_at = dump->lines_at;
		code->lines_bytes = dump->lines_bytes;
	}
}

bool jitdump_next(struct jitdump *dump, struct jitdump_code *code)
{
	struct jitdump_record record;

	while (next_record(dump, &record)) {
		if (record.id == CODE_DEBUG_INFO)
			jitdump_read_lines(dump, &record);
		if (record.id != CODE_LOAD && record.id != CODE_MOVE)
			continue;
		*code = (struct jitdump_code){ .time_ns = dump->has_other_clock ? 0 : record.time_ns };
		byte_reader_u64(&record.body); /* process, thread */
		byte_reader_u64(&record.body); /* the address, repeated */
		if (record.id == CODE_LOAD)
			read_load(dump, &record, code);
		else
			read_move(&record.body, code);
		if (byte_reader_ok(&record.body) && code->size > 0)
			return true;
	}
	return false;
}

/*
 * Some runtimes (V8) add the size of the ELF header that perf writes before the code, others do not, and the log does
 * not say which. If it was added, no line in the whole log is in the first bytes of its function.
 */
uint64_t jitdump_line_offset(const struct jitdump *dump)
{
	return dump->lines_are_near ? 0 : ELF_HEADER_BYTES;
}

const char *jitdump_text(struct jitdump *dump, uint64_t offset)
{
	struct byte_reader r = window_read(dump, offset, START_BYTES);
	size_t size = byte_reader_left(&r);

	if (size == 0)
		return "";
	if (!memchr(r.pos, '\0', size))
		dump->window[r.pos - dump->window + (ptrdiff_t)size - 1] = '\0';
	return (const char *)r.pos;
}

bool jitdump_find_line(
	struct jitdump *dump, uint64_t at, uint64_t bytes, uint64_t address, const char **file, uint32_t *line)
{
	struct byte_reader r = window_read(dump, at, bytes < WINDOW_BYTES ? (size_t)bytes : WINDOW_BYTES);
	struct line_entry entry = { 0 };

	*file = NULL;
	*line = 0;
	for (unsigned int i = 0; i < MAX_LINES && jitdump_next_line(&r, &entry); i++) {
		if (!entry.file)
			continue;
		if (!*file)
			*file = entry.file;
		if (entry.address > address)
			break;
		if (entry.file == *file || strcmp(entry.file, *file) == 0)
			*line = entry.line;
	}
	return *file != NULL;
}
