/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Finds classes, namespaces, packages and files of scripts that have another name in head (struct diff_renaming). The
 * functions of one that were found to be one by code or place say so: two of them at least have the same name behind
 * their classes' names, and neither class is in the other profile. What is left of such a class on one side each, under
 * names that are equal behind it, is one as well, and merged (DIFF_TIER_PLACE): code and place need not tell it.
 * `*merged` counts these; if there are any, the union tree must be made again. Needs moved_match().
 */
void renamings_match(struct diff_build *build, size_t *merged);

/* Lists the renamings of a diff, and modules that align_functions() joined. The diff has all else by now. */
void renamings_collect(struct diff_build *build);
