/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The spelling of functions' names. One function of one build is written in many ways: by compilers that append to its
 * name what they made of it, by demanglers, by tools that mark how its code was made.
 */

/*
 * Appends a name in the one spelling that all of its forms have, which differs from that of every other function of
 * a program: `parse` for `parse.isra.0`, `parse.cold` and `parse@@V_1`, `std::string::size() const` for
 * `std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::size() const`, `java.util.Map.get`
 * for `java/util/Map.get_[j]`. It is no name to be shown. Numbers by which a compiler tells lambdas apart stay.
 */
void profile_spell_name(const char *name, struct buffer *out);

/*
 * Returns the length of a name without what a compiler or a tool adds at its end: of `f` in `f.isra.0`, `f(int) [clone
 * .cold]`, `f_[j]`, `f[Tier0]`.
 */
size_t profile_bare_size(const char *name);
