/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/changes.h"
#include "diff/history/rhythm.h"
#include "diff/probability/probability.h"

#include <stdlib.h>

enum { HISTORY_MAX_STRING_BYTES = 1 << 26, HISTORY_MAX_NOTICES = 1 << 16 };

static const double default_min_effect_points = 0.1;

static void series_deinit(struct history_series *series)
{
	free(series->profiles);
	free(series->work);
	free(series->common);
	free(series->factor);
	free(series->points);
	free(series->changes);
	free(series->drifts);
	free(series->notices);
}

void history_destroy(struct history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->series_count; i++)
		series_deinit(&history->series[i]);
	string_table_destroy(history->strings);
	free(history->series);
	free(history->notices);
	free(history);
}

bool notices_add(struct history *history, uint32_t **notices, size_t *count, struct error *err, const char *format, ...)
{
	uint32_t *grown;
	va_list args;
	bool ok;

	if (*count >= HISTORY_MAX_NOTICES)
		return true;
	grown = memory_resize(*notices, *count + 1, sizeof(*grown));
	*notices = grown;
	va_start(args, format);
	ok = string_table_add_text(history->strings, &grown[*count], format, args, err);
	va_end(args);
	*count += ok;
	return ok;
}

static bool history_fill(struct history_build *build, struct error *err)
{
	if (!series_find(build, err))
		return false;
	for (size_t i = 0; i < build->history->series_count; i++) {
		struct history_series *series = &build->history->series[i];

		if (!factors_fill(build, series, err) || !deploys_find(build, series, err) ||
			!rhythm_warn(build, series, err) || !changes_find(build, series, err))
			return false;
	}
	return true;
}

bool history_create(const struct summary_set *set, const struct history_options *options, struct history **history,
	struct error *err)
{
	CLEANUP(history_cleanup) struct history *made = memory_zeroed(1, sizeof(*made));
	struct history_build build = { made, options ? *options : (struct history_options){ 0 } };

	made->set = set;
	if (build.options.q <= 0)
		build.options.q = step_up_default_q;
	if (build.options.min_effect_points <= 0)
		build.options.min_effect_points = default_min_effect_points;
	made->period_ns = build.options.period_ns;
	made->q = build.options.q;
	made->strings = string_table_begin(HISTORY_MAX_STRING_BYTES);
	if (!history_fill(&build, err))
		return false;
	*history = TAKE(made);
	return true;
}
