/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

/*
 * Stacks that differ only in addresses give one line, and lines share most of what they begin with: they are the paths from the
 * root of a tree of texts, in which each frame stands once. No line is made as text before it is written.
 */

static const size_t max_text_bytes = (size_t)1 << 32;

struct node {
	uint32_t parent, text, depth;
	bool is_line;
	int64_t count;
};

struct node_key {
	uint32_t parent, text;
};

/* The node of a stack below the one of its process name. */
struct known {
	uint32_t below, node; /* `below` is one more than that node's id; 0: not known */
};

struct writer {
	const struct profile *profile;
	struct string_table *texts; /* owned; without what would break a line */
	struct node *nodes;         /* owned; the first is the root */
	size_t node_count, node_capacity;
	struct hash_map children; /* struct node_key -> node */
	struct known *known;      /* owned: [stack] */
	uint32_t *path;           /* owned: stacks, or nodes, from a leaf outwards */
	size_t path_capacity;
	struct buffer scratch;
};

static bool writer_init(struct writer *w, const struct profile *profile, size_t max_bytes, struct error *err)
{
	*w = (struct writer){
		.profile = profile,
		.known = calloc(profile->stack_count + 1, sizeof(*w->known)),
	};
	hash_map_init(&w->children, sizeof(struct node_key));
	buffer_init(&w->scratch, max_bytes);
	if (!w->known)
		return error_set_memory(err);
	if (!string_table_create(max_text_bytes, &w->texts, err) ||
		!ARRAY_RESERVE(&w->nodes, &w->node_capacity, 1, ARRAY_MAX_IDS, err))
		return false;
	w->nodes[w->node_count++] = (struct node){ 0 };
	return true;
}

static void writer_deinit(struct writer *w)
{
	string_table_destroy(w->texts);
	free(w->nodes);
	hash_map_deinit(&w->children);
	free(w->known);
	free(w->path);
	buffer_deinit(&w->scratch);
}

/* ---- The tree ---- */

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

static bool add_child(struct writer *w, const char *name, const char *suffix, uint32_t *node, struct error *err)
{
	struct node_key key = { *node, 0 };
	uint32_t *value, depth = w->nodes[*node].depth + 1;
	bool added;

	w->scratch.size = 0;
	append_name(name, &w->scratch);
	buffer_append_string(&w->scratch, suffix);
	if (!buffer_ok(&w->scratch, err) || !string_table_add(w->texts, w->scratch.data, w->scratch.size, &key.text, err) ||
		!ARRAY_RESERVE(&w->nodes, &w->node_capacity, w->node_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&w->children, &key, (uint32_t)w->node_count, &value, &added, err))
		return false;
	if (added)
		w->nodes[w->node_count++] = (struct node){ *node, key.text, depth, false, 0 };
	*node = *value;
	return true;
}

static bool add_location(struct writer *w, uint32_t id, uint32_t *node, struct error *err)
{
	const struct profile *profile = w->profile;
	const struct profile_location *location = &profile->locations[id];
	bool kernel = location->mapping != PROFILE_NONE && profile->mappings[location->mapping].kind == PROFILE_MAPPING_KERNEL;

	for (uint32_t k = location->line_count; k-- > 0;) {
		uint32_t function = profile->lines[location->first_line + k].function;
		const char *suffix = kernel ? "_[k]" : k + 1 < location->line_count ? "_[i]" : "";

		if (!add_child(w, profile_string(profile, profile->functions[function].name), suffix, node, err))
			return false;
	}
	return true;
}

static bool push(struct writer *w, size_t *depth, uint32_t id, struct error *err)
{
	if (!ARRAY_RESERVE(&w->path, &w->path_capacity, *depth + 1, ARRAY_MAX_IDS, err))
		return false;
	w->path[(*depth)++] = id;
	return true;
}

static bool add_stack(struct writer *w, uint32_t stack, uint32_t *node, struct error *err)
{
	uint32_t below = *node + 1;
	size_t depth = 0;

	for (; stack && w->known[stack].below != below; stack = w->profile->stacks[stack].parent)
		if (!push(w, &depth, stack, err))
			return false;
	if (stack)
		*node = w->known[stack].node;
	while (depth > 0) {
		stack = w->path[--depth];
		if (!add_location(w, w->profile->stacks[stack].location, node, err))
			return false;
		w->known[stack] = (struct known){ below, *node };
	}
	return true;
}

static bool add_sample(struct writer *w, size_t id, struct error *err)
{
	const struct profile *profile = w->profile;
	const struct profile_sample *sample = &profile->samples[id];
	const char *process = profile_string(profile, profile->threads[sample->thread].process_name);
	uint32_t node = 0;
	struct node *line;

	/* Without a comm the line starts with its first frame. */
	if (process[0] && !add_child(w, process, "", &node, err))
		return false;
	if (!add_stack(w, sample->stack, &node, err))
		return false;
	line = &w->nodes[node];
	line->is_line = true;
	line->count = saturating_add(line->count, profile->values[id * profile->value_type_count]);
	return true;
}

/* ---- The lines ---- */

/* As lines compare byte by byte, in which no text has a `;` of its own. */
static int compare_texts(const struct writer *w, const struct node *a, bool a_goes_on, const struct node *b, bool b_goes_on)
{
	size_t a_size = string_table_size(w->texts, a->text), b_size = string_table_size(w->texts, b->text);
	const char *a_text = string_table_get(w->texts, a->text), *b_text = string_table_get(w->texts, b->text);
	int order = memcmp(a_text, b_text, a_size < b_size ? a_size : b_size);

	if (order != 0)
		return order;
	if (a_size < b_size)
		return a_goes_on && ';' > (unsigned char)b_text[a_size] ? 1 : -1;
	return b_goes_on && ';' > (unsigned char)a_text[b_size] ? -1 : 1;
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct writer *w = context;
	const struct node *line_a = &w->nodes[*(const uint32_t *)left], *line_b = &w->nodes[*(const uint32_t *)right];
	const struct node *a = line_a, *b = line_b, *last_a = NULL, *last_b = NULL;

	/* Up to where the two meet. */
	while (a != b) {
		uint32_t a_depth = a->depth, b_depth = b->depth;

		if (a_depth >= b_depth)
			a = &w->nodes[(last_a = a)->parent];
		if (b_depth >= a_depth)
			b = &w->nodes[(last_b = b)->parent];
	}
	if (!last_a || !last_b)
		return (last_a != NULL) - (last_b != NULL);
	return compare_texts(w, last_a, last_a != line_a, last_b, last_b != line_b);
}

static bool append_line(struct writer *w, uint32_t line, struct buffer *out, struct error *err)
{
	size_t depth = 0;

	for (uint32_t node = line; node; node = w->nodes[node].parent)
		if (!push(w, &depth, w->nodes[node].text, err))
			return false;
	while (depth > 0) {
		uint32_t text = w->path[--depth];

		buffer_append(out, string_table_get(w->texts, text), string_table_size(w->texts, text));
		if (depth > 0)
			buffer_append_byte(out, ';');
	}
	buffer_printf(out, " %lld\n", (long long)w->nodes[line].count);
	return true;
}

static bool append_lines(struct writer *w, struct buffer *out, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *lines = calloc(w->node_count, sizeof(*lines));
	size_t count = 0;

	if (!lines)
		return error_set_memory(err);
	for (uint32_t i = 0; i < w->node_count; i++)
		if (w->nodes[i].is_line)
			lines[count++] = i;
	qsort_r(lines, count, sizeof(*lines), compare_lines, w);
	for (size_t i = 0; i < count; i++)
		if (!append_line(w, lines[i], out, err))
			return false;
	return true;
}

bool profile_write_folded(const struct profile *profile, struct buffer *out, struct error *err)
{
	struct writer w;
	bool ok = writer_init(&w, profile, out->max_bytes, err);

	for (size_t i = 0; ok && i < profile->sample_count; i++)
		ok = add_sample(&w, i, err);
	ok = ok && append_lines(&w, out, err);
	writer_deinit(&w);
	return ok && buffer_ok(out, err);
}
