/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/gzip.h"

#include "common/byte_reader.h"

#include <libdeflate.h>

enum { LEVEL = 6, MAX_RATIO = 1032, LEAST_ROOM_BYTES = 1 << 16 };

bool gzip_is(const void *bytes, size_t size)
{
	const uint8_t *magic = bytes;

	return size >= 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

bool gzip_compress(const void *bytes, size_t size, struct buffer *out, struct error *err)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
	size_t bound = compressor ? libdeflate_gzip_compress_bound(compressor, size) : 0;
	void *room = compressor ? buffer_reserve(out, bound) : NULL;

	if (room)
		buffer_commit(out, libdeflate_gzip_compress(compressor, bytes, size, room, bound));
	libdeflate_free_compressor(compressor);
	return room ? true : error_set_memory(err);
}

/* Deflate cannot shrink below 1:1032 (RFC 1951); the size field is a hint that a hostile file may have set. */
static size_t first_guess(const uint8_t *bytes, size_t size)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	size_t most = size < SIZE_MAX / MAX_RATIO ? size * MAX_RATIO : SIZE_MAX;
	size_t guess;

	byte_reader_seek(&r, size >= 4 ? size - 4 : 0);
	guess = byte_reader_u32(&r);
	if (guess > most)
		guess = most;
	return guess < LEAST_ROOM_BYTES ? LEAST_ROOM_BYTES : guess;
}

static bool inflate_member(
	struct libdeflate_decompressor *decompressor, struct byte_reader *r, struct buffer *out, struct error *err)
{
	size_t room = first_guess(r->pos, byte_reader_left(r));

	for (;;) {
		size_t left = out->max_bytes - out->size, used = 0, made = 0;
		enum libdeflate_result result;
		void *into;

		if (room > left)
			room = left;
		into = buffer_reserve(out, room);
		if (!into)
			return error_set_memory(err);
		result = libdeflate_gzip_decompress_ex(
			decompressor, r->pos, byte_reader_left(r), into, room, &used, &made);
		if (result == LIBDEFLATE_SUCCESS) {
			buffer_commit(out, made);
			byte_reader_skip(r, used);
			return true;
		}
		if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
			return error_set(err, ERROR_FORMAT,
				"gzip data is damaged or cut off; copy it again, or record it again");
		if (room == left)
			return error_set(err, ERROR_LIMIT, "gzip data inflates to more than %zu bytes", out->max_bytes);
		room = room > left / 2 ? left : room * 2;
	}
}

/* Tapes and block devices pad with zeros, which gzip(1) ignores too. */
static bool gzip_is_padding(const struct byte_reader *r)
{
	for (const uint8_t *byte = r->pos; byte < r->end; byte++)
		if (*byte)
			return false;
	return true;
}

bool gzip_decompress(const void *bytes, size_t size, struct buffer *out, struct error *err)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	struct byte_reader r = byte_reader_over(bytes, size);
	bool ok = decompressor != NULL;

	if (!decompressor)
		return error_set_memory(err);
	do {
		ok = inflate_member(decompressor, &r, out, err);
	} while (ok && gzip_is(r.pos, byte_reader_left(&r)));
	libdeflate_free_decompressor(decompressor);
	if (ok && !gzip_is_padding(&r))
		return error_set(err, ERROR_FORMAT, "%zu bytes that are no gzip data follow the gzip data",
			byte_reader_left(&r));
	return ok;
}
