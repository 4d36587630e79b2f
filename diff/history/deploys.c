/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/build.h"

#include <stdlib.h>
#include <string.h>

/* Returns the version that a profile is of; 0: not known. */
static const char *version_at(const struct history *history, const struct history_series *series, size_t at)
{
	return summary_label(history->set, series_summary(history, series, at), PROFILE_LABEL_VERSION);
}

/* Returns a version that comes back behind another one, and goes again: both ran at once, or times are wrong. */
static const char *interleaved_version(const struct history *history, const struct history_series *series)
{
	for (size_t point = 0; point + 2 < series->point_count; point++) {
		const char *versions[3];

		for (size_t i = 0; i < 3; i++)
			versions[i] = version_at(history, series, series->points[point + i].at);
		if (versions[0] && versions[1] && versions[2] && strcmp(versions[0], versions[2]) == 0 &&
			strcmp(versions[0], versions[1]) != 0)
			return versions[1];
	}
	return NULL;
}

static bool deploys_say(struct history *history, struct history_series *series, struct error *err)
{
	const char *version = interleaved_version(history, series);

	return !version || notices_add(history, &series->notices, &series->notice_count, err,
				   "Profiles of version %s lie between those of another one: both ran at once, "
				   "it was rolled back, or a clock is wrong.",
				   version);
}

bool deploys_find(struct history_build *build, struct history_series *series, struct error *err)
{
	struct history *history = build->history;

	series->points = memory_zeroed(series->count, sizeof(*series->points));
	for (size_t at = 1; at < series->count; at++) {
		struct history_point *point = &series->points[series->point_count];

		if (!facts_is_deploy(history, series, at))
			continue;
		*point = (struct history_point){ .at = at, .is_deploy = true };
		series->point_count++;
		if (!facts_changed(history, series, at, &point->fact, err))
			return false;
	}
	return deploys_say(history, series, err);
}
