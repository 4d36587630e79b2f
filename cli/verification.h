/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"
#include "symbolize/symbolize.h"

/*
 * --verify[=N], which record, report and symbolize share: how much is compared with other libraries.
 */

enum { VERIFICATION_DEFAULT_EVERY = 100 };

/*
 * Takes, for options.h, N of --verify=N, a uint32_t: one stack in N is compared; `text` NULL: the default. ERROR_USAGE
 * for 0 and what is no number.
 */
bool verification_take(void *every, const char *text, struct error *err);

/*
 * Called after the addresses of a recording were named: compares the names with libdw's, and adds differences to
 * profile->verification as text. Does nothing if no stack was to be compared; leaves names out if
 * nothing was named.
 */
COMMON_MUST_CHECK
bool verification_finish(
	struct recording *result, const struct symbolize_options *naming, struct buffer *notices, struct error *err);
