/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/cpuprofile/cpuprofile.h"

#include "profile/foreign/json/reader.h"

#include <stdlib.h>

static const int64_t ns_per_us = 1000, max_us = INT64_MAX / 1000 / 4;

struct call_frame {
	uint32_t name, url;   /* strings */
	int64_t line, column; /* from 0 on; -1: not known */
};

struct cpuprofile_node {
	struct call_frame frame;
	uint32_t parent; /* index; PROFILE_NONE: it has none */
	uint32_t stack;  /* PROFILE_NONE: not made yet */
	int64_t hits;
};

struct edge {
	uint32_t parent; /* index */
	int64_t child;   /* id */
};

struct timed {
	int64_t at_us, node; /* node: its id */
	size_t number;       /* its place in the file */
};

struct cpuprofile {
	struct json_reader json;
	struct profile *profile;
	struct hash_map by_id;         /* int64_t -> index */
	struct cpuprofile_node *nodes; /* owned, as the arrays below */
	struct edge *edges;
	int64_t *samples;      /* ids of nodes */
	int64_t *deltas_us;    /* the time from the sample before to each */
	struct timed *in_time; /* the samples in order of time */
	size_t node_count, node_capacity, edge_count, edge_capacity, sample_count, sample_capacity, delta_count,
		delta_capacity;
	int64_t start_us, end_us;
	uint32_t mapping, thread;
	struct buffer name; /* scratch */
};

static void cpuprofile_deinit(struct cpuprofile *r)
{
	json_reader_deinit(&r->json);
	profile_destroy(r->profile);
	hash_map_deinit(&r->by_id);
	free(r->nodes);
	free(r->edges);
	free(r->samples);
	free(r->deltas_us);
	free(r->in_time);
	buffer_deinit(&r->name);
}

/* ---- Reading ---- */

static uint32_t intern_text(struct cpuprofile *r, bool *ok, struct error *err)
{
	struct json_reader_string text = json_reader_text(&r->json);
	uint32_t id = 0;

	*ok = *ok && string_table_add(r->profile->strings, text.text, text.size, &id, err);
	return id;
}

static bool read_call_frame(struct cpuprofile *r, struct call_frame *frame, struct error *err)
{
	struct json_reader_string key;
	bool ok = true;

	json_reader_enter(&r->json, '{');
	while (ok && json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "functionName"))
			frame->name = intern_text(r, &ok, err);
		else if (json_reader_is(key, "url"))
			frame->url = intern_text(r, &ok, err);
		else if (json_reader_is(key, "lineNumber"))
			frame->line = json_reader_integer(&r->json);
		else if (json_reader_is(key, "columnNumber"))
			frame->column = json_reader_integer(&r->json);
		else
			json_reader_skip(&r->json);
	}
	return ok;
}

static bool add_edge(struct cpuprofile *r, uint32_t parent, int64_t child, struct error *err)
{
	return ARRAY_APPEND(
		&r->edges, &r->edge_capacity, &r->edge_count, ARRAY_MAX_IDS, err, (struct edge){ parent, child });
}

static bool read_children(struct cpuprofile *r, struct error *err)
{
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json))
		if (!add_edge(r, (uint32_t)r->node_count, json_reader_integer(&r->json), err))
			return false;
	return true;
}

static bool read_node(struct cpuprofile *r, struct error *err)
{
	struct cpuprofile_node node = { .frame.line = -1, .parent = PROFILE_NONE, .stack = PROFILE_NONE };
	int64_t id = 0;
	uint32_t *value;
	struct json_reader_string key;
	bool ok = true, added;

	json_reader_enter(&r->json, '{');
	while (ok && json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "id"))
			id = json_reader_integer(&r->json);
		else if (json_reader_is(key, "callFrame"))
			ok = read_call_frame(r, &node.frame, err);
		else if (json_reader_is(key, "hitCount"))
			node.hits = json_reader_integer(&r->json);
		else if (json_reader_is(key, "children"))
			ok = read_children(r, err);
		else
			json_reader_skip(&r->json);
	}
	if (!ok || !json_reader_ok(&r->json, err) ||
		!hash_map_add(&r->by_id, &id, (uint32_t)r->node_count, &value, &added, err) ||
		!ARRAY_RESERVE(&r->nodes, &r->node_capacity, r->node_count + 1, ARRAY_MAX_IDS, err))
		return false;
	if (!added)
		json_reader_fail(&r->json, "two nodes have the same id");
	r->nodes[r->node_count++] = node;
	return true;
}

static bool read_nodes(struct cpuprofile *r, struct error *err)
{
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json))
		if (!read_node(r, err))
			return false;
	return true;
}

static bool read_integers(struct cpuprofile *r, int64_t **items, size_t *count, size_t *capacity, struct error *err)
{
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json)) {
		int64_t number = json_reader_integer(&r->json);

		if (!ARRAY_RESERVE(items, capacity, *count + 1, ARRAY_MAX_IDS, err))
			return false;
		(*items)[(*count)++] = number;
	}
	return true;
}

static bool cpuprofile_read_members(struct cpuprofile *r, struct error *err)
{
	struct json_reader_string key;
	bool ok = true;

	json_reader_enter(&r->json, '{');
	while (ok && json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "nodes"))
			ok = read_nodes(r, err);
		else if (json_reader_is(key, "samples"))
			ok = read_integers(r, &r->samples, &r->sample_count, &r->sample_capacity, err);
		else if (json_reader_is(key, "timeDeltas"))
			ok = read_integers(r, &r->deltas_us, &r->delta_count, &r->delta_capacity, err);
		else if (json_reader_is(key, "startTime"))
			r->start_us = json_reader_integer(&r->json);
		else if (json_reader_is(key, "endTime"))
			r->end_us = json_reader_integer(&r->json);
		else
			json_reader_skip(&r->json);
	}
	return ok && json_reader_ok(&r->json, err);
}

/* ---- The tree ---- */

static bool link_nodes(struct cpuprofile *r, struct error *err)
{
	for (size_t i = 0; i < r->edge_count; i++) {
		uint32_t child = hash_map_get(&r->by_id, &r->edges[i].child);

		if (child == HASH_MAP_NONE || r->nodes[child].parent != PROFILE_NONE)
			return error_set(err, ERROR_FORMAT, "its nodes are no tree: %lld is %s",
				(long long)r->edges[i].child,
				child == HASH_MAP_NONE ? "missing" : "a child of two of them");
		r->nodes[child].parent = r->edges[i].parent;
	}
	return true;
}

static const char *cpuprofile_name_of(struct cpuprofile *r, const struct call_frame *frame)
{
	const char *name = profile_string(r->profile, frame->name), *url = profile_string(r->profile, frame->url);

	if (!*url)
		return *name ? name : "(anonymous)";
	r->name.size = 0;
	buffer_printf(&r->name, "JS:%s %s", name, url);
	if (frame->line >= 0 && frame->line < INT32_MAX)
		buffer_printf(&r->name, ":%lld:%lld", (long long)frame->line + 1, (long long)frame->column + 1);
	return r->name.failed ? "" : r->name.data;
}

static bool cpuprofile_add_frame(
	struct cpuprofile *r, const struct call_frame *frame, uint32_t *location, struct error *err)
{
	struct profile_function function = { .file = frame->url, .name_source = PROFILE_NAME_IMPORTED };
	struct profile_line line = { 0 };

	if (frame->url)
		function.module = r->profile->mappings[r->mapping].module;
	if (frame->url && frame->line >= 0 && frame->line < INT32_MAX)
		line.line = function.start_line = (uint32_t)frame->line + 1;
	return profile_intern(r->profile, cpuprofile_name_of(r, frame), &function.name, err) &&
	       buffer_ok(&r->name, err) && profile_add_function(r->profile, &function, &line.function, err) &&
	       profile_add_location_of_lines(
		       r->profile, frame->url ? r->mapping : PROFILE_NONE, &line, 1, location, err);
}

/* The root is no function. */
static bool cpuprofile_is_root(const struct cpuprofile *r, const struct cpuprofile_node *node)
{
	return node->frame.url == 0 && strcmp(profile_string(r->profile, node->frame.name), "(root)") == 0;
}

static bool push_node(struct cpuprofile *r, struct cpuprofile_node *node, uint32_t *stack, struct error *err)
{
	uint32_t location;

	if (!cpuprofile_is_root(r, node) && (!cpuprofile_add_frame(r, &node->frame, &location, err) ||
						    !profile_add_stack(r->profile, *stack, location, stack, err)))
		return false;
	node->stack = *stack;
	return true;
}

/* The node's stack is made with those of its callers, which are turned around for that and back again. */
static bool cpuprofile_make_stack(struct cpuprofile *r, uint32_t node, struct error *err)
{
	uint32_t at = node, below = PROFILE_NONE, stack = 0;

	while (at != PROFILE_NONE && r->nodes[at].stack == PROFILE_NONE) {
		uint32_t parent = r->nodes[at].parent;

		r->nodes[at].parent = below;
		below = at;
		at = parent;
		/* A circle leads back to where it was entered, and no further. */
		if (at == node)
			return error_set(err, ERROR_FORMAT, "its nodes are no tree: one is its own caller");
	}
	if (at != PROFILE_NONE)
		stack = r->nodes[at].stack;
	while (below != PROFILE_NONE) {
		uint32_t next = r->nodes[below].parent;

		r->nodes[below].parent = at;
		if (!push_node(r, &r->nodes[below], &stack, err))
			return false;
		at = below;
		below = next;
	}
	return true;
}

/* ---- Samples ---- */

static bool cpuprofile_add_sample(struct cpuprofile *r, uint32_t node, int64_t count, int64_t us, struct error *err)
{
	int64_t values[2] = { count, us * ns_per_us };

	return (r->nodes[node].stack != PROFILE_NONE || cpuprofile_make_stack(r, node, err)) &&
	       profile_add_sample(r->profile, r->nodes[node].stack, r->thread, values, -1, err);
}

/* Returns the time between two moments; none if the second comes first. */
static int64_t us_between(int64_t from_us, int64_t to_us)
{
	int64_t us;

	if (to_us <= from_us)
		return 0;
	return __builtin_sub_overflow(to_us, from_us, &us) || us > max_us ? max_us : us;
}

static int compare_timed(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	return x->at_us != y->at_us ? ORDER(x->at_us, y->at_us) : ORDER(x->number, y->number);
}

/*
 * V8's clock does not step back: where a delta is negative, two of its threads have written samples in another order
 * than that in which they took them.
 */
static bool order_by_time(struct cpuprofile *r, struct error *err)
{
	int64_t at_us = r->start_us;
	bool is_ordered = true;

	if (!ARRAY_ZEROED(&r->in_time, r->sample_count + 1, err))
		return false;
	for (size_t i = 0; i < r->sample_count; i++) {
		if (__builtin_add_overflow(at_us, r->deltas_us[i], &at_us))
			return error_set(err, ERROR_FORMAT, "the time of sample %zu has more than 63 bits", i);
		r->in_time[i] = (struct timed){ at_us, r->samples[i], i };
		is_ordered = is_ordered && (i == 0 || r->deltas_us[i] >= 0);
	}
	if (!is_ordered)
		qsort(r->in_time, r->sample_count, sizeof(*r->in_time), compare_timed);
	return true;
}

static bool cpuprofile_add_samples(struct cpuprofile *r, struct error *err)
{
	int64_t total_us = 0;

	if (r->delta_count < r->sample_count)
		return error_set(err, ERROR_FORMAT, "it has %zu samples, but %zu times of samples", r->sample_count,
			r->delta_count);
	if (!order_by_time(r, err))
		return false;
	for (size_t i = 0; i < r->sample_count; i++) {
		const struct timed *sample = &r->in_time[i];
		uint32_t node = hash_map_get(&r->by_id, &sample->node);
		int64_t us = us_between(sample->at_us, i + 1 < r->sample_count ? r->in_time[i + 1].at_us : r->end_us);

		if (node == HASH_MAP_NONE)
			return error_set(err, ERROR_FORMAT, "sample %zu is in node %lld, which is missing",
				sample->number, (long long)sample->node);
		total_us += us;
		if (total_us > max_us)
			return error_set(err, ERROR_FORMAT, "its samples last for longer than 73,000 years");
		if (!cpuprofile_add_sample(r, node, 1, us, err))
			return false;
	}
	return true;
}

/* A profile without the samples' own times has them counted in its nodes: each stands for an equal part of the time. */
static bool add_hits(struct cpuprofile *r, struct error *err)
{
	int64_t all = 0, span_us = us_between(r->start_us, r->end_us);

	for (size_t i = 0; i < r->node_count; i++)
		if (r->nodes[i].hits < 0 || __builtin_add_overflow(all, r->nodes[i].hits, &all))
			return error_set(
				err, ERROR_FORMAT, "a node counts no samples, but %lld", (long long)r->nodes[i].hits);
	for (uint32_t i = 0; i < r->node_count; i++) {
		double share = all > 0 ? (double)r->nodes[i].hits / (double)all : 0;

		if (r->nodes[i].hits > 0 &&
			!cpuprofile_add_sample(r, i, r->nodes[i].hits, (int64_t)(share * (double)span_us), err))
			return false;
	}
	return true;
}

static bool cpuprofile_begin(struct cpuprofile *r, struct error *err)
{
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_JIT };
	struct profile_run run = { .exit_status = -1 };
	struct profile_thread thread = { 0 };

	hash_map_init(&r->by_id, sizeof(int64_t));
	buffer_init(&r->name, 1 << 22);
	return profile_create(&r->profile, err) && profile_add_value_type(r->profile, "time", "nanoseconds", err) &&
	       profile_intern(r->profile, "V8", &r->profile->facts.tool, err) &&
	       profile_intern(r->profile, PROFILE_JIT_MODULE, &mapping.path, err) &&
	       profile_add_mapping(r->profile, &mapping, &r->mapping, err) &&
	       profile_add_run(r->profile, &run, &thread.run, err) &&
	       profile_add_thread(r->profile, &thread, &r->thread, err);
}

bool cpuprofile_read(const void *bytes, size_t size, size_t most_stacks, struct profile **profile, struct error *err)
{
	CLEANUP(cpuprofile_deinit) struct cpuprofile r = { 0 };

	json_reader_init(&r.json, bytes, size);
	if (!cpuprofile_begin(&r, err))
		return false;
	profile_limit_stacks(r.profile, most_stacks);
	if (!cpuprofile_read_members(&r, err) || !link_nodes(&r, err))
		return false;
	if (!(r.sample_count > 0 ? cpuprofile_add_samples(&r, err) : add_hits(&r, err)))
		return false;
	r.profile->runs[0].duration_ns = us_between(r.start_us, r.end_us) * ns_per_us;
	for (size_t i = 0; i < r.profile->sample_count; i++)
		r.profile->quality.samples += (uint64_t)r.profile->values[i * r.profile->value_type_count];
	if (!profile_validate(r.profile, err))
		return false;
	*profile = TAKE(r.profile);
	return true;
}
