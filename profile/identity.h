/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The names of functions and modules in two forms: one that a rebuild does not change, and one as a reader sees it. */

/*
 * Makes the diff key of a function: its demangled name without what a compiler or a rebuild adds (`.isra.0`,
 * `.constprop.1`, `.part.2`, `.cold`, `.llvm.123`, `.lto_priv.4`, Rust's `h<16 hex>`, numbers of lambdas and closures,
 * V8's tier marks and `line:col`; `@plt` is kept), then "`" and the module. It has no address, no line and no checkout
 * path. A function without a name (`libz.so.1.2.13+0x12ab`) has a key made of its fingerprint, which is the same in
 * every build that did not change the code. Without a fingerprint (0) all unnamed functions of a module share one key.
 * `out` is appended to.
 */
void profile_function_key(const char *name, const char *module, uint64_t fingerprint, struct buffer *out);

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
