/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/entry.h"

#include <dwarf.h>

/* The parts of a pointer's encoding. */
enum { FORMAT_MASK = 0x0f, BASE_MASK = 0x70 };

enum { AUGMENTATION_ROOM = 16 };

struct byte_reader entry_reader(const struct entry_section *section, uint64_t offset)
{
	struct byte_reader r = byte_reader_over(section->elf.bytes, section->elf.size);

	byte_reader_seek(&r, offset);
	return r;
}

/* The number that a pointer is written as, and the number that is the size of an FDE's code. */
static uint64_t entry_read_number(const struct entry_section *section, struct byte_reader *r, uint8_t encoding)
{
	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & FORMAT_MASK) {
	case DW_EH_PE_absptr:
		return byte_reader_uint(r, section->address_bytes);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return byte_reader_u64(r);
	case DW_EH_PE_uleb128:
		return byte_reader_uleb128(r);
	case DW_EH_PE_udata2:
		return byte_reader_u16(r);
	case DW_EH_PE_udata4:
		return byte_reader_u32(r);
	case DW_EH_PE_sleb128:
		return (uint64_t)byte_reader_sleb128(r);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)byte_reader_u16(r);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)byte_reader_u32(r);
	default:
		r->failed = true;
		return 0;
	}
}

uint64_t entry_read_pointer(const struct entry_section *section, struct byte_reader *r, uint8_t encoding)
{
	uint64_t here = section->elf.address + byte_reader_offset(r);
	uint64_t number = entry_read_number(section, r, encoding);

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & BASE_MASK) {
	case DW_EH_PE_absptr:
		return number;
	case DW_EH_PE_pcrel:
		return number + here;
	case DW_EH_PE_datarel:
		/* Elsewhere it counts from the global offset table of a process. */
		if (section->format == ENTRY_EH_FRAME_HDR)
			return number + section->elf.address;
		break;
	default:
		break;
	}
	r->failed = true;
	return 0;
}

/* One entry: its body behind the length, and where the next one starts. */
static bool entry_read_body(
	const struct entry_section *section, uint64_t offset, struct byte_reader *body, uint64_t *next)
{
	struct byte_reader r = entry_reader(section, offset);
	uint64_t length = byte_reader_u32(&r);

	if (length == UINT32_MAX)
		length = byte_reader_u64(&r);
	if (!byte_reader_ok(&r) || length > byte_reader_left(&r))
		return false;
	*next = byte_reader_offset(&r) + length;
	*body = r;
	body->end = r.pos + length;
	/* An entry without a body ends what an object file brought; those of the next file may follow. */
	return length > 0;
}

/*
 * Copies the augmentation string: the file may be written to meanwhile, and the string then has another end, or
 * none. False if it is longer than any that is known.
 */
static bool copy_augmentation(struct byte_reader *r, char text[AUGMENTATION_ROOM])
{
	size_t size = 0;
	const char *string = byte_reader_string(r, &size);

	if (!string || size >= AUGMENTATION_ROOM)
		return false;
	memcpy(text, string, size);
	text[size] = '\0';
	return true;
}

static bool read_augmentation(
	const struct entry_section *section, struct byte_reader *r, const char *augmentation, struct cie *cie)
{
	struct byte_reader data;

	if (augmentation[0] != 'z')
		return augmentation[0] == '\0';
	cie->has_augmentation_data = true;
	data = *r;
	byte_reader_skip(r, byte_reader_uleb128(r));
	byte_reader_uleb128(&data);
	for (const char *c = augmentation + 1; *c; c++) {
		switch (*c) {
		case 'R':
			cie->pointer_encoding = byte_reader_u8(&data);
			break;
		case 'P':
			entry_read_number(section, &data, byte_reader_u8(&data));
			break;
		case 'L':
			byte_reader_u8(&data);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B':
			break;
		default:
			return false;
		}
	}
	return byte_reader_ok(&data) && byte_reader_ok(r);
}

/* DWARF 4 and later say so, of a machine without segments. */
static bool has_usual_addresses(const struct entry_section *section, struct byte_reader *r)
{
	uint8_t address_bytes = byte_reader_u8(r), segment_bytes = byte_reader_u8(r);

	return address_bytes == section->address_bytes && segment_bytes == 0;
}

static bool read_cie(const struct entry_section *section, uint64_t offset, struct cie *cie)
{
	const bool is_debug = section->format == ENTRY_DEBUG_FRAME;
	struct byte_reader r;
	char augmentation[AUGMENTATION_ROOM];
	uint64_t next;
	uint8_t version;

	*cie = (struct cie){ .offset = offset, .pointer_encoding = DW_EH_PE_absptr };
	if (!entry_read_body(section, offset, &r, &next) || byte_reader_u32(&r) != (is_debug ? UINT32_MAX : 0))
		return false;
	version = byte_reader_u8(&r);
	if (!copy_augmentation(&r, augmentation) || (version != 1 && version != 3 && (version != 4 || !is_debug)) ||
		(version == 4 && !has_usual_addresses(section, &r)))
		return false;
	cie->code_alignment = byte_reader_uleb128(&r);
	cie->data_alignment = byte_reader_sleb128(&r);
	cie->return_register = version == 1 ? byte_reader_u8(&r) : (uint8_t)byte_reader_uleb128(&r);
	if (!read_augmentation(section, &r, augmentation, cie))
		return false;
	cie->instructions = r;
	cie->is_known = byte_reader_ok(&r);
	return cie->is_known;
}

/*
 * Finds the CIE that an FDE names: .eh_frame counts back from the pointer itself, .debug_frame from the section's
 * start.
 */
static bool find_cie(enum entry_format format, uint64_t pointer_offset, uint32_t pointer, uint64_t *offset)
{
	if (format == ENTRY_DEBUG_FRAME) {
		*offset = pointer;
		return pointer != UINT32_MAX;
	}
	*offset = pointer_offset - pointer;
	return pointer != 0 && pointer <= pointer_offset;
}

bool entry_read_fde(const struct entry_section *section, uint64_t offset, struct fde *fde, uint64_t *next)
{
	struct byte_reader r;
	uint64_t pointer_offset, cie_offset;
	uint32_t pointer;

	*next = 0;
	if (!entry_read_body(section, offset, &r, next))
		return false;
	pointer_offset = byte_reader_offset(&r);
	pointer = byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || !find_cie(section->format, pointer_offset, pointer, &cie_offset))
		return false;
	if (!(fde->cie.is_known && fde->cie.offset == cie_offset) && !read_cie(section, cie_offset, &fde->cie))
		return false;
	fde->start = entry_read_pointer(section, &r, fde->cie.pointer_encoding);
	fde->size = entry_read_number(section, &r, fde->cie.pointer_encoding);
	if (fde->cie.has_augmentation_data)
		byte_reader_skip(&r, byte_reader_uleb128(&r));
	fde->instructions = r;
	return byte_reader_ok(&r);
}
