/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for where a text is from, and what frees a listing. */
#include "listing/listing.h"

#include <stdlib.h>

const char *listing_place_words(enum listing_place place)
{
	switch (place) {
	case LISTING_NOWHERE:
		return "not found";
	case LISTING_KEPT:
		return "kept by the recording";
	case LISTING_EMBEDDED:
		return "from the debug information";
	case LISTING_REVISION:
		return "from the repository";
	case LISTING_DEBUGINFOD:
		return "from a debuginfod server";
	case LISTING_DISK:
		return "from the disk now";
	}
	return "";
}

void listing_destroy(struct listing *listing)
{
	if (!listing)
		return;
	for (size_t i = 0; i < listing->function_count; i++)
		free(listing->functions[i].rows);
	free(listing->functions);
	string_table_destroy(listing->strings);
	free(listing);
}
