/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jitdump.h"

enum { MAGIC = 0x4a695444, RECORD_HEADER_BYTES = 16, CODE_LOAD = 0, CODE_MOVE = 1 };

bool jitdump_begin(struct byte_reader *r)
{
	uint32_t magic = byte_reader_u32(r), size;

	byte_reader_u32(r); /* version */
	size = byte_reader_u32(r);
	byte_reader_seek(r, size);
	return byte_reader_ok(r) && magic == MAGIC && size >= 40;
}

static void read_move(struct byte_reader *r, struct jitdump_code *code)
{
	byte_reader_u64(r); /* where it was */
	code->start = byte_reader_u64(r);
	code->size = byte_reader_u64(r);
	code->index = byte_reader_u64(r);
	code->name = NULL;
}

static void read_load(struct byte_reader *r, struct jitdump_code *code)
{
	code->start = byte_reader_u64(r);
	code->size = byte_reader_u64(r);
	code->index = byte_reader_u64(r);
	code->name = byte_reader_string(r, NULL);
}

bool jitdump_next(struct byte_reader *r, struct jitdump_code *code)
{
	while (byte_reader_left(r) >= RECORD_HEADER_BYTES) {
		uint32_t id = byte_reader_u32(r), size = byte_reader_u32(r);
		struct byte_reader record;

		byte_reader_u64(r); /* time */
		if (size < RECORD_HEADER_BYTES)
			return false;
		record = byte_reader_split(r, size - RECORD_HEADER_BYTES);
		if (!byte_reader_ok(&record))
			return false;
		if (id != CODE_LOAD && id != CODE_MOVE)
			continue;
		byte_reader_u64(&record); /* process, thread */
		byte_reader_u64(&record); /* the address again */
		if (id == CODE_LOAD)
			read_load(&record, code);
		else
			read_move(&record, code);
		if (byte_reader_ok(&record) && code->size > 0)
			return true;
	}
	return false;
}
