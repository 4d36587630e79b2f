/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/profile.h"

/* A function's key (profile/identity.h) and its parts, which are borrowed. */
struct names_key {
	const char *text;
	struct profile_key_parts parts;
};

struct names_key names_of(const char *key);

/* Compares names with their files, without their modules, in the order of their numbers: 9 comes before 10. */
int names_compare(const struct names_key *a, const struct names_key *b);

/* Returns whether both have one name, whatever their files and modules are. */
bool names_are_one(const struct names_key *a, const struct names_key *b);

/*
 * Returns which part of the longer file's path differs, in parts of its components: 0 to 1; 0 where a file is not known
 * or a part of the name.
 */
double names_differ_in_file(const struct names_key *a, const struct names_key *b);

/* Returns whether a key tells the line at which a function without a name is defined. */
bool names_has_line(const struct names_key *key);

/* Returns whether a key is that of all functions of a module that have neither a name nor a fingerprint. */
bool names_is_unnamed(const char *key);

/*
 * Appends the module that the name of a function without one tells, as folded stacks have it, which name no modules:
 * `libz.so` of `libz.so.1.2.13+0x12ab`; nothing for other keys. It may as well be a function with an offset.
 */
void names_append_module(const char *key, struct buffer *out);

/* Returns whether a key is that of a function without a name, with or without a fingerprint. */
bool names_has_none(const char *key);
