/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The names of functions and modules in two forms: one that a rebuild does not change, and one as a reader sees it. */

/* What a function's key is made of. All is borrowed. */
struct profile_key_source {
	const char *name, *module;
	const char *file;     /* "": it is not known */
	uint32_t line;        /* of its definition; 0: it is not known */
	uint64_t fingerprint; /* of its code; 0: it is not known */
};

/*
 * Makes the key of a function: all that tells it from other functions of its profile, and nothing that differs between
 * two forms of one (profile_spell_name()). It is the name; of a script also the whole path of its file, and where it
 * has no name line and column of its definition; of a name without a namespace or a package "`" and the name of its
 * file, if that is known; then "`" and the module. It has no address. A function without a name
 * (`libz.so.1.2.13+0x12ab`) has a key made of its fingerprint. Without a fingerprint all unnamed functions of a module
 * share one key. `out` is appended to.
 *
 * Which function of another profile it is, a comparison finds out (diff/match): that one may have another key.
 */
void profile_function_key(const struct profile_key_source *source, struct buffer *out);

/* The parts of a key, which point into it. */
struct profile_key_parts {
	size_t name_bytes; /* of the name, with the path of a script; at the start of the key */
	const char *file;  /* of other functions; not NUL-terminated */
	size_t file_bytes; /* 0: it is not known, or a part of the name */
	uint32_t line;     /* of a function without a name; 0: it is not known, or a part of the name */
	const char *module;
};

struct profile_key_parts profile_split_key(const char *key);

/*
 * The separator of the two parts of the name of a function without one where an exported function before it is known:
 * `libz.so.1.2.13+0x12ab near deflate`. It is a hint for people, and no part of the key.
 */
#define PROFILE_NEAR " near "

/*
 * Makes `libfoo.so.1.2` -> `libfoo.so`, `/usr/bin/x` -> `x`, `libc-2.36.so` -> `libc.so`; what `perf inject --jit`
 * makes, `jitted-12-3.so`, -> PROFILE_JIT_MODULE. `out` is appended to.
 */
void profile_module_name(const char *path, struct buffer *out);

/*
 * Appends a function's shown name, cleaned (unicode_clean()), in the longest form that has at most `width` columns:
 * whole, without its arguments (`shop::parse`), without those of its templates (`map<…>::at`), its last part
 * (`…::at`), and at last without its middle. tests/data/names.tsv has an example of each.
 */
void profile_shorten_name(const char *name, size_t width, struct buffer *out);
