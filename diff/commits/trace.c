/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Carries lines back through commits: a line that a commit did not touch has another number before it, one that was
 * moved is at another place, and one that the commit made is not there. Lines that a commit removed are followed from
 * there on, until the commit that made them, or base. Lines of base are carried forward in the same way, through a
 * history in which time goes backwards: what a commit removed, it makes.
 */
#include "diff/commits/trace.h"

#include "diff/commits/moves.h"
#include "diff/commits/turn.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 1 << 24, MAX_AROUND = 16 };

/* A line on its way to base. */
struct tracked {
	uint32_t line; /* where it is before the commits that were read so far */
	uint32_t function, own_line;
	uint32_t text;    /* of one that was removed */
	uint32_t remover; /* commit; PROFILE_NONE: the side has the line */
	bool is_use;      /* it stands for the line that uses it, and is none of the function's own */
};

struct tracked_lines {
	struct tracked *lines; /* owned; by line */
	size_t count, capacity;
};

/* A line that another file had before the commit at hand. */
struct away {
	uint32_t path;
	struct tracked line;
};

struct tracer {
	const struct repository_history *history;
	struct trace *trace;
	struct tracked_lines *files; /* owned: [string of the history] the lines of that path */
	size_t file_count;
	struct tracked_lines *before; /* owned: [file of the commit at hand] the same before it */
	size_t before_capacity;
	struct away *away; /* owned */
	size_t away_count, away_capacity;
	size_t line_count; /* that were ever followed */
	/*
	 * The latest change by function and text: the change by which it came last, from 1 on, and for each change the
	 * one before it; 0: there is none.
	 */
	struct hash_map latest;
	uint32_t *earlier; /* owned */
	size_t earlier_capacity;
	struct moves moves; /* of the commit at hand */
	bool has_moves;
	size_t commit;
	struct error *err;
};

static void tracer_deinit(struct tracer *t)
{
	for (size_t i = 0; t->files && i < t->file_count; i++)
		free(t->files[i].lines);
	for (size_t i = 0; t->before && i < t->before_capacity; i++)
		free(t->before[i].lines);
	free(t->files);
	free(t->before);
	free(t->away);
	free(t->earlier);
	hash_map_deinit(&t->latest);
	moves_deinit(&t->moves);
}

static bool add_tracked(struct tracer *t, struct tracked_lines *to, struct tracked line)
{
	return ARRAY_APPEND(&to->lines, &to->capacity, &to->count, MAX_LINES, t->err, line);
}

static bool trace_add_change(struct tracer *t, struct trace_change change)
{
	const uint32_t key[2] = { change.function, change.text };
	struct trace *trace = t->trace;
	uint32_t *latest;
	bool added = false;

	if (!ARRAY_RESERVE(&trace->changes, &trace->change_capacity, trace->change_count + 1, MAX_LINES, t->err) ||
		!ARRAY_RESERVE(&t->earlier, &t->earlier_capacity, trace->change_count + 1, MAX_LINES, t->err))
		return false;
	latest = hash_map_enter(&t->latest, key, 0, &added);
	t->earlier[trace->change_count] = *latest;
	trace->changes[trace->change_count++] = change;
	*latest = (uint32_t)trace->change_count;
	return true;
}

/*
 * A commit took away what a later one made again in the same function: both together changed nothing. The line is
 * followed on, to whoever made it first. False in `*is_same`: nobody made such a line.
 */
static bool take_back(struct tracer *t, uint32_t function, uint32_t text, uint32_t *own_line, bool *is_same)
{
	const uint32_t key[2] = { function, text };
	uint32_t *latest;
	bool added = false;

	latest = hash_map_enter(&t->latest, key, 0, &added);
	*is_same = *latest > 0;
	if (!*is_same)
		return true;
	*own_line = t->trace->changes[*latest - 1].line;
	t->trace->changes[*latest - 1].commit = TRACE_NO_COMMIT;
	*latest = t->earlier[*latest - 1];
	return true;
}

static int trace_by_line(const void *left, const void *right)
{
	const struct tracked *a = left, *b = right;

	return a->line != b->line ? ORDER(a->line, b->line) : ORDER(a->function, b->function);
}

static void sort_lines(struct tracked_lines *lines)
{
	for (size_t i = 1; i < lines->count; i++) {
		if (lines->lines[i - 1].line > lines->lines[i].line) {
			qsort(lines->lines, lines->count, sizeof(*lines->lines), trace_by_line);
			return;
		}
	}
}

/* ---- One hunk ---- */

/* The place of a hunk's code before: the functions that it is within. */
struct around {
	uint32_t function[MAX_AROUND], own_line[MAX_AROUND];
	size_t count;
};

static void add_around(struct around *around, const struct tracked *line)
{
	for (size_t i = 0; i < around->count; i++)
		if (around->function[i] == line->function)
			return;
	if (around->count == MAX_AROUND)
		return;
	around->function[around->count] = line->function;
	around->own_line[around->count++] = line->own_line;
}

/* The functions that have lines right before `at` and behind it. */
static void find_around(const struct tracked_lines *lines, size_t before, size_t behind, struct around *around)
{
	for (size_t i = before; i > 0 && lines->lines[i - 1].line == lines->lines[before - 1].line; i--)
		for (size_t j = behind; j < lines->count && lines->lines[j].line == lines->lines[behind].line; j++)
			if (lines->lines[j].function == lines->lines[i - 1].function)
				add_around(around, &lines->lines[i - 1]);
}

static bool find_moves(struct tracer *t)
{
	if (t->has_moves)
		return true;
	t->has_moves = true;
	return moves_find(&t->moves, t->history, &t->history->commits[t->commit], t->err);
}

/* Follows a line to where its code was, which may be in another file. */
static bool trace_follow(struct tracer *t, struct tracked line, const struct move_place *place,
	const struct repository_hunk *hunk, struct tracked_lines *before)
{
	uint32_t path = t->history->files[place->file].old_path;

	line.line = place->line;
	if (place->file == hunk->file)
		return add_tracked(t, before, line);
	return ARRAY_APPEND(
		&t->away, &t->away_capacity, &t->away_count, MAX_LINES, t->err, (struct away){ path, line });
}

/* Leaves a line that the hunk made, by its text. */
static bool leave_hunk(
	struct tracer *t, const struct repository_hunk *hunk, const struct tracked *line, struct tracked_lines *before)
{
	uint32_t offset = line->line - hunk->new_line;
	uint32_t text = t->history->texts[hunk->new_text + offset];
	struct move_place place;

	if (hunk->is_laid_out) {
		place = (struct move_place){ hunk->file,
			hunk->old_line + (uint32_t)((uint64_t)offset * hunk->old_count / hunk->new_count) };
		return trace_follow(t, *line, &place, hunk, before);
	}
	if (text == 0)
		return true;
	if (!find_moves(t))
		return false;
	if (moves_origin(&t->moves, hunk, offset, &place))
		return trace_follow(t, *line, &place, hunk, before);
	/* What came and went within the range differs between no sides. */
	if (line->remover != PROFILE_NONE)
		return true;
	return trace_add_change(
		t, (struct trace_change){ t->commit, line->function, line->own_line, text, .is_other = false });
}

static bool add_removed_line(struct tracer *t, struct tracked line, struct tracked_lines *before)
{
	bool is_same;

	if (!take_back(t, line.function, line.text, &line.own_line, &is_same))
		return false;
	if (is_same)
		line.remover = PROFILE_NONE;
	if (t->line_count++ >= MAX_LINES)
		return true;
	return add_tracked(t, before, line);
}

/* The lines that the hunk removed from functions are followed from here on. */
static bool add_removed(
	struct tracer *t, const struct repository_hunk *hunk, const struct around *around, struct tracked_lines *before)
{
	if (hunk->is_laid_out || hunk->old_count == 0 || around->count == 0)
		return true;
	if (!find_moves(t))
		return false;
	for (uint32_t i = 0; i < hunk->old_count; i++) {
		uint32_t text = t->history->texts[hunk->old_text + i];

		if (text == 0 || moves_is_kept(&t->moves, hunk, i))
			continue;
		for (size_t j = 0; j < around->count; j++)
			if (!add_removed_line(t,
				    (struct tracked){ hunk->old_line + i, around->function[j], around->own_line[j],
					    text, (uint32_t)t->commit, false },
				    before))
				return false;
	}
	return true;
}

/* ---- One file ---- */

/* The lines of a file before the hunk are moved by what the hunks above it have added. */
struct trace_walk {
	const struct tracked_lines *lines;
	size_t at;
	int64_t shift;
};

static bool walk_to(struct tracer *t, struct trace_walk *walk, uint64_t end, struct tracked_lines *before)
{
	for (; walk->at < walk->lines->count && walk->lines->lines[walk->at].line < end; walk->at++) {
		struct tracked line = walk->lines->lines[walk->at];

		line.line = (uint32_t)((int64_t)line.line + walk->shift);
		if (!add_tracked(t, before, line))
			return false;
	}
	return true;
}

static bool walk_hunk(
	struct tracer *t, struct trace_walk *walk, const struct repository_hunk *hunk, struct tracked_lines *before)
{
	/* Where there are no new lines, the number is of the line before the place. */
	uint64_t first = hunk->new_count > 0 ? hunk->new_line : (uint64_t)hunk->new_line + 1;
	struct around around = { .count = 0 };
	size_t start;

	if (!walk_to(t, walk, first, before))
		return false;
	start = walk->at;
	while (walk->at < walk->lines->count && walk->lines->lines[walk->at].line < first + hunk->new_count) {
		const struct tracked *line = &walk->lines->lines[walk->at++];

		add_around(&around, line);
		if (!leave_hunk(t, hunk, line, before))
			return false;
	}
	find_around(walk->lines, start, walk->at, &around);
	t->trace->is_executed[t->commit] |= around.count > 0;
	walk->shift += (int64_t)hunk->old_count - (int64_t)hunk->new_count;
	return add_removed(t, hunk, &around, before);
}

/* Fills `before` with the lines of a file as they were before the commit. */
static bool walk_file(struct tracer *t, const struct tracked_lines *lines, size_t first_hunk, size_t end_hunk,
	struct tracked_lines *before)
{
	struct trace_walk walk = { lines, 0, 0 };

	for (size_t i = first_hunk; i < end_hunk; i++)
		if (!walk_hunk(t, &walk, &t->history->hunks[i], before))
			return false;
	if (!walk_to(t, &walk, UINT64_MAX, before))
		return false;
	sort_lines(before);
	return true;
}

/* ---- One commit ---- */

static bool walk_files(struct tracer *t, const struct repository_commit *commit)
{
	const struct repository_history *history = t->history;
	size_t hunk = commit->first_hunk, end = commit->first_hunk + commit->hunk_count;

	for (size_t i = 0; i < commit->file_count; i++) {
		const struct tracked_lines *lines = &t->files[history->files[commit->first_file + i].new_path];
		size_t first = hunk;

		while (hunk < end && history->hunks[hunk].file == commit->first_file + i)
			hunk++;
		if (lines->count > 0 && !walk_file(t, lines, first, hunk, &t->before[i]))
			return false;
	}
	return true;
}

/* Adds the lines to those of a path, which has some if code was moved there. */
static bool join_lines(struct tracer *t, struct tracked_lines *from, struct tracked_lines *to)
{
	if (to->count == 0) {
		free(to->lines);
		*to = *from;
		*from = (struct tracked_lines){ 0 };
		return true;
	}
	for (size_t i = 0; i < from->count; i++)
		if (!add_tracked(t, to, from->lines[i]))
			return false;
	sort_lines(to);
	from->count = 0;
	return true;
}

/* All files of the commit get the lines that they had before it; a file may have had the name of another one. */
static bool step_back(struct tracer *t, const struct repository_commit *commit)
{
	const struct repository_file *files = &t->history->files[commit->first_file];

	for (size_t i = 0; i < commit->file_count; i++)
		t->files[files[i].new_path].count = 0;
	for (size_t i = 0; i < commit->file_count; i++) {
		if (files[i].old_path && !join_lines(t, &t->before[i], &t->files[files[i].old_path]))
			return false;
		t->before[i].count = 0;
	}
	for (size_t i = 0; i < t->away_count; i++) {
		struct tracked_lines *to = &t->files[t->away[i].path];

		if (t->away[i].path && !add_tracked(t, to, t->away[i].line))
			return false;
	}
	for (size_t i = 0; i < t->away_count; i++)
		sort_lines(&t->files[t->away[i].path]);
	t->away_count = 0;
	return true;
}

static bool walk_commit(struct tracer *t, size_t number)
{
	const struct repository_commit *commit = &t->history->commits[number];
	size_t had = t->before_capacity;

	t->commit = number;
	t->has_moves = false;
	moves_clear(&t->moves);
	if (!ARRAY_RESERVE(&t->before, &t->before_capacity, commit->file_count, MAX_LINES, t->err))
		return false;
	for (size_t i = had; i < t->before_capacity; i++)
		t->before[i] = (struct tracked_lines){ 0 };
	return walk_files(t, commit) && step_back(t, commit);
}

/* ---- All of them ---- */

static bool start_uses(struct tracer *t, const struct line_range *range, uint32_t function, uint32_t path)
{
	for (size_t i = 0; i < range->use_count; i++) {
		const struct line_use *use = &range->uses[i];

		for (uint32_t line = use->first; line <= use->last && t->line_count < MAX_LINES; line++) {
			t->line_count++;
			if (!add_tracked(t, &t->files[path],
				    (struct tracked){ line, function, use->own_line, 0, PROFILE_NONE, true }))
				return false;
		}
	}
	return true;
}

/* A file that no commit touched needs no steps: nothing of it is followed. */
static bool trace_start(struct tracer *t, const struct line_range *ranges, size_t function_count)
{
	for (uint32_t i = 0; i < function_count; i++) {
		const char *name = ranges[i].path;
		uint32_t path = name ? string_table_find(t->history->strings, name, strlen(name)) : UINT32_MAX;

		if (path == UINT32_MAX)
			continue;
		for (uint32_t line = ranges[i].first; line <= ranges[i].last && t->line_count < MAX_LINES; line++) {
			t->line_count++;
			if (!add_tracked(t, &t->files[path], (struct tracked){ line, i, line, 0, PROFILE_NONE, false }))
				return false;
		}
		if (!start_uses(t, &ranges[i], i, path))
			return false;
	}
	for (size_t i = 0; i < t->file_count; i++)
		sort_lines(&t->files[i]);
	return true;
}

/* What is left is base's: lines that both have, and those that were removed. */
static bool trace_end(struct tracer *t)
{
	struct trace *trace = t->trace;

	for (size_t i = 0; i < t->file_count; i++) {
		for (size_t j = 0; j < t->files[i].count; j++) {
			const struct tracked *line = &t->files[i].lines[j];

			if (line->remover != PROFILE_NONE) {
				if (!trace_add_change(t, (struct trace_change){ line->remover, line->function,
								 line->own_line, line->text, true, line->line }))
					return false;
				continue;
			}
			if (line->is_use)
				continue;
			if (!ARRAY_APPEND(&trace->kept, &trace->kept_capacity, &trace->kept_count, MAX_LINES, t->err,
				    (struct trace_kept){ line->function, line->own_line, line->line, (uint32_t)i }))
				return false;
		}
	}
	return true;
}

static bool commits_trace_back(const struct repository_history *history, const struct line_range *ranges,
	size_t function_count, struct trace *trace, struct error *err)
{
	CLEANUP(tracer_deinit) struct tracer t = { .history = history, .trace = trace, .err = err };

	t.file_count = string_table_count(history->strings);
	t.files = memory_zeroed(t.file_count, sizeof(*t.files));
	hash_map_init(&t.latest, 2 * sizeof(uint32_t));
	if (!trace_start(&t, ranges, function_count))
		return false;
	for (size_t i = 0; i < history->commit_count; i++)
		if (!walk_commit(&t, i))
			return false;
	return trace_end(&t);
}

/* ---- The other way ---- */

static bool trace_forward(const struct repository_history *history, const struct line_range *ranges,
	size_t function_count, struct trace *trace, struct error *err)
{
	CLEANUP(turned_history_deinit) struct repository_history turned = { 0 };
	size_t count = history->commit_count;

	turn_history(history, &turned);
	if (!commits_trace_back(&turned, ranges, function_count, trace, err))
		return false;
	for (size_t i = 0; i < trace->change_count; i++)
		if (trace->changes[i].commit != TRACE_NO_COMMIT)
			trace->changes[i].commit = count - 1 - trace->changes[i].commit;
	for (size_t i = 0; i < count / 2; i++) {
		bool first = trace->is_executed[i];

		trace->is_executed[i] = trace->is_executed[count - 1 - i];
		trace->is_executed[count - 1 - i] = first;
	}
	return true;
}

bool trace_lines(const struct repository_history *history, enum diff_side side, const struct line_range *ranges,
	size_t function_count, struct trace *trace, struct error *err)
{
	trace->is_executed = memory_zeroed(history->commit_count + 1, sizeof(*trace->is_executed));
	if (side == DIFF_HEAD ? !commits_trace_back(history, ranges, function_count, trace, err)
			      : !trace_forward(history, ranges, function_count, trace, err))
		return false;
	trace_sort(trace);
	return true;
}
