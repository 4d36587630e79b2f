/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Compares the facts and the quality of both recordings, and fills diff->warnings. */
COMMON_MUST_CHECK
bool warnings_collect(struct diff_build *build, struct error *err);

/*
 * Appends how a fact differs: "base and head were recorded with different kernels: 'Linux 6.1' and 'Linux 6.2'". False,
 * and nothing is appended, if it does not differ, or does not matter: exact counts do not depend on a machine's speed.
 */
bool warnings_compare_fact(const struct profile *const profiles[DIFF_SIDES], const struct profile_fact *fact,
	bool is_exact, struct buffer *text);
