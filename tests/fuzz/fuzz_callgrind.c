/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pieces.h"
#include "profile/foreign/foreign.h"
#include "profile/profile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t sum(const struct profile *profile)
{
	int64_t all = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		all += profile->values[i * profile->value_type_count + 1];
	return all;
}

/* The second byte on is the file: in one piece, and in pieces as large as the first byte says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL, *again = NULL;
	struct pieces pieces = { data + size, data + size, 1 };
	struct text_source text = { .read = next_piece, .context = &pieces };
	enum foreign_kind kind;
	struct error err, other;
	bool is_read;

	if (size < 2)
		return 0;
	pieces.most = 1 + data[0] % 16;
	data++;
	size--;
	kind = foreign_kind(data, size);
	if (kind != FOREIGN_CALLGRIND && kind != FOREIGN_CACHEGRIND)
		return 0;
	is_read = foreign_read(data, size, "fuzz", &profile, &err);
	/* The kind is decided by the first piece, which holds `events:`. */
	text.head = data;
	text.head_bytes = size - size / 4;
	if (foreign_kind(data, text.head_bytes) != kind)
		return 0;
	pieces.at = data + text.head_bytes;
	if (foreign_read_text(&text, "fuzz", &again, &other) != is_read || (is_read && sum(again) != sum(profile)))
		abort();
	return 0;
}
