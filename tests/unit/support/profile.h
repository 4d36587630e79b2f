/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

/* What tests need to make profiles by hand. */

/* Fails the test with the error's message unless `ok`. */
static inline void must(bool ok, const struct error *err)
{
	if (!ok)
		fail_msg("%s", err->message);
}

static inline uint32_t profile_id(struct profile *profile, const char *string)
{
	struct error err;
	uint32_t id;

	must(profile_intern(profile, string, &id, &err), &err);
	return id;
}
