/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frame/entry.h"

#include <dwarf.h>

uint64_t entry_address(const struct elf_section *section, const struct byte_reader *r)
{
	return section->address + byte_reader_offset(r);
}

uint64_t entry_read_pointer(struct byte_reader *r, uint8_t encoding, uint64_t here, uint64_t data_base)
{
	uint64_t value = 0;

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = byte_reader_u64(r);
		break;
	case DW_EH_PE_uleb128:
		value = byte_reader_uleb128(r);
		break;
	case DW_EH_PE_udata2:
		value = byte_reader_u16(r);
		break;
	case DW_EH_PE_udata4:
		value = byte_reader_u32(r);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)byte_reader_sleb128(r);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)byte_reader_u16(r);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)byte_reader_u32(r);
		break;
	default:
		r->failed = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	case DW_EH_PE_datarel:
		return value + data_base;
	default:
		r->failed = true;
		return 0;
	}
}

/* One entry of .eh_frame: its body behind the length, and where the next one starts. */
static bool read_entry(const struct elf_section *section, uint64_t offset, struct byte_reader *body, uint64_t *next)
{
	struct byte_reader r = byte_reader_over(section->bytes, section->size);
	uint64_t length;

	byte_reader_seek(&r, offset);
	length = byte_reader_u32(&r);
	if (length == 0xffffffff)
		length = byte_reader_u64(&r);
	if (!byte_reader_ok(&r) || length == 0 || length > byte_reader_left(&r))
		return false;
	*body = r;
	body->end = r.pos + length;
	*next = byte_reader_offset(&r) + length;
	return true;
}

static bool read_augmentation(
	struct byte_reader *r, const char *augmentation, struct cie *cie, const struct elf_section *section)
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
		case 'P': {
			uint8_t encoding = byte_reader_u8(&data);

			entry_read_pointer(&data, encoding & 0x0f, entry_address(section, &data), 0);
			break;
		}
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

/* DWARF 4 and later say so, of a 64-bit machine without segments. */
static bool has_usual_addresses(struct byte_reader *r)
{
	uint8_t address_bytes = byte_reader_u8(r), segment_bytes = byte_reader_u8(r);

	return address_bytes == sizeof(uint64_t) && segment_bytes == 0;
}

static bool read_cie(const struct elf_section *section, enum entry_format format, uint64_t offset, struct cie *cie)
{
	const uint32_t cie_id = format == ENTRY_EH_FRAME ? 0 : UINT32_MAX;
	struct byte_reader r;
	const char *augmentation;
	uint64_t next;
	uint8_t version;

	*cie = (struct cie){ .pointer_encoding = DW_EH_PE_absptr };
	if (!read_entry(section, offset, &r, &next) || byte_reader_u32(&r) != cie_id)
		return false;
	version = byte_reader_u8(&r);
	augmentation = byte_reader_string(&r, NULL);
	if (!augmentation || (version != 1 && version != 3 && (version != 4 || format == ENTRY_EH_FRAME)) ||
		(version == 4 && !has_usual_addresses(&r)))
		return false;
	cie->code_alignment = byte_reader_uleb128(&r);
	cie->data_alignment = byte_reader_sleb128(&r);
	cie->return_register = version == 1 ? byte_reader_u8(&r) : (uint8_t)byte_reader_uleb128(&r);
	if (!read_augmentation(&r, augmentation, cie, section))
		return false;
	cie->instructions = r;
	return byte_reader_ok(&r);
}

/* Of the CIE that an FDE names: .eh_frame counts back from the pointer itself, .debug_frame from the section's start.
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

bool entry_read_fde(
	const struct elf_section *section, enum entry_format format, uint64_t offset, struct fde *fde, uint64_t *next)
{
	struct byte_reader r;
	uint64_t pointer_offset, cie_offset;
	uint32_t pointer;

	*next = 0;
	if (!read_entry(section, offset, &r, next))
		return false;
	pointer_offset = byte_reader_offset(&r);
	pointer = byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || !find_cie(format, pointer_offset, pointer, &cie_offset) ||
		!read_cie(section, format, cie_offset, &fde->cie))
		return false;
	fde->start = entry_read_pointer(&r, fde->cie.pointer_encoding, entry_address(section, &r), 0);
	fde->size = entry_read_pointer(&r, fde->cie.pointer_encoding & 0x0f, 0, 0);
	if (fde->cie.has_augmentation_data)
		byte_reader_skip(&r, byte_reader_uleb128(&r));
	fde->instructions = r;
	return byte_reader_ok(&r);
}
