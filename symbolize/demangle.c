/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* libiberty recurses over the name: longer ones than any compiler writes are left as they are. */
enum { MAX_MANGLED_BYTES = 1 << 16, RUST_HASH_DIGITS = 16 };

static bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 || strncmp(name, "__Z", 3) == 0 ||
	       (strncmp(name, "_D", 2) == 0 && (isdigit((unsigned char)name[2]) || strcmp(name, "_Dmain") == 0));
}

/* Rust's legacy mangling ends in `::h` and 16 hex digits that change with every build. */
static size_t size_without_rust_hash(const char *name)
{
	size_t size = strlen(name);
	const char *mark;

	if (size < RUST_HASH_DIGITS + 3)
		return size;
	mark = name + size - RUST_HASH_DIGITS - 3;
	if (strncmp(mark, "::h", 3) != 0)
		return size;
	for (const char *c = mark + 3; *c; c++)
		if (!isxdigit((unsigned char)*c))
			return size;
	return (size_t)(mark - name);
}

void symbolize_demangle(const char *name, struct buffer *out)
{
	/* Of D's names libiberty does not find out by itself. */
	int language = strncmp(name, "_D", 2) == 0 ? DMGL_DLANG : DMGL_AUTO;
	char *demangled = NULL;

	if (is_mangled(name) && strlen(name) < MAX_MANGLED_BYTES)
		demangled = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | language);
	if (demangled)
		buffer_append(out, demangled, size_without_rust_hash(demangled));
	else
		buffer_append_string(out, name);
	free(demangled);
}
