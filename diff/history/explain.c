/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The findings of a diff, as bytes; numbers are LEB128:
 *
 *	number of functions; of each: size and bytes of its key, what it is (enum explain_kind), its chain
 *
 * A chain are the functions of one change of the diff. Those of others have nothing that other changes do not say, and
 * callers are those above the function that names a chain, if they are in none.
 */
enum explain_kind { EXPLAIN_MOVED, EXPLAIN_CALLER, EXPLAIN_OF_OTHERS, EXPLAIN_MEMBER, EXPLAIN_NAMES };
enum { EXPLAIN_KIND_COUNT = 5, EXPLAIN_BYTES = 3, EXPLAIN_MAX = 1 << 20 };

/* ---- Finding ---- */

static void explain_put(
	const struct diff *diff, uint32_t function, enum explain_kind kind, size_t chain, struct buffer *out)
{
	uint32_t key = diff->functions[function].key;
	size_t size = string_table_size(diff->strings, key);

	buffer_append_varint(out, size);
	buffer_append(out, diff_string(diff, key), size);
	buffer_append_byte(out, (uint8_t)kind);
	buffer_append_varint(out, chain);
}

static bool explain_has_moved(const struct diff_function *f)
{
	return f->total.state == DIFF_STATE_MOVED || f->self.state == DIFF_STATE_MOVED;
}

/* The findings of a diff by function; UINT8_MAX: nothing. */
struct history_findings {
	uint8_t *kinds;  /* owned */
	size_t *chains;  /* owned */
	bool *is_caller; /* owned; scratch: [function] above the function that names a chain */
};

static void findings_deinit(struct history_findings *f)
{
	free(f->kinds);
	free(f->chains);
	free(f->is_caller);
}

static void history_explain_mark(struct history_findings *f, uint32_t function, enum explain_kind kind, size_t chain)
{
	if (f->kinds[function] == UINT8_MAX) {
		f->kinds[function] = (uint8_t)kind;
		f->chains[function] = chain;
	}
}

static void mark_chains(struct history_findings *f, const struct diff *diff)
{
	for (size_t i = 0; i < diff->change_count; i++) {
		const struct diff_change *change = &diff->changes[i];

		for (size_t k = 0; k < change->count; k++) {
			uint32_t function = diff->change_functions[change->first + k];

			history_explain_mark(f, function,
				change->is_of_others           ? EXPLAIN_OF_OTHERS
				: function == change->function ? EXPLAIN_NAMES
							       : EXPLAIN_MEMBER,
				i);
		}
	}
}

static void mark_callers(struct history_findings *f, const struct diff *diff, size_t chain)
{
	memset(f->is_caller, 0, diff->function_count * sizeof(*f->is_caller));
	for (uint32_t node = 1; node < diff->node_count; node++) {
		if (diff->nodes[node].function != diff->changes[chain].function)
			continue;
		for (uint32_t up = diff->nodes[node].parent; up != 0; up = diff->nodes[up].parent)
			f->is_caller[diff->nodes[up].function] = true;
	}
	for (uint32_t function = 0; function < diff->function_count; function++)
		if (f->is_caller[function])
			history_explain_mark(f, function, EXPLAIN_CALLER, chain);
}

/* Callers of more chains than these are of no use to anybody. */
enum { EXPLAIN_MAX_CHAINS = 20 };

bool history_find(const struct diff *diff, struct buffer *out, struct error *err)
{
	CLEANUP(findings_deinit)
	struct history_findings f = { memory_alloc(diff->function_count + 1),
		memory_zeroed(diff->function_count + 1, sizeof(*f.chains)),
		memory_zeroed(diff->function_count + 1, sizeof(*f.is_caller)) };
	size_t count = 0;

	memset(f.kinds, UINT8_MAX, diff->function_count + 1);
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (explain_has_moved(&diff->functions[i]))
			history_explain_mark(&f, i, EXPLAIN_MOVED, 0);
	mark_chains(&f, diff);
	for (size_t i = 0; i < diff->change_count && i < EXPLAIN_MAX_CHAINS; i++)
		if (!diff->changes[i].is_of_others)
			mark_callers(&f, diff, i);
	for (size_t i = 0; i < diff->function_count; i++)
		count += f.kinds[i] != UINT8_MAX;
	buffer_append_varint(out, count);
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (f.kinds[i] != UINT8_MAX)
			explain_put(diff, i, (enum explain_kind)f.kinds[i], f.chains[i], out);
	return buffer_ok(out, err);
}

/* ---- Applying ---- */

struct history_explained {
	uint32_t key; /* string of the set; UINT32_MAX: it has no such function */
	enum explain_kind kind;
	uint64_t chain;
};

static bool explain_read(const struct summary_set *set, struct byte_reader *r, struct history_explained **found,
	size_t *count, struct error *err)
{
	uint64_t most = byte_reader_uleb128(r);

	if (!byte_reader_ok(r) || most > byte_reader_left(r) / EXPLAIN_BYTES || most > EXPLAIN_MAX)
		return error_set(err, ERROR_FORMAT, "findings of a diff: bad number of functions");
	*found = memory_zeroed((size_t)most + 1, sizeof(**found));
	for (*count = 0; *count < most; ++*count) {
		struct history_explained *e = &(*found)[*count];
		uint64_t size = byte_reader_uleb128(r);
		const uint8_t *key = byte_reader_bytes(r, size <= byte_reader_left(r) ? (size_t)size : SIZE_MAX);
		uint8_t kind = byte_reader_u8(r);

		e->chain = byte_reader_uleb128(r);
		if (!byte_reader_ok(r) || kind >= EXPLAIN_KIND_COUNT)
			return error_set(err, ERROR_FORMAT, "findings of a diff: bad function %zu", *count);
		e->key = string_table_find(set->strings, (const char *)key, (size_t)size);
		e->kind = (enum explain_kind)kind;
	}
	return true;
}

/* Returns what was found of the function of a change; NULL: nothing. */
static const struct history_explained *explain_of(const struct history *history, const struct history_change *change,
	const struct history_explained *found, size_t count)
{
	for (size_t i = 0; i < count && change->function != HISTORY_WHOLE; i++)
		if (found[i].key == history->set->functions[change->function].key)
			return &found[i];
	return NULL;
}

/* Of two changes of one chain the one that the diff names it by is listed, else the greater one. */
static bool explain_is_better(const struct history_change *a, const struct history_explained *of_a,
	const struct history_change *b, const struct history_explained *of_b)
{
	if (of_a->kind != of_b->kind)
		return of_a->kind == EXPLAIN_NAMES;
	return fabs(a->delta) > fabs(b->delta);
}

/*
 * Marks the changes of the point that another one of the same chain and direction stands for. A diff compares the
 * segments beside the point alone: where the history has one function grow and the other shrink, they are two changes.
 */
static void explain_chains(
	const struct history_series *series, const struct history_explained *const *of, bool *is_listed_elsewhere)
{
	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *a = &series->changes[i];

		if (!of[i] || of[i]->kind < EXPLAIN_MEMBER)
			continue;
		for (size_t k = 0; k < series->change_count && !is_listed_elsewhere[i]; k++) {
			const struct history_change *b = &series->changes[k];

			if (k == i || !of[k] || of[k]->kind < EXPLAIN_MEMBER || of[k]->chain != of[i]->chain ||
				(a->delta > 0) != (b->delta > 0) || a->went != b->went)
				continue;
			is_listed_elsewhere[i] = explain_is_better(b, of[k], a, of[i]) ||
						 (!explain_is_better(a, of[i], b, of[k]) && k < i);
		}
	}
}

/* Marks what other changes of the point say, where such a one is listed. */
static void explain_others(
	const struct history_series *series, const struct history_explained *const *of, bool *is_listed_elsewhere)
{
	bool more = false, less = false;

	for (size_t i = 0; i < series->change_count; i++) {
		bool says = of[i] && of[i]->kind >= EXPLAIN_MEMBER;

		more |= says && series->changes[i].delta > 0;
		less |= says && series->changes[i].delta < 0;
	}
	for (size_t i = 0; i < series->change_count; i++)
		if (of[i] && of[i]->kind == EXPLAIN_OF_OTHERS)
			is_listed_elsewhere[i] |= series->changes[i].delta > 0 ? more : less;
}

/*
 * Marks callers whose change the one below them is large enough to be all of: they call it, and what they have more
 * themselves is not shown.
 */
static void explain_callers(
	const struct history_series *series, const struct history_explained *const *of, bool *is_listed_elsewhere)
{
	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *caller = &series->changes[i];

		for (size_t k = 0; of[i] && of[i]->kind == EXPLAIN_CALLER && k < series->change_count; k++) {
			const struct history_change *callee = &series->changes[k];

			if (of[k] && of[k]->kind == EXPLAIN_NAMES && of[k]->chain == of[i]->chain && !caller->is_self &&
				(caller->delta > 0) == (callee->delta > 0))
				is_listed_elsewhere[i] |= callee->delta > 0 ? caller->ci_low <= callee->ci_high
									    : caller->ci_high >= callee->ci_low;
		}
	}
}

static void explain_apply(
	struct history *history, const struct history_pair *pair, const struct history_explained *found, size_t count)
{
	struct history_series *series = &history->series[pair->series];
	CLEANUP(cleanup_free) bool *is_listed_elsewhere = memory_zeroed(series->change_count + 1, sizeof(bool));
	CLEANUP(cleanup_free)
	const struct history_explained **of = memory_zeroed(series->change_count + 1, sizeof(*of));
	size_t kept = 0;

	for (size_t i = 0; i < series->change_count; i++)
		if (series->changes[i].point == pair->point)
			of[i] = explain_of(history, &series->changes[i], found, count);
	explain_chains(series, of, is_listed_elsewhere);
	explain_others(series, of, is_listed_elsewhere);
	explain_callers(series, of, is_listed_elsewhere);
	for (size_t i = 0; i < series->change_count; i++) {
		if (of[i] && of[i]->kind == EXPLAIN_MOVED)
			series->changes[i].has_moved = true;
		if (!is_listed_elsewhere[i])
			series->changes[kept++] = series->changes[i];
	}
	series->change_count = kept;
}

bool history_apply(
	struct history *history, const struct history_pair *pair, const void *bytes, size_t size, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	CLEANUP(cleanup_free) struct history_explained *found = NULL;
	size_t count = 0;

	if (!explain_read(history->set, &r, &found, &count, err))
		return false;
	explain_apply(history, pair, found, count);
	return true;
}

bool history_explain(
	struct history *history, const struct history_pair *pair, const struct diff *diff, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT((size_t)1 << 28);

	return history_find(diff, &bytes, err) && history_apply(history, pair, bytes.data, bytes.size, err);
}
