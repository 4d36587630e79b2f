/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Summaries by sums that the engine makes where the data lies.
 *
 * Up to SUMMARIES_MAX_POINTS profiles are as many summaries. More are added up to points of a series: those of one
 * `kind` (tables.h) that began in the same part of the time. Values of a point are sums over its profiles, and so are
 * its total and its requests. Their errors are those of a ratio of sums (Cochran, Sampling Techniques, 1977, 6.4): with
 * s the value of a function and t the requests, or the total, of each of n profiles, and r = sum(s) / sum(t), the error
 * of sum(s) is the root of n / (n - 1) * sum((s - r t)^2): what differs between profiles, processes, hosts and moments
 * is in it. Of one or two profiles it is what their own errors add up to.
 *
 * Functions that reach 2^-SUMMARIES_FUNCTION_LEVEL of no point are left out. Where profiles are added up, the engine
 * also leaves out rows below 2^-SUMMARIES_ROW_LEVEL of a profile, so that a sum is too small by at most that part of
 * the total; and functions from a point in none of whose profiles they reach 2^-SUMMARIES_POINT_LEVEL, which is half of
 * the least change that a history looks for.
 */
#include "profile/store/clickhouse/clickhouse.h"

#include "profile/store/clickhouse/pairs.h"
#include "profile/store/clickhouse/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SUMMARIES_MAX_POINTS = 300,
	SUMMARIES_PARTS_OF_TIME = 200,
	SUMMARIES_MAX_GROUPS = 5000,
	SUMMARIES_MAX_PROFILES = 15000
};
enum { SUMMARIES_FUNCTION_LEVEL = 10, SUMMARIES_POINT_LEVEL = 11, SUMMARIES_ROW_LEVEL = 12 };

/* The figures of a point's profiles that its rows need. */
struct summaries_point {
	uint64_t key;
	double count, reference, reference_squares;
};

struct summaries {
	struct courier *courier;
	const struct store_address *address;
	char metric[256];
	uint64_t width_s; /* of a part of the time; 0: each profile is a point */
	uint64_t lots;    /* whose profiles stand for all */
	struct summary_set *set;
	struct summaries_point *points; /* owned, by key */
	size_t point_count, capacity;
	struct hash_map functions; /* from hashes of functions to their ids in the set */
};

/* ---- The points ---- */

/* Appends an expression: the key of the point that a profile, or a row of its functions, belongs to. */
static void summaries_key(const struct summaries *summaries, struct clickhouse_query *query)
{
	if (summaries->width_s)
		buffer_printf(&query->sql, "bitXor(kind, toUInt64(intDiv(toUnixTimestamp(start), %" PRIu64 ")))",
			summaries->width_s);
	else
		buffer_append_string(&query->sql, "push");
}

/*
 * Appends the profiles with the key `g` of their point, their metric `m`, and `t`, what their costs are compared by.
 */
static void summaries_profiles(const struct summaries *summaries, struct clickhouse_query *query)
{
	buffer_append_string(&query->sql, "SELECT *, arrayFirst(x -> x.1 = ");
	clickhouse_query_text(query, summaries->metric);
	buffer_append_string(&query->sql, ", metrics) AS m, ");
	summaries_key(summaries, query);
	buffer_append_string(&query->sql, " AS g, if(requests > 0, requests, m.8) AS t FROM (");
	clickhouse_query_profiles(query, summaries->address, "*");
	buffer_printf(&query->sql, ") WHERE m.8 > 0 AND push %% %d < %" PRIu64, CLICKHOUSE_LOTS, summaries->lots);
}

/* The profiles that have a metric by default, as its most frequent one. */
struct summaries_extent {
	uint64_t count, first_s, last_s, others;
	uint16_t schema;
};

static void summaries_read_extent(
	struct summaries *summaries, struct byte_reader *rows, struct summaries_extent *extent)
{
	while (row_next(rows)) {
		uint16_t schema = row_u16(rows);
		struct row_string metric = row_string(rows);
		uint64_t count = row_u64(rows), first_s = row_u64(rows), last_s = row_u64(rows);

		extent->schema = schema > extent->schema ? schema : extent->schema;
		if (extent->count > 0) {
			extent->others += count;
			continue;
		}
		extent->count = count;
		extent->first_s = first_s;
		extent->last_s = last_s;
		snprintf(summaries->metric, sizeof(summaries->metric), "%.*s",
			(int)(metric.size < sizeof(summaries->metric) ? metric.size : 0), metric.bytes);
	}
}

/*
 * Few profiles are points; else the width of parts is a round one, of which there are not too many. Of very many
 * profiles a random part is enough: the error of a point tells how well it stands for all.
 */
static void summaries_set_width(struct summaries *summaries, const struct summaries_extent *extent)
{
	static const uint64_t nice[] = { 60, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800,
		2592000 };

	summaries->lots = CLICKHOUSE_LOTS;
	if (extent->count <= SUMMARIES_MAX_POINTS)
		return;
	if (extent->count > SUMMARIES_MAX_PROFILES) {
		summaries->lots = (uint64_t)CLICKHOUSE_LOTS * SUMMARIES_MAX_PROFILES / extent->count;
		summaries->lots += summaries->lots == 0;
		buffer_printf(summaries->courier->notices,
			"About %" PRIu64 " of %" PRIu64
			" profiles, drawn at random, stand for all; name a narrower time to have all of them\n",
			extent->count * summaries->lots / CLICKHOUSE_LOTS, extent->count);
	}
	for (size_t i = 0; i < sizeof(nice) / sizeof(nice[0]); i++) {
		summaries->width_s = nice[i];
		if (extent->last_s < extent->first_s ||
			(extent->last_s - extent->first_s) / nice[i] < SUMMARIES_PARTS_OF_TIME)
			break;
	}
}

/* Asks how many profiles there are, of which metric, and over which time: decides what a point is. */
static bool summaries_choose(struct summaries *summaries, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	const char *metric = store_address_filter(summaries->address, "metric");
	struct summaries_extent extent = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot count the profiles");
	buffer_append_string(&query.sql, "SELECT toUInt8(165), max(schema), ");
	if (metric)
		clickhouse_query_text(&query, metric);
	else
		buffer_append_string(&query.sql, "metrics[1].1");
	buffer_append_string(&query.sql, " AS name, toUInt64(count()), toUInt64(toUnixTimestamp(min(start))), "
					 "toUInt64(toUnixTimestamp(max(start))) FROM (");
	clickhouse_query_profiles(&query, summaries->address, "schema, id, push, start, metrics");
	buffer_append_string(&query.sql, ") GROUP BY name ORDER BY count() DESC, name FORMAT RowBinary");
	if (!clickhouse_ask(summaries->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	summaries_read_extent(summaries, &rows, &extent);
	if (!row_end(&rows, err) || !clickhouse_check_schema(extent.schema, err))
		return false;
	if (extent.count == 0)
		return error_set(
			err, ERROR_EMPTY, "no profile in the store is what '%s' asks for", summaries->address->text);
	if (extent.others > 0)
		buffer_printf(summaries->courier->notices,
			"%" PRIu64
			" profiles are left out, which have another metric by default: metric=NAME says which one to read\n",
			extent.others);
	summaries_set_width(summaries, &extent);
	return true;
}

static bool summaries_intern(
	const struct summaries *summaries, struct row_string string, uint32_t *id, struct error *err)
{
	return string_table_add(summaries->set->strings, string.bytes, string.size, id, err);
}

static bool summaries_read_binaries(const struct summaries *summaries, struct byte_reader *rows, struct error *err)
{
	size_t count = row_count(rows);

	for (size_t i = 0; i < count; i++) {
		struct row_string module = row_string(rows), path = row_string(rows), build_id = row_string(rows);
		struct summary_binary binary = { .is_program = row_u8(rows) != 0 };

		if (!byte_reader_ok(rows))
			return true; /* row_end() tells of it */
		if (!summaries_intern(summaries, module, &binary.module, err) ||
			!summaries_intern(summaries, path, &binary.path, err) ||
			!summaries_intern(summaries, build_id, &binary.build_id, err) ||
			!summary_add_binary(summaries->set, &binary, err))
			return false;
	}
	return true;
}

/*
 * Returns the error of a sum over n profiles, by the figures of its parts; `own` is what their own errors add up to,
 * squared.
 */
static double summaries_error(
	const struct summaries_point *point, double sum, double squares, double products, double own)
{
	double ratio = sum / point->reference;
	double rest = squares - 2 * ratio * products + ratio * ratio * point->reference_squares;

	if (point->count >= 3 && rest > 0)
		return sqrt(point->count / (point->count - 1) * rest);
	return own > 0 ? sqrt(own) : 0;
}

/* Reads the totals of a point: sum, of squares, of products with what costs are compared by, of squares of errors. */
static void summaries_read_total(struct byte_reader *rows, const struct summaries_point *point, struct summary *summary)
{
	double squares, products, own;

	summary->total = row_f64(rows);
	squares = row_f64(rows);
	products = row_f64(rows);
	own = row_f64(rows);
	summary->interrupts = row_f64(rows);
	summary->samples = row_u64(rows);
	if (summary->requests > 0 && point->reference > 0)
		summary->total_error = summaries_error(point, summary->total, squares, products, own);
}

static bool summaries_read_metric(
	const struct summaries *summaries, struct byte_reader *rows, struct summary *summary, struct error *err)
{
	struct row_string metric = row_string(rows), unit = row_string(rows), words = row_string(rows);

	summary->is_time = row_u8(rows) != 0;
	summary->is_duration = row_u8(rows) != 0;
	summary->is_counted = row_u8(rows) != 0;
	summary->is_exact = row_u8(rows) != 0;
	return summaries_intern(summaries, metric, &summary->metric, err) &&
	       summaries_intern(summaries, unit, &summary->unit, err) &&
	       summaries_intern(summaries, words, &summary->metric_words, err);
}

static bool summaries_read_name(const struct summaries *summaries, struct byte_reader *rows, struct summary *summary,
	double count, struct error *err)
{
	struct row_string name = row_string(rows);
	char text[64];

	if (count <= 1 && name.size > 0)
		return summaries_intern(summaries, name, &summary->name, err);
	snprintf(text, sizeof(text), "%.0f profile%s", count, count == 1 ? "" : "s");
	return string_table_add(summaries->set->strings, text, strlen(text), &summary->name, err);
}

static const char summaries_point_columns[] =
	"SELECT toUInt8(165), g, toFloat64(count()), sum(t), sum(t * t), argMax(id, m.11), any(name), "
	"toUnixTimestamp64Nano(min(start)), sum(duration_ns), max(is_time_of_file), toUInt64(sum(runs)), "
	"min(whole_commands), avg(lost), any(work), any(work_event), if(min(requests) > 0, sum(requests), 0), "
	"any(m.1), any(m.2), any(m.3), any(m.4), any(m.5), any(m.6), min(m.7), "
	"sum(m.8), sum(m.8 * m.8), sum(m.8 * t), sum(m.9 * m.9), sum(m.10), sum(m.11), " PAIRS_COLUMNS(
		"labels") ", " PAIRS_COLUMNS("facts") ", argMax(binaries, start) FROM (";

static bool summaries_read_point(struct summaries *summaries, struct byte_reader *rows, struct error *err)
{
	struct summaries_point *point;
	struct summary *summary;
	struct row_string work, event;

	if (!ARRAY_RESERVE(&summaries->points, &summaries->capacity, summaries->point_count + 1,
		    SUMMARIES_MAX_GROUPS + 1, err) ||
		!summary_add_empty(summaries->set, &summary, err))
		return false;
	point = &summaries->points[summaries->point_count++];
	*point = (struct summaries_point){ .key = row_u64(rows), .count = row_f64(rows) };
	point->reference = row_f64(rows);
	point->reference_squares = row_f64(rows);
	summary->id[0] = row_u64(rows);
	summary->id[1] = row_u64(rows);
	if (!summaries_read_name(summaries, rows, summary, point->count, err))
		return false;
	summary->start_unix_ns = (int64_t)row_u64(rows);
	summary->duration_ns = (int64_t)row_u64(rows);
	summary->is_time_of_file = row_u8(rows) != 0;
	summary->runs = row_u64(rows);
	summary->whole_commands = row_u8(rows) != 0;
	summary->lost = row_f64(rows);
	work = row_string(rows);
	event = row_string(rows);
	summary->work = pairs_work_source(work);
	summary->requests = row_f64(rows);
	if (!summaries_intern(summaries, event, &summary->work_event, err) ||
		!summaries_read_metric(summaries, rows, summary, err))
		return false;
	summaries_read_total(rows, point, summary);
	return pairs_read_labels(rows, summaries->set->strings, summary->labels, &summary->label_count, err) &&
	       pairs_read_facts(rows, summaries->set->strings, &summary->facts, err) &&
	       summaries_read_binaries(summaries, rows, err);
}

/* ---- Their rows ---- */

static bool summaries_read_function(struct summaries *summaries, struct byte_reader *rows, struct error *err)
{
	uint64_t hash = row_u64(rows);
	struct row_string strings[6], origin, language;
	uint32_t ids[6], id, *slot;
	struct summary_function function = { 0 };
	bool is_new;

	for (size_t i = 0; i < 6; i++)
		strings[i] = row_string(rows);
	origin = row_string(rows);
	language = row_string(rows);
	function.interrupt = row_u8(rows) != 0;
	if (!byte_reader_ok(rows))
		return true; /* row_end() tells of it */
	for (size_t i = 0; i < 6; i++)
		if (!summaries_intern(summaries, strings[i], &ids[i], err))
			return false;
	function.key = ids[0];
	function.name = ids[1];
	function.shown = ids[2];
	function.shown_in = ids[3];
	function.module = ids[4];
	function.file = ids[5];
	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		if (row_string_is(origin, profile_origin_name((enum profile_origin)i)))
			function.origin = (enum profile_origin)i;
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if (row_string_is(language, profile_languages[i].name))
			function.language = (enum profile_language)i;
	return summary_add_function(summaries->set, &function, &id, err) &&
	       hash_map_add(&summaries->functions, &hash, id, &slot, &is_new, err);
}

/* Reads what `count` functions are called. */
static bool summaries_read_names(struct summaries *summaries, const uint64_t *hashes, size_t count, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read the names of functions");
	buffer_append_string(&query.sql,
		"SELECT toUInt8(165), function, key, name, shown, shown_in, module, file, origin, language, interrupt "
		"FROM kelvin_names WHERE function IN (");
	for (size_t i = 0; i < count; i++)
		buffer_printf(&query.sql, "%s%" PRIu64, i ? ", " : "", hashes[i]);
	buffer_append_string(&query.sql, ") ORDER BY seen DESC LIMIT 1 BY function FORMAT RowBinary");
	if (!clickhouse_ask(summaries->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		if (!summaries_read_function(summaries, &rows, err))
			return false;
	return row_end(&rows, err);
}

/* A function of the rows, and the largest part that it is of a point. */
struct summaries_reach {
	uint64_t hash;
	double share;
};

/* Lists the functions of all rows. */
static bool summaries_list_functions(
	struct byte_reader rows, struct summaries_reach **functions, size_t *count, struct error *err)
{
	enum { ROW_BYTES = 3 * sizeof(uint64_t) + 9 * sizeof(double) };
	CLEANUP(hash_map_deinit) struct hash_map seen;
	size_t capacity = 0;

	hash_map_init(&seen, sizeof(uint64_t));
	while (row_next(&rows)) {
		struct byte_reader row = byte_reader_split(&rows, ROW_BYTES);
		uint32_t *index;
		bool is_new;
		uint64_t hash;
		double share;

		byte_reader_skip(&row, sizeof(uint64_t));
		hash = row_u64(&row);
		byte_reader_skip(&row, sizeof(uint64_t));
		share = row_f64(&row);
		if (!byte_reader_ok(&row))
			return true; /* row_end() tells of it */
		if (!hash_map_add(&seen, &hash, (uint32_t)*count, &index, &is_new, err) ||
			!ARRAY_RESERVE(functions, &capacity, *count + 1, ARRAY_MAX_IDS, err))
			return false;
		if (is_new)
			(*functions)[(*count)++] = (struct summaries_reach){ .hash = hash };
		if (share > (*functions)[*index].share)
			(*functions)[*index].share = share;
	}
	return true;
}

/* Reads the names of the functions that are large enough; others have none, and no rows in summaries. */
static bool summaries_read_functions(struct summaries *summaries, struct byte_reader rows, struct error *err)
{
	enum { AT_ONCE = 8000 };
	CLEANUP(cleanup_free) struct summaries_reach *functions = NULL;
	CLEANUP(cleanup_free) uint64_t *hashes = malloc(AT_ONCE * sizeof(*hashes));
	size_t count = 0, asked = 0;

	if (!hashes)
		return error_set_memory(err);
	if (!summaries_list_functions(rows, &functions, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (functions[i].share * (1 << SUMMARIES_FUNCTION_LEVEL) >= 1)
			hashes[asked++] = functions[i].hash;
		if (asked < AT_ONCE && (i + 1 < count || asked == 0))
			continue;
		if (!summaries_read_names(summaries, hashes, asked, err))
			return false;
		asked = 0;
	}
	return true;
}

/* A row, for the point whose key it has. */
static bool summaries_read_row(
	struct summaries *summaries, const struct summaries_point *point, struct byte_reader *rows, struct error *err)
{
	uint64_t function = row_u64(rows);
	struct summary_row row = { .function = hash_map_get(&summaries->functions, &function) };
	double figures[8];

	row.fingerprint = row_u64(rows);
	(void)row_f64(rows); /* its part of the point */
	for (size_t i = 0; i < 8; i++)
		figures[i] = row_f64(rows);
	if (!byte_reader_ok(rows) || row.function == HASH_MAP_NONE || point->reference <= 0)
		return true;
	row.self = figures[0];
	row.total = figures[4];
	row.self_error = (float)summaries_error(point, figures[0], figures[1], figures[2], figures[3]);
	row.total_error = (float)summaries_error(point, figures[4], figures[5], figures[6], figures[7]);
	return summary_add_row(summaries->set, &row, err);
}

/* Both answers are in order of the points' keys. */
static bool summaries_join(
	struct summaries *summaries, struct byte_reader *points, struct byte_reader *rows, struct error *err)
{
	bool has_row = row_next(rows);
	uint64_t key = has_row ? row_u64(rows) : 0;

	while (row_next(points)) {
		const struct summaries_point *point;

		if (!summaries_read_point(summaries, points, err))
			return false;
		point = &summaries->points[summaries->point_count - 1];
		while (has_row && byte_reader_ok(rows) && key <= point->key) {
			static const struct summaries_point none = { 0 };

			/* Rows of a point that is not there are read all the same. */
			if (!summaries_read_row(summaries, key == point->key ? point : &none, rows, err))
				return false;
			has_row = row_next(rows);
			key = has_row ? row_u64(rows) : 0;
		}
		if (byte_reader_ok(points) && !summary_finish(summaries->set, err))
			return false;
	}
	return row_end(points, err) && row_end(rows, err);
}

static void summaries_rows_query(const struct summaries *summaries, struct clickhouse_query *query)
{
	clickhouse_query_init(query, "cannot read sums of functions");
	buffer_append_string(&query->sql,
		"SELECT toUInt8(165), g, function, code, c / whole, s, ss, st, se, c, cc, ct, ce FROM (SELECT ");
	summaries_key(summaries, query);
	buffer_append_string(&query->sql,
		" AS g, function, any(fingerprint) AS code, sum(self) AS s, sum(self * self) AS ss, "
		"sum(self * reference) AS st, sum(toFloat64(self_error) * self_error) AS se, sum(total) AS c, "
		"sum(total * total) AS cc, sum(total * reference) AS ct, "
		"sum(toFloat64(total_error) * total_error) AS ce FROM kelvin_functions WHERE metric = ");
	clickhouse_query_text(query, summaries->metric);
	clickhouse_query_place(query, summaries->address);
	if (summaries->width_s)
		buffer_printf(
			&query->sql, " AND lot < %" PRIu64 " AND level < %d", summaries->lots, SUMMARIES_ROW_LEVEL);
	buffer_append_string(&query->sql, " AND push GLOBAL IN (SELECT push FROM (");
	summaries_profiles(summaries, query);
	buffer_append_string(&query->sql, ")) GROUP BY g, function");
	if (summaries->width_s)
		buffer_printf(&query->sql, " HAVING min(level) < %d", SUMMARIES_POINT_LEVEL);
	buffer_append_string(&query->sql, ") AS r GLOBAL INNER JOIN (SELECT g, sum(m.8) AS whole FROM (");
	summaries_profiles(summaries, query);
	buffer_append_string(&query->sql, ") GROUP BY g) AS w USING g ORDER BY g FORMAT RowBinary");
}

static bool summaries_read(struct summaries *summaries, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query of_points = { 0 }, of_rows = { 0 };
	CLEANUP(buffer_deinit) struct buffer points = { 0 }, rows = { 0 };
	struct byte_reader point_reader, row_reader;

	clickhouse_query_init(&of_points, "cannot read the profiles");
	buffer_append_string(&of_points.sql, summaries_point_columns);
	summaries_profiles(summaries, &of_points);
	buffer_append_string(&of_points.sql, ") GROUP BY g ORDER BY g FORMAT RowBinary");
	summaries_rows_query(summaries, &of_rows);
	if (!clickhouse_ask(summaries->courier, &of_points, &points, err) ||
		!clickhouse_ask(summaries->courier, &of_rows, &rows, err))
		return false;
	point_reader = byte_reader_over(points.data, points.size);
	row_reader = byte_reader_over(rows.data, rows.size);
	return summaries_read_functions(summaries, row_reader, err) &&
	       summaries_join(summaries, &point_reader, &row_reader, err);
}

/* Writes each behind its size as 8 bytes. */
static bool summaries_write(const struct summary_set *set, int fd, struct error *err)
{
	for (size_t i = 0; i < set->count; i++) {
		CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT((size_t)1 << 30);
		uint64_t size;

		if (!summary_write(set, i, &bytes, err))
			return false;
		size = bytes.size;
		if (!file_write_all(fd, &size, sizeof(size)) || !file_write_all(fd, bytes.data, bytes.size))
			return error_set_errno(err, errno, "cannot write to a file in memory");
	}
	return true;
}

bool clickhouse_fetch_summaries(struct courier *courier, const struct store_address *query, int fd, struct error *err)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	struct summaries summaries = { .courier = courier, .address = query };
	bool ok;

	if (!summary_set_create(&set, err))
		return false;
	summaries.set = set;
	hash_map_init(&summaries.functions, sizeof(uint64_t));
	ok = summaries_choose(&summaries, err) && summaries_read(&summaries, err) &&
	     (set->count > 0 ||
		     error_set(err, ERROR_EMPTY, "no profile in the store that '%s' asks for has time in this metric",
			     query->text)) &&
	     summaries_write(set, fd, err);
	hash_map_deinit(&summaries.functions);
	free(summaries.points);
	return ok;
}
