/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/hotspot/decode.h"
#include "sampler/interpret/hotspot/layout.h"
#include "sampler/interpret/names.h"

/* A process with a HotSpot, as it is read. All borrowed. */
struct hotspot_target {
	struct hotspot_memory memory;
	struct hotspot_layout layout;
	uint64_t vm_major_version;
	struct interpreter_names *names;
	uint32_t round; /* about a second each (struct hotspot_watch) */
};

/*
 * The methods of a process by Method*. They stay where they are until their class is unloaded, so each is read once,
 * and looked at again in each round in which it is used.
 */
struct hotspot_method {
	uint64_t address; /* of the Method */
	struct hotspot_watch watch;
	uint32_t read_version; /* of the watch, when it was read */
	uint32_t function;     /* of the profile; PROFILE_NONE: it is no method that can be read */
	uint64_t code_start;   /* of its bytecodes */
	uint32_t code_bytes;
	uint8_t *lines; /* owned: its compressed line number table; NULL: none */
	size_t lines_bytes;
};

struct hotspot_methods {
	const struct hotspot_target *target; /* borrowed */
	struct hotspot_method *items;        /* owned */
	size_t count, capacity;
	struct hash_map by_address;
};

void hotspot_methods_init(struct hotspot_methods *methods, const struct hotspot_target *target);
void hotspot_methods_deinit(struct hotspot_methods *methods);

/* `*method`: valid until the next call. */
COMMON_MUST_CHECK
bool hotspot_methods_find(
	struct hotspot_methods *methods, uint64_t address, struct hotspot_method **method, struct error *err);

/* The line of a bytecode; 0: not known. A negative one is before the first. */
uint32_t hotspot_method_line(const struct hotspot_method *method, const struct hotspot_target *target, int64_t bci);
