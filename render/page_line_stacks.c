/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of which listed lines the samples go through, from which it adds up lines under its filters. */
#include "render/page_data.h"

#include <stdlib.h>

/* A page with more is slow to open, and nobody looks at so many stacks line by line. */
static const size_t max_stacks_bytes = (size_t)16 << 20;

/* One side. */
struct line_stacks {
	const struct profile *profile;
	const struct diff_lines *lines;
	const uint32_t *rows;   /* [place] its row, of those of all functions; PROFILE_NONE: it has none */
	uint32_t *chains;       /* [chain] its number in the page; owned */
	uint32_t *stops;        /* [stack] the number of its stop, from 1; 0: none yet; owned */
	uint64_t *sample_stops; /* [sample]; owned */
	struct buffer bytes;    /* of stops */
	size_t stop_count;
};

static void line_stacks_deinit(struct line_stacks *stacks)
{
	free(stacks->chains);
	free(stacks->stops);
	free(stacks->sample_stops);
	buffer_deinit(&stacks->bytes);
}

/* Numbers the chains whose last line has a row, each behind the one that it goes on from. */
static void page_line_stacks_append_chains(struct buffer *out, struct line_stacks *stacks)
{
	const struct diff_lines *lines = stacks->lines;
	uint32_t count = 0;

	stacks->chains = memory_zeroed(lines->chain_count + 1, sizeof(*stacks->chains));
	for (size_t i = 1; i < lines->chain_count; i++)
		stacks->chains[i] = stacks->rows[lines->chains[i].place] == PROFILE_NONE
					    ? stacks->chains[lines->chains[i].parent]
					    : ++count;
	buffer_append_varint(out, count);
	for (size_t i = 1, number = 1; i < lines->chain_count; i++) {
		uint32_t row = stacks->rows[lines->chains[i].place];

		if (row == PROFILE_NONE)
			continue;
		buffer_append_varint(out, number++ - 1 - stacks->chains[lines->chains[i].parent]);
		buffer_append_varint(out, row);
	}
}

/* Appends where a stack ends: its chain, the line that was executing, and those that it was inlined at. */
static void append_stop(struct line_stacks *stacks, uint32_t stack)
{
	const struct diff_lines *lines = stacks->lines;
	uint32_t first = lines->first_owner[stack], end = lines->first_owner[stack + 1], self = PROFILE_NONE, count = 0;

	for (uint32_t i = first; i < end; i++)
		count += lines->owners[i] != PROFILE_NONE && stacks->rows[lines->owners[i]] != PROFILE_NONE;
	if (first < end && lines->owners[first] != PROFILE_NONE)
		self = stacks->rows[lines->owners[first]];
	buffer_append_varint(&stacks->bytes, stacks->chains[lines->stack_chains[stack]]);
	buffer_append_varint(&stacks->bytes, self == PROFILE_NONE ? 0 : (uint64_t)self + 1);
	buffer_append_varint(&stacks->bytes, count);
	for (uint32_t i = first; i < end; i++)
		if (lines->owners[i] != PROFILE_NONE && stacks->rows[lines->owners[i]] != PROFILE_NONE)
			buffer_append_varint(&stacks->bytes, stacks->rows[lines->owners[i]]);
	stacks->stops[stack] = (uint32_t)++stacks->stop_count;
}

static bool make_stops(struct line_stacks *stacks, struct error *err)
{
	const struct profile *profile = stacks->profile;

	stacks->stops = memory_zeroed(profile->stack_count + 1, sizeof(*stacks->stops));
	stacks->sample_stops = memory_zeroed(profile->sample_count + 1, sizeof(*stacks->sample_stops));
	for (size_t i = 0; i < profile->sample_count; i++) {
		uint32_t stack = profile->samples[i].stack;

		/* A stack that ends at a listed line has it on its chain. */
		if (stacks->chains[stacks->lines->stack_chains[stack]] == 0)
			continue;
		if (!stacks->stops[stack])
			append_stop(stacks, stack);
		stacks->sample_stops[i] = stacks->stops[stack];
	}
	return buffer_ok(&stacks->bytes, err);
}

static bool page_line_stacks_append_side(
	struct buffer *out, const struct render_input *input, size_t side, struct error *err)
{
	CLEANUP(line_stacks_deinit)
	struct line_stacks stacks = { .profile = input->profiles[side],
		.lines = input->listing->lines[side],
		.rows = input->listing->place_rows[side] };

	buffer_init(&stacks.bytes, max_stacks_bytes);
	page_line_stacks_append_chains(out, &stacks);
	if (!make_stops(&stacks, err))
		return false;
	buffer_append_varint(out, stacks.stop_count);
	if (stacks.bytes.size > 0)
		buffer_append(out, stacks.bytes.data, stacks.bytes.size);
	buffer_append_varint(out, stacks.profile->sample_count);
	page_data_append_fixed(out, stacks.sample_stops, stacks.profile->sample_count);
	return true;
}

bool page_data_line_stacks(const struct render_input *input, struct buffer *out, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	bool fits;

	buffer_init(&bytes, max_stacks_bytes);
	for (size_t side = input->diff->sides == 1 ? DIFF_HEAD : DIFF_BASE; side < DIFF_SIDES; side++) {
		struct error why;

		if (page_line_stacks_append_side(&bytes, input, side, &why))
			continue;
		if (why.code != ERROR_LIMIT) {
			*err = why;
			return false;
		}
		bytes.failed = bytes.over_limit = true;
		break;
	}
	if (bytes.failed && !bytes.over_limit)
		return buffer_ok(&bytes, err);
	fits = !bytes.failed;
	buffer_append_byte(out, !fits);
	if (fits)
		buffer_append(out, bytes.data, bytes.size);
	return buffer_ok(out, err);
}
