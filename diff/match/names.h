/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Comparisons of the keys of two functions (profile/identity.h). Keys are borrowed, and not NULL. */

/* Compares their names with their files, without their modules, in the order of their numbers: 9 comes before 10. */
int names_compare(const char *a, const char *b);

/* Returns whether both have one name, whatever their files and modules are. */
bool names_are_one(const char *a, const char *b);

/*
 * Returns which part of the longer file's path differs, in parts of its components: 0 to 1; 0 where a file is not known
 * or a part of the name.
 */
double names_differ_in_file(const char *a, const char *b);

/* Returns whether a key tells the line at which a function without a name is defined. */
bool names_has_line(const char *key);

/* Returns whether a key is that of all functions of a module that have neither a name nor a fingerprint. */
bool names_is_unnamed(const char *key);

/*
 * Appends the module that the name of a function without one tells, as folded stacks have it, which name no modules:
 * `libz.so` of `libz.so.1.2.13+0x12ab`; nothing for other keys. It may as well be a function with an offset.
 */
void names_append_module(const char *key, struct buffer *out);

/* Returns whether a key is that of a function without a name, with or without a fingerprint. */
bool names_has_none(const char *key);
