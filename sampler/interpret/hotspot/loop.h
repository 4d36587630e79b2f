/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/hotspot/methods.h"

/*
 * The code of HotSpot's interpreter: codelets one behind the other, each of which says what it is for
 * (src/hotspot/share/interpreter/interpreter.hpp). All run in the frame of an interpreted method, but those at which
 * methods are entered, until they have made it; some have none at all, as those of Math.sin().
 */

/* An entry of methods, as runtime addresses. */
struct hotspot_codelet {
	uint64_t start, end; /* half-open */
	uint64_t framed;     /* from here on there is a frame; `end`: nowhere */
};

enum { HOTSPOT_MOST_ENTRIES = 128 };

struct hotspot_loop {
	uint64_t start, end;             /* of its code, half-open */
	struct hotspot_codelet *entries; /* owned: by address */
	size_t count;
};

void hotspot_loop_deinit(struct hotspot_loop *loop);

/* Reads where it is, and its codelets if they are not those that are known. `bias`: image address = runtime address +
 * bias. */
void hotspot_loop_read(struct hotspot_loop *loop, const struct hotspot_target *target,
	const struct hotspot_image *image, uint64_t bias);

static inline bool hotspot_loop_has(const struct hotspot_loop *loop, uint64_t address)
{
	return address >= loop->start && address < loop->end;
}

/* Returns whether code of the interpreter runs in the frame of an interpreted method. */
bool hotspot_loop_is_framed(const struct hotspot_loop *loop, uint64_t address);
