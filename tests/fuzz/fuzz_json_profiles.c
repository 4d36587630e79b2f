/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A CPU profile of V8, or a file of speedscope. What comes out of it must hold together, and no value be negative. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	enum foreign_kind kind = foreign_kind(data, size);
	struct error err;

	if ((kind != FOREIGN_CPUPROFILE && kind != FOREIGN_SPEEDSCOPE) ||
		!foreign_read(data, size, "fuzz", &profile, &err))
		return 0;
	if (!profile_validate(profile, &err))
		abort();
	for (size_t i = 0; i < profile->sample_count * profile->value_type_count; i++)
		if (profile->values[i] < 0)
			abort();
	return 0;
}
