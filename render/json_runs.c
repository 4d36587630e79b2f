/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_runs.h"

#include "render/json_document.h"
#include "render/json_text.h"

#include <math.h>

static const char *const figure_names[DIFF_RUN_FIGURE_COUNT] = { "wall_ns", "cpu_ns", "peak_memory_bytes" };
static const char *const side_names[DIFF_SIDES] = { "base", "head" };

static json_t *interval(double low, double high)
{
	return isfinite(low) && isfinite(high) ? json_pack("[f, f]", low, high) : json_null();
}

static double runs_value_of(const struct profile_run *run, enum diff_run_figure figure)
{
	const double values[DIFF_RUN_FIGURE_COUNT] = { (double)run->wall_ns, (double)run->cpu_ns,
		(double)run->peak_memory_bytes };

	return values[figure];
}

static json_t *one_side(const struct render_input *input, enum diff_side side, enum diff_run_figure figure)
{
	const struct diff_run_summary *summary = &input->diff->runs.figures[figure];
	const struct profile *profile = input->profiles[side];
	json_t *each = json_array();

	for (size_t i = 0; i < profile->run_count; i++)
		json_array_append_new(each, json_whole(runs_value_of(&profile->runs[i], figure)));
	return json_pack("{s:o, s:o, s:o}", "mean", json_number(summary->mean[side]), "ci",
		interval(summary->low[side], summary->high[side]), "each", each);
}

static json_t *one_figure(const struct render_input *input, enum diff_run_figure figure)
{
	const struct diff_run_summary *summary = &input->diff->runs.figures[figure];

	if (!input->diff->runs.known[figure])
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", side_names[DIFF_BASE], one_side(input, DIFF_BASE, figure),
		side_names[DIFF_HEAD], one_side(input, DIFF_HEAD, figure), "change_pct",
		json_number(100 * summary->change), "ci_pct",
		interval(100 * summary->change_low, 100 * summary->change_high));
}

static json_t *outliers(const struct diff_runs *runs)
{
	json_t *array = json_array();

	for (size_t i = 0; i < runs->outlier_count; i++) {
		const struct diff_outlier *o = &runs->outliers[i];

		/* Runs are numbered from 1. */
		json_array_append_new(array, json_pack("{s:s, s:I, s:s, s:o, s:o}", "side", side_names[o->side], "run",
						     (json_int_t)o->run + 1, "figure", figure_names[o->figure], "value",
						     json_whole(o->value), "median", json_whole(o->median)));
	}
	return array;
}

static json_t *instance_outliers(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->instances.outlier_count; i++) {
		const struct diff_instance *o = &diff->instances.outliers[i];
		const char *function =
			o->function == PROFILE_NONE ? NULL : diff_string(diff, diff->functions[o->function].name);

		json_array_append_new(
			array, json_pack("{s:s, s:I, s:o, s:o, s:o}", "side", side_names[o->side], "run",
				       (json_int_t)o->run + 1, "instance",
				       json_valid_string(diff_string(diff, o->name)), "ratio", json_number(o->ratio),
				       "function", function ? json_valid_string(function) : json_null()));
	}
	return array;
}

static json_t *cpu_models(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->instances.cpu_count; i++) {
		const struct diff_cpu *cpu = &diff->instances.cpus[i];

		json_array_append_new(array,
			json_pack("{s:o, s:I, s:I, s:o}", "cpu_model", json_valid_string(diff_string(diff, cpu->model)),
				"runs_base", (json_int_t)cpu->runs[DIFF_BASE], "runs_head",
				(json_int_t)cpu->runs[DIFF_HEAD], "relative_cost", json_number(cpu->cost)));
	}
	return array;
}

json_t *json_instances(const struct render_input *input)
{
	const struct diff_instances *instances = &input->diff->instances;
	bool has_cpus = instances->cpu_count > 0;

	if (instances->outlier_count == 0 && !has_cpus)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:o}", "per", diff_scale_mode_name(instances->per), "outliers",
		instance_outliers(input->diff), "cpu_models", cpu_models(input->diff), "cpu_effect_pct",
		has_cpus ? json_number(100 * instances->cpu_effect) : json_null());
}

json_t *json_runs(const struct render_input *input)
{
	const struct diff_runs *runs = &input->diff->runs;
	json_t *object;
	bool any = false;

	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++)
		any = any || runs->known[i];
	if (!any)
		return json_null();
	object = json_object();
	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++)
		json_object_set_new(object, figure_names[i], one_figure(input, (enum diff_run_figure)i));
	json_object_set_new(object, "outliers", outliers(runs));
	/* A member for which there was no memory is missing. */
	if (json_object_size(object) == DIFF_RUN_FIGURE_COUNT + 1)
		return object;
	json_decref(object);
	return NULL;
}
