/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/instance_words.h"

#include "diff/constants.h"

#include <math.h>

/* More are counted only. */
enum { MOST_NAMED = 3, MOST_MODELS = 4 };

static size_t runs_on(const struct diff *diff, enum diff_side side)
{
	return diff->evidence.runs[side];
}

static size_t count_outliers(const struct diff *diff, enum diff_side side)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->instances.outlier_count; i++)
		count += diff->instances.outliers[i].side == side;
	return count;
}

static void append_outlier(
	const struct diff *diff, const struct diff_instance *outlier, bool is_first, struct buffer *text)
{
	buffer_printf(text, "%s %s%.*f times%s", diff_string(diff, outlier->name), is_first ? "takes " : "",
		outlier->ratio < 1 ? 2 : 1, outlier->ratio, is_first ? " as much" : "");
	if (outlier->function != PROFILE_NONE)
		buffer_printf(text, " (most of the difference in %s)",
			diff_string(diff, diff->functions[outlier->function].shown));
}

bool instance_words_outliers(const struct diff *diff, enum diff_side side, struct buffer *text)
{
	size_t count = count_outliers(diff, side), named = 0;

	if (count == 0)
		return false;
	buffer_printf(text, "%zu of the %zu instances of %s %s far from the median in %s %s: ", count,
		runs_on(diff, side), diff_side_name(side), count == 1 ? "lies" : "lie",
		diff_string(diff, diff->metric_words), diff_scale_words(diff->instances.per));
	for (size_t i = 0; i < diff->instances.outlier_count && named < MOST_NAMED; i++) {
		if (diff->instances.outliers[i].side != side)
			continue;
		buffer_append_string(text, named ? ", " : "");
		append_outlier(diff, &diff->instances.outliers[i], named++ == 0, text);
	}
	if (count > named)
		buffer_printf(text, ", and %zu more", count - named);
	buffer_printf(text, "; %s counted like the others", count == 1 ? "it is" : "they are");
	return true;
}

static void append_models(const struct diff *diff, enum diff_side side, struct buffer *text)
{
	size_t named = 0, others = 0;

	for (size_t i = 0; i < diff->instances.cpu_count; i++) {
		const struct diff_cpu *cpu = &diff->instances.cpus[i];
		const char *model = diff_string(diff, cpu->model);

		if (cpu->runs[side] > 0 && named < MOST_MODELS)
			buffer_printf(text, "%s%zu on %s", named++ ? ", " : "", cpu->runs[side],
				model[0] ? model : "a CPU that is not known");
		else
			others += cpu->runs[side];
	}
	if (others > 0)
		buffer_printf(text, ", %zu on others", others);
}

bool instance_words_cpus(const struct diff *diff, struct buffer *text, bool *blocks)
{
	const struct diff_instances *instances = &diff->instances;
	double effect = instances->cpu_effect;

	if (instances->cpu_count == 0)
		return false;
	*blocks = !(instances->cpu_mix_points <= instance_words_max_mix_points &&
		    fabs(effect) <= instance_words_max_cpu_effect);
	buffer_printf(text, "instances ran on several CPU models: of base ");
	append_models(diff, DIFF_BASE, text);
	buffer_append_string(text, "; of head ");
	append_models(diff, DIFF_HEAD, text);
	if (isnan(effect))
		buffer_append_string(text, ": no model is on both sides, so what differs may be the CPUs");
	else if (fabs(effect) < instance_words_least_effect)
		buffer_append_string(text, ": the mix hardly differs, and makes no difference to the totals");
	else
		buffer_printf(text, ": by what they take on each model, this alone makes head's total %.1f %% %s",
			fabs(effect) * 100, effect < 0 ? "less" : "greater");
	if (*blocks)
		buffer_append_string(
			text, "; compare instances of one model, since they are not compared model by model");
	return true;
}
