/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/foreign/foreign.h"
#include "tests/unit/support/unit_test.h"

/* A recorded profile of PAIRS_DIRECTORY; failure to read it fails the test. */
static inline struct profile *read_pair(const char *name)
{
	struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.pb.gz", PAIRS_DIRECTORY, name);
	buffer_init(&bytes, (size_t)64 << 20);
	if (!file_read(path, &bytes, &err) || !foreign_read(bytes.data, bytes.size, path, &profile, &err))
		fail_msg("%s", err.message);
	return profile;
}
