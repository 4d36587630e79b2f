/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/ebpf.h"
#include "sampler/interpret/memory.h"

/* The source of code and its names: a process, or a copy of what it had when a frame met the code. */
struct interpreter_source {
	const struct process_host *host; /* borrowed */
	int32_t pid;
	const struct ebpf_code *copy; /* borrowed; NULL: none */
};

/*
 * Reads from an address on: the number of bytes before the first that is not readable. What begins in a piece of the
 * copy is read from it, and beyond its end from the process, if that still has there what the copy has.
 */
size_t interpreter_source_read(const struct interpreter_source *source, uint64_t address, void *into, size_t size);

/*
 * Reads pieces of equal size at several addresses, at most INTERPRETER_MOST_TOGETHER, with one system call: how many of
 * them could be read before the first that could not.
 */
enum { INTERPRETER_MOST_TOGETHER = 64 };
size_t interpreter_source_read_together(
	const struct interpreter_source *source, const uint64_t *addresses, size_t count, void *into, size_t size);

/* Appends bytes as UTF-8, up to a NUL or `size`; what is none, and what a terminal would obey, becomes U+FFFD. */
void interpreter_append_text(struct buffer *out, const char *bytes, size_t size);
