/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of vertices, costs and calls that a file is read into. */
#include "profile/foreign/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

struct vertex_key {
	uint32_t path, object, file, thread;
};

struct record_key {
	uint32_t vertex, file, line;
};

struct edge_key {
	uint32_t caller, callee;
};

void callgrind_table_init(struct callgrind_table *table)
{
	*table = (struct callgrind_table){ 0 };
	hash_map_init(&table->vertex_map, sizeof(struct vertex_key));
	hash_map_init(&table->record_map, sizeof(struct record_key));
	hash_map_init(&table->edge_map, sizeof(struct edge_key));
}

void callgrind_table_deinit(struct callgrind_table *table)
{
	hash_map_deinit(&table->vertex_map);
	hash_map_deinit(&table->record_map);
	hash_map_deinit(&table->edge_map);
	free(table->vertices);
	free(table->records);
	free(table->edges);
	free(table->columns);
}

bool callgrind_table_vertex(
	struct callgrind_table *table, const struct callgrind_vertex *vertex, uint32_t *id, struct error *err)
{
	struct vertex_key key = { vertex->path, vertex->object, vertex->file, vertex->thread };
	uint32_t *found;
	bool added = false;

	if (!ARRAY_RESERVE(&table->vertices, &table->vertex_capacity, table->vertex_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&table->vertex_map, &key, (uint32_t)table->vertex_count, &found, &added, err))
		return false;
	if (added) {
		table->vertices[table->vertex_count] = *vertex;
		table->vertices[table->vertex_count].first_record = PROFILE_NONE;
		table->vertices[table->vertex_count++].last_record = PROFILE_NONE;
	}
	*id = *found;
	return true;
}

static bool cost_overflows(struct error *err)
{
	return error_set(err, ERROR_FORMAT, "the costs do not fit 63 bits together");
}

static bool record_append(struct callgrind_table *table, const struct callgrind_record *record, struct error *err)
{
	struct callgrind_vertex *vertex = &table->vertices[record->vertex];
	uint32_t id = (uint32_t)table->record_count;
	size_t cells = (size_t)id * table->column_count;

	if (!ARRAY_RESERVE(&table->columns, &table->cell_capacity, cells + table->column_count,
		    SIZE_MAX / sizeof(*table->columns), err))
		return false;
	memset(table->columns + cells, 0, table->column_count * sizeof(*table->columns));
	table->records[id] = *record;
	table->records[id].next = PROFILE_NONE;
	table->records[id].location = PROFILE_NONE;
	if (vertex->last_record == PROFILE_NONE)
		vertex->first_record = id;
	else
		table->records[vertex->last_record].next = id;
	vertex->last_record = id;
	table->record_count++;
	return true;
}

bool callgrind_table_join(struct callgrind_table *table, struct error *err)
{
	struct hash_map described; /* -> the vertex, or `several` */
	const uint32_t several = (uint32_t)table->vertex_count;
	bool ok = true, added;

	hash_map_init(&described, sizeof(struct vertex_key));
	for (uint32_t i = 0; ok && i < table->vertex_count; i++) {
		const struct callgrind_vertex *vertex = &table->vertices[i];
		struct vertex_key key = { vertex->path, 0, vertex->file, vertex->thread };
		uint32_t *found;

		if (!vertex->is_described)
			continue;
		ok = hash_map_add(&described, &key, i, &found, &added, err);
		if (ok && !added)
			*found = several;
	}
	for (size_t i = 0; ok && i < table->edge_count; i++) {
		const struct callgrind_vertex *callee = &table->vertices[table->edges[i].callee];
		struct vertex_key key = { callee->path, 0, callee->file, callee->thread };
		uint32_t found = callee->is_described ? several : hash_map_get(&described, &key);

		if (found < several)
			table->edges[i].callee = found;
	}
	hash_map_deinit(&described);
	return ok;
}

bool callgrind_table_cost(
	struct callgrind_table *table, const struct callgrind_record *record, const int64_t *columns, struct error *err)
{
	struct record_key key = { record->vertex, record->file, record->line };
	int64_t *self = &table->vertices[record->vertex].self, *cells;
	uint32_t *found;
	bool added = false;

	if (!ARRAY_RESERVE(&table->records, &table->record_capacity, table->record_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&table->record_map, &key, (uint32_t)table->record_count, &found, &added, err) ||
		(added && !record_append(table, record, err)))
		return false;
	cells = table->columns + (size_t)*found * table->column_count;
	for (size_t i = 0; i < table->column_count; i++)
		if (__builtin_add_overflow(cells[i], columns[i], &cells[i]))
			return cost_overflows(err);
	return !__builtin_add_overflow(*self, columns[table->main_column], self) || cost_overflows(err);
}

bool callgrind_table_call(struct callgrind_table *table, const struct callgrind_edge *edge, struct error *err)
{
	struct edge_key key = { edge->caller, edge->callee };
	struct callgrind_edge *into;
	uint32_t *found;
	bool added = false;

	if (!ARRAY_RESERVE(&table->edges, &table->edge_capacity, table->edge_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&table->edge_map, &key, (uint32_t)table->edge_count, &found, &added, err))
		return false;
	if (added) {
		table->edges[table->edge_count++] = *edge;
		return true;
	}
	into = &table->edges[*found];
	if (into->line != edge->line || into->file != edge->file) {
		into->line = 0;
		into->file = table->vertices[edge->caller].file;
	}
	return !__builtin_add_overflow(into->inclusive, edge->inclusive, &into->inclusive) || cost_overflows(err);
}
