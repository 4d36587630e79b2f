/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_members.h"
#include "render/json_text.h"

#include <math.h>

static const char *const figure_names[DIFF_RUN_FIGURE_COUNT] = { "wall_ns", "cpu_ns", "peak_memory_bytes" };

static double runs_value_of(const struct profile_run *run, enum diff_run_figure figure)
{
	const double values[DIFF_RUN_FIGURE_COUNT] = { (double)run->wall_ns, (double)run->cpu_ns,
		(double)run->peak_memory_bytes };

	return values[figure];
}

static void put_figure_of_side(
	const struct render_input *input, enum diff_side side, enum diff_run_figure figure, struct buffer *out)
{
	const struct diff_run_summary *summary = &input->diff->runs.figures[figure];
	const struct profile *profile = input->profiles[side];

	json_text_begin(out, diff_side_name(side), '{');
	json_text_member_number(out, "mean", summary->mean[side]);
	json_text_member_interval(out, "ci", summary->low[side], summary->high[side]);
	json_text_begin(out, "each", '[');
	for (size_t i = 0; i < profile->run_count; i++)
		json_text_whole(out, runs_value_of(&profile->runs[i], figure));
	json_text_close(out, ']');
	json_text_close(out, '}');
}

static void put_run_figure(const struct render_input *input, enum diff_run_figure figure, struct buffer *out)
{
	const struct diff_run_summary *summary = &input->diff->runs.figures[figure];

	if (!input->diff->runs.known[figure]) {
		json_text_member_null(out, figure_names[figure]);
		return;
	}
	json_text_begin(out, figure_names[figure], '{');
	put_figure_of_side(input, DIFF_BASE, figure, out);
	put_figure_of_side(input, DIFF_HEAD, figure, out);
	json_text_member_number(out, "change_pct", 100 * summary->change);
	json_text_member_interval(out, "ci_pct", 100 * summary->change_low, 100 * summary->change_high);
	json_text_close(out, '}');
}

static void put_run_outlier(const struct diff_outlier *o, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member(out, "side", diff_side_name(o->side));
	/* Runs are numbered from 1. */
	json_text_member_integer(out, "run", (int64_t)o->run + 1);
	json_text_member(out, "figure", figure_names[o->figure]);
	json_text_member_whole(out, "value", o->value);
	json_text_member_whole(out, "median", o->median);
	json_text_close(out, '}');
}

void json_runs(const struct render_input *input, struct buffer *out)
{
	const struct diff_runs *runs = &input->diff->runs;
	bool any = false;

	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++)
		any = any || runs->known[i];
	if (!any) {
		json_text_member_null(out, "runs");
		return;
	}
	json_text_begin(out, "runs", '{');
	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++)
		put_run_figure(input, (enum diff_run_figure)i, out);
	json_text_begin(out, "outliers", '[');
	for (size_t i = 0; i < runs->outlier_count; i++)
		put_run_outlier(&runs->outliers[i], out);
	json_text_close(out, ']');
	json_text_close(out, '}');
}

/* ---- Instances ---- */

static void put_instance(const struct diff *diff, const struct diff_instance *o, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member(out, "side", diff_side_name(o->side));
	json_text_member_integer(out, "run", (int64_t)o->run + 1);
	json_text_member(out, "instance", diff_string(diff, o->name));
	json_text_member_number(out, "ratio", o->ratio);
	if (o->function == PROFILE_NONE)
		json_text_member_null(out, "function");
	else
		json_text_member(out, "function", diff_string(diff, diff->functions[o->function].name));
	json_text_close(out, '}');
}

static void put_cpu_model(const struct diff *diff, const struct diff_cpu *cpu, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member(out, "cpu_model", diff_string(diff, cpu->model));
	json_text_member_integer(out, "runs_base", (int64_t)cpu->runs[DIFF_BASE]);
	json_text_member_integer(out, "runs_head", (int64_t)cpu->runs[DIFF_HEAD]);
	json_text_member_number(out, "relative_cost", cpu->cost);
	json_text_close(out, '}');
}

void json_instances(const struct render_input *input, struct buffer *out)
{
	const struct diff_instances *instances = &input->diff->instances;

	if (instances->outlier_count == 0 && instances->cpu_count == 0) {
		json_text_member_null(out, "instances");
		return;
	}
	json_text_begin(out, "instances", '{');
	json_text_member(out, "per", diff_scale_mode_name(instances->per));
	json_text_begin(out, "outliers", '[');
	for (size_t i = 0; i < instances->outlier_count; i++)
		put_instance(input->diff, &instances->outliers[i], out);
	json_text_close(out, ']');
	json_text_begin(out, "cpu_models", '[');
	for (size_t i = 0; i < instances->cpu_count; i++)
		put_cpu_model(input->diff, &instances->cpus[i], out);
	json_text_close(out, ']');
	json_text_member_number(out, "cpu_effect_pct", instances->cpu_count > 0 ? 100 * instances->cpu_effect : NAN);
	json_text_close(out, '}');
}
