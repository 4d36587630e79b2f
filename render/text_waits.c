/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes what threads wait for as text: classes, functions, locks. */
#include "render/format.h"
#include "render/table.h"
#include "render/text_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* RATE_COLUMN: of functions, where the length of the recording or the number of requests is known. */
enum { MAX_CELL_BYTES = 1 << 20, MOST_LOCKS = 5, RATE_COLUMN = 4 };

void text_waits(const struct text_writer *w, enum diff_side side, const char *label)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (!w->waits)
		return;
	buffer_init(&text, MAX_CELL_BYTES);
	buffer_append_string(&text, label);
	waits_sentence(w->waits, side, &text);
	if (text.size == strlen(label))
		return;
	buffer_append_byte(&text, '.');
	if (text.failed)
		w->out->failed = true;
	else
		text_paragraph(w, text.data, strlen(label));
}

/* A function where threads wait, and for how long. */
struct waiting_function {
	uint32_t function;
	int64_t ns;
};

static int text_waits_by_time(const void *left, const void *right)
{
	const struct waiting_function *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->function < b->function ? -1 : 1;
}

/* Waits that the metric shown is about: the idle ones, or all others. */
static int64_t sum_of_metric(const int64_t *sums, bool is_idle)
{
	int64_t all = 0;

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		if (profile_wait_info((enum profile_wait_class)i)->is_idle == is_idle)
			all = saturating_add(all, sums[i]);
	return all;
}

/* Appends "lock, run queue": the classes of a tenth of these waits and more. */
static void append_wait_classes(const int64_t *sums, int64_t all, bool is_idle, struct buffer *out)
{
	const char *separator = "";

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		const struct profile_wait_info *info = profile_wait_info((enum profile_wait_class)i);

		if (info->is_idle != is_idle || sums[i] < all / 10 || sums[i] == 0)
			continue;
		buffer_printf(out, "%s%s", separator, info->words);
		separator = ", ";
	}
}

/* Appends "refill 80.3 %": who ended most of these waits. */
static void append_releaser(const struct waits_releaser *by, size_t count, struct buffer *out)
{
	double all = 0;

	for (size_t i = 0; i < count; i++)
		all += (double)by[i].ns;
	if (count == 0)
		return;
	profile_shown_name(by[0].name, by[0].module, out);
	buffer_printf(out, " %s", format_percent(format_share((double)by[0].ns, all)).text);
}

static bool add_function_row(const struct text_writer *w, const struct waiting_function *waiting, bool is_idle,
	int64_t whole, struct table *table, struct error *err)
{
	const struct diff_function *f = &w->diff->functions[waiting->function];
	struct waits_rate rate = waits_rate(w->waits, DIFF_HEAD);
	struct format_text time = format_value((double)waiting->ns, "nanoseconds"),
			   share = format_percent(format_share((double)waiting->ns, (double)whole)),
			   per = format_value((double)waiting->ns / rate.count, "nanoseconds");
	CLEANUP(buffer_deinit) struct buffer classes = { 0 }, releaser = { 0 };
	size_t count;
	const struct waits_releaser *by = waits_releasers(w->waits, DIFF_HEAD, waiting->function, &count);

	buffer_init(&classes, MAX_CELL_BYTES);
	buffer_init(&releaser, MAX_CELL_BYTES);
	append_wait_classes(waits_at(w->waits, DIFF_HEAD, waiting->function), waiting->ns, is_idle, &classes);
	append_releaser(by, count, &releaser);
	if (!buffer_ok(&classes, err) || !buffer_ok(&releaser, err))
		return false;
	const char *cells[] = { diff_string(w->diff, f->shown), format_module(diff_string(w->diff, f->shown_in)),
		classes.data, time.text, share.text, releaser.data, NULL };

	if (rate.count > 0) {
		memmove(&cells[RATE_COLUMN + 1], &cells[RATE_COLUMN], 2 * sizeof(*cells));
		cells[RATE_COLUMN] = per.text;
	}

	table_add(table, cells, TABLE_PLAIN);
	return true;
}

static bool text_waits_write_functions(const struct text_writer *w, const struct waiting_function *functions,
	size_t count, bool is_idle, struct error *err)
{
	struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 2 },
		{ .title = "waits for", .left = true },
		{ .title = "time" },
		{ .title = "share", .drop = 3 },
		{ .title = "released by", .left = true, .flexible = true, .is_name = true, .drop = 1 },
		{ 0 },
	};
	size_t column_count = sizeof(columns) / sizeof(columns[0]);
	int64_t whole = sum_of_metric(waits_total(w->waits, DIFF_HEAD), is_idle);
	struct waits_rate rate = waits_rate(w->waits, DIFF_HEAD);
	CLEANUP(table_deinit) struct table table = { 0 };

	if (rate.count > 0) {
		memmove(&columns[RATE_COLUMN + 1], &columns[RATE_COLUMN], 2 * sizeof(*columns));
		columns[RATE_COLUMN] = (struct table_column){ .title = rate.words, .drop = 4 };
	}
	table_init(&table, columns, column_count - !(rate.count > 0));
	for (size_t i = 0; i < count && i < w->rows; i++)
		if (!add_function_row(w, &functions[i], is_idle, whole, &table, err))
			return false;
	text_heading(w, is_idle ? "Where threads are idle" : "Where threads wait");
	return table_write(&table, w->width, w->colour, w->out, err);
}

/* ---- Locks ---- */

static bool add_lock_row(
	const struct text_writer *w, const struct waits_lock *lock, struct table *table, struct error *err)
{
	int64_t whole = sum_of_metric(waits_total(w->waits, DIFF_HEAD), false);
	struct format_text time = format_value((double)lock->ns, "nanoseconds"),
			   share = format_percent(format_share((double)lock->ns, (double)whole));
	CLEANUP(buffer_deinit) struct buffer name = { 0 }, callers = { 0 }, releaser = { 0 };

	buffer_init(&name, MAX_CELL_BYTES);
	buffer_init(&callers, MAX_CELL_BYTES);
	buffer_init(&releaser, MAX_CELL_BYTES);
	waits_lock_words(lock, &name);
	buffer_printf(&callers, "%zu", lock->caller_count);
	append_releaser(lock->releasers, lock->releaser_count, &releaser);
	if (!buffer_ok(&name, err) || !buffer_ok(&callers, err) || !buffer_ok(&releaser, err))
		return false;
	const char *cells[] = { name.data, format_module(lock->module), time.text, share.text, callers.data,
		releaser.data };

	table_add(table, cells, TABLE_PLAIN);
	return true;
}

static bool text_waits_write_locks(const struct text_writer *w, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "lock", .left = true, .flexible = true, .is_name = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 2 },
		{ .title = "time" },
		{ .title = "share", .drop = 3 },
		{ .title = "places" },
		{ .title = "released by", .left = true, .flexible = true, .is_name = true, .drop = 1 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	size_t count;
	const struct waits_lock *locks = waits_locks(w->waits, DIFF_HEAD, &count);

	if (count == 0)
		return true;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count && i < MOST_LOCKS; i++)
		if (!add_lock_row(w, &locks[i], &table, err))
			return false;
	text_heading(w, "Locks that threads wait for");
	return table_write(&table, w->width, w->colour, w->out, err);
}

/* ---- Locks of two sides ---- */

/* A lock with its times: those of head are scaled, as all values of head are. */
struct compared_lock {
	const struct waits_lock *sides[DIFF_SIDES]; /* NULL: nobody waited for it */
	double ns[DIFF_SIDES];
};

static int by_greater_time(const void *left, const void *right)
{
	const struct compared_lock *a = left, *b = right;
	double a_ns = a->ns[DIFF_BASE] > a->ns[DIFF_HEAD] ? a->ns[DIFF_BASE] : a->ns[DIFF_HEAD],
	       b_ns = b->ns[DIFF_BASE] > b->ns[DIFF_HEAD] ? b->ns[DIFF_BASE] : b->ns[DIFF_HEAD];
	const struct waits_lock *a_lock = a->sides[DIFF_HEAD] ? a->sides[DIFF_HEAD] : a->sides[DIFF_BASE],
				*b_lock = b->sides[DIFF_HEAD] ? b->sides[DIFF_HEAD] : b->sides[DIFF_BASE];

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return strcmp(a_lock->name, b_lock->name) ? strcmp(a_lock->name, b_lock->name)
						  : strcmp(a_lock->module, b_lock->module);
}

static void compare_lock(const struct text_writer *w, struct compared_lock *compared)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		compared->ns[side] = compared->sides[side] ? (double)compared->sides[side]->ns : 0;
	compared->ns[DIFF_HEAD] *= w->diff->scale.factor;
}

/*
 * Returns the locks of both sides that have names; those without cannot be told to be the same. Room for all of both
 * sides.
 */
static size_t collect_locks(const struct text_writer *w, struct compared_lock *found)
{
	size_t lock_count, count = 0;
	const struct waits_lock *locks = waits_locks(w->waits, DIFF_HEAD, &lock_count);

	for (size_t i = 0; i < lock_count; i++)
		if (locks[i].name[0])
			found[count++].sides[DIFF_HEAD] = &locks[i];
	for (size_t i = 0; i < count; i++)
		found[i].sides[DIFF_BASE] = waits_find_lock(w->waits, DIFF_BASE, found[i].sides[DIFF_HEAD]);
	locks = waits_locks(w->waits, DIFF_BASE, &lock_count);
	for (size_t i = 0; i < lock_count; i++)
		if (locks[i].name[0] && !waits_find_lock(w->waits, DIFF_HEAD, &locks[i]))
			found[count++].sides[DIFF_BASE] = &locks[i];
	for (size_t i = 0; i < count; i++)
		compare_lock(w, &found[i]);
	return count;
}

static bool add_compared_lock(const struct compared_lock *lock, struct table *table, struct error *err)
{
	const struct waits_lock *shown = lock->sides[DIFF_HEAD] ? lock->sides[DIFF_HEAD] : lock->sides[DIFF_BASE];
	struct format_text base = format_value(lock->ns[DIFF_BASE], "nanoseconds"),
			   head = format_value(lock->ns[DIFF_HEAD], "nanoseconds"),
			   delta = format_delta(lock->ns[DIFF_HEAD] - lock->ns[DIFF_BASE], "nanoseconds"),
			   change = format_change(lock->ns[DIFF_BASE], lock->ns[DIFF_HEAD]);
	CLEANUP(buffer_deinit) struct buffer releaser = { 0 };

	buffer_init(&releaser, MAX_CELL_BYTES);
	append_releaser(shown->releasers, shown->releaser_count, &releaser);
	if (!buffer_ok(&releaser, err))
		return false;
	const char *cells[] = { shown->name, format_module(shown->module), base.text, head.text, delta.text,
		change.text, releaser.data };

	table_add(table, cells, TABLE_PLAIN);
	return true;
}

static bool write_compared_locks(
	const struct text_writer *w, const struct compared_lock *locks, size_t count, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "lock", .left = true, .flexible = true, .is_name = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 3 },
		{ .title = "base", .drop = 1 },
		{ .title = "head", .drop = 1 },
		{ .title = "Δ" },
		{ .title = "change", .drop = 4 },
		{ .title = "released by", .left = true, .flexible = true, .is_name = true, .drop = 2 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count && i < MOST_LOCKS; i++)
		if (!add_compared_lock(&locks[i], &table, err))
			return false;
	text_heading(w, "Locks that threads wait for");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	text_paragraph(w, "Single locks are not tested: chance alone changes some of them.", 2);
	return true;
}

bool text_waiting_changes(const struct text_writer *w, struct error *err)
{
	const char *metric = diff_string(w->diff, w->diff->metric);
	CLEANUP(cleanup_free) struct compared_lock *found = NULL;
	size_t in_base, in_head, count;

	if (!w->waits || strcmp(metric, "cpu") == 0 || w->diff->is_idle)
		return true;
	waits_locks(w->waits, DIFF_BASE, &in_base);
	waits_locks(w->waits, DIFF_HEAD, &in_head);
	found = calloc(in_base + in_head + 1, sizeof(*found));
	if (!found)
		return error_set_memory(err);
	count = collect_locks(w, found);
	if (count == 0)
		return true;
	qsort(found, count, sizeof(*found), by_greater_time);
	return write_compared_locks(w, found, count, err);
}

/* ---- Places ---- */

bool text_waiting_functions(const struct text_writer *w, struct error *err)
{
	const char *metric = diff_string(w->diff, w->diff->metric);
	bool is_idle = w->diff->is_idle;
	CLEANUP(cleanup_free) struct waiting_function *functions = NULL;
	size_t count = 0;

	if (!w->waits || strcmp(metric, "cpu") == 0)
		return true;
	functions = calloc(w->diff->function_count + 1, sizeof(*functions));
	if (!functions)
		return error_set_memory(err);
	for (uint32_t i = 0; i < w->diff->function_count; i++) {
		int64_t ns = sum_of_metric(waits_at(w->waits, DIFF_HEAD, i), is_idle);

		if (ns > 0)
			functions[count++] = (struct waiting_function){ i, ns };
	}
	if (count == 0)
		return true;
	qsort(functions, count, sizeof(*functions), text_waits_by_time);
	return text_waits_write_functions(w, functions, count, is_idle, err) &&
	       (is_idle || text_waits_write_locks(w, err));
}
