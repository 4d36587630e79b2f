/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jitdump.h"

#include <string.h>

enum {
	MAGIC = 0x4a695444,
	RECORD_HEADER_BYTES = 16,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_DEBUG_INFO = 2,
	/* Size of the header that perf writes before the code when it makes an ELF file. */
	ELF_HEADER_BYTES = 0x40,
	MAX_LINES = 1 << 13,
};

struct record {
	uint32_t id;
	struct byte_reader body;
};

static bool next_record(struct byte_reader *r, struct record *record)
{
	uint32_t size;

	if (byte_reader_left(r) < RECORD_HEADER_BYTES)
		return false;
	record->id = byte_reader_u32(r);
	size = byte_reader_u32(r);
	byte_reader_u64(r); /* time */
	if (size < RECORD_HEADER_BYTES)
		return false;
	record->body = byte_reader_split(r, size - RECORD_HEADER_BYTES);
	return byte_reader_ok(&record->body);
}

struct line_entry {
	uint64_t address;
	uint32_t line;
	const char *file;
};

/* Reads a line entry. The file name 0xff, of one byte, stands for the previous entry's file. */
static bool next_line(struct byte_reader *r, struct line_entry *entry)
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
	return byte_reader_ok(r);
}

/*
 * Some runtimes (V8) add the size of the ELF header that perf writes before the code, others do not, and the log does
 * not say which. If it was added, no line in the whole log is in the first bytes of its function.
 */
static uint64_t find_line_offset(struct byte_reader r)
{
	struct record record;

	while (next_record(&r, &record)) {
		uint64_t start = byte_reader_u64(&record.body);
		struct line_entry entry = { 0 };

		if (record.id != CODE_DEBUG_INFO)
			continue;
		byte_reader_u64(&record.body); /* count */
		if (next_line(&record.body, &entry) && entry.address - start < ELF_HEADER_BYTES)
			return 0;
	}
	return ELF_HEADER_BYTES;
}

bool jitdump_init(struct jitdump *dump, const void *bytes, size_t size)
{
	uint32_t magic, header_size;

	*dump = (struct jitdump){ .r = byte_reader_over(bytes, size) };
	magic = byte_reader_u32(&dump->r);
	byte_reader_u32(&dump->r); /* version */
	header_size = byte_reader_u32(&dump->r);
	byte_reader_seek(&dump->r, header_size);
	if (!byte_reader_ok(&dump->r) || magic != MAGIC || header_size < 40)
		return false;
	dump->line_offset = find_line_offset(dump->r);
	return true;
}

static void read_move(struct byte_reader *r, struct jitdump_code *code)
{
	byte_reader_u64(r); /* its old address */
	code->start = byte_reader_u64(r);
	code->size = byte_reader_u64(r);
	code->index = byte_reader_u64(r);
}

static void read_load(const struct jitdump *dump, struct byte_reader *r, struct jitdump_code *code)
{
	code->start = byte_reader_u64(r);
	code->size = byte_reader_u64(r);
	code->index = byte_reader_u64(r);
	code->name = byte_reader_string(r, NULL);
	if (dump->lines_start == code->start)
		code->lines = (struct jitdump_lines){ dump->lines, dump->line_offset };
}

bool jitdump_next(struct jitdump *dump, struct jitdump_code *code)
{
	struct record record;

	while (next_record(&dump->r, &record)) {
		if (record.id == CODE_DEBUG_INFO) {
			dump->lines_start = byte_reader_u64(&record.body);
			byte_reader_u64(&record.body); /* count */
			dump->lines = record.body;
		}
		if (record.id != CODE_LOAD && record.id != CODE_MOVE)
			continue;
		*code = (struct jitdump_code){ .name = NULL };
		byte_reader_u64(&record.body); /* process, thread */
		byte_reader_u64(&record.body); /* the address, repeated */
		if (record.id == CODE_LOAD)
			read_load(dump, &record.body, code);
		else
			read_move(&record.body, code);
		if (byte_reader_ok(&record.body) && code->size > 0)
			return true;
	}
	return false;
}

bool jitdump_find_line(const struct jitdump_lines *lines, uint64_t address, const char **file, uint32_t *line)
{
	struct byte_reader r = lines->entries;
	struct line_entry entry = { 0 };

	*file = NULL;
	*line = 0;
	for (unsigned int i = 0; i < MAX_LINES && next_line(&r, &entry); i++) {
		if (!entry.file)
			continue;
		if (!*file)
			*file = entry.file;
		if (entry.address - lines->offset > address)
			break;
		if (entry.file == *file || strcmp(entry.file, *file) == 0)
			*line = entry.line;
	}
	return *file != NULL;
}
