/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes classes of waits and locks. */
#include "diff/diff.h"
#include "render/json_members.h"
#include "render/json_text.h"

enum { MOST_FUNCTIONS = 5, MOST_LOCKS = 100 };

/* Writes the classes of a side that occur, with their time. */
static void put_classes_of_side(const struct waits *waits, enum diff_side side, struct buffer *out)
{
	const int64_t *total = waits_total(waits, side);

	json_text_open(out, '[');
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		if (total[i] == 0)
			continue;
		json_text_open(out, '{');
		json_text_member(out, "class", profile_wait_info((enum profile_wait_class)i)->name);
		json_text_member_integer(out, "ns", total[i]);
		json_text_close(out, '}');
	}
	json_text_close(out, ']');
}

void json_releasers(const struct waits_releaser *functions, size_t function_count, struct buffer *out)
{
	json_text_open(out, '[');
	for (size_t i = 0; i < function_count && i < MOST_FUNCTIONS; i++) {
		json_text_open(out, '{');
		json_text_member(out, "function", functions[i].name);
		json_text_member_integer(out, "ns", functions[i].ns);
		json_text_close(out, '}');
	}
	json_text_close(out, ']');
}

static void put_lock_members(const struct waits_lock *lock, struct buffer *out)
{
	json_text_member_integer(out, "ns", lock->ns);
	json_text_key(out, "callers");
	json_releasers(lock->callers, lock->caller_count, out);
	json_text_key(out, "released_by");
	json_releasers(lock->releasers, lock->releaser_count, out);
}

/* Begins the object of a lock. */
static void open_lock(const struct waits_lock *lock, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member(out, "name", lock->name);
	json_text_member(out, "module", lock->module);
}

static void put_locks_of_report(const struct waits *waits, struct buffer *out)
{
	size_t lock_count;
	const struct waits_lock *locks = waits_locks(waits, DIFF_HEAD, &lock_count);

	for (size_t i = 0; i < lock_count && i < MOST_LOCKS; i++) {
		open_lock(&locks[i], out);
		put_lock_members(&locks[i], out);
		json_text_close(out, '}');
	}
}

/* NULL: nobody waited for it on that side. */
static void put_lock_of_side(const char *key, const struct waits_lock *lock, struct buffer *out)
{
	if (!lock) {
		json_text_member_null(out, key);
		return;
	}
	json_text_begin(out, key, '{');
	put_lock_members(lock, out);
	json_text_close(out, '}');
}

static void put_lock_of_diff(const struct waits_lock *base, const struct waits_lock *head, struct buffer *out)
{
	open_lock(head ? head : base, out);
	put_lock_of_side("base", base, out);
	put_lock_of_side("head", head, out);
	json_text_close(out, '}');
}

/* Locks by name: the first of head, and then those of the first of base that were not among these. */
static void put_locks_of_diff(const struct waits *waits, struct buffer *out)
{
	size_t lock_count, named = 0;
	const struct waits_lock *locks = waits_locks(waits, DIFF_HEAD, &lock_count), *last = NULL;

	for (size_t i = 0; i < lock_count && named < MOST_LOCKS; i++) {
		if (!locks[i].name[0])
			continue;
		last = &locks[i];
		put_lock_of_diff(waits_find_lock(waits, DIFF_BASE, last), last, out);
		named++;
	}
	locks = waits_locks(waits, DIFF_BASE, &lock_count);
	for (size_t i = named = 0; i < lock_count && named < MOST_LOCKS; i++) {
		const struct waits_lock *head = waits_find_lock(waits, DIFF_HEAD, &locks[i]);

		if (!locks[i].name[0])
			continue;
		if (!head || head > last)
			put_lock_of_diff(&locks[i], head, out);
		named++;
	}
}

/* Locks without a name cannot be told to be the same on both sides. */
static void put_nameless_locks(const char *key, const struct waits *waits, enum diff_side side, struct buffer *out)
{
	size_t lock_count, nameless = 0;
	const struct waits_lock *locks = waits_locks(waits, side, &lock_count);
	int64_t all_ns = 0;

	for (size_t i = 0; i < lock_count; i++) {
		if (locks[i].name[0])
			continue;
		nameless++;
		all_ns = saturating_add(all_ns, locks[i].ns);
	}
	json_text_begin(out, key, '{');
	json_text_member_integer(out, "count", (int64_t)nameless);
	json_text_member_integer(out, "ns", all_ns);
	json_text_close(out, '}');
}

void json_waits(const struct diff *diff, const struct waits *waits, struct buffer *out)
{
	bool compared = diff->sides == DIFF_SIDES;

	json_text_key(out, "waits");
	if (compared) {
		json_text_open(out, '{');
		json_text_key(out, "base");
		put_classes_of_side(waits, DIFF_BASE, out);
		json_text_key(out, "head");
	}
	put_classes_of_side(waits, DIFF_HEAD, out);
	if (compared)
		json_text_close(out, '}');
	json_text_begin(out, "locks", '[');
	(compared ? put_locks_of_diff : put_locks_of_report)(waits, out);
	json_text_close(out, ']');
	if (!compared)
		return;
	json_text_begin(out, "nameless_locks", '{');
	put_nameless_locks("base", waits, DIFF_BASE, out);
	put_nameless_locks("head", waits, DIFF_HEAD, out);
	json_text_close(out, '}');
}
