/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Returns whether base and head look like two different programs; says so in `text`. */
bool programs_differ(const struct diff_build *build, char *text, size_t size);

/* Returns whether a program is a shell, which starts other programs. */
bool programs_is_shell(const char *name);
