/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pieces.h"
#include "profile/foreign/foreign.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The second byte on is the text: in one piece, and in pieces as large as the first byte says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL, *again = NULL;
	struct pieces pieces = { data + size, data + size, 1 };
	struct text_source text = { .head = data + 1, .read = next_piece, .context = &pieces };
	struct error err, other;
	bool is_read;

	if (size < 2)
		return 0;
	pieces.most = 1 + data[0] % 16;
	if (foreign_kind(data + 1, size - 1) != FOREIGN_PERF_SCRIPT)
		return 0;
	is_read = foreign_read(data + 1, size - 1, "fuzz", &profile, &err);
	/* The kind is decided by the first piece. */
	text.head_bytes = size - 1 - size / 4;
	pieces.at = data + 1 + text.head_bytes;
	if (foreign_kind(text.head, text.head_bytes) != FOREIGN_PERF_SCRIPT)
		return 0;
	if (foreign_read_text(&text, "fuzz", &again, &other) != is_read ||
		(is_read && (again->quality.samples != profile->quality.samples ||
				    again->stack_count != profile->stack_count)))
		abort();
	return 0;
}
