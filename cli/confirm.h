/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/*
 * `--confirm COMMAND`: measures the first suspect against its parent. The files of both are unpacked into temporary
 * directories, without a repository, and `kelvin bench` runs the command in each, by /bin/sh with KELVIN_COMMIT in its
 * environment: once to build, unrecorded, and then in turn. This runs code of the repository, as the user asks for.
 */

/* Does nothing where there is no suspect, but says so. `out`: whether standard output is free for the result. */
COMMON_MUST_CHECK
bool confirm_suspect(const struct commit_range *range, const char *command, bool out, struct error *err);
