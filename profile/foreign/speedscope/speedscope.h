/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Reads a file of speedscope (its file-format-spec.ts): frames, and profiles of them, each of which becomes a thread.
 * In a sampled profile each stack has a weight; in an evented one functions are opened and closed, and what passes
 * between two events belongs to what is open. Times become nanoseconds. Profiles of other units than the first are
 * further value types.
 *
 * ERROR_FORMAT: it is no such file, it was cut, or it contradicts itself.
 */
COMMON_MUST_CHECK
bool speedscope_read(const void *bytes, size_t size, size_t most_stacks, struct profile **profile, struct error *err);
