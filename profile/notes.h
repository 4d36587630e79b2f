/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Notes: what a file says wrongly, or does not say, and what its reader made of that, as sentences without a capital
 * letter and a full stop, with their figures. A file of which a part cannot be read is read as far as it can; every
 * report has the notes among its warnings. They are not kept in files: who writes one tells them before.
 *
 * A doubt is about the figures that are shown, which are wrong or incomplete: no limit is checked by them. A remark is
 * about something else that the file has or asks for.
 */

struct profile;

enum { PROFILE_MAX_NOTES = 8 };

struct profile_notes {
	uint32_t texts[PROFILE_MAX_NOTES]; /* strings, each once */
	bool are_doubts[PROFILE_MAX_NOTES];
	size_t count, left_out; /* left_out: further ones, for which there is no room */
};

/* Adds a doubt, unless the profile has it already. */
__attribute__((format(printf, 3, 4))) COMMON_MUST_CHECK bool profile_add_doubt(
	struct profile *profile, struct error *err, const char *format, ...);

/* Adds a remark likewise. */
__attribute__((format(printf, 3, 4))) COMMON_MUST_CHECK bool profile_add_remark(
	struct profile *profile, struct error *err, const char *format, ...);

/* Returns the first doubt, borrowed from the profile; NULL: it has none. */
const char *profile_first_doubt(const struct profile *profile);

/* Adds what another profile has, whose texts are `texts[id]` here. */
void profile_add_notes(struct profile_notes *into, const struct profile_notes *from, const uint32_t *texts);
