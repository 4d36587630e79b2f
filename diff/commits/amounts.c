/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits the difference of two profiles among their proven changes. */
#include "diff/commits/amounts.h"

#include <stdlib.h>

/*
 * Returns an array: [function] the change that it belongs to. What was renamed is one function, and so has one: the
 * first in the list.
 */
static uint32_t *list_changes(const struct diff *diff, const uint32_t *partners)
{
	uint32_t *change_of = memory_alloc((diff->function_count + 1) * sizeof(*change_of));

	for (size_t i = 0; change_of && i < diff->function_count; i++)
		change_of[i] = PROFILE_NONE;
	for (uint32_t i = 0; change_of && i < diff->change_count; i++)
		for (size_t j = 0; j < diff->changes[i].count; j++)
			change_of[diff->change_functions[diff->changes[i].first + j]] = i;
	for (uint32_t i = 0; change_of && i < diff->function_count; i++) {
		uint32_t partner = partners[i];

		if (partner != PROFILE_NONE && change_of[partner] < change_of[i])
			change_of[i] = change_of[partner];
	}
	return change_of;
}

void amounts_of_changes(const struct diff *diff, const uint32_t *partners, double *amounts)
{
	CLEANUP(cleanup_free) uint32_t *change_of = list_changes(diff, partners);
	CLEANUP(cleanup_free) uint32_t *nearest = memory_alloc((diff->node_count + 1) * sizeof(*nearest));

	for (size_t i = 0; i < diff->change_count; i++)
		amounts[i] = 0;
	for (uint32_t i = 0; i < diff->node_count; i++) {
		const struct diff_node *node = &diff->nodes[i];
		uint32_t own = node->function == PROFILE_NONE ? PROFILE_NONE : change_of[node->function];

		/* Preorder: the parent comes first. */
		nearest[i] = own != PROFILE_NONE || i == 0 ? own : nearest[node->parent];
		if (nearest[i] != PROFILE_NONE)
			amounts[nearest[i]] +=
				diff->node_self[DIFF_HEAD][i] * diff->scale.factor - diff->node_self[DIFF_BASE][i];
	}
}

bool amounts_matter(const struct diff *diff, double amount)
{
	if (diff->verdict == DIFF_REGRESSED)
		return amount > 0;
	return diff->verdict == DIFF_IMPROVED ? amount < 0 : amount != 0;
}
