/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

/* One line to be written: its text lies in a common buffer. */
struct folded_line {
	size_t offset, size;
	int64_t count;
	const char *base;
};

static int compare_lines(const void *left, const void *right)
{
	const struct folded_line *a = left, *b = right;
	size_t size = a->size < b->size ? a->size : b->size;
	int order = memcmp(a->base + a->offset, b->base + b->offset, size);

	if (order != 0)
		return order;
	return a->size < b->size ? -1 : a->size > b->size;
}

/* A `;` or a line end within a name would break the line. */
static void append_name(const char *name, struct buffer *out)
{
	for (;;) {
		size_t plain = strcspn(name, ";\n\r");

		buffer_append(out, name, plain);
		name += plain;
		if (!*name)
			return;
		buffer_append_byte(out, *name++ == ';' ? ':' : ' ');
	}
}

static void append_location(const struct profile *profile, uint32_t id, struct buffer *out)
{
	const struct profile_location *location = &profile->locations[id];
	bool kernel = location->mapping != PROFILE_NONE && profile->mappings[location->mapping].kind == PROFILE_MAPPING_KERNEL;

	for (uint32_t k = location->line_count; k-- > 0;) {
		const struct profile_line *line = &profile->lines[location->first_line + k];

		buffer_append_byte(out, ';');
		append_name(profile_string(profile, profile->functions[line->function].name), out);
		if (kernel)
			buffer_append_string(out, "_[k]");
		else if (k + 1 < location->line_count)
			buffer_append_string(out, "_[i]");
	}
}

static bool append_stack(
	const struct profile *profile, uint32_t stack, uint32_t **path, size_t *capacity, struct buffer *out, struct error *err)
{
	size_t depth = 0;

	for (; stack; stack = profile->stacks[stack].parent) {
		if (!ARRAY_RESERVE(path, capacity, depth + 1, ARRAY_MAX_IDS, err))
			return false;
		(*path)[depth++] = profile->stacks[stack].location;
	}
	while (depth > 0)
		append_location(profile, (*path)[--depth], out);
	return true;
}

static void append_sorted(struct folded_line *lines, size_t count, struct buffer *out)
{
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count;) {
		int64_t sum = 0;
		size_t first = i;

		while (i < count && compare_lines(&lines[first], &lines[i]) == 0)
			sum = saturating_add(sum, lines[i++].count);
		buffer_append(out, lines[first].base + lines[first].offset, lines[first].size);
		buffer_printf(out, " %lld\n", (long long)sum);
	}
}

bool profile_write_folded(const struct profile *profile, struct buffer *out, struct error *err)
{
	CLEANUP(cleanup_free) struct folded_line *lines = calloc(profile->sample_count + 1, sizeof(*lines));
	CLEANUP(cleanup_free) uint32_t *path = NULL;
	size_t capacity = 0;
	struct buffer text;
	bool ok = true;

	if (!lines)
		return error_set_memory(err);
	buffer_init(&text, out->max_bytes);
	for (size_t i = 0; ok && i < profile->sample_count; i++) {
		const struct profile_thread *thread = &profile->threads[profile->samples[i].thread];
		size_t offset = text.size;

		append_name(profile_string(profile, thread->process_name), &text);
		ok = append_stack(profile, profile->samples[i].stack, &path, &capacity, &text, err);
		/* Without a comm the line starts with its first frame. */
		if (text.size > offset && !text.failed && text.data[offset] == ';')
			offset++;
		lines[i] = (struct folded_line){ offset, text.size - offset, profile->values[i * profile->value_type_count], NULL };
	}
	ok = ok && buffer_ok(&text, err);
	for (size_t i = 0; ok && i < profile->sample_count; i++)
		lines[i].base = text.data ? text.data : "";
	if (ok)
		append_sorted(lines, profile->sample_count, out);
	buffer_deinit(&text);
	return ok && buffer_ok(out, err);
}
