/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/addresses.h"

#include "common/common.h"

#include <stdlib.h>
#include <string.h>

int addresses_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return ORDER(a, b);
}

uint64_t *addresses_sorted(const uint64_t *addresses, size_t count)
{
	uint64_t *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted || count == 0)
		return sorted;
	memcpy(sorted, addresses, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), addresses_compare);
	return sorted;
}

static int compare_address_at(const void *left, const void *right)
{
	const struct address_at *a = left, *b = right;

	return addresses_compare(&a->address, &b->address);
}

struct address_at *addresses_indexed(const uint64_t *addresses, size_t count)
{
	struct address_at *indexed = malloc((count + 1) * sizeof(*indexed));

	if (!indexed || count == 0)
		return indexed;
	for (size_t i = 0; i < count; i++)
		indexed[i] = (struct address_at){ addresses[i], i };
	qsort(indexed, count, sizeof(*indexed), compare_address_at);
	return indexed;
}
