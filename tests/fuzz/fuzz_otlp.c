/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file as protobuf or as JSON. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	enum foreign_kind kind = foreign_kind(data, size);
	struct error err;

	if (kind == FOREIGN_OTLP || kind == FOREIGN_OTLP_JSON)
		(void)!foreign_read(data, size, "fuzz", &profile, &err);
	return 0;
}
