/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the sections and units of an open file. */
#include "symbolize/dwarf/unit.h"

/* A string longer than this is spent from the budget. */
enum { FREE_STRING_BYTES = 1 << 12 };

struct byte_reader dwarf_file_reader(const struct dwarf_file *file, enum dwarf_section section)
{
	return byte_reader_over(file->sections[section].bytes, file->sections[section].size);
}

bool dwarf_file_spend(struct dwarf_file *file, enum dwarf_section section, uint64_t bytes)
{
	uint64_t left = atomic_load_explicit(&file->budget[section], memory_order_relaxed);

	do {
		if (left < bytes)
			atomic_store(&file->is_spent, true);
		if (dwarf_file_is_spent(file))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&file->budget[section], &left, left - bytes, memory_order_relaxed, memory_order_relaxed));
	return true;
}

const char *dwarf_file_string(struct dwarf_file *file, enum dwarf_section section, uint64_t offset)
{
	struct byte_reader r = dwarf_file_reader(file, section);
	const char *string;
	size_t size = 0;

	byte_reader_seek(&r, offset);
	string = byte_reader_string(&r, &size);
	/* All names can be ends of one giant string. */
	return size > FREE_STRING_BYTES && !dwarf_file_spend(file, section, size) ? NULL : string;
}

uint64_t dwarf_read_length(struct byte_reader *r, uint8_t *offset_size)
{
	uint64_t length = byte_reader_u32(r);

	*offset_size = 4;
	if (length == UINT32_MAX) {
		*offset_size = 8;
		length = byte_reader_u64(r);
	}
	return length;
}

struct dwarf_unit *dwarf_file_unit_at(struct dwarf_file *file, uint64_t offset)
{
	size_t low = ARRAY_COUNT_UP_TO(file->units, file->unit_count, end, offset);

	if (low == file->unit_count && file->is_part)
		atomic_store(&file->is_short, true);
	if (low == file->unit_count || offset < file->units[low].first_die)
		return NULL;
	return &file->units[low];
}

struct dwarf_unit *dwarf_file_unit_from(const struct dwarf_file *file, uint64_t offset)
{
	size_t low = BISECT(file->unit_count, i, file->units[i].offset < offset);

	return low < file->unit_count && file->units[low].offset == offset ? &file->units[low] : NULL;
}
