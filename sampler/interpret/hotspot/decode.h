/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The formats in which HotSpot keeps what compiled code is of, where lines begin, and what methods are called. */

/* ---- Numbers ---- */

/*
 * UNSIGNED5 (src/hotspot/share/utilities/unsigned5.hpp, before JDK 20 code/compressedStream.hpp): up to five bytes, the
 * lowest first, of which all but the last are 192 or more; each is worth 64 times the one before. Since JDK 20 no byte
 * is 0: each is one more. Past the end the reader fails.
 */
struct hotspot_stream {
	struct byte_reader reader;
	uint8_t excluded; /* 0 before JDK 20, else 1 */
};

struct hotspot_stream hotspot_stream_over(const void *bytes, size_t size, uint64_t vm_major_version);
uint32_t hotspot_stream_unsigned(struct hotspot_stream *stream);
int32_t hotspot_stream_signed(struct hotspot_stream *stream);

/* ---- Lines ---- */

/*
 * The line of a bytecode, from a compressed line number table (CompressedLineNumberReadStream in
 * src/hotspot/share/oops/method.cpp): that of the last entry at `bci` or before, wherever it stands. `first`: that of
 * bytecode 0. 0: not known.
 */
uint32_t hotspot_find_line(struct hotspot_stream table, uint32_t bci);

/* ---- Scopes ---- */

/* The debug information of a compiled method, as it was copied. */
struct hotspot_debug {
	const uint8_t *pcs; /* PcDesc[], by pc_offset */
	size_t pcs_bytes, pc_desc_bytes;
	uint32_t pc_offset_at, decode_offset_at; /* in a PcDesc, of int each */
	struct hotspot_stream scopes;
	const uint64_t *metadata; /* Method* and others; scopes refer to them by place, from 1 */
	size_t metadata_count;
};

/* A method in which code is, by inlining or as the one that was compiled. */
struct hotspot_scope {
	uint64_t method; /* Method* */
	int32_t bci;     /* negative: before the first bytecode */
};

/* Frames of one place in code, innermost first. */
enum { HOTSPOT_MOST_SCOPES = 64 };
struct hotspot_scopes {
	struct hotspot_scope items[HOTSPOT_MOST_SCOPES];
	size_t count; /* 0: not known */
};

/*
 * The scopes of a place in code: those of the first PcDesc at the place or behind it, as HotSpot's own
 * profilers take it (nmethod::pc_desc_near(); ScopeDesc in src/hotspot/share/code/scopeDesc.cpp). At a return address
 * it is the call's; elsewhere that of the next call or safepoint, since only these have one, unless the program runs
 * with -XX:+DebugNonSafepoints.
 */
void hotspot_find_scopes(const struct hotspot_debug *debug, uint64_t code_offset, struct hotspot_scopes *scopes);

/* ---- Names ---- */

/* Bytes that no NUL ends. */
struct hotspot_text {
	const char *bytes; /* borrowed */
	size_t size;
};

/*
 * Appends the name of a method as Compiler.perfmap writes it (Method::external_name() in
 * src/hotspot/share/oops/method.cpp): `int com.example.Foo.bar(java.lang.String, int[])`. False if the signature is
 * none (JVMS 4.3.3).
 */
bool hotspot_append_name(
	struct buffer *name, struct hotspot_text class_name, struct hotspot_text method, struct hotspot_text signature);
