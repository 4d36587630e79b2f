/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/job.h"

#include "symbolize/dwarf/describe.h"
#include "symbolize/dwarf/ranges.h"
#include "symbolize/dwarf/source.h"
#include "symbolize/dwarf/split.h"
#include "symbolize/dwarf/walk.h"

#include <stdlib.h>

enum { MAX_EXTENTS = 64 };

struct dwarf_work {
	struct dwarf_job *job;
	struct dwarf_unit *unit; /* the unit with the entries: the job's, or its split one */
	struct dwarf_walk walk;
	struct dwarf_line *lines;
	struct dwarf_describer describer;
	/* The extents of the previous function: addresses of one function are neighbours. */
	uint64_t extents_of;
	const struct dwarf_extent *extents;
	size_t extent_count;
};

static size_t chain_length(const struct dwarf_walk *walk, uint32_t node)
{
	size_t length = 0;

	for (; node != DWARF_NO_NODE; node = walk->nodes[node].parent)
		length++;
	return length;
}

static bool find_extents(struct dwarf_work *w, const struct dwarf_die *die, struct error *err)
{
	struct dwarf_extent found[MAX_EXTENTS], *kept;
	struct dwarf_ranges ranges;
	size_t count = 0;

	if (w->extents_of == die->offset)
		return true;
	dwarf_ranges_init(&ranges, w->unit, &die->low_pc, &die->high_pc, &die->ranges);
	while (count < MAX_EXTENTS && dwarf_ranges_next(&ranges, &found[count].low, &found[count].high))
		count++;
	kept = ARENA_ARRAY(w->job->arena, struct dwarf_extent, count + 1);
	if (!kept)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		kept[i] = found[i];
	w->extents = kept;
	w->extent_count = count;
	w->extents_of = die->offset;
	return true;
}

static bool fill_frame(struct dwarf_work *w, uint64_t offset, struct dwarf_frame *frame, struct error *err)
{
	struct dwarf_function function;

	if (!dwarf_describe(&w->describer, w->unit, offset, &function, err))
		return false;
	frame->linkage_name = function.linkage_name;
	frame->name = function.name;
	frame->decl_file = function.decl_file;
	frame->decl_line = function.decl_line;
	return true;
}

/* Sets the caller of an inlined function to the place of the call. */
static bool fill_call(
	struct dwarf_work *w, const struct dwarf_die *callee, struct dwarf_frame *frame, struct error *err)
{
	frame->line = dwarf_value_small(&callee->call_line);
	if (!callee->call_file.form)
		return true;
	return dwarf_describe_path(&w->describer, w->unit, dwarf_value_small(&callee->call_file), &frame->file, err);
}

static bool answer_by_function(struct dwarf_work *w, size_t index, struct error *err)
{
	uint32_t node = w->walk.deepest[index];
	size_t count = chain_length(&w->walk, node);
	struct dwarf_frame *frames = ARENA_ARRAY(w->job->arena, struct dwarf_frame, count);
	struct dwarf_answer *answer = w->job->answers[index];

	if (!frames)
		return error_set_memory(err);
	frames[0].file = answer->file;
	frames[0].line = answer->line;
	for (size_t i = 0; i < count; i++, node = w->walk.nodes[node].parent) {
		struct dwarf_die die;

		if (!fill_frame(w, w->walk.nodes[node].die, &frames[i], err))
			return false;
		if (!dwarf_die_at(w->unit, w->walk.nodes[node].die, &die))
			return true;
		if (i + 1 == count)
			break;
		frames[i + 1].file = "";
		if (!fill_call(w, &die, &frames[i + 1], err))
			return false;
	}
	answer->frames = frames;
	answer->count = count;
	return true;
}

static bool answer_extents(struct dwarf_work *w, size_t index, struct error *err)
{
	struct dwarf_answer *answer = w->job->answers[index];
	uint32_t node = w->walk.deepest[index];
	struct dwarf_die die;

	while (w->walk.nodes[node].parent != DWARF_NO_NODE)
		node = w->walk.nodes[node].parent;
	if (!dwarf_die_at(w->unit, w->walk.nodes[node].die, &die))
		return true;
	if (!find_extents(w, &die, err))
		return false;
	answer->extents = w->extents;
	answer->extent_count = w->extent_count;
	return true;
}

static bool answer_all(struct dwarf_work *w, struct error *err)
{
	for (size_t i = 0; i < w->job->count; i++) {
		struct dwarf_answer *answer = w->job->answers[i];

		if (w->lines[i].found) {
			answer->line = w->lines[i].line;
			if (!dwarf_describe_path(&w->describer, w->job->unit, w->lines[i].file, &answer->file, err))
				return false;
		}
		if (w->walk.deepest[i] != DWARF_NO_NODE &&
			(!answer_by_function(w, i, err) || !answer_extents(w, i, err)))
			return false;
	}
	return true;
}

static bool run_in(struct dwarf_work *w, struct error *err)
{
	const struct dwarf_job *job = w->job;
	CLEANUP(cleanup_free) uint32_t *deepest = calloc(job->count, sizeof(*deepest));
	CLEANUP(cleanup_free) uint32_t *depths = calloc(job->count, sizeof(*depths));
	CLEANUP(cleanup_free) struct dwarf_line *lines = calloc(job->count, sizeof(*lines));
	bool ok;

	if (!deepest || !depths || !lines)
		return error_set_memory(err);
	w->lines = lines;
	w->walk = (struct dwarf_walk){
		.unit = w->unit,
		.addresses = job->addresses,
		.count = job->count,
		.deepest = deepest,
		.depths = depths,
		.is_exhaustive = job->is_exhaustive,
	};
	dwarf_describer_init(&w->describer, job->arena);
	ok = dwarf_walk_run(&w->walk, err);
	if (ok) {
		dwarf_line_match(job->unit->lines, job->unit, job->addresses, job->count, lines);
		ok = answer_all(w, err) && dwarf_job_sources(w->job, &w->describer, err);
	}
	dwarf_describer_deinit(&w->describer);
	dwarf_walk_deinit(&w->walk);
	return ok;
}

bool dwarf_job_run(struct dwarf_job *job, struct error *err)
{
	struct dwarf_work w = { .job = job, .unit = job->unit, .extents_of = UINT64_MAX };
	struct dwarf_split split;
	bool is_open, ok;

	if (!dwarf_unit_open(job->unit, &is_open, err))
		return false;
	if (!is_open)
		return true;
	if (!dwarf_split_init(&split, job->unit, job->package, job->debug_path, err))
		return false;
	if (split.unit)
		w.unit = split.unit;
	ok = run_in(&w, err);
	dwarf_split_deinit(&split);
	return ok;
}
