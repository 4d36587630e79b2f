/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of a profile's functions as rows: what a history reads. */
#include "profile/store/clickhouse/parcel.h"
#include "profile/store/clickhouse/row.h"

#include <math.h>
#include <stdio.h>

/* The name by which a value type is asked for (profile_named_metric()). */
static void sums_metric_name(const struct profile *profile, uint32_t value_type, char *name, size_t size)
{
	const struct profile_value_type *type = &profile->value_types[value_type];
	bool is_alone = true;

	for (uint32_t i = 0; i < profile->value_type_count; i++)
		is_alone = is_alone && (i == value_type || profile->value_types[i].type != type->type);
	if (is_alone)
		snprintf(name, size, "%s", profile_string(profile, type->type));
	else
		snprintf(name, size, "%s/%s", profile_string(profile, type->type), profile_string(profile, type->unit));
}

static uint8_t sums_level(double value, double total)
{
	double level = value > 0 && total > value ? floor(-log2(value / total)) : 0;

	if (value <= 0 || level > CLICKHOUSE_MAX_LEVEL)
		return CLICKHOUSE_MAX_LEVEL;
	return level > 0 ? (uint8_t)level : 0;
}

static uint64_t sums_kind(const struct profile *profile, const struct summary_set *set, const struct summary *summary)
{
	const uint32_t facts[] = { profile->facts.event, profile->facts.cpu_model, profile->facts.kernel,
		profile->facts.call_graph, profile->facts.tool };
	static const char *const labels[] = { PROFILE_LABEL_SERVICE, PROFILE_LABEL_VERSION, PROFILE_LABEL_COMMIT,
		PROFILE_LABEL_ENVIRONMENT };
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(1 << 20);

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		row_append_string(&text, profile_string(profile, facts[i]));
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		const char *value = profile_label(profile, labels[i]);

		row_append_string(&text, value ? value : "");
	}
	row_append_u32(&text, profile->facts.frequency_hz);
	row_append_u8(&text, summary->whole_commands);
	row_append_u8(&text, summary->requests > 0);
	row_append_u8(&text, (uint8_t)summary->work);
	row_append_string(&text, summary_string(set, summary->work_event));
	for (size_t i = 0; i < summary->binary_count; i++) {
		if (!summary->binaries[i].is_program)
			continue;
		row_append_string(&text, summary_string(set, summary->binaries[i].module));
		row_append_string(&text, summary_string(set, summary->binaries[i].build_id));
	}
	return clickhouse_hash(text.data, text.size);
}

static void sums_append_functions(const struct profile *profile, const struct summary_set *set,
	const struct summary *summary, const char *metric, struct clickhouse_sums *sums)
{
	struct clickhouse_origin origin = clickhouse_origin(profile);
	struct buffer *rows = &sums->functions;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct summary_row *row = &summary->rows[i];
		uint32_t key = set->functions[row->function].key;
		size_t begin = clickhouse_row_begin(rows);

		row_append_string(rows, origin.service);
		row_append_string(rows, metric);
		row_append_u32(rows, origin.start_s);
		row_append_u8(rows, sums_level(row->total, summary->total));
		row_append_u64(rows, sums->kind);
		row_append_f64(rows, summary->requests > 0 ? summary->requests : summary->total);
		row_append_u64(rows, clickhouse_hash(summary_string(set, key), string_table_size(set->strings, key)));
		row_append_u64(rows, row->fingerprint);
		row_append_f64(rows, row->self);
		row_append_f64(rows, row->total);
		row_append_f32(rows, row->self_error);
		row_append_f32(rows, row->total_error);
		clickhouse_row_end(rows, begin);
	}
}

static void sums_append_names(const struct summary_set *set, struct buffer *rows)
{
	for (size_t i = 0; i < set->function_count; i++) {
		const struct summary_function *function = &set->functions[i];
		const uint32_t strings[] = { function->key, function->name, function->shown, function->shown_in,
			function->module, function->file };

		row_append_u64(rows, clickhouse_hash(summary_string(set, function->key),
					     string_table_size(set->strings, function->key)));
		for (size_t s = 0; s < sizeof(strings) / sizeof(strings[0]); s++)
			row_append_string(rows, summary_string(set, strings[s]));
		row_append_string(rows, profile_origin_name(function->origin));
		row_append_string(rows, profile_languages[function->language].name);
		row_append_u8(rows, function->interrupt);
	}
}

static void sums_append_metric(
	const struct summary_set *set, const struct summary *summary, const char *name, struct buffer *metrics)
{
	row_append_string(metrics, name);
	row_append_string(metrics, summary_string(set, summary->unit));
	row_append_string(metrics, summary_string(set, summary->metric_words));
	row_append_u8(metrics, summary->is_time);
	row_append_u8(metrics, summary->is_duration);
	row_append_u8(metrics, summary->is_counted);
	row_append_u8(metrics, summary->is_exact);
	row_append_f64(metrics, summary->total);
	row_append_f64(metrics, summary->total_error);
	row_append_f64(metrics, summary->interrupts);
	row_append_u64(metrics, summary->samples);
}

static void sums_append_circumstances(
	const struct summary_set *set, const struct summary *summary, struct clickhouse_sums *sums)
{
	struct buffer *row = &sums->circumstances;

	row_append_u64(row, (uint64_t)summary->duration_ns);
	row_append_u8(row, summary->is_time_of_file);
	row_append_u32(row, (uint32_t)summary->runs);
	row_append_u8(row, summary->whole_commands);
	row_append_string(row, profile_work_source_name(summary->work));
	row_append_string(row, summary_string(set, summary->work_event));
	row_append_f64(row, summary->requests);
	row_append_f64(row, summary->lost);
	row_append_count(&sums->binaries, summary->binary_count);
	for (size_t i = 0; i < summary->binary_count; i++) {
		row_append_string(&sums->binaries, summary_string(set, summary->binaries[i].module));
		row_append_string(&sums->binaries, summary_string(set, summary->binaries[i].path));
		row_append_string(&sums->binaries, summary_string(set, summary->binaries[i].build_id));
		row_append_u8(&sums->binaries, summary->binaries[i].is_program);
	}
}

/* Value types in the order of the column `metrics`: the default one first. Numbers of samples only without others. */
static size_t sums_value_types(const struct profile *profile, uint32_t types[PROFILE_MAX_VALUE_TYPES])
{
	size_t count = 0;

	types[count++] = profile->default_value_type;
	for (uint32_t i = profile_first_metric(profile); i < profile->value_type_count; i++)
		if (i != profile->default_value_type && i != profile->counts_of[i] && profile_has_values(profile, i))
			types[count++] = i;
	return count;
}

bool clickhouse_append_sums(const struct profile *profile, const struct store_parcel *parcel,
	struct clickhouse_sums *sums, struct error *err)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	uint32_t types[PROFILE_MAX_VALUE_TYPES];
	size_t count = sums_value_types(profile, types);
	struct buffer metrics = BUFFER_INIT(1 << 20);
	bool ok = summary_set_create(&set, err);

	for (size_t i = 0; ok && i < count; i++) {
		char name[256];
		struct summary_options options = { .metric = name, .name = "", .id = { parcel->id[0], parcel->id[1] } };
		struct error metric_err = { 0 };

		sums_metric_name(profile, types[i], name, sizeof(name));
		if (!parcel->summarize(set, profile, &options, &metric_err)) {
			if (i > 0 && metric_err.code == ERROR_EMPTY)
				continue;
			*err = metric_err;
			ok = false;
			break;
		}
		if (set->count == 1)
			sums->kind = sums_kind(profile, set, &set->items[0]);
		sums_append_metric(set, &set->items[set->count - 1], name, &metrics);
		sums_append_functions(profile, set, &set->items[set->count - 1], name, sums);
	}
	if (ok) {
		sums_append_circumstances(set, &set->items[0], sums);
		sums_append_names(set, &sums->names);
		row_append_count(&sums->metrics, set->count);
		buffer_append(&sums->metrics, metrics.data, metrics.size);
		ok = buffer_ok(&metrics, err) && buffer_ok(&sums->circumstances, err) &&
		     buffer_ok(&sums->binaries, err) && buffer_ok(&sums->metrics, err);
	}
	buffer_deinit(&metrics);
	return ok;
}
