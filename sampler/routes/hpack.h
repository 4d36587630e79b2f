/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/routes/table.h"

/*
 * Headers of HTTP/2 as RFC 7541 compresses them: of a request its method and path, of an answer its status. The table
 * of a connection is kept as far as all that changed it was seen; of other headers it has only the size.
 */
enum { HPACK_TABLE_BYTES = 4096, HPACK_ENTRY_BYTES = 32, HPACK_ENTRIES = HPACK_TABLE_BYTES / HPACK_ENTRY_BYTES };

enum hpack_name { HPACK_OTHER_NAME, HPACK_METHOD, HPACK_PATH };

struct hpack {
	struct hpack_entry {
		enum hpack_name name;
		uint32_t bytes, name_bytes; /* bytes: as the table counts them */
		uint32_t place;             /* of a path */
		const char *method;         /* of http_method() */
	} entries[HPACK_ENTRIES];           /* a ring */
	uint32_t first, count;              /* first: the newest one */
	uint32_t bytes, most_bytes;
	bool is_known;
};

struct hpack_request {
	const char *method; /* NULL: not seen */
	uint32_t place;     /* of the path; PLACE_NONE: not seen */
};

struct hpack *hpack_create(bool is_known);

/* Reads a block of headers, or what is seen of it. is_whole: nothing of it is missing. */
void hpack_read_request(struct hpack *table, struct routes *routes, struct byte_reader block, bool is_whole,
	struct hpack_request *request);

/* Reads the status, which stands first. The table of answers is not kept: a status that it holds is not known. */
enum routes_outcome hpack_read_status(struct byte_reader block);
