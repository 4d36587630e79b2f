/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/watch_place.h"

/*
 * The newest profiles of a watch in the order in which they were recorded, and what they tell by their labels. They are
 * read in a process without rights (cli/worker.h), as all profiles are, which hands over a line for each.
 */
enum { WATCH_SERIES_MOST = 3 * WATCH_PAIR_PROFILES };
struct watch_series {
	struct watch_file files[WATCH_SERIES_MOST];
	struct watch_build builds[WATCH_SERIES_MOST];
	int64_t started_s[WATCH_SERIES_MOST]; /* when the main process began; 0: not known */
	bool has_work[WATCH_SERIES_MOST];     /* requests were counted */
	size_t count;
};

/*
 * Runs in a child of the watch: prints what the profiles of these names tell, NULL ends them. Its exit code is 0 also
 * where one cannot be read, of which nothing is known then.
 */
int watch_series_print(const char *const *names);

/* Takes what watch_series_print() has printed; profiles that are not the watch's are passed over. */
void watch_series_take(struct watch_series *series, const char *text);

/*
 * Returns whether a profile is compared: where requests were counted on both sides of the deploy, one without a count,
 * as of a recording that was killed, would leave the rest without a measure.
 */
bool watch_series_is_compared(const struct watch_series *series, const struct watch_deploy *deploy, size_t profile);

/*
 * Returns when a deploy was: when its process began, if that lies between the profiles, else when its first profile
 * began.
 */
int64_t watch_series_deploy_s(const struct watch_series *series, const struct watch_deploy *deploy);
