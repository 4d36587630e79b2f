/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Demangles names of C++, Rust and D for people. */
#include "profile/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* libiberty recurses over the name; names longer than any compiler writes are not demangled. */
enum { MAX_MANGLED_BYTES = 1 << 16, MAX_NAME_BYTES = 1 << 16, RUST_HASH_DIGITS = 16 };

bool profile_is_mangled(const char *name)
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

struct printing {
	struct buffer *out;
	jmp_buf too_long;
};

static void print_piece(const char *piece, size_t size, void *context)
{
	struct printing *printing = context;

	buffer_append(printing->out, piece, size);
	if (printing->out->failed)
		longjmp(printing->too_long, 1);
}

/*
 * Demangles a name. Substitutions let 500 bytes unfold to gigabytes, and libiberty has no way to stop, so a jump leaves
 * it. While it prints C++ it holds no memory; while it prints Rust, at most one decoded identifier.
 */
static bool print_name(const char *name, struct buffer *out)
{
	enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };
	struct printing printing = { .out = out };

	if (setjmp(printing.too_long) != 0)
		return false;
	if (rust_demangle_callback(name, OPTIONS, print_piece, &printing))
		return true;
	out->size = 0;
	return cplus_demangle_v3_callback(name, OPTIONS, print_piece, &printing) != 0;
}

/*
 * Returns whether a D name is demangled in a bounded time. libiberty parses a function's type twice if the first
 * attempt fails, and so on within it (109 bytes of an invalid name take 24 s), tries each length that digits behind an
 * S can mean, and follows back references into others (100 bytes print 5 MB); it cannot be stopped. So a name is not
 * demangled if the product of all these factors is too large, even if it would be fast.
 */
static bool is_cheap_d_name(const char *name)
{
	enum { MAX_D_BYTES = 1024, MAX_DOUBLINGS = 16 };
	size_t back_references = 0, attempts = 0;

	if (strlen(name) > MAX_D_BYTES)
		return false;
	for (const char *c = name; *c; c++) {
		if (*c == 'Q')
			back_references++;
		else if (strchr("FMRUVWY", *c))
			attempts++;
		else if (*c == 'S')
			attempts += strspn(c + 1, "0123456789");
	}
	return attempts * (back_references + 1) + back_references <= MAX_DOUBLINGS;
}

static bool print_d_name(const char *name, struct buffer *out)
{
	char *demangled = is_cheap_d_name(name) ? dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI) : NULL;

	if (demangled)
		buffer_append_string(out, demangled);
	free(demangled);
	return demangled != NULL;
}

void profile_demangle(const char *name, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer demangled = BUFFER_INIT(MAX_NAME_BYTES);
	bool is_d = strncmp(name, "_D", 2) == 0;

	if (profile_is_mangled(name) && strlen(name) < MAX_MANGLED_BYTES &&
		(is_d ? print_d_name(name, &demangled) : print_name(name, &demangled)) && demangled.size > 0 &&
		!demangled.failed)
		buffer_append(out, demangled.data, size_without_rust_hash(demangled.data));
	else
		buffer_append_string(out, name);
}
