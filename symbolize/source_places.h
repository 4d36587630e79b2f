/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/source_plan.h"

/* The places that the stacks of a profile have, by the processes that were sampled there. */
struct source_places {
	struct source_place *places; /* owned; 0 is that of what was not sampled, 1 one of which nothing is known */
	size_t count;
	uint64_t *weights;      /* owned: [location] samples in its stacks, of recursion each time */
	uint16_t *of_locations; /* owned: [location] place */
	uint64_t samples;       /* in all */
};

COMMON_MUST_CHECK
bool source_places_make(struct source_places *places, const struct profile *profile,
	const struct profile_symbols *symbols, struct error *err);
void source_places_deinit(struct source_places *places);

/* Returns which value says what weight a sample has: that of a simulation is no number of samples. */
uint32_t source_places_value(const struct profile *profile);

/* Returns what two places have in common. */
struct source_place source_place_join(const struct source_place *left, const struct source_place *right);
