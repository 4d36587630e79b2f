/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/fde.h"

#include <dwarf.h>
#include <stdlib.h>

/* Encodings: version 1, pointers of four bytes, the table relative to the header. */
enum { HEADER_START = 0x3b031b01 };
enum { MAX_EXTENTS = 1 << 24, FORMAT_MASK = 0x0f, BASE_MASK = 0x70 };

/* ---- Entries in order ---- */

/* What a run of entries shares: they follow the common entry that they name. */
struct common_entry {
	size_t offset;
	uint8_t encoding; /* of addresses; DW_EH_PE_omit: not to be read */
};

struct scan {
	const struct elf_section *frame;
	struct common_entry common;
	bool has_common;
	struct fde_extent *extents; /* owned */
	size_t count, capacity;
};

static uint64_t read_number(struct byte_reader *r, uint8_t encoding)
{
	switch (encoding & FORMAT_MASK) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return byte_reader_u64(r);
	case DW_EH_PE_udata4:
		return byte_reader_u32(r);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)byte_reader_u32(r);
	default:
		byte_reader_seek(r, SIZE_MAX);
		return 0;
	}
}

/* The encoding that an augmentation tells (`zR`, `zPLR`, ...): its letters are in the order of their data. */
static uint8_t read_augmentation(struct byte_reader *r, const char *letters)
{
	uint8_t encoding = DW_EH_PE_absptr;

	if (letters[0] == '\0')
		return encoding;
	if (letters[0] != 'z')
		return DW_EH_PE_omit;
	byte_reader_uleb128(r); /* size */
	for (const char *c = letters + 1; *c; c++) {
		if (*c == 'R')
			encoding = byte_reader_u8(r);
		else if (*c == 'P')
			read_number(r, byte_reader_u8(r));
		else if (*c == 'L')
			byte_reader_u8(r);
		else if (*c != 'S' && *c != 'B')
			return DW_EH_PE_omit;
	}
	return byte_reader_ok(r) ? encoding : DW_EH_PE_omit;
}

static uint8_t read_common(const struct elf_section *frame, size_t offset)
{
	struct byte_reader r = byte_reader_over(frame->bytes, frame->size);
	const char *letters;
	uint32_t id;
	uint8_t version;

	byte_reader_seek(&r, offset);
	byte_reader_u32(&r); /* size */
	id = byte_reader_u32(&r);
	version = byte_reader_u8(&r);
	letters = byte_reader_string(&r, NULL);
	if (!letters || id != 0 || (version != 1 && version != 3))
		return DW_EH_PE_omit;
	byte_reader_uleb128(&r); /* alignment of code */
	byte_reader_sleb128(&r); /* of data */
	if (version == 1)
		byte_reader_u8(&r); /* return address register */
	else
		byte_reader_uleb128(&r);
	return read_augmentation(&r, letters);
}

/* The entry whose pointer to its common entry lies at `at`; the reader stands behind that. */
static bool take_entry(struct scan *scan, struct byte_reader r, size_t at, uint32_t back, struct error *err)
{
	uint64_t here = scan->frame->address + byte_reader_offset(&r);
	struct fde_extent extent;
	uint64_t size;

	if (back > at)
		return true;
	if (!scan->has_common || scan->common.offset != at - back)
		scan->common = (struct common_entry){ at - back, read_common(scan->frame, at - back) };
	scan->has_common = true;
	if (scan->common.encoding == DW_EH_PE_omit ||
		((scan->common.encoding & BASE_MASK) != DW_EH_PE_pcrel && (scan->common.encoding & BASE_MASK) != 0))
		return true;
	extent.start = read_number(&r, scan->common.encoding);
	if ((scan->common.encoding & BASE_MASK) == DW_EH_PE_pcrel)
		extent.start += here;
	size = read_number(&r, scan->common.encoding & FORMAT_MASK);
	/* What the linker left out begins at 0. */
	if (!byte_reader_ok(&r) || extent.start == 0 || size == 0 || !checked_add(extent.start, size, &extent.end))
		return true;
	if (!ARRAY_RESERVE(&scan->extents, &scan->capacity, scan->count + 1, MAX_EXTENTS, err))
		return false;
	scan->extents[scan->count++] = extent;
	return true;
}

static int compare_extents(const void *left, const void *right)
{
	const struct fde_extent *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Where objects without a terminator follow one with it, entries go on behind a size of 0. */
static bool scan_entries(struct scan *scan, struct error *err)
{
	struct byte_reader r = byte_reader_over(scan->frame->bytes, scan->frame->size);

	while (byte_reader_left(&r) >= sizeof(uint32_t)) {
		uint32_t size = byte_reader_u32(&r), back;
		size_t at = byte_reader_offset(&r);
		struct byte_reader entry;

		if (size == 0)
			continue;
		if (size == UINT32_MAX || size > byte_reader_left(&r))
			break;
		entry = r;
		back = byte_reader_u32(&entry);
		if (back != 0 && byte_reader_ok(&entry) && !take_entry(scan, entry, at, back, err))
			return false;
		byte_reader_skip(&r, size);
	}
	if (scan->count > 1)
		qsort(scan->extents, scan->count, sizeof(*scan->extents), compare_extents);
	return true;
}

/* ---- Pair ---- */

static bool has_search_table(struct fde_table *table)
{
	struct byte_reader r = byte_reader_over(table->header.bytes, table->header.size);
	uint32_t encodings = byte_reader_u32(&r), count;

	byte_reader_u32(&r);
	count = byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || encodings != HEADER_START || count > byte_reader_left(&r) / 8)
		return false;
	table->count = count;
	table->first = byte_reader_offset(&r);
	return true;
}

bool fde_table_init(struct fde_table *table, struct elf_image *image, struct error *err)
{
	struct scan scan = { .frame = &table->frame };

	*table = (struct fde_table){ 0 };
	elf_image_eh_frame(image, &table->frame, &table->header);
	if (has_search_table(table) || !elf_image_is_64bit(image))
		return true;
	if (!scan_entries(&scan, err)) {
		free(scan.extents);
		return false;
	}
	table->extents = scan.extents;
	table->count = scan.count;
	return true;
}

void fde_table_deinit(struct fde_table *table)
{
	free(table->extents);
	*table = (struct fde_table){ 0 };
}

/* ---- Looking up ---- */

/* Of an entry of the search table: where its function begins (0) or where its FDE lies (1). */
static uint64_t fde_field(const struct fde_table *table, size_t index, size_t field)
{
	struct byte_reader r = byte_reader_over(table->header.bytes, table->header.size);

	byte_reader_seek(&r, table->first + index * 8 + field * 4);
	return table->header.address + (uint64_t)(int64_t)(int32_t)byte_reader_u32(&r);
}

/*
 * An FDE: length, CIE, begin and range. The CIE says how the latter are written; that the begin is the one of the
 * search table tells it as well. Eight bytes each where code may lie anywhere (-mcmodel=large).
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

static uint64_t start_at(const struct fde_table *table, size_t index)
{
	return table->extents ? table->extents[index].start : fde_field(table, index, 0);
}

bool fde_table_find(const struct fde_table *table, uint64_t address, uint64_t *start, uint64_t *end)
{
	size_t low = 0, high = table->count;
	uint64_t first, size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (start_at(table, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	first = start_at(table, low - 1);
	size = table->extents ? table->extents[low - 1].end - first : fde_size(table, low - 1, first);
	if (address - first >= size || !checked_add(first, size, end))
		return false;
	*start = first;
	return true;
}
