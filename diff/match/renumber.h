/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Matches the functions that have no partner of the same key by the templates of their names (profile_key_template()):
 * lambdas that a compiler numbered anew, files with a hash in their names, releases in other folders. Within a template
 * it is an assignment at the least cost, which is what differs of their code, their files, from whom they are called,
 * what they call, and their numbers. How much time a function takes is no evidence, since it is the question.
 *
 * Where two assignments are about as good, their functions are one group: they are merged into one function
 * (DIFF_TIER_GROUP), whose time is the sum of theirs.
 * Needs the trees and align_functions().
 */
void renumber_match(struct diff_build *build);
