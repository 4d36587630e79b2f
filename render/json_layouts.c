/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_layouts.h"

#include "render/json_text.h"

static json_t *json_layouts_percent(double part)
{
	return json_number(part * 100);
}

json_t *json_layouts(const struct diff_layouts *layouts)
{
	if (layouts->count[DIFF_BASE] + layouts->count[DIFF_HEAD] == 0 && layouts->same_code_functions == 0)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:I, s:o}", "base", (json_int_t)layouts->count[DIFF_BASE], "head",
		(json_int_t)layouts->count[DIFF_HEAD], "spread_pct", json_layouts_percent(layouts->rsd),
		"same_code_functions", (json_int_t)layouts->same_code_functions, "same_code_spread_pct",
		json_layouts_percent(layouts->same_code_rsd));
}

json_t *json_control(const struct diff_control *control)
{
	if (!control->is_known)
		return json_null();
	return json_pack("{s:s, s:o, s:[o, o]}", "verdict", diff_verdict_name(control->verdict), "delta_pct",
		json_layouts_percent(control->change), "ci", json_layouts_percent(control->change_low),
		json_layouts_percent(control->change_high));
}

static json_t *overlapped(const struct diff_elapsed *elapsed)
{
	if (!elapsed->is_overlapped)
		return json_null();
	return json_pack("{s:s, s:[f, f]}", "class", profile_wait_info(elapsed->overlapped)->name, "waiting_ns",
		elapsed->overlapped_waiting[DIFF_BASE], elapsed->overlapped_waiting[DIFF_HEAD]);
}

json_t *json_elapsed(const struct diff_elapsed *elapsed)
{
	if (!elapsed->is_known)
		return json_null();
	return json_pack("{s:[f, f], s:[f, f], s:f, s:f, s:f, s:o}", "cpu_ns", elapsed->cpu[DIFF_BASE],
		elapsed->cpu[DIFF_HEAD], "waiting_ns", elapsed->waiting[DIFF_BASE], elapsed->waiting[DIFF_HEAD],
		"by_cpu_ns", elapsed->by_cpu, "by_waiting_ns", elapsed->by_waiting, "by_parallel_ns",
		elapsed->by_together, "overlapped", overlapped(elapsed));
}
