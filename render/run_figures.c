/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/run_figures.h"

#include "render/run_counts.h"

#include <math.h>

enum { MAX_OUTLIERS = 10 };

static const char *const figure_names[DIFF_RUN_FIGURE_COUNT] = {
	[DIFF_RUN_WALL] = "wall-clock time",
	[DIFF_RUN_CPU] = "CPU time",
	[DIFF_RUN_MEMORY] = "peak memory",
};

struct unit {
	double size;
	const char *name;
};

/* All values of a row have one unit, so that they can be compared at a glance. */
static struct unit run_figures_unit_of(enum diff_run_figure figure, double value)
{
	static const struct unit times[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" } };
	static const struct unit sizes[] = { { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" } };
	const struct unit *units = figure == DIFF_RUN_MEMORY ? sizes : times;
	size_t i = 0;

	while (i < 2 && value < units[i].size)
		i++;
	return units[i];
}

static int decimals(double value)
{
	return value < 10 ? 3 : value < 100 ? 2 : 1;
}

static void run_figures_append_side(
	struct buffer *text, const struct diff_run_summary *s, int side, const struct unit *unit)
{
	double mean = s->mean[side] / unit->size;
	int digits = decimals(s->mean[DIFF_BASE] / unit->size);

	if (isnan(s->low[side]))
		buffer_printf(text, "  %s %.*f %s", diff_side_name(side), digits, mean, unit->name);
	else
		buffer_printf(text, "  %s %.*f %s (%.*f to %.*f)", diff_side_name(side), digits, mean, unit->name,
			digits, s->low[side] / unit->size, digits, s->high[side] / unit->size);
}

/* Returns a change in percent, never -0.0. */
static double run_figures_shown(double change)
{
	return round(change * 1000) / 10 + 0.0;
}

static void append_figure(struct buffer *text, enum diff_run_figure figure, const struct diff_run_summary *s)
{
	struct unit unit = run_figures_unit_of(figure, s->mean[DIFF_BASE]);

	buffer_printf(text, "  %-11s", figure_names[figure]);
	run_figures_append_side(text, s, DIFF_BASE, &unit);
	run_figures_append_side(text, s, DIFF_HEAD, &unit);
	if (s->change >= 1)
		buffer_printf(text, "  %.2f×", 1 + s->change);
	else
		buffer_printf(text, "  %+.1f %%", run_figures_shown(s->change));
	if (!isnan(s->change_low) && s->change >= 1)
		buffer_printf(text, " (%.2f to %.2f)", 1 + s->change_low, 1 + s->change_high);
	else if (!isnan(s->change_low))
		buffer_printf(
			text, " (%+.1f to %+.1f)", run_figures_shown(s->change_low), run_figures_shown(s->change_high));
	buffer_append_byte(text, '\n');
}

static double run_figures_value_of(const struct profile_run *run, enum diff_run_figure figure)
{
	return figure == DIFF_RUN_WALL  ? (double)run->wall_ns
	       : figure == DIFF_RUN_CPU ? (double)run->cpu_ns
					: (double)run->peak_memory_bytes;
}

/* Appends the outliers in one line, whatever their number. */
static void append_outliers(
	struct buffer *text, const struct profile *profile, const char *side, enum diff_run_figure figure)
{
	size_t found = 0;

	for (size_t run = 0; run < profile->run_count; run++) {
		double median, value = run_figures_value_of(&profile->runs[run], figure);
		struct unit unit;
		bool outlier;

		diff_run_is_outlier(profile, figure, run, &median, &outlier);
		if (!outlier)
			continue;
		unit = run_figures_unit_of(figure, median);
		if (found++ == 0)
			buffer_printf(text,
				"  outliers, which are included: %s of %s, median %.*f %s:", figure_names[figure], side,
				decimals(median / unit.size), median / unit.size, unit.name);
		if (found <= MAX_OUTLIERS)
			buffer_printf(text, "%s run %zu %.*f", found > 1 ? "," : "", run + 1,
				decimals(median / unit.size), value / unit.size);
	}
	if (found > MAX_OUTLIERS)
		buffer_printf(text, " and %zu more", found - MAX_OUTLIERS);
	if (found > 0)
		buffer_append_byte(text, '\n');
}

void render_run_figures(struct buffer *text, const struct profile *const profiles[DIFF_SIDES])
{
	size_t runs = profiles[DIFF_BASE]->run_count;

	if (run_counts_known(profiles)) {
		run_counts_append(text, profiles);
		return;
	}
	buffer_printf(text,
		runs == 1 ? "%zu run of each command\n"
			  : "%zu runs of each command, alternating; mean and 95 %% interval\n",
		runs);
	for (int figure = 0; figure < DIFF_RUN_FIGURE_COUNT; figure++) {
		struct diff_run_summary summary;

		if (diff_summarize_runs(
			    profiles[DIFF_BASE], profiles[DIFF_HEAD], (enum diff_run_figure)figure, true, &summary))
			append_figure(text, (enum diff_run_figure)figure, &summary);
	}
	for (int figure = 0; figure < DIFF_RUN_FIGURE_COUNT; figure++) {
		for (int side = 0; side < DIFF_SIDES; side++)
			append_outliers(text, profiles[side], diff_side_name(side), (enum diff_run_figure)figure);
	}
	buffer_append_byte(text, '\n');
}
