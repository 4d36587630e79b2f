/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * Fetches the debug file of an image by its build id through libdebuginfod, which is loaded on request and has a cache
 * of its own. Environment variables configure it (debuginfod(8)): DEBUGINFOD_URLS, DEBUGINFOD_TIMEOUT,
 * DEBUGINFOD_MAXTIME, DEBUGINFOD_PROGRESS. The caller owns the result; NULL if no server has the file or answers in
 * time.
 */
struct elf_image *debuginfod_fetch(const struct elf_image *image);
