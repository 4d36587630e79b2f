/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/pieces.h"

#include <stdlib.h>
#include <string.h>

void pieces_deinit(struct code_pieces *pieces)
{
	free(pieces->items);
}

static int pieces_by_function(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;

	return x->function != y->function ? ORDER(x->function, y->function) : ORDER(x->fingerprint, y->fingerprint);
}

void pieces_collect(const struct profile *profile, const uint32_t *numbers, struct code_pieces *pieces)
{
	size_t used = 0;

	pieces->items = memory_zeroed(profile->function_count + 1, sizeof(*pieces->items));
	for (uint32_t i = 0; i < profile->function_count; i++)
		if (numbers[i] != PROFILE_NONE && profile->functions[i].fingerprint != 0)
			pieces->items[used++] = (struct code_piece){ profile->functions[i].fingerprint, numbers[i] };
	if (used > 0)
		qsort(pieces->items, used, sizeof(*pieces->items), pieces_by_function);
	for (size_t i = 0; i < used; i++) {
		if (pieces->count == 0 || pieces_by_function(&pieces->items[pieces->count - 1], &pieces->items[i]) != 0)
			pieces->items[pieces->count++] = pieces->items[i];
	}
}

/*
 * Compares one function's code, pieces a[0..na) in base and b[0..nb) in head. A piece that was
 * sampled on one side only proves nothing.
 */
static enum diff_code compare_pieces(const struct code_piece *a, size_t na, const struct code_piece *b, size_t nb)
{
	size_t common = 0;

	if (na == 0 || nb == 0)
		return DIFF_CODE_UNKNOWN;
	for (size_t i = 0, j = 0; i < na && j < nb;) {
		if (a[i].fingerprint == b[j].fingerprint) {
			common++;
			i++;
			j++;
		} else if (a[i].fingerprint < b[j].fingerprint) {
			i++;
		} else {
			j++;
		}
	}
	return common == (na < nb ? na : nb) ? DIFF_CODE_SAME : DIFF_CODE_CHANGED;
}

static size_t end_of_function(const struct code_pieces *pieces, size_t first, uint32_t function)
{
	while (first < pieces->count && pieces->items[first].function == function)
		first++;
	return first;
}

void pieces_compare(const struct code_pieces *base, const struct code_pieces *head,
	void (*tell)(void *context, uint32_t function, enum diff_code code), void *context)
{
	for (size_t i = 0, j = 0; i < base->count;) {
		uint32_t function = base->items[i].function;
		size_t end = end_of_function(base, i, function), other_end;

		while (j < head->count && head->items[j].function < function)
			j++;
		other_end = end_of_function(head, j, function);
		tell(context, function, compare_pieces(&base->items[i], end - i, &head->items[j], other_end - j));
		i = end;
	}
}

bool pieces_are_of_one_kernel(const struct profile *base, const struct profile *head)
{
	return base->facts.kernel && head->facts.kernel &&
	       strcmp(profile_string(base, base->facts.kernel), profile_string(head, head->facts.kernel)) == 0;
}
