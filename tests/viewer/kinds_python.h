/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* A program of Python, with the frames of its interpreter, a C extension and the standard library. */
void kinds_python(struct profile *profiles[DIFF_SIDES]);
