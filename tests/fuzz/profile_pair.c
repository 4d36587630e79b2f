/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_pair.h"

#include "tests/fuzz/mutate_pprof.h"

static struct profile *take_profile(struct byte_reader *r, size_t size, const char *name)
{
	struct profile *profile;
	struct error err;
	const void *bytes;

	size = size < byte_reader_left(r) ? size : byte_reader_left(r);
	bytes = byte_reader_bytes(r, size);
	return bytes && profile_read(bytes, size, name, &profile, &err) ? profile : NULL;
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
	struct byte_reader r = byte_reader_over(bytes, size);
	size_t first = byte_reader_u16(&r), left = byte_reader_left(&r);
	struct mutation_span spans[2];
	struct buffer changed;

	first = first < left ? first : left;
	spans[0] = (struct mutation_span){ byte_reader_bytes(&r, first), first };
	spans[1] = (struct mutation_span){ r.pos, byte_reader_left(&r) };
	buffer_init(&changed, UINT16_MAX);
	if (byte_reader_ok(&r)) {
		struct mutation_span *chosen = &spans[first == 0 || mutation_below(m, 2)];

		mutate_pprof(m, chosen->bytes, chosen->size, &changed);
		*chosen = (struct mutation_span){ (const uint8_t *)changed.data, changed.size };
	}
	if (changed.size > 0 && !changed.failed) {
		buffer_append(out, &(uint16_t){ (uint16_t)spans[0].size }, sizeof(uint16_t));
		buffer_append(out, spans[0].bytes, spans[0].size);
		buffer_append(out, spans[1].bytes, spans[1].size);
	}
	buffer_deinit(&changed);
}
