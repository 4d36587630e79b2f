/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Returns the language of most of a program, by the modules and names that have the most time on both sides. Needs the
 * scaled totals.
 */
enum profile_language runtime_language(const struct diff *diff);

/* Returns the same of a profile of which no diff has been made: a runtime runs it if one of its modules is there. */
enum profile_language runtime_language_of_profile(const struct profile *profile);

/* Returns whether a program's code is compiled at run time, differently in every process. */
bool runtime_compiles(enum profile_language language);
