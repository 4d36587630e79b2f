/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Globs as of fnmatch(3) without flags: `*`, `?`, `[...]`, and `\` before a character that is itself. Names are matched
 * against long lists of them, so most globs are decided without fnmatch(), which is slow.
 */
bool glob_matches(const char *glob, const char *text);

/* A list of globs, for glob_matches_any(). At file scope it is static. */
#define GLOBS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Returns whether one of the list's globs matches. The list ends with NULL; the list NULL has none. */
bool glob_matches_any(const char *const *globs, const char *text);
