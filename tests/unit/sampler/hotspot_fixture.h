/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "process_fixture.h"

#include "sampler/interpret/hotspot/process.h"

/*
 * A HotSpot in a piece of memory: one code heap with a compiled method and a stub, and the method. Offsets are those of
 * JDK 17, where they matter, and the places of things are chosen here.
 */
enum {
	START = 0x100000,
	BYTES = 0x10000,
	VERSION = 17,

	HEAPS = START + 0x100,      /* the static field */
	HEAP_ARRAY = START + 0x140, /* GrowableArray<CodeHeap*> */
	HEAP_DATA = START + 0x160,
	HEAP = START + 0x200, /* CodeHeap */
	SEGMAP = START + 0x400,
	METHOD = START + 0x600,
	CONST_METHOD = START + 0x700,
	POOL = START + 0x800,
	TAGS = START + 0x900,
	KLASS = START + 0xa00,
	SYMBOLS = START + 0xb00, /* 0x40 each */
	NAMES = START + 0xd00,

	CODE = START + 0x1000, /* of the heap: 64 segments */
	SEGMENT_SHIFT = 7,
	SEGMENTS = 64,
	NMETHOD_SEGMENT = 2,
	STUB_SEGMENT = 40,
	BLOCK_HEAD = 16,
	NMETHOD = CODE + (NMETHOD_SEGMENT << SEGMENT_SHIFT) + BLOCK_HEAD,
	STUB = CODE + (STUB_SEGMENT << SEGMENT_SHIFT) + BLOCK_HEAD,
	NMETHOD_CODE = NMETHOD + 0x180,
	METADATA_AT = 0x300,
	SCOPES_AT = 0x310,
	PCS_AT = 0x320,
	DEPENDENCIES_AT = 0x350,
	NMETHOD_BYTES = 0x360,
};

extern const struct hotspot_layout hotspot_fixture_layout;

struct jvm {
	struct fixture *fixture;
	struct process_host_functions functions;
	struct process_host host;
	struct interpreter_names names;
	struct hotspot_costs costs;
	struct shares debug_bytes;
	struct hotspot_target target;
	struct hotspot_codes codes;
	struct hotspot_methods methods;
	bool is_gone;
	size_t name_count; /* of blobs */
	size_t reads;
	uint8_t memory[BYTES];
};

/* Of cmocka; the state is a struct jvm. */
int hotspot_fixture_setup(void **state);
int hotspot_fixture_teardown(void **state);

/* Puts a number of so many bytes. */
void hotspot_fixture_put(struct jvm *jvm, uint64_t address, uint64_t value, size_t size);

/* A block in use, from a segment of the heap on, and the blob in it. */
void hotspot_fixture_put_block(struct jvm *jvm, size_t segment, size_t bytes);
void hotspot_fixture_put_blob(struct jvm *jvm, uint64_t blob, uint64_t code, uint64_t end, const char *name);
