/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Whether whole runs of commands were asked for other work: their arguments differ in more than in where the program of
 * either side and what belongs to it lie. If so, says it in `text`.
 */
bool arguments_differ(const struct diff_build *build, char *text, size_t size);
