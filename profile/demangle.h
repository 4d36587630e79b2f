/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Returns whether a name has the form of one that a compiler of C++, Rust or D mangled. */
bool profile_is_mangled(const char *name);

/*
 * Demangles C++, Rust and D; Rust's hash is removed. A name is appended unchanged if it is not mangled, or if its
 * demangled form is too long or, for D, might take too long.
 */
void profile_demangle(const char *name, struct buffer *out);
