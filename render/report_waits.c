/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes what threads wait for: classes, functions, locks, places. */
#include "render/parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LOCKS = 5, MOST_PLACES = 10 };

/*
 * Threads may wait in requests for as long as these take, or for a multiple of it where several threads work on one.
 * What is far beyond that is waited beside the requests, and no request is slower for it.
 */
static void append_beside(const struct waits_rate *rate, double waiting, struct buffer *out)
{
	static const double least_ratio = 2;
	double each = waiting / rate->count;

	if (strcmp(rate->words, "per request") == 0 && each > least_ratio * rate->answer_ns)
		buffer_printf(out,
			"; a request takes %s on average, so most of this is waited beside requests: rules of --wait-rules "
			"can call it idle",
			format_value(rate->answer_ns, "nanoseconds").text);
}

/*
 * Appends "waiting: 12.3 s, 1.23 s per second: lock 80.1 %, io 12.0 %; idle 40.2 s not counted" about a side, without a
 * full stop, with what is to be known of these figures; nothing if it has no waits.
 */
static void append_waiting(const struct waits *waits, enum diff_side side, struct buffer *out)
{
	const int64_t *total = waits_total(waits, side);
	enum profile_wait_class order[PROFILE_WAIT_COUNT];
	struct waits_rate rate = waits_rate(waits, side);
	size_t count = profile_waits_by_time(total, order);
	double waiting = 0;

	for (size_t i = 0; i < count; i++)
		waiting += (double)total[order[i]];
	if (count == 0 && total[PROFILE_WAIT_IDLE] == 0)
		return;
	buffer_printf(out, "waiting: %s", format_value(waiting, "nanoseconds").text);
	if (rate.count > 0 && waiting > 0)
		buffer_printf(out, ", %s %s", format_value(waiting / rate.count, "nanoseconds").text, rate.words);
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "%s%s %s", i ? ", " : ": ", profile_wait_info(order[i])->words,
			format_percent(format_share((double)total[order[i]], waiting)).text);
	if (total[PROFILE_WAIT_IDLE] > 0)
		buffer_printf(out, "; idle %s not counted",
			format_value((double)total[PROFILE_WAIT_IDLE], "nanoseconds").text);
	append_beside(&rate, waiting, out);
}

void parts_waits(struct document *d, enum diff_side side, const char *label)
{
	const char *unseen;
	size_t before;

	if (!d->waits || !document_is_text(d))
		return;
	buffer_append_string(&d->words, label);
	before = d->words.size;
	append_waiting(d->waits, side, &d->words);
	if (d->words.size == before) {
		d->words.size = 0;
		return;
	}
	unseen = profile_waits_unseen(d->input->profiles[side]);
	if (unseen)
		buffer_printf(&d->words, ". Not seen: %s", unseen);
	document_put(d, label[0] ? DOCUMENT_SIDE : DOCUMENT_PARAGRAPH, ".");
}

/* A function where threads wait, and for how long. */
struct waiting_function {
	uint32_t function;
	int64_t ns;
};

static int waiting_by_time(const void *left, const void *right)
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

static struct format_text time_of(double ns)
{
	return format_value(ns, "nanoseconds");
}

static void add_waiting_function(
	const struct document *d, const struct waiting_function *waiting, bool is_idle, struct table *table)
{
	const struct diff_function *f = &d->diff->functions[waiting->function];
	double ns = (double)waiting->ns, rate = waits_rate(d->waits, DIFF_HEAD).count;
	CLEANUP(buffer_deinit) struct buffer classes = { 0 }, releaser = { 0 };
	size_t count;
	const struct waits_releaser *by = waits_releasers(d->waits, DIFF_HEAD, waiting->function, &count);

	buffer_init(&classes, d->words.max_bytes);
	buffer_init(&releaser, d->words.max_bytes);
	append_wait_classes(waits_at(d->waits, DIFF_HEAD, waiting->function), waiting->ns, is_idle, &classes);
	append_releaser(by, count, &releaser);
	table->failed |= classes.failed || releaser.failed;
	TABLE_ADD(table, TABLE_PLAIN, diff_string(d->diff, f->shown), format_module(diff_string(d->diff, f->shown_in)),
		classes.data, time_of(ns).text, time_of(ns / rate).text,
		format_percent(format_share(ns, (double)sum_of_metric(waits_total(d->waits, DIFF_HEAD), is_idle))).text,
		releaser.data);
}

static void put_waiting_functions(
	struct document *d, const struct waiting_function *functions, size_t count, bool is_idle)
{
	struct waits_rate rate = waits_rate(d->waits, DIFF_HEAD);
	const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 2 },
		{ .title = "waits for", .left = true },
		{ .title = "time" },
		/* Where the length of the recording or the number of requests is known. */
		{ .title = rate.words, .drop = 4, .hidden = !(rate.count > 0) },
		{ .title = "share", .drop = 3 },
		{ .title = "released by", .left = true, .flexible = true, .is_name = true, .drop = 1 },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; i < count && i < d->rows; i++)
		add_waiting_function(d, &functions[i], is_idle, &table);
	buffer_append_string(&d->words, is_idle ? "Where threads are idle" : "Where threads wait");
	document_table(d, &table);
}

/* ---- Locks ---- */

static void add_lock(const struct document *d, const struct waits_lock *lock, struct table *table)
{
	double whole = (double)sum_of_metric(waits_total(d->waits, DIFF_HEAD), false);
	CLEANUP(buffer_deinit) struct buffer name = { 0 }, releaser = { 0 };
	char callers[24];

	buffer_init(&name, d->words.max_bytes);
	buffer_init(&releaser, d->words.max_bytes);
	waits_lock_words(lock, &name);
	snprintf(callers, sizeof(callers), "%zu", lock->caller_count);
	append_releaser(lock->releasers, lock->releaser_count, &releaser);
	table->failed |= name.failed || releaser.failed;
	TABLE_ADD(table, TABLE_PLAIN, name.data, format_module(lock->module), time_of((double)lock->ns).text,
		format_percent(format_share((double)lock->ns, whole)).text, callers, releaser.data);
}

static void put_locks(struct document *d)
{
	static const struct table_column columns[] = {
		{ .title = "lock", .left = true, .flexible = true, .is_name = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 2 },
		{ .title = "time" },
		{ .title = "share", .drop = 3 },
		{ .title = "places" },
		{ .title = "released by", .left = true, .flexible = true, .is_name = true, .drop = 1 },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	size_t count;
	const struct waits_lock *locks = waits_locks(d->waits, DIFF_HEAD, &count);

	for (size_t i = 0; i < count && i < MOST_LOCKS; i++)
		add_lock(d, &locks[i], &table);
	buffer_append_string(&d->words, "Locks that threads wait for");
	document_table(d, &table);
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

static void compare_lock(const struct document *d, struct compared_lock *compared)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		compared->ns[side] = compared->sides[side] ? (double)compared->sides[side]->ns : 0;
	compared->ns[DIFF_HEAD] *= d->diff->scale.factor;
}

/*
 * Returns the locks of both sides that have names; those without cannot be told to be the same. Room for all of both
 * sides.
 */
static size_t collect_locks(const struct document *d, struct compared_lock *found)
{
	size_t lock_count, count = 0;
	const struct waits_lock *locks = waits_locks(d->waits, DIFF_HEAD, &lock_count);

	for (size_t i = 0; i < lock_count; i++)
		if (locks[i].name[0])
			found[count++].sides[DIFF_HEAD] = &locks[i];
	for (size_t i = 0; i < count; i++)
		found[i].sides[DIFF_BASE] = waits_find_lock(d->waits, DIFF_BASE, found[i].sides[DIFF_HEAD]);
	locks = waits_locks(d->waits, DIFF_BASE, &lock_count);
	for (size_t i = 0; i < lock_count; i++)
		if (locks[i].name[0] && !waits_find_lock(d->waits, DIFF_HEAD, &locks[i]))
			found[count++].sides[DIFF_BASE] = &locks[i];
	for (size_t i = 0; i < count; i++)
		compare_lock(d, &found[i]);
	return count;
}

static void add_compared_lock(const struct document *d, const struct compared_lock *lock, struct table *table)
{
	const struct waits_lock *shown = lock->sides[DIFF_HEAD] ? lock->sides[DIFF_HEAD] : lock->sides[DIFF_BASE];
	double base = lock->ns[DIFF_BASE], head = lock->ns[DIFF_HEAD];
	CLEANUP(buffer_deinit) struct buffer releaser = { 0 };

	buffer_init(&releaser, d->words.max_bytes);
	append_releaser(shown->releasers, shown->releaser_count, &releaser);
	table->failed |= releaser.failed;
	TABLE_ADD(table, TABLE_PLAIN, shown->name, format_module(shown->module), time_of(base).text, time_of(head).text,
		format_delta(head - base, "nanoseconds").text, format_change(base, head).text, releaser.data);
}

static void put_compared_locks(struct document *d, const struct compared_lock *locks, size_t count)
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
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; i < count && i < MOST_LOCKS; i++)
		add_compared_lock(d, &locks[i], &table);
	buffer_append_string(&d->words, "Locks that threads wait for");
	if (document_table(d, &table) > 0)
		document_put(d, DOCUMENT_NOTE, "Single locks are not tested: chance alone changes some of them.");
}

void parts_waiting_changes(struct document *d)
{
	CLEANUP(cleanup_free) struct compared_lock *found = NULL;
	size_t in_base, in_head, count;

	if (!d->waits || strcmp(diff_string(d->diff, d->diff->metric), "cpu") == 0 || d->diff->is_idle)
		return;
	waits_locks(d->waits, DIFF_BASE, &in_base);
	waits_locks(d->waits, DIFF_HEAD, &in_head);
	found = memory_zeroed(in_base + in_head + 1, sizeof(*found));
	if (!found) {
		d->out->failed = true;
		return;
	}
	count = collect_locks(d, found);
	qsort(found, count, sizeof(*found), by_greater_time);
	put_compared_locks(d, found, count);
}

/* ---- Functions ---- */

void parts_waiting_functions(struct document *d)
{
	bool is_idle = d->diff->is_idle;
	CLEANUP(cleanup_free) struct waiting_function *functions = NULL;
	size_t count = 0;

	if (!d->waits || strcmp(diff_string(d->diff, d->diff->metric), "cpu") == 0)
		return;
	functions = memory_zeroed(d->diff->function_count + 1, sizeof(*functions));
	if (!functions) {
		d->out->failed = true;
		return;
	}
	for (uint32_t i = 0; i < d->diff->function_count; i++) {
		int64_t ns = sum_of_metric(waits_at(d->waits, DIFF_HEAD, i), is_idle);

		if (ns > 0)
			functions[count++] = (struct waiting_function){ i, ns };
	}
	if (count == 0)
		return;
	qsort(functions, count, sizeof(*functions), waiting_by_time);
	put_waiting_functions(d, functions, count, is_idle);
	if (!is_idle)
		put_locks(d);
}

/* ---- Places ---- */

static const char *waiting_function_name(const struct document *d, uint32_t function)
{
	return function == PROFILE_NONE ? "" : diff_string(d->diff, d->diff->functions[function].shown);
}

/* The place that the verdict names stands out. */
static void add_place(const struct document *d, size_t number, struct table *table)
{
	const struct diff_wait_site *site = &d->diff->wait_sites[number];
	CLEANUP(buffer_deinit) struct buffer waiting = { 0 };

	buffer_init(&waiting, d->words.max_bytes);
	buffer_append_string(&waiting, profile_wait_info(site->wait_class)->reason);
	if (diff_string(d->diff, site->lock)[0]) {
		buffer_append_string(&waiting, ", most for ");
		document_name(&waiting, diff_string(d->diff, site->lock));
	}
	table->failed |= waiting.failed;
	TABLE_ADD(table, number == d->diff->named_wait ? TABLE_MAIN : TABLE_PLAIN,
		waiting_function_name(d, site->function), waiting.data, format_value(site->base, d->unit).text,
		format_value(site->head, d->unit).text, format_delta(site->delta, d->unit).text,
		format_change(site->base, site->head).text, waiting_function_name(d, diff_released_by(d->diff, site)));
}

void parts_waiting_places(struct document *d)
{
	static const struct table_column columns[] = {
		{ .title = "place", .left = true, .is_name = true, .has_dash = true },
		{ .title = "waiting", .left = true, .is_text = true },
		{ .title = "base" },
		{ .title = "head" },
		{ .title = "Δ" },
		{ .title = "change" },
		{ .title = "released by", .left = true, .is_name = true, .has_dash = true },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; i < d->diff->wait_site_count && table.row_count < MOST_PLACES; i++)
		if (diff_has_wait_class(d->diff, d->diff->wait_sites[i].wait_class) &&
			d->diff->wait_sites[i].delta != 0)
			add_place(d, i, &table);
	buffer_append_string(&d->words, "Where threads wait");
	document_table(d, &table);
}
