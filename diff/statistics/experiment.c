/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/experiment.h"

#include <string.h>

void experiment_deinit(struct experiment *experiment)
{
	free(experiment->rows);
	free(experiment->design_effect);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(experiment->sides[side].values);
		free(experiment->sides[side].sums);
		free(experiment->sides[side].work);
	}
}

/* Two vectors of doubles with equal 64-bit hashes are taken to be equal. */
struct row_identity {
	uint64_t base, head, group;
};

static void find_twins(struct experiment *experiment)
{
	struct hash_map first;

	hash_map_init(&first, sizeof(struct row_identity));
	for (uint32_t i = 0; i < experiment->row_count; i++) {
		struct row *row = &experiment->rows[i];
		struct row_identity identity = { .group = (uint64_t)row_is_node(row) * 2 + row->changed };
		uint32_t *slot;
		bool added;

		identity.base = hash_bytes(experiment_values(experiment, DIFF_BASE, i),
			experiment->sides[DIFF_BASE].unit_count * sizeof(double));
		identity.head = hash_bytes(experiment_values(experiment, DIFF_HEAD, i),
			experiment->sides[DIFF_HEAD].unit_count * sizeof(double));
		slot = hash_map_enter(&first, &identity, i, &added);
		row->twin = *slot;
	}
	hash_map_deinit(&first);
}

void experiment_finish(struct experiment *experiment)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct experiment_side *s = &experiment->sides[side];

		s->sums = memory_zeroed(experiment->row_count + 1, sizeof(*s->sums));
		for (size_t row = 0; row < experiment->row_count; row++) {
			const double *values = experiment_values(experiment, side, row);

			for (size_t unit = 0; unit < s->unit_count; unit++)
				s->sums[row] += values[unit];
		}
	}
	find_twins(experiment);
}

void experiment_scale(const struct experiment *experiment, size_t row, struct row_result *result)
{
	result->base = experiment_sum(experiment, DIFF_BASE, row);
	result->head = experiment_sum(experiment, DIFF_HEAD, row) * experiment->factor;
}

double experiment_whole_size(const struct experiment *experiment)
{
	struct row_result whole;

	if (experiment->is_part)
		return experiment->whole_size;
	experiment_scale(experiment, 0, &whole);
	return whole.base + whole.head;
}

bool experiment_is_whole(const struct experiment *experiment, size_t row)
{
	if (!experiment->is_part)
		return experiment->rows[row].twin == 0;
	for (int side = 0; side < DIFF_SIDES; side++)
		if (memcmp(experiment->whole[side], experiment_values(experiment, (enum diff_side)side, row),
			    experiment->sides[side].unit_count * sizeof(double)) != 0)
			return false;
	return true;
}
