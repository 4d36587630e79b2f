/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the folders of two checkouts of a suite, which the names of its benchmarks begin with. */
#include "diff/suite/work.h"

#include <stdlib.h>
#include <string.h>

/* The most files in which benchmarks that are called alike are compared: the first ones. */
enum { MOST_ALIKE = 16 };

/* A benchmark of head, by the end of its URI: the file and what follows it. */
struct root_end {
	const char *uri;
	uint32_t next; /* index of another one with the same end; HASH_MAP_NONE: there is none */
};

/* The number of benchmarks of both sides that would be one if these folders were left out. */
struct root_vote {
	uint32_t roots[DIFF_SIDES]; /* strings of the suite */
	size_t count;
};

struct roots {
	struct diff_suite *suite; /* borrowed */
	struct root_end *ends;    /* owned */
	size_t end_count, end_capacity;
	struct hash_map by_end;  /* owned: string of the suite -> index in `ends` */
	struct root_vote *votes; /* owned */
	size_t vote_count, vote_capacity;
	struct hash_map known; /* owned: both roots -> index in `votes` */
};

static void roots_deinit(struct roots *r)
{
	free(r->ends);
	free(r->votes);
	hash_map_deinit(&r->by_end);
	hash_map_deinit(&r->known);
}

/* Bytes of a URI that are folders; 0 where it names no file. */
static size_t folder_bytes(const char *uri)
{
	size_t bytes = strcspn(uri, ":");

	if (uri[bytes] == '\0')
		return 0;
	while (bytes > 0 && uri[bytes - 1] != '/')
		bytes--;
	return bytes;
}

/* Bytes of a folder without its last component. */
static size_t parent_bytes(const char *uri, size_t bytes)
{
	do
		bytes -= bytes > 0;
	while (bytes > 0 && uri[bytes - 1] != '/');
	return bytes;
}

/* Leaves out the folders that both URIs end in. */
static void strip_common(const char *const uris[DIFF_SIDES], size_t bytes[static DIFF_SIDES])
{
	for (;;) {
		size_t base = parent_bytes(uris[DIFF_BASE], bytes[DIFF_BASE]),
		       head = parent_bytes(uris[DIFF_HEAD], bytes[DIFF_HEAD]);

		if (bytes[DIFF_BASE] == 0 || bytes[DIFF_BASE] - base != bytes[DIFF_HEAD] - head ||
			memcmp(uris[DIFF_BASE] + base, uris[DIFF_HEAD] + head, bytes[DIFF_BASE] - base) != 0)
			return;
		bytes[DIFF_BASE] = base;
		bytes[DIFF_HEAD] = head;
	}
}

static uint32_t roots_end_of(const struct roots *r, const char *uri)
{
	const char *end = uri + folder_bytes(uri);

	return string_table_enter(r->suite->strings, end, strlen(end));
}

static void roots_add_end(struct roots *r, const char *uri)
{
	uint32_t end = roots_end_of(r, uri), *first;
	bool added;

	ARRAY_GROW(&r->ends, &r->end_capacity, r->end_count + 1);
	first = hash_map_enter(&r->by_end, &end, (uint32_t)r->end_count, &added);
	r->ends[r->end_count] = (struct root_end){ uri, added ? HASH_MAP_NONE : *first };
	*first = (uint32_t)r->end_count++;
}

static void vote_for(struct roots *r, const char *base, const char *head)
{
	const char *const uris[DIFF_SIDES] = { base, head };
	size_t bytes[DIFF_SIDES] = { folder_bytes(base), folder_bytes(head) };
	uint32_t roots[DIFF_SIDES], *vote;
	bool added;

	strip_common(uris, bytes);
	roots[DIFF_BASE] = string_table_enter(r->suite->strings, base, bytes[DIFF_BASE]);
	roots[DIFF_HEAD] = string_table_enter(r->suite->strings, head, bytes[DIFF_HEAD]);
	ARRAY_GROW(&r->votes, &r->vote_capacity, r->vote_count + 1);
	vote = hash_map_enter(&r->known, roots, (uint32_t)r->vote_count, &added);
	if (added)
		r->votes[r->vote_count++] = (struct root_vote){ .roots = { roots[DIFF_BASE], roots[DIFF_HEAD] } };
	r->votes[*vote].count++;
}

/* A benchmark of base is compared with those of head that are called alike in a file of the same name. */
static void vote(struct roots *r, const char *uri)
{
	uint32_t end = roots_end_of(r, uri), at = hash_map_get(&r->by_end, &end);
	size_t met = 0;

	for (; at != HASH_MAP_NONE && met < MOST_ALIKE; at = r->ends[at].next, met++)
		vote_for(r, uri, r->ends[at].uri);
}

/* Visits the benchmarks of a side that name a file, each once. */
static void each_uri(struct roots *r, enum diff_side side, void (*visit)(struct roots *, const char *))
{
	const struct profile *profile = r->suite->profiles[side];
	CLEANUP(cleanup_free) bool *seen = memory_zeroed(string_table_count(profile->strings) + 1, sizeof(*seen));

	for (size_t i = 0; i < profile->run_count; i++) {
		uint32_t name = profile->runs[i].name;
		const char *uri = profile_string(profile, name);

		if (name == 0 || seen[name] || strchr(uri, ':') == NULL)
			continue;
		seen[name] = true;
		visit(r, uri);
	}
}

void suite_find_roots(struct suite_work *work)
{
	CLEANUP(roots_deinit) struct roots r = { .suite = work->suite };
	const struct root_vote *best = NULL;

	hash_map_init(&r.by_end, sizeof(uint32_t));
	hash_map_init(&r.known, DIFF_SIDES * sizeof(uint32_t));
	each_uri(&r, DIFF_HEAD, roots_add_end);
	each_uri(&r, DIFF_BASE, vote);
	for (size_t i = 0; i < r.vote_count; i++)
		if (!best || r.votes[i].count > best->count)
			best = &r.votes[i];
	for (int side = 0; best && side < DIFF_SIDES; side++)
		work->suite->roots[side] = best->roots[side];
}

size_t suite_root_bytes(const struct diff_suite *suite, enum diff_side side, const char *uri)
{
	const char *root = diff_suite_string(suite, suite->roots[side]);
	size_t bytes = strlen(root);

	return strncmp(uri, root, bytes) == 0 ? bytes : 0;
}
