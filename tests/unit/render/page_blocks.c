/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page_blocks.h"

#include "tests/unit/support/unit_test.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIST_BYTES = 8 << 20 };

static int digit_of(char letter)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, letter);

	return at ? (int)(at - digits) : 0;
}

const char *page_block_find(const char *page, const char *name)
{
	char id[64];

	snprintf(id, sizeof(id), " id=\"data-%s\">", name);
	return strstr(page, id);
}

json_t *page_block_json(const char *page, const char *name)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	const char *text = page_block_find(page, name);
	size_t size, packed = 0;
	uint8_t *bytes;
	CLEANUP(cleanup_free) char *json = malloc(MAX_LIST_BYTES);
	json_t *list;

	assert_non_null(text);
	text = strchr(text, '>') + 1;
	size = strcspn(text, "<");
	bytes = malloc(size);
	assert_true(bytes && json && decompressor);
	for (size_t i = 0; i + 3 < size; i += 4, packed += 3) {
		uint32_t group = (uint32_t)digit_of(text[i]) << 18 | (uint32_t)digit_of(text[i + 1]) << 12 |
				 (uint32_t)digit_of(text[i + 2]) << 6 | (uint32_t)digit_of(text[i + 3]);

		bytes[packed] = (uint8_t)(group >> 16);
		bytes[packed + 1] = (uint8_t)(group >> 8);
		bytes[packed + 2] = (uint8_t)group;
	}
	packed -= (text[size - 1] == '=') + (text[size - 2] == '=');
	assert_int_equal(libdeflate_gzip_decompress(decompressor, bytes, packed, json, MAX_LIST_BYTES, &size),
		LIBDEFLATE_SUCCESS);
	list = json_loadb(json, size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(list);
	libdeflate_free_decompressor(decompressor);
	free(bytes);
	return list;
}
