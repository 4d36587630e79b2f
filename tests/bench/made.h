/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* What the programs that make profiles for benchmarks share. Errors end the program with their message. */

void must(bool ok, const struct error *err);

/* splitmix64 (Steele, Lea and Flood 2014): the same profiles every time. */
uint64_t mix(uint64_t x);

/* Interns a text with a number in it; `format` has one %u or %x, or none. */
uint32_t intern(struct profile *profile, const char *format, unsigned int number);

/* A large service in C++: of each function in how many the code is another one in head; 0: of none. */
struct service_shape {
	uint32_t functions, locations, modules;
	uint64_t side;
	uint32_t changed_one_in;
};

/* Adds the service's binaries, functions and locations. */
void add_service_code(struct profile *profile, const struct service_shape *shape);

/*
 * Adds so many stacks, each of which grows from one that was there, up to `most_depth`. Of ten stacks one is `side`'s
 * own.
 */
void add_grown_stacks(struct profile *profile, uint32_t stacks, uint32_t most_depth, uint32_t locations, uint64_t side);

/* Writes it to a file, whose size it returns. */
size_t write_profile(const struct profile *profile, const char *path);
