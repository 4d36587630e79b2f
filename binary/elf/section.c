/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds sections, inflates those that are compressed, and hands out their bytes. */
#include "binary/elf/image.h"

#include <elf.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

/*
 * Limits on the inflated size: more than any known section has, and the best ratio that zlib reaches. zstd can exceed
 * the ratio, but debug information is not that repetitive.
 */
static const uint64_t max_inflated_bytes = (uint64_t)4 << 30;
enum { MAX_INFLATED_RATIO = 1032 };

/* The size of large sections: for these, getting memory page by page took half of the inflating time. */
enum { LARGE_BYTES = 1 << 20, MOST_AT_ONCE = 64 << 20 };

enum { MAX_START_EIGHTHS = 7 };

enum { MAX_STORED_BYTES = UINT16_MAX }; /* largest block that is not compressed (RFC 1951, 3.2.4) */

/* The compression of a section. */
struct packing {
	enum { PACKED_NOT, PACKED_ZLIB, PACKED_ZSTD } kind;
	const uint8_t *bytes;
	size_t size;
	uint64_t inflated_size;
};

/*
 * Reads the header of SHF_COMPRESSED (gABI, "Section Compression") or .zdebug_* ("ZLIB" and the size as a big-endian
 * number). False if it is damaged.
 */
static bool find_packing(
	const struct elf_image *image, const struct elf_section_header *header, struct packing *packing)
{
	const uint8_t *bytes = image->bytes + header->offset;
	struct byte_reader r = byte_reader_over(bytes, header->size);

	*packing = (struct packing){ PACKED_NOT, bytes, header->size, header->size };
	if (header->flags & SHF_COMPRESSED) {
		uint32_t type = byte_reader_u32(&r);

		if (image->is_64bit)
			byte_reader_u32(&r);
		packing->inflated_size = byte_reader_uint(&r, image->is_64bit ? 8 : 4);
		byte_reader_uint(&r, image->is_64bit ? 8 : 4);
		packing->kind = type == ELFCOMPRESS_ZLIB ? PACKED_ZLIB : PACKED_ZSTD;
		if (type != ELFCOMPRESS_ZLIB && type != 2 /* ELFCOMPRESS_ZSTD */)
			return false;
	} else if (strncmp(header->name, ".zdebug_", 8) == 0) {
		const uint8_t *magic = byte_reader_bytes(&r, 4);

		if (!magic || memcmp(magic, "ZLIB", 4) != 0)
			return false;
		packing->inflated_size = be64toh(byte_reader_u64(&r));
		packing->kind = PACKED_ZLIB;
	} else {
		return true;
	}
	packing->bytes = r.pos;
	packing->size = byte_reader_left(&r);
	return byte_reader_ok(&r) && packing->inflated_size <= max_inflated_bytes &&
	       packing->inflated_size / MAX_INFLATED_RATIO <= packing->size;
}

static bool inflate_zstd_start(const struct packing *packing, uint8_t *out, size_t size)
{
	ZSTD_inBuffer in = { packing->bytes, packing->size, 0 };
	ZSTD_outBuffer into = { out, size, 0 };
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t code = 1, before;

	if (!stream)
		return false;
	do {
		before = into.pos;
		code = ZSTD_decompressStream(stream, &into, &in);
	} while (!ZSTD_isError(code) && into.pos < size && (into.pos > before || in.pos < in.size));
	ZSTD_freeDStream(stream);
	return into.pos == size;
}

/*
 * Inflates up to `room` bytes. libdeflate writes directly to the output and stops at the first block that does not fit,
 * which for a stored block may lose at most MAX_STORED_BYTES at the end. zlib's streaming takes twice as long.
 */
static bool inflate_zlib(const struct packing *packing, uint8_t *out, size_t room)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	bool is_whole = room == packing->inflated_size;
	enum libdeflate_result result;

	if (!decompressor)
		return false;
	result = libdeflate_zlib_decompress(decompressor, packing->bytes, packing->size, out, room, NULL);
	libdeflate_free_decompressor(decompressor);
	return result == (is_whole ? LIBDEFLATE_SUCCESS : LIBDEFLATE_INSUFFICIENT_SPACE);
}

static bool section_inflate(const struct packing *packing, uint8_t *out, size_t room)
{
	if (packing->kind == PACKED_ZLIB)
		return inflate_zlib(packing, out, room);
	if (room < packing->inflated_size)
		return inflate_zstd_start(packing, out, room);
	return ZSTD_decompress(out, room, packing->bytes, packing->size) == room;
}

static uint8_t *section_allocate(size_t size)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *bytes;

	if (size < LARGE_BYTES)
		return malloc(size ? size : 1);
	size = (size + page_bytes - 1) / page_bytes * page_bytes;
	bytes = aligned_alloc(page_bytes, size);
	/*
	 * Gets all pages at once. Kernels before 5.14 cannot, and give them one by one. A very large claimed size may
	 * be false.
	 */
	if (bytes && size <= MOST_AT_ONCE)
		(void)madvise(bytes, size, MADV_POPULATE_WRITE);
	return bytes;
}

/*
 * The first `size` bytes of a section, inflated on first use; NULL if memory runs out, or the image takes too much of
 * it already. The lock is held.
 */
static const struct elf_inflated *inflated_section(
	struct elf_image *image, size_t index, const struct packing *packing, size_t size)
{
	size_t room = size < packing->inflated_size ? size + MAX_STORED_BYTES : size;
	struct elf_inflated *made;

	for (const struct elf_inflated *known = image->inflated; known; known = known->next)
		if (known->index == index && (known->size >= size || !known->bytes))
			return known;
	if (room > elf_image_most_bytes(image) - image->inflated_bytes) {
		image->has_refused = true;
		return NULL;
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->index = index;
	made->size = size;
	made->bytes = section_allocate(room);
	if (!made->bytes) {
		free(made);
		return NULL;
	}
	/* The section is kept without bytes, so that inflating is not tried again. */
	if (!section_inflate(packing, made->bytes, room)) {
		free(made->bytes);
		made->bytes = NULL;
	}
	image->inflated_bytes += made->bytes ? room : 0;
	made->next = image->inflated;
	image->inflated = made;
	return made;
}

/*
 * The number of bytes to inflate: all of them, unless the start alone saves much, since a start that turns out too
 * short costs a second inflation.
 */
static size_t size_to_inflate(const struct packing *packing, uint64_t wanted)
{
	bool is_worth = wanted < packing->inflated_size / 8 * MAX_START_EIGHTHS &&
			packing->inflated_size - wanted > MAX_STORED_BYTES;

	return (size_t)(is_worth ? wanted : packing->inflated_size);
}

static bool elf_section_take(struct elf_image *image, size_t index, uint64_t wanted, struct elf_section *section)
{
	const struct elf_section_header *header = &image->sections[index];
	const struct elf_inflated *inflated;
	struct packing packing;

	if (header->type == SHT_NOBITS || !checked_range(header->offset, header->size, image->size) ||
		!find_packing(image, header, &packing))
		return false;
	*section = (struct elf_section){
		.bytes = packing.bytes,
		.size = packing.size,
		.address = header->address,
		.flags = header->flags,
		.type = header->type,
		.entry_size = (uint32_t)header->entry_size,
	};
	if (packing.kind == PACKED_NOT)
		return true;
	pthread_mutex_lock(&image->lock);
	inflated = inflated_section(image, index, &packing, size_to_inflate(&packing, wanted));
	pthread_mutex_unlock(&image->lock);
	if (!inflated || !inflated->bytes)
		return false;
	section->bytes = inflated->bytes;
	section->size = inflated->size;
	return true;
}

/* Returns whether a section has the name; `.debug_info` may be called `.zdebug_info`. */
static bool elf_section_has_name(const char *section, const char *wanted)
{
	if (strcmp(section, wanted) == 0)
		return true;
	return strncmp(wanted, ".debug_", 7) == 0 && strncmp(section, ".zdebug_", 8) == 0 &&
	       strcmp(section + 8, wanted + 7) == 0;
}

bool elf_image_section_start(struct elf_image *image, const char *name, uint64_t bytes, struct elf_section *section)
{
	for (size_t i = 0; i < image->section_count; i++)
		if (elf_section_has_name(image->sections[i].name, name))
			return elf_image_is_intact(image) && elf_section_take(image, i, bytes, section);
	return false;
}

bool elf_image_next_section(struct elf_image *image, const char *name, size_t *index, struct elf_section *section)
{
	for (size_t i = *index + 1; i < image->section_count; i++) {
		if (!elf_section_has_name(image->sections[i].name, name))
			continue;
		*index = i;
		return elf_image_is_intact(image) && elf_section_take(image, i, UINT64_MAX, section);
	}
	return false;
}

bool elf_image_section(struct elf_image *image, const char *name, struct elf_section *section)
{
	return elf_image_section_start(image, name, UINT64_MAX, section);
}

bool elf_image_section_is_code(const struct elf_image *image, uint32_t index)
{
	uint64_t flags = index < image->section_count ? image->sections[index].flags : 0;

	return (flags & SHF_ALLOC) && (flags & SHF_EXECINSTR);
}

/* The pointer to .eh_frame in its header (LSB, "The .eh_frame_hdr section"), in the encoding that linkers write. */
static uint64_t eh_frame_address(const struct elf_section *hdr)
{
	struct byte_reader r = byte_reader_over(hdr->bytes, hdr->size);
	uint8_t version = byte_reader_u8(&r);
	uint8_t encoding = byte_reader_u8(&r);
	int32_t offset;

	byte_reader_u16(&r);
	offset = (int32_t)byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || version != 1 || encoding != 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */)
		return 0;
	return hdr->address + 4 + (uint64_t)(int64_t)offset;
}

void elf_image_eh_frame(struct elf_image *image, struct elf_section *eh_frame, struct elf_section *eh_frame_hdr)
{
	size_t size;

	*eh_frame = *eh_frame_hdr = (struct elf_section){ 0 };
	if (!elf_image_is_intact(image))
		return;
	if (image->eh_frame_hdr_size > 0) {
		const uint8_t *bytes = elf_image_bytes_at(image, image->eh_frame_hdr_address, &size);

		if (bytes && size >= image->eh_frame_hdr_size)
			*eh_frame_hdr = (struct elf_section){
				.bytes = bytes, .size = image->eh_frame_hdr_size, .address = image->eh_frame_hdr_address
			};
	}
	if (elf_image_section(image, ".eh_frame", eh_frame))
		return;
	if (eh_frame_hdr->size > 0) {
		uint64_t address = eh_frame_address(eh_frame_hdr);
		const uint8_t *bytes = address ? elf_image_bytes_at(image, address, &size) : NULL;

		if (bytes)
			*eh_frame = (struct elf_section){ .bytes = bytes, .size = size, .address = address };
	}
}
