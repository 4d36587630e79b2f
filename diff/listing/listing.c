/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a listing: chooses functions, finds their lines on both sides, and makes their rows. */
#include "diff/listing/listing.h"

#include "diff/listing/choose.h"
#include "diff/listing/lister.h"

#include <stdlib.h>
#include <string.h>

static const size_t most_string_bytes = (size_t)256 << 20;

const char *listing_place_words(enum listing_place place)
{
	switch (place) {
	case LISTING_NOWHERE:
		return "not found";
	case LISTING_KEPT:
		return "kept by the recording";
	case LISTING_EMBEDDED:
		return "from the debug information";
	case LISTING_REVISION:
		return "from the repository";
	case LISTING_DEBUGINFOD:
		return "from a debuginfod server";
	case LISTING_DISK:
		return "from the disk now";
	}
	return "";
}

void listing_destroy(struct listing *listing)
{
	if (!listing)
		return;
	for (size_t i = 0; i < listing->function_count; i++)
		free(listing->functions[i].rows);
	free(listing->functions);
	for (int side = 0; side < DIFF_SIDES; side++) {
		diff_lines_destroy(listing->lines[side]);
		free(listing->place_rows[side]);
		free(listing->instructions[side]);
	}
	string_table_destroy(listing->strings);
	free(listing);
}

static void lister_deinit(struct lister *lister)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		diff_lines_destroy(lister->places[side].lines);
		free(lister->places[side].order);
		free(lister->places[side].first);
		free(lister->places[side].rows);
		sources_deinit(&lister->sources[side]);
	}
	listing_destroy(lister->listing);
}

/* ---- Places ---- */

struct sorting {
	const struct profile *profile;
	const struct diff_place *places;
};

static int listing_by_function(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct diff_place *a = &sorting->places[*(const uint32_t *)left];
	const struct diff_place *b = &sorting->places[*(const uint32_t *)right];
	bool a_is_own = diff_place_is_own(sorting->profile, a), b_is_own = diff_place_is_own(sorting->profile, b);

	if (a->function != b->function)
		return ORDER(a->function, b->function);
	if (a_is_own != b_is_own)
		return a_is_own ? -1 : 1;
	return a->line != b->line ? ORDER(a->line, b->line) : ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
}

static void index_places(struct lister *lister, enum diff_side side)
{
	struct lister_places *places = &lister->places[side];
	size_t count = places->lines->place_count, functions = lister->diff->function_count;
	struct sorting sorting = { lister->profiles[side], places->lines->places };

	places->order = memory_zeroed(count + 1, sizeof(*places->order));
	places->rows = memory_zeroed(count + 1, sizeof(*places->rows));
	places->first = memory_zeroed(functions + 2, sizeof(*places->first));
	memset(places->rows, 0xff, (count + 1) * sizeof(*places->rows));
	for (uint32_t i = 0; i < count; i++) {
		places->order[i] = i;
		places->first[places->lines->places[i].function + 1]++;
	}
	for (size_t i = 1; i <= functions; i++)
		places->first[i] += places->first[i - 1];
	qsort_r(places->order, count, sizeof(*places->order), listing_by_function, &sorting);
}

static void listing_find_places(struct lister *lister, const bool *chosen)
{
	for (int side = (int)lister_first_side(lister); side < DIFF_SIDES; side++) {
		sources_init(&lister->sources[side], lister->profiles[side], (enum diff_side)side,
			lister->options->opener, lister->listing->strings);
		diff_lines_create(lister->diff, (enum diff_side)side, lister->profiles[side], chosen,
			&lister->places[side].lines);
		index_places(lister, (enum diff_side)side);
	}
}

/* ---- The listing ---- */

static bool is_precise(const struct diff *diff, const struct profile *profile)
{
	uint32_t metric = profile_find_metric(profile, diff_string(diff, diff->metric), diff_string(diff, diff->unit));

	return metric != PROFILE_NONE && profile_has_precise_addresses(profile, metric);
}

static bool listing_list_functions(struct lister *lister, const struct listing_choice *choice, struct error *err)
{
	struct listing *listing = lister->listing;
	size_t count = 0;

	for (size_t i = 0; i < lister->diff->function_count; i++)
		count += choice->chosen[i];
	listing->functions = memory_zeroed(count + 1, sizeof(*listing->functions));
	for (uint32_t i = 0; i < lister->diff->function_count; i++) {
		struct listing_function *listed = &listing->functions[listing->function_count];

		if (!choice->chosen[i])
			continue;
		listed->function = i;
		listed->is_named = choice->named[i];
		listing->function_count++;
		if (!lister_make_rows(lister, listed, err))
			return false;
	}
	return true;
}

static bool lister_init(struct lister *lister, struct error *err)
{
	struct listing *listing = lister->listing = memory_zeroed(1, sizeof(*listing));

	listing->strings = string_table_begin(most_string_bytes);
	for (int side = (int)lister_first_side(lister); side < DIFF_SIDES; side++) {
		const struct listing_opener *opener = lister->options->opener;
		const char *revision = opener ? opener->revision[side] : NULL;

		listing->is_precise[side] = is_precise(lister->diff, lister->profiles[side]);
		if (revision &&
			!string_table_add(listing->strings, revision, strlen(revision), &listing->revision[side], err))
			return false;
	}
	return true;
}

bool listing_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct listing_options *options, struct listing **listing, struct error *err)
{
	CLEANUP(lister_deinit)
	struct lister lister = { .diff = diff, .profiles = profiles, .options = options };
	CLEANUP(choice_deinit) struct listing_choice choice = { 0 };

	if (!lister_init(&lister, err) || !choose_functions(diff, options, &choice, err))
		return false;
	lister.listing->left_out = choice.left_out;
	listing_find_places(&lister, choice.chosen);
	if (!listing_list_functions(&lister, &choice, err) || !lister_judge_rows(&lister, err))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		lister.listing->lines[side] = TAKE(lister.places[side].lines);
		lister.listing->place_rows[side] = TAKE(lister.places[side].rows);
	}
	if (options->assembly && !listing_disassemble(lister.listing, profiles, err))
		return false;
	*listing = TAKE(lister.listing);
	return true;
}
