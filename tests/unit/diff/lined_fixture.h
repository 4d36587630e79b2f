/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * Profiles with lines, made by hand. A stack is written root first, a frame as FUNCTION@LINE: "main@1;parse@7".
 *   parse@7          line 7 of parse.c, the file that defines parse; of `py::run:/srv/w.py` it is w.py
 *   parse@macros.h:3 a line that is in another file
 *   get@3<parse@7    get, inlined into parse at its line 7
 *   parse=5@7        the same line of a parse that is defined in line 5; else its line is not known
 * Failure to build one fails the test.
 */
enum { LINED_SAMPLE_NS = 1000000 };

/* With a run and a thread. */
struct profile *lined_profile(void);

uint32_t lined_location(struct profile *profile, const char *frame);

/* `count` samples of a stack, of a millisecond of CPU time each, in the run that was added last. */
void lined_add(struct profile *profile, const char *stack, int64_t count);

/* Starts another run. */
void lined_run(struct profile *profile);
