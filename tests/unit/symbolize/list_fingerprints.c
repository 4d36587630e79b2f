/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* list_fingerprints FILE <ADDRESSES: the function at each and its code's fingerprint, a line each. */

enum { MAX_ADDRESSES = 1 << 16 };

static size_t read_addresses(uint64_t *addresses)
{
	unsigned long long address;
	size_t count = 0;

	while (count < MAX_ADDRESSES && scanf("%llx", &address) == 1)
		addresses[count++] = address;
	return count;
}

static void print(const struct symbolize_result *result, size_t index)
{
	struct symbolize_frames frames = symbolize_result_frames(result, index);
	const struct symbolize_frame *outermost = frames.count ? &frames.frames[frames.count - 1] : NULL;

	if (outermost && outermost->fingerprint)
		printf("%s %016llx\n", outermost->linkage_name[0] ? outermost->linkage_name : outermost->name,
			(unsigned long long)outermost->fingerprint);
}

int main(int argc, char **argv)
{
	const struct symbolize_options options = { .no_inlines = true };
	uint64_t *addresses = calloc(MAX_ADDRESSES, sizeof(*addresses));
	struct symbolize_result *result = NULL;
	struct elf_image *image = NULL;
	struct error err;
	size_t count;

	if (argc != 2 || !addresses)
		return 2;
	count = read_addresses(addresses);
	if (!elf_image_open_path(argv[1], &image, &err) ||
		!symbolize_addresses(image, addresses, count, &options, &result, &err)) {
		fprintf(stderr, "%s\n", err.message);
		elf_image_unref(image);
		free(addresses);
		return 1;
	}
	for (size_t i = 0; i < count; i++)
		print(result, i);
	symbolize_result_destroy(result);
	elf_image_unref(image);
	free(addresses);
	return 0;
}
