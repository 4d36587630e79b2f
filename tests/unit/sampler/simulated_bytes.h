/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"
#include "sampler/simulated/format.h"

/* Files of a simulation, made by hand, and the two steps in which they are read. */

struct simulated_bytes {
	char directory[64]; /* of the files */
	struct buffer file;
};

void simulated_bytes_init(struct simulated_bytes *bytes);
void simulated_bytes_deinit(struct simulated_bytes *bytes);

/* A record whose payload is `size` bytes, padded. */
void simulated_add(struct simulated_bytes *bytes, uint32_t kind, uint32_t entries, const void *payload, size_t size);

/* A record whose payload is numbers (sampler/simulated/format.h). */
void simulated_add_numbers(
	struct simulated_bytes *bytes, uint32_t kind, uint32_t entries, const uint64_t *numbers, size_t count);

/* The number of a step from the entry before. */
uint64_t simulated_step(int64_t step);

/*
 * A process of one thread: block 0 has four instructions of 4 bytes at 0x1000 and one exit behind the second; node 0 is
 * the thread's first function, node 1 is called from 0x1004. Counts of node 0: 10 times to the end, 5 times left early;
 * of node 1: 100 times to the end. In node 1 the third instruction has misses and system calls.
 */
void simulated_add_example(struct simulated_bytes *bytes, int32_t pid);

/* Writes the file under a name, of all bytes or the first ones. */
void simulated_write(const struct simulated_bytes *bytes, const char *name, size_t size);

/*
 * Both steps. Between them each location gets a function for each 8 bytes, f_1000, f_1008 ..., and a line for each
 * instruction. False with `err` as either step fails; `result` is the caller's.
 */
bool simulated_read(
	const struct simulated_bytes *bytes, struct recording *result, struct buffer *notices, struct error *err);
