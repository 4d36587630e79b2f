/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"
#include "symbolize/symbolize.h"

/* --verify[=N], which record, report and symbolize share: how much is compared with other libraries, and what is told
 * of it. */

enum { VERIFICATION_DEFAULT_EVERY = 100 };

/* N of --verify=N: one stack in so many; `text` NULL: the default. ERROR_USAGE for 0 and what is no number. */
COMMON_MUST_CHECK
bool verification_parse(const char *text, uint32_t *every, struct error *err);

/*
 * After the addresses of a recording were named: compares the names with libdw's, and puts what differs into
 * profile->verification as text. Does nothing where no stack was to be compared. `notices` may be NULL.
 */
COMMON_MUST_CHECK
bool verification_finish(struct sampler_result *result, const struct elf_debug_options *debug, struct buffer *notices,
	struct error *err);

/* "1,000 stacks compared with libunwind: ..." and the differences, on standard error; nothing where nobody asked for
 * it. */
void verification_print(const struct profile *profile);

/* "--verify: libdw did not finish 12 addresses: ..." */
void verification_tell_unfinished(const struct symbolize_verification *names, struct buffer *notices);
