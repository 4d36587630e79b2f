/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Returns whether the commands were given different work: their arguments differ in more than the location of each
 * side's program and of the files beside it. If so, `text` describes it.
 */
bool arguments_differ(const struct diff_build *build, char *text, size_t size);
