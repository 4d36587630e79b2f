/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/cache.h"

/* The compilation directory of the image's first unit, borrowed from the result; "" if there is none. */
const char *symbolize_result_directory(const struct symbolize_result *result);

/*
 * Returns whether the image's debug information is hostile: reading it costs more than its size allows. Symbols name
 * its code.
 */
bool symbolize_result_refused(const struct symbolize_result *result);

/* Sets what entries have of source files, borrowed from the result. */
void symbolize_result_sources(const struct symbolize_result *result, struct named_frames_entries *entries);

/*
 * The cache's key of frames that are worth to be kept but were not, because the process may not write files; NULL:
 * none. The files in the key are those that were read.
 */
const struct frame_cache_key *symbolize_result_new_key(const struct symbolize_result *result);
