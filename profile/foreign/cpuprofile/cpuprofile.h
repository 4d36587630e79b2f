/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Reads a CPU profile of V8: `node --cpu-prof`, the DevTools of Chrome, v8-profiler (Profiler.Profile of the Chrome
 * DevTools Protocol). It is a tree of calls and the samples in it. A sample stands for the time until the next one, as
 * the DevTools have it; also those of `(idle)` do, `(program)` is code that is not JavaScript's. Functions are named as
 * V8 names them to perf (profile_javascript_name()).
 *
 * ERROR_FORMAT: it is no such profile, it was cut, or its nodes are no tree.
 */
COMMON_MUST_CHECK
bool cpuprofile_read(const void *bytes, size_t size, size_t most_stacks, struct profile **profile, struct error *err);
