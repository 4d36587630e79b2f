/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"

#include "tests/fuzz/target.h"

#include <stdlib.h>

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* What was read is in order, is written, and is read again as the same. */
static void use(const struct summary_set *set)
{
	CLEANUP(summary_set_cleanup) struct summary_set *again = NULL;
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;

	must(summary_set_create(&again, &err));
	for (size_t i = 0; i < set->count; i++) {
		const struct summary *summary = &set->items[i];

		buffer_init(&bytes, 1 << 28);
		must(summary_write(set, i, &bytes, &err) && summary_read(again, bytes.data, bytes.size, &err));
		must(again->items[i].row_count == summary->row_count && again->items[i].total == summary->total);
		for (size_t row = 0; row < summary->row_count; row++)
			must(summary_row_of(summary, summary->rows[row].function) == &summary->rows[row]);
		buffer_deinit(&bytes);
	}
}

bool fuzz_take(const uint8_t *data, size_t size)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	struct error err;

	if (!summary_set_create(&set, &err) || !summary_read(set, data, size, &err))
		return false;
	use(set);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_take(data, size);
	return 0;
}
