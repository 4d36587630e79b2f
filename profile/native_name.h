/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The names of functions of C, C++, Rust and Go, which no mark tells apart but their form. */

/*
 * Appends a name as people read it: what a compiler or a rebuild adds at its end is left out, and
 *	of C++ the result of a template's function, the arguments of the standard library's templates that are the
 *	default ones, and its inner namespaces: `std::vector<std::string>::at`;
 *	of Rust the paths of what a method belongs to: `<Vec<T> as Extend>::extend`;
 *	of Go the directories of the package: `http.(*conn).serve`.
 */
void profile_native_shown(const char *name, struct buffer *out);

/*
 * Returns where the name begins behind the type of its result, which functions of C++ templates have: `f<int>` of `int
 * f<int>`.
 */
const char *profile_native_without_result(const char *name);

/* Appends the import path of the package of a function of Go, if it has directories: `net/http`. */
void profile_native_package(const char *name, struct buffer *out);
