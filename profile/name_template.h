/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Appends the template of a function's key (profile_function_key()): the words of its name that stay when a compiler, a
 * run time or a release script numbers it anew. Numbers that count what has no name, hashes, addresses, versions and
 * the folders of a checkout are left out, as are the types of arguments, by which not every tool tells functions:
 * `Svc.lambda$main$#` for `Svc.lambda$main$3`, `parse index-#.js` for `parse` of `/srv/r17/index-B8fKx2aQ.js`. The
 * module is no part of it.
 *
 * Functions of two profiles whose keys differ and whose templates are equal may be one function. Functions of one
 * profile with one template, such as the closures of a function, are as like each other as those of two.
 *
 * Returns whether a number was left out that counts what has no name: then another function may have the same key in
 * another build.
 */
bool profile_key_template(const char *key, struct buffer *out);

/* Appends the same as people read it, with "*" for what was left out: `Svc.lambda$main$*`. */
void profile_shown_template(const char *key, struct buffer *out);

/*
 * Returns whether a key is that of one of several functions of which a library takes the one for the CPU that it runs
 * on, `__strlen_avx2` or `__strlen_evex`: their templates are equal, and which of them runs is not the program's
 * choice.
 */
bool profile_key_is_of_cpu(const char *key);
