/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of waits: their classes by node, and who ended them. */
#include "render/page_data.h"

#include <stdlib.h>
#include <string.h>

/* Whoever looks for what ended waits looks at the longest ones. The others are one sum. */
enum { MOST_RELEASES = 1000 };

bool page_data_has_releases(const struct render_input *input)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (input->profiles[side] && profile_has_waits(input->profiles[side]) &&
			input->profiles[side]->release_count > 0)
			return true;
	return false;
}

/* ---- Functions of the diff by key ---- */

struct page_key {
	const char *key;
	uint32_t function;
};

static int page_waits_compare_keys(const void *left, const void *right)
{
	const struct page_key *a = left, *b = right;

	return strcmp(a->key, b->key);
}

static struct page_key *sorted_keys(const struct diff *diff)
{
	struct page_key *keys = memory_zeroed(diff->function_count + 1, sizeof(*keys));

	for (uint32_t i = 0; keys && i < diff->function_count; i++)
		keys[i] = (struct page_key){ diff_string(diff, diff->functions[i].key), i };
	if (keys)
		qsort(keys, diff->function_count, sizeof(*keys), page_waits_compare_keys);
	return keys;
}

/* Returns the number after that of the function with the key; 0: the diff has no such function. */
static uint64_t find_key(const struct page_key *keys, size_t count, const char *key)
{
	struct page_key wanted = { .key = key };
	const struct page_key *found = bsearch(&wanted, keys, count, sizeof(*keys), page_waits_compare_keys);

	return found ? (uint64_t)found->function + 1 : 0;
}

/* ---- One side ---- */

/* The names that the written releases of a side mention, each once, in the order of first use. */
struct page_names {
	uint32_t ids[MOST_RELEASES];
	size_t count;
};

/* All locks of one name in one module count as one, as in render/waits.h: the number of the first of them. */
static uint32_t first_of_name(const struct profile *profile, const struct page_names *known, uint32_t id)
{
	const struct profile_lock *lock = id == PROFILE_NONE ? NULL : &profile->locks[id];

	for (size_t i = 0; lock && lock->name && i < known->count; i++) {
		const struct profile_lock *other = &profile->locks[known->ids[i]];

		if (other->name == lock->name && other->module == lock->module)
			return known->ids[i];
	}
	return id;
}

/* Returns the number after that of an entry; 0 for PROFILE_NONE. */
static size_t page_waits_number_of(struct page_names *names, uint32_t id)
{
	size_t at = 0;

	if (id == PROFILE_NONE)
		return 0;
	while (at < names->count && names->ids[at] != id)
		at++;
	if (at == names->count)
		names->ids[names->count++] = id;
	return at + 1;
}

/* Locks by their ordinals, then functions; of each its name, which a NUL ends. */
static void append_shown(struct buffer *text, const char *name, const char *module)
{
	CLEANUP(buffer_deinit) struct buffer shown = { 0 };

	buffer_init(&shown, (size_t)1 << 30);
	profile_shown_name(name, module, &shown);
	text->failed = text->failed || shown.failed;
	page_data_append_utf8(text, shown.data ? shown.data : "");
}

static void append_names(struct buffer *out, const struct profile *profile, const struct page_names *locks,
	const struct page_names *functions, const struct page_key *keys, size_t key_count)
{
	struct buffer text;

	buffer_init(&text, (size_t)1 << 30);
	buffer_append_varint(out, locks->count);
	for (size_t i = 0; i < locks->count; i++) {
		buffer_append_varint(out, (uint64_t)locks->ids[i] + 1);
		page_data_append_utf8(&text, profile_string(profile, profile->locks[locks->ids[i]].name));
		buffer_append_byte(&text, 0);
	}
	buffer_append_varint(out, functions->count);
	for (size_t i = 0; i < functions->count; i++) {
		const struct profile_function *f = &profile->functions[functions->ids[i]];

		buffer_append_varint(out, find_key(keys, key_count, profile_string(profile, f->key)));
		append_shown(&text, profile_string(profile, f->name), profile_string(profile, f->module));
		buffer_append_byte(&text, 0);
	}
	buffer_append_varint(out, text.size);
	if (text.size > 0)
		buffer_append(out, text.data, text.size);
	out->failed = out->failed || text.failed;
	buffer_deinit(&text);
}

static void page_waits_append_side(struct buffer *out, const struct render_input *input, const struct waits *waits,
	enum diff_side side, const struct page_key *keys)
{
	struct page_names locks = { .count = 0 }, functions = { .count = 0 };
	const struct profile *profile = input->profiles[side];
	size_t count = 0, shown = 0;
	const struct waits_release *releases = waits_releases(waits, side, &count);
	int64_t rest_ns = 0;

	shown = count < MOST_RELEASES ? count : MOST_RELEASES;
	for (size_t i = 0; i < shown; i++) {
		page_waits_number_of(&locks, first_of_name(profile, &locks, releases[i].lock));
		page_waits_number_of(&functions, releases[i].by);
	}
	for (size_t i = shown; i < count; i++)
		rest_ns = saturating_add(rest_ns, releases[i].ns);
	append_names(out, profile, &locks, &functions, keys, input->diff->function_count);
	buffer_append_varint(out, shown);
	for (size_t i = 0; i < shown; i++) {
		buffer_append_varint(out, releases[i].node);
		buffer_append_varint(
			out, page_waits_number_of(&locks, first_of_name(profile, &locks, releases[i].lock)));
		buffer_append_varint(out, page_waits_number_of(&functions, releases[i].by));
		buffer_append_varint(out, (uint64_t)releases[i].ns);
	}
	buffer_append_varint(out, (uint64_t)rest_ns);
}

bool page_data_waits(const struct render_input *input, struct buffer *out, struct error *err)
{
	CLEANUP(waits_cleanup) struct waits *waits = NULL;
	CLEANUP(cleanup_free) struct page_key *keys = NULL;

	waits_create(input->diff, input->profiles, &waits);
	keys = sorted_keys(input->diff);
	for (int side = input->diff->sides == 1 ? DIFF_HEAD : DIFF_BASE; waits && side < DIFF_SIDES; side++)
		page_waits_append_side(out, input, waits, (enum diff_side)side, keys);
	return buffer_ok(out, err);
}
