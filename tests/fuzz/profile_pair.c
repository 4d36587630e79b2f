/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_pair.h"
#include "profile/foreign/foreign.h"

#include "tests/fuzz/mutate_pprof.h"

static struct profile *take_profile(struct byte_reader *r, size_t size, const char *name)
{
	struct profile *profile;
	struct error err;
	const void *bytes;

	size = size < byte_reader_left(r) ? size : byte_reader_left(r);
	bytes = byte_reader_bytes(r, size);
	return bytes && foreign_read(bytes, size, name, &profile, &err) ? profile : NULL;
}

bool profile_pair_take(const uint8_t *data, size_t size, struct profile **base, struct profile **head)
{
	struct byte_reader r = byte_reader_over(data, size);
	size_t first = byte_reader_u16(&r);

	*base = take_profile(&r, first, "base");
	*head = take_profile(&r, byte_reader_left(&r), "head");
	if (*head && (*base || first == 0))
		return true;
	profile_destroy(*base);
	profile_destroy(*head);
	*base = *head = NULL;
	return false;
}

void mutate_profile_pair(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out)
{
	mutation_pair(m, mutate_pprof, &(struct mutation_span){ bytes, size }, out);
}
