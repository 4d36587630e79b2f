/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short names of benchmarks that are unique in their suite, and benchmarks by name. */
#include "diff/suite/work.h"

#include <stdlib.h>
#include <string.h>

/* A name has at most this many components of its URI; where more would be needed, it is the whole URI. */
enum { MAX_COMPONENTS = 16 };

/* ---- Components of a URI ---- */

/*
 * Finds where the last components begin, separated by "::" outside of brackets: parameters may hold anything. Harnesses
 * of C++ write a "::" of the name itself as "\:\:". Returns the number of components found, from the last on.
 */
static size_t split_uri(const char *uri, const char *starts[MAX_COMPONENTS + 1])
{
	size_t count = 0, depth = 0;

	starts[count++] = uri;
	for (const char *at = uri; *at; at++) {
		depth += *at == '[';
		depth -= *at == ']' && depth > 0;
		if (depth > 0 || at[0] != ':' || at[1] != ':' || at[2] == '\0')
			continue;
		at++;
		if (count == MAX_COMPONENTS + 1) {
			memmove(starts, starts + 1, MAX_COMPONENTS * sizeof(*starts));
			count--;
		}
		starts[count++] = at + 1;
	}
	return count;
}

/* Returns the last `wanted` components; the whole URI if it has no more. */
static const char *uri_end(const char *uri, size_t wanted, bool *is_whole)
{
	const char *starts[MAX_COMPONENTS + 1];
	size_t count = split_uri(uri, starts);

	*is_whole = wanted >= count || wanted > MAX_COMPONENTS;
	return *is_whole ? uri : starts[count - wanted];
}

/* ---- Names ---- */

/* Writes the name as people write it, with "::" where a harness had to escape it. */
static void set_name(struct diff_suite *suite, struct diff_benchmark *benchmark, const char *end)
{
	CLEANUP(cleanup_free) char *name = memory_copy_string(end);
	char *out = name;

	for (const char *in = name; *in; in++)
		if (in[0] != '\\' || in[1] != ':')
			*out++ = *in;
	benchmark->name = string_table_enter(suite->strings, name, (size_t)(out - name));
}

/*
 * Names the open benchmarks whose last `wanted` components no other open one has. Those that stay open are moved to the
 * front of `open`.
 */
static void name_unique(struct diff_suite *suite, uint32_t *open, size_t *count, size_t wanted)
{
	CLEANUP(cleanup_free) uint32_t *ends = memory_alloc((*count + 1) * sizeof(*ends));
	CLEANUP(cleanup_free) uint8_t *met = NULL;
	size_t left = 0, strings;

	for (size_t i = 0; i < *count; i++) {
		const char *uri = diff_suite_string(suite, suite->benchmarks[open[i]].uri);
		bool is_whole;
		const char *end = uri_end(uri, wanted, &is_whole);

		ends[i] = string_table_enter(suite->strings, end, strlen(end));
	}
	strings = string_table_count(suite->strings);
	met = memory_zeroed(strings + 1, sizeof(*met));
	for (size_t i = 0; i < *count; i++)
		met[ends[i]] = met[ends[i]] < 2 ? (uint8_t)(met[ends[i]] + 1) : 2;
	for (size_t i = 0; i < *count; i++) {
		struct diff_benchmark *benchmark = &suite->benchmarks[open[i]];
		bool is_whole;
		const char *end = uri_end(diff_suite_string(suite, benchmark->uri), wanted, &is_whole);

		if (met[ends[i]] > 1 && !is_whole)
			open[left++] = open[i];
		else
			set_name(suite, benchmark, end);
	}
	*count = left;
}

void suite_name(struct diff_suite *suite)
{
	size_t count = suite->benchmark_count;
	CLEANUP(cleanup_free) uint32_t *open = memory_alloc((count + 1) * sizeof(*open));

	for (uint32_t i = 0; i < count; i++)
		open[i] = i;
	for (size_t wanted = 1; count > 0; wanted++)
		name_unique(suite, open, &count, wanted);
}

/* ---- Finding by name ---- */

static bool list_similar(const struct diff_suite *suite, const char *name, struct error *err)
{
	enum { MOST_LISTED = 5 };
	char listed[400] = "";
	size_t used = 0, count = 0;

	for (int contains = 1; contains >= 0 && count == 0; contains--)
		for (size_t i = 0; i < suite->benchmark_count && count < MOST_LISTED; i++) {
			const char *known = diff_suite_string(suite, suite->benchmarks[i].name);

			if (contains && !strcasestr(diff_suite_string(suite, suite->benchmarks[i].uri), name))
				continue;
			used += (size_t)snprintf(
				listed + used, sizeof(listed) - used, "%s%.60s", count ? ", " : "", known);
			count++;
		}
	return error_set(err, ERROR_NOT_FOUND, "there is no benchmark '%.120s'; there %s %s%s", name,
		suite->benchmark_count == 1 ? "is" : "are", listed, count < suite->benchmark_count ? ", …" : "");
}

bool diff_suite_find(const struct diff_suite *suite, const char *name, uint32_t *benchmark, struct error *err)
{
	uint32_t found = PROFILE_NONE;
	size_t count = 0;

	for (uint32_t i = 0; i < suite->benchmark_count; i++) {
		if (strcmp(diff_suite_string(suite, suite->benchmarks[i].uri), name) == 0) {
			*benchmark = i;
			return true;
		}
		if (strcmp(diff_suite_string(suite, suite->benchmarks[i].name), name) == 0) {
			found = i;
			count++;
		}
	}
	if (count > 1)
		return error_set(err, ERROR_NOT_FOUND,
			"%zu benchmarks are called '%.120s'; give the whole of one, as '%.200s'", count, name,
			diff_suite_string(suite, suite->benchmarks[found].uri));
	if (count == 0)
		return list_similar(suite, name, err);
	*benchmark = found;
	return true;
}

const char *diff_benchmark_verdict_name(const struct diff_benchmark *benchmark)
{
	if (benchmark->presence == DIFF_IN_BOTH)
		return diff_verdict_name(benchmark->verdict);
	return benchmark->presence == DIFF_ADDED ? "added" : "removed";
}
