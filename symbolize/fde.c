/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/fde.h"

/* Encodings: version 1, pointers of four bytes, the table relative to the header. */
enum { HEADER_START = 0x3b031b01 };

void fde_table_init(struct fde_table *table, struct elf_image *image)
{
	struct byte_reader r;
	uint32_t encodings, count;

	*table = (struct fde_table){ 0 };
	elf_image_eh_frame(image, &table->frame, &table->header);
	r = byte_reader_over(table->header.bytes, table->header.size);
	encodings = byte_reader_u32(&r);
	byte_reader_u32(&r);
	count = byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || encodings != HEADER_START || count > byte_reader_left(&r) / 8)
		return;
	table->count = count;
	table->first = byte_reader_offset(&r);
}

/* Of an entry of the search table: where its function begins (0) or where its FDE lies (1). */
static uint64_t fde_field(const struct fde_table *table, size_t index, size_t field)
{
	struct byte_reader r = byte_reader_over(table->header.bytes, table->header.size);

	byte_reader_seek(&r, table->first + index * 8 + field * 4);
	return table->header.address + (uint64_t)(int64_t)(int32_t)byte_reader_u32(&r);
}

/*
 * An FDE: length, CIE, begin and range. The CIE says how the latter are written; that the begin is the one of the search table
 * tells it as well. Eight bytes each where code may lie anywhere (-mcmodel=large).
 */
static uint64_t fde_size(const struct fde_table *table, size_t index, uint64_t begin)
{
	struct byte_reader r = byte_reader_over(table->frame.bytes, table->frame.size), wide;
	uint64_t at, number;

	byte_reader_seek(&r, fde_field(table, index, 1) - table->frame.address);
	byte_reader_skip(&r, 8);
	at = table->frame.address + byte_reader_offset(&r);
	wide = r;
	number = byte_reader_u64(&wide);
	if (number == begin || at + number == begin)
		return byte_reader_u64(&wide);
	byte_reader_u32(&r);
	return byte_reader_u32(&r);
}

bool fde_table_find(const struct fde_table *table, uint64_t address, uint64_t *start, uint64_t *end)
{
	size_t low = 0, high = table->count;
	uint64_t first, size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fde_field(table, middle, 0) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	first = fde_field(table, low - 1, 0);
	size = fde_size(table, low - 1, first);
	if (address - first >= size || !checked_add(first, size, end))
		return false;
	*start = first;
	return true;
}
