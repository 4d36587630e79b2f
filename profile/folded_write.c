/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes folded stacks.
 *
 * Stacks that differ only in addresses become one line, and most lines begin like others. So lines are built as paths
 * from the root of a tree, whose nodes are the texts of frames. A walk of that tree gives the lines in the order of
 * their bytes.
 */
#include "profile/model.h"

#include <stdlib.h>
#include <string.h>

static const size_t max_text_bytes = (size_t)1 << 32;

/* The form of a frame depends on where its function runs: in the kernel, inlined, or neither. */
enum name_kind { NAME_PLAIN, NAME_KERNEL, NAME_INLINED, NAME_KINDS };

struct folded_write_node {
	uint32_t parent, text;
	bool is_line, has_children;
	int64_t count;
};

struct node_key {
	uint32_t parent, text;
};

/* The tree's node of a stack of the profile, within the process name `below`. */
struct folded_write_known {
	uint32_t below, node; /* `below`: the process name's node, plus one; 0: the stack has no node yet */
};

struct folded_write_writer {
	const struct profile *profile;
	uint32_t value_type;
	int64_t parts;                   /* a value is one of so many parts of what is written: a power of ten */
	bool has_zeros;                  /* stacks without a value have a line too */
	struct string_table *texts;      /* owned; texts of frames, without the characters that would break a line */
	uint32_t (*names)[NAME_KINDS];   /* owned: [function] its text; 0: not made yet */
	struct folded_write_node *nodes; /* owned; the first is the root */
	size_t node_count, node_capacity;
	struct hash_map children;         /* struct node_key -> node */
	struct folded_write_known *known; /* owned: [stack] */
	uint32_t *path;                   /* owned: stacks from a leaf outwards */
	size_t path_capacity;
	struct buffer scratch;
};

static bool writer_init(
	struct folded_write_writer *w, const struct profile *profile, size_t max_bytes, struct error *err)
{
	*w = (struct folded_write_writer){
		.profile = profile,
		.names = calloc(profile->function_count + 1, sizeof(*w->names)),
		.known = calloc(profile->stack_count + 1, sizeof(*w->known)),
	};
	hash_map_init(&w->children, sizeof(struct node_key));
	buffer_init(&w->scratch, max_bytes);
	if (!w->names || !w->known)
		return error_set_memory(err);
	if (!string_table_create(max_text_bytes, &w->texts, err) ||
		!ARRAY_RESERVE(&w->nodes, &w->node_capacity, 1, ARRAY_MAX_IDS, err))
		return false;
	w->nodes[w->node_count++] = (struct folded_write_node){ 0 };
	return true;
}

static void writer_deinit(struct folded_write_writer *w)
{
	string_table_destroy(w->texts);
	free(w->names);
	free(w->nodes);
	hash_map_deinit(&w->children);
	free(w->known);
	free(w->path);
	buffer_deinit(&w->scratch);
}

/* ---- The tree ---- */

/* A `;` or a line end within a name would break the line. */
static void folded_write_append_name(const char *name, struct buffer *out)
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

static bool folded_write_add_text(
	struct folded_write_writer *w, const char *name, const char *suffix, uint32_t *text, struct error *err)
{
	w->scratch.size = 0;
	folded_write_append_name(name, &w->scratch);
	buffer_append_string(&w->scratch, suffix);
	return buffer_ok(&w->scratch, err) && string_table_add(w->texts, w->scratch.data, w->scratch.size, text, err);
}

static bool add_child(struct folded_write_writer *w, uint32_t text, uint32_t *node, struct error *err)
{
	struct node_key key = { *node, text };
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&w->nodes, &w->node_capacity, w->node_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&w->children, &key, (uint32_t)w->node_count, &value, &added, err))
		return false;
	if (added) {
		w->nodes[*node].has_children = true;
		w->nodes[w->node_count++] = (struct folded_write_node){ .parent = *node, .text = text };
	}
	*node = *value;
	return true;
}

static bool writer_add_function(
	struct folded_write_writer *w, uint32_t function, enum name_kind kind, uint32_t *node, struct error *err)
{
	static const char *const suffixes[] = { [NAME_PLAIN] = "", [NAME_KERNEL] = "_[k]", [NAME_INLINED] = "_[i]" };
	const char *name = profile_string(w->profile, w->profile->functions[function].name);
	uint32_t *text = &w->names[function][kind];

	return (*text || folded_write_add_text(w, name, suffixes[kind], text, err)) && add_child(w, *text, node, err);
}

static bool folded_write_add_location(struct folded_write_writer *w, uint32_t id, uint32_t *node, struct error *err)
{
	const struct profile *profile = w->profile;
	const struct profile_location *location = &profile->locations[id];
	bool kernel = location->mapping != PROFILE_NONE &&
		      profile->mappings[location->mapping].kind == PROFILE_MAPPING_KERNEL;

	for (uint32_t k = location->line_count; k-- > 0;) {
		enum name_kind kind = kernel ? NAME_KERNEL : k + 1 < location->line_count ? NAME_INLINED : NAME_PLAIN;

		if (!writer_add_function(w, profile->lines[location->first_line + k].function, kind, node, err))
			return false;
	}
	return true;
}

static bool folded_write_add_stack(struct folded_write_writer *w, uint32_t stack, uint32_t *node, struct error *err)
{
	uint32_t below = *node + 1;
	size_t depth = 0;

	for (; stack && w->known[stack].below != below; stack = w->profile->stacks[stack].parent)
		if (!ARRAY_APPEND(&w->path, &w->path_capacity, &depth, ARRAY_MAX_IDS, err, stack))
			return false;
	if (stack)
		*node = w->known[stack].node;
	while (depth > 0) {
		stack = w->path[--depth];
		if (!folded_write_add_location(w, w->profile->stacks[stack].location, node, err))
			return false;
		w->known[stack] = (struct folded_write_known){ below, *node };
	}
	return true;
}

static bool folded_write_add_sample(struct folded_write_writer *w, size_t id, struct error *err)
{
	const struct profile *profile = w->profile;
	const struct profile_sample *sample = &profile->samples[id];
	const char *process = profile_string(profile, profile->threads[sample->thread].process_name);
	int64_t value = profile->values[id * profile->value_type_count + w->value_type];
	uint32_t node = 0, text;
	struct folded_write_node *line;

	if (value == 0 && !w->has_zeros)
		return true;
	/* Without a comm the line starts with its first frame. */
	if (process[0] && !(folded_write_add_text(w, process, "", &text, err) && add_child(w, text, &node, err)))
		return false;
	if (!folded_write_add_stack(w, sample->stack, &node, err))
		return false;
	line = &w->nodes[node];
	line->is_line = true;
	line->count = saturating_add(line->count, value);
	return true;
}

/* ---- The lines ---- */

/*
 * An entry of a line's order: the end of a line at this node, or the step to a child. The texts of other children may
 * stand between the two.
 */
struct folded_write_entry {
	uint32_t node;
	bool goes_on;
};

/* The entries of each node, in order. */
struct entries {
	struct folded_write_entry *items; /* owned */
	size_t *starts;                   /* owned: [node] index of its first entry */
};

static void entries_deinit(struct entries *entries)
{
	free(entries->items);
	free(entries->starts);
}

/* Compares two entries by the bytes of the lines that they lead to. No text contains a `;`. */
static int folded_write_compare_entries(const void *left, const void *right, void *context)
{
	const struct folded_write_writer *w = context;
	const struct folded_write_entry *a = left, *b = right;
	uint32_t a_id = w->nodes[a->node].text, b_id = w->nodes[b->node].text;
	size_t a_size = string_table_size(w->texts, a_id), b_size = string_table_size(w->texts, b_id);
	const char *a_text = string_table_get(w->texts, a_id), *b_text = string_table_get(w->texts, b_id);
	int order = memcmp(a_text, b_text, a_size < b_size ? a_size : b_size);

	if (order != 0)
		return order;
	if (a_size < b_size)
		return a->goes_on && ';' > (unsigned char)b_text[a_size] ? 1 : -1;
	if (a_size > b_size)
		return b->goes_on && ';' > (unsigned char)a_text[b_size] ? -1 : 1;
	return a->goes_on - b->goes_on;
}

static bool entries_init(struct entries *entries, struct folded_write_writer *w, struct error *err)
{
	size_t *starts = calloc(w->node_count + 2, sizeof(*starts)), count;

	*entries = (struct entries){ calloc(2 * w->node_count, sizeof(*entries->items)), starts };
	if (!starts || !entries->items)
		return error_set_memory(err);
	/* Counts go two places further on, so that filling in the entries moves each start to its final value. */
	for (size_t i = 1; i < w->node_count; i++)
		starts[w->nodes[i].parent + 2] += (size_t)w->nodes[i].is_line + w->nodes[i].has_children;
	for (size_t i = 2; i < w->node_count + 2; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 1; i < w->node_count; i++) {
		size_t *end = &starts[w->nodes[i].parent + 1];

		if (w->nodes[i].is_line)
			entries->items[(*end)++] = (struct folded_write_entry){ (uint32_t)i, false };
		if (w->nodes[i].has_children)
			entries->items[(*end)++] = (struct folded_write_entry){ (uint32_t)i, true };
	}
	for (size_t i = 0; i < w->node_count; i++)
		if ((count = starts[i + 1] - starts[i]) > 1)
			qsort_r(entries->items + starts[i], count, sizeof(*entries->items),
				folded_write_compare_entries, w);
	return true;
}

/* A node on the walk: its entries that are still to be written, and the length of the path's text up to it. */
struct folded_write_level {
	size_t next, end, path_bytes;
};

static void folded_write_append_count(const struct folded_write_writer *w, uint32_t node, struct buffer *out)
{
	int64_t count = w->nodes[node].count, part = w->parts;

	buffer_printf(out, " %lld", (long long)(count / part));
	for (count %= part; count > 0; count %= part) {
		if (part == w->parts)
			buffer_append_byte(out, '.');
		part /= 10;
		buffer_append_byte(out, (uint8_t)('0' + count / part));
	}
	buffer_append_byte(out, '\n');
}

static bool folded_write_append_lines(
	struct folded_write_writer *w, const struct entries *entries, struct buffer *out, struct error *err)
{
	CLEANUP(cleanup_free) struct folded_write_level *levels = NULL;
	struct folded_write_level below = { 0, entries->starts[1], 0 };
	size_t capacity = 0, depth = 0;
	struct buffer *path = &w->scratch;

	if (w->nodes[0].is_line)
		folded_write_append_count(w, 0, out);
	for (;;) {
		struct folded_write_entry entry;
		uint32_t text;

		while (below.next == below.end) {
			if (depth == 0)
				return buffer_ok(path, err);
			below = levels[--depth];
		}
		entry = entries->items[below.next++];
		text = w->nodes[entry.node].text;
		path->size = below.path_bytes;
		buffer_append(path, string_table_get(w->texts, text), string_table_size(w->texts, text));
		if (!entry.goes_on) {
			buffer_append(out, path->data, path->size);
			folded_write_append_count(w, entry.node, out);
			continue;
		}
		buffer_append_byte(path, ';');
		if (!ARRAY_APPEND(&levels, &capacity, &depth, ARRAY_MAX_IDS, err, below))
			return false;
		below = (struct folded_write_level){ entries->starts[entry.node], entries->starts[entry.node + 1],
			path->size };
	}
}

bool profile_write_folded(const struct profile *profile, uint32_t value_type, struct buffer *out, struct error *err)
{
	struct entries entries = { 0 };
	struct folded_write_writer w;
	bool ok = writer_init(&w, profile, out->max_bytes, err);

	w.has_zeros = value_type == PROFILE_NONE;
	w.value_type = !w.has_zeros                            ? value_type
		       : profile->counts_of[0] == PROFILE_NONE ? profile->default_value_type
							       : 0;
	w.parts = profile_unit_parts(profile_string(profile, profile->value_types[w.value_type].unit));
	for (size_t i = 0; ok && i < profile->sample_count; i++)
		ok = folded_write_add_sample(&w, i, err);
	ok = ok && entries_init(&entries, &w, err) && folded_write_append_lines(&w, &entries, out, err);
	entries_deinit(&entries);
	writer_deinit(&w);
	return ok && buffer_ok(out, err);
}
