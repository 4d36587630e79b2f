/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Finds out what only one side's stacks tell, which would be new or gone for the tool that wrote them and not for the
 * program: first frames that stand for a process or a thread, as folded stacks have them, callers of all that the other
 * tool's stacks do not reach, and inlined frames. It is left out of the side that has it: fills build->leads_of and
 * build->cuts. Needs the trees as the profiles have them; where it finds something, the side's tree must be made again.
 * In a part it is what is left out of the whole.
 */
void detail_level(struct diff_build *build);

/*
 * Appends which tools the sides are of, if they are of different ones, and what was left out of them, as a sentence
 * without a full stop. Returns false if there is nothing to say.
 */
bool detail_describe(const struct diff_build *build, struct buffer *out);
