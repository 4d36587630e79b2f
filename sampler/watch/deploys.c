/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deploys in a series of profiles. */
#include "sampler/watch/watch.h"

/*
 * The place of the last deploy; 0: none. Each profile is compared with all that is known of the build before it, and a
 * new build begins with what its first profile tells.
 */
static size_t find_last_deploy(const struct watch_build *builds, size_t count, struct watch_deploy *deploy)
{
	struct watch_build known = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		struct watch_build now = builds[i];

		if (watch_is_deploy(&known, &now)) {
			at = i;
			deploy->from = known;
		} else {
			watch_build_carry(&known, &now);
		}
		known = now;
	}
	deploy->to = known;
	return at;
}

bool watch_last_deploy(const struct watch_build *builds, size_t count, struct watch_deploy *deploy)
{
	struct watch_deploy found = { 0 }, earlier;

	found.at = find_last_deploy(builds, count, &found);
	if (found.at == 0)
		return false;
	/* What lies before a still earlier deploy is of another build. */
	found.before = find_last_deploy(builds, found.at, &earlier);
	if (found.at - found.before > WATCH_PAIR_PROFILES)
		found.before = found.at - WATCH_PAIR_PROFILES;
	found.end = count - found.at > WATCH_PAIR_PROFILES ? found.at + WATCH_PAIR_PROFILES : count;
	*deploy = found;
	return true;
}

bool watch_deploy_is_due(const struct watch_deploy *deploy, size_t reported)
{
	size_t count = deploy->end - deploy->at;

	return (reported <= WATCH_BURST && count > WATCH_BURST) ||
	       (reported < WATCH_PAIR_PROFILES && count >= WATCH_PAIR_PROFILES);
}
