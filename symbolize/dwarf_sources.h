/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/named_frames.h"

/*
 * Adds what debug information tells of source files to a profile whose locations are named: of files that its lines or
 * functions have, the MD5, and of embedded texts the pieces that have such a line, if options->sources lets them be
 * kept. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool dwarf_sources_add(struct profile *profile, const struct named_frames *const *tables, size_t table_count,
	const struct symbolize_options *options, struct error *err);
