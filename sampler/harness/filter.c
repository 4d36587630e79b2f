/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells harnesses to run some benchmarks of a suite, by what each reads from its environment. */
#include "sampler/harness/environment.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct harness_filtering {
	struct environment environment;
};

/* ---- Names ---- */

/*
 * The part of a URI by which a harness knows the benchmark and what belongs to it: its last component, up to its
 * parameters ("[8]" of pytest and C++, "/8" of google-benchmark, go and criterion) and the number of CPUs ("-2" of go).
 */
static size_t harness_filter_find_name(const char *uri, const char **name)
{
	size_t before_parameters = strcspn(uri, "["), size;

	*name = uri;
	for (const char *at = uri; at + 2 < uri + before_parameters; at++)
		if (at[0] == ':' && at[1] == ':')
			*name = at + 2;
	size = strcspn(*name, "[/\\");
	for (size_t digits = size; digits > 0; digits--) {
		if ((*name)[digits - 1] == '-' && digits < size)
			return digits - 1;
		if (!isdigit((unsigned char)(*name)[digits - 1]))
			break;
	}
	return size;
}

static bool harness_filter_is_plain(const char *uri)
{
	for (const char *at = uri; *at; at++)
		if (iscntrl((unsigned char)*at))
			return false;
	return true;
}

/* "^" and "$" are left out, so that more may run than is asked for, never less. */
static bool harness_filter_append_pattern(const char *uri, struct buffer *out)
{
	const char *name;
	size_t size = harness_filter_find_name(uri, &name);

	if (out->size > 0)
		buffer_append_byte(out, '|');
	for (size_t i = 0; i < size; i++) {
		if (strchr(".*+?()|{}^$[]\\", name[i]))
			buffer_append_byte(out, '\\');
		buffer_append_byte(out, name[i]);
	}
	return size > 0;
}

/* ---- pytest ---- */

/* The next end of a URI that may be a node of pytest: its root may be any directory above a file. NULL: none is left.
 */
static const char *next_end(const char *end)
{
	size_t path = strcspn(end, ":");
	const char *slash = memchr(end, '/', path);

	return slash ? slash + 1 : NULL;
}

/*
 * Returns whether leaving out every node that begins so leaves out a benchmark that is wanted. pytest compares
 * beginnings.
 */
static bool leaves_out(const char *node, const char *const *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (const char *end = wanted[i]; end; end = next_end(end))
			if (strncmp(end, node, strlen(node)) == 0)
				return true;
	return false;
}

/* Returns whether there is room for a name. Benchmarks whose names have none run again. */
static bool has_room_for(const char *node, const struct buffer *out)
{
	enum { MOST_A_BYTE = 5, AROUND = 32 };

	return out->size + MOST_A_BYTE * strlen(node) + AROUND < HARNESS_FILTER_BYTES;
}

/* Appends a name as a word of a shell, which pytest parts its options as. */
static void append_deselected(const char *node, struct buffer *out)
{
	buffer_append_string(out, out->size > 0 ? " --deselect='" : "--deselect='");
	for (const char *at = node; *at; at++)
		if (*at == '\'')
			buffer_append_string(out, "'\"'\"'");
		else
			buffer_append_byte(out, *at);
	buffer_append_byte(out, '\'');
}

/* ---- All of it ---- */

static bool harness_filter_keep(const struct buffer *text, char to[HARNESS_FILTER_BYTES])
{
	if (text->failed || text->size >= HARNESS_FILTER_BYTES)
		return false;
	memcpy(to, text->data ? text->data : "", text->size);
	to[text->size] = '\0';
	return true;
}

bool harness_filter_make(const char *const *wanted, size_t wanted_count, const char *const *others, size_t other_count,
	struct harness_filter *filter)
{
	CLEANUP(buffer_deinit) struct buffer names = { 0 };
	CLEANUP(buffer_deinit) struct buffer deselected = { 0 };

	buffer_init(&names, HARNESS_FILTER_BYTES);
	buffer_init(&deselected, HARNESS_FILTER_BYTES);
	for (size_t i = 0; i < wanted_count; i++)
		if (!harness_filter_is_plain(wanted[i]) || !harness_filter_append_pattern(wanted[i], &names))
			return false;
	for (size_t i = 0; i < other_count; i++)
		for (const char *end = harness_filter_is_plain(others[i]) ? others[i] : NULL; end; end = next_end(end))
			if (!leaves_out(end, wanted, wanted_count) && has_room_for(end, &deselected))
				append_deselected(end, &deselected);
	return wanted_count > 0 && harness_filter_keep(&names, filter->names) &&
	       harness_filter_keep(&deselected, filter->deselected);
}

static bool harness_filter_set_all(
	const struct harness_filter *filter, struct environment *environment, struct error *err)
{
	return environment_set_variable(environment, "KELVIN_BENCHMARKS", filter->names, err) &&
	       (getenv("BENCHMARK_FILTER") ||
		       environment_set_variable(environment, "BENCHMARK_FILTER", filter->names, err)) &&
	       (filter->deselected[0] == '\0' ||
		       environment_put_before(environment, "PYTEST_ADDOPTS", filter->deselected, " ", err));
}

bool harness_filter_set(const struct harness_filter *filter, struct harness_filtering **filtering, struct error *err)
{
	struct harness_filtering *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	if (harness_filter_set_all(filter, &made->environment, err)) {
		*filtering = made;
		return true;
	}
	harness_filter_unset(made);
	return false;
}

void harness_filter_unset(struct harness_filtering *filtering)
{
	if (filtering)
		environment_restore(&filtering->environment);
	free(filtering);
}
