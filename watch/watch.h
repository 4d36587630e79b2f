/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

#include <sys/types.h>

/*
 * What `kelvin watch` records when: which processes its target is at the moment, whether they run another build than
 * before, and which of the files of its directory are kept. It samples nothing and draws nothing: `cli/` does.
 *
 * The directory is all that a watch knows of its past. Each profile tells by its labels which build it is of, so that a
 * watch that was stopped, or killed, goes on where it was.
 */

/* Which build a target runs. "" in a member: not known, which differs from nothing. */
enum { WATCH_WORD_BYTES = PROFILE_LABEL_VALUE_BYTES + 1 };
struct watch_build {
	char build_id[WATCH_WORD_BYTES]; /* of the main binary */
	char version[WATCH_WORD_BYTES];  /* service.version, as the process was given it */
	char image[WATCH_WORD_BYTES];    /* of its container: hash of the layers of its root */
};

/* The labels by which profiles tell it. */
#define WATCH_LABEL_BUILD "build"
#define WATCH_LABEL_IMAGE "image"

/* Whether one of what both know differs: a deploy. */
bool watch_is_deploy(const struct watch_build *before, const struct watch_build *now);
