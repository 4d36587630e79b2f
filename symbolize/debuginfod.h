/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * Fetches debug files by build id through libdebuginfod, which is loaded on request and has a cache of its own.
 * Environment variables configure it (debuginfod(8)): DEBUGINFOD_URLS, DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME,
 * DEBUGINFOD_MAXSIZE, DEBUGINFOD_PROGRESS.
 */

/* The debug file of an image. The caller owns it; NULL if no server has the file or answers in time. */
struct elf_image *debuginfod_fetch(
	const struct elf_image *image, const struct elf_opener *opener, struct symbolize_servers *servers);

/* The same as a descriptor, which the caller owns; -1: there is none. */
int debuginfod_find(const struct elf_build_id *id, struct symbolize_servers *servers);
