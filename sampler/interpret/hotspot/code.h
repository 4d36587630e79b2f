/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/hotspot/decode.h"
#include "sampler/interpret/hotspot/methods.h"

/*
 * The code cache of a HotSpot: heaps of blocks, each of which is a CodeBlob: a compiled method, or code of HotSpot's
 * own. Which block an address is in is told by a byte for each segment of a heap (CodeHeap::find_block_for() in
 * src/hotspot/share/memory/heap.cpp).
 */

/* A heap, as runtime addresses. */
struct hotspot_heap {
	uint64_t start, end; /* half-open; all that is reserved, since heaps grow */
	uint64_t segments;   /* of the first segment's byte */
	uint32_t log2_segment_bytes;
};

/* The places of a compiled method's debug information, as runtime addresses, half-open. */
struct hotspot_debug_places {
	uint64_t pcs, pcs_end, scopes, scopes_end, metadata, metadata_end;
};

/* The kind of a blob, as far as its frames depend on it. */
enum hotspot_blob {
	HOTSPOT_BLOB_OTHER,     /* stubs of several functions, of which no frame is known; the interpreter */
	HOTSPOT_BLOB_FRAMELESS, /* a stub that has no frame where it calls something */
	HOTSPOT_BLOB_METHOD,    /* a compiled method, or what calls a native one */
	HOTSPOT_BLOB_FRAMED,    /* stubs of one frame each, which calls of Java return to */
	HOTSPOT_BLOB_UPCALL,    /* likewise; it is called by native code */
	HOTSPOT_BLOB_THAWING,   /* stubs that bring frames of virtual threads back from the heap */
	HOTSPOT_BLOB_DISPATCH,  /* calls of virtual methods: jumps without a frame */
	HOTSPOT_BLOB_ADAPTER,   /* moves arguments between compiled and interpreted code: jumps without a frame */
};

/* A block in use. */
struct hotspot_code {
	uint64_t blob;       /* address of its CodeBlob */
	uint64_t start, end; /* its code, half-open */
	uint64_t method;     /* of the compiled method; 0: none */
	enum hotspot_blob kind;
	uint32_t frame_bytes;        /* of its frames, with the return address; 0: they have no size */
	uint32_t complete_at;        /* offset in its code from which on there is a frame; UINT32_MAX: not known */
	uint64_t deopt_handlers[2];  /* what deoptimised frames return to instead; 0: not known */
	uint32_t original_pc_offset; /* in frames: what they would return to else */
	struct hotspot_watch watch;
	uint32_t read_version; /* of the watch, when it was read */
	uint32_t function;     /* of the profile, if it is no method; PROFILE_NONE: it could not be read */
	struct hotspot_debug_places places;
	bool has_debug; /* `debug` was looked for */
	struct hotspot_debug debug;
	uint8_t *debug_bytes; /* owned: what `debug` and `instructions` refer to */
	size_t debug_size;
	struct machine_code instructions; /* from `start` on */
};

enum { HOTSPOT_MOST_HEAPS = 8, HOTSPOT_MOST_NAMES = 64 };

/* The name of a kind of blobs. */
struct hotspot_blob_name {
	uint64_t address;
	char text[128];
};

struct hotspot_codes {
	const struct hotspot_target *target; /* borrowed */
	struct hotspot_heap heaps[HOTSPOT_MOST_HEAPS];
	size_t heap_count;
	struct hotspot_code *items; /* owned */
	size_t count, capacity;
	size_t debug_bytes;    /* of all */
	size_t next_forgotten; /* block whose debug information is the next to be forgotten */
	uint32_t *by_place;    /* owned: `items` by the address of the blob */
	size_t place_capacity;
	struct hotspot_blob_name names[HOTSPOT_MOST_NAMES];
	size_t name_count;
};

void hotspot_codes_init(struct hotspot_codes *codes, const struct hotspot_target *target);
void hotspot_codes_deinit(struct hotspot_codes *codes);

/* Reads where the heaps are, which stay there. */
void hotspot_codes_read_heaps(struct hotspot_codes *codes);

/*
 * Finds the block that has code at a runtime address, as its place in `items`; PROFILE_NONE: none. Where the process
 * cannot be read any more, as when it has ended, it is the one that was there last.
 */
COMMON_MUST_CHECK
bool hotspot_codes_find(struct hotspot_codes *codes, uint64_t address, uint32_t *id, struct error *err);

/* Finds the instructions of a block, from its start on; no bytes: not readable. */
COMMON_MUST_CHECK
bool hotspot_code_instructions(
	struct hotspot_codes *codes, uint32_t id, struct machine_code *instructions, struct error *err);

/* Finds the methods in which the code of a compiled method is at `pc`, if that is known. */
COMMON_MUST_CHECK
bool hotspot_code_scopes(
	struct hotspot_codes *codes, uint32_t id, uint64_t pc, struct hotspot_scopes *scopes, struct error *err);
