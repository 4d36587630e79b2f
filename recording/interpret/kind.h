/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/interpret/interpret.h"
#include "recording/interpret/names.h"

/* A virtual machine whose frames are on the C stack: what it has there, and in its memory, names them. */
struct interpreter_kind {
	/* What the file of such a machine tells, as `*image`; NULL: it is no such file. Owned by the caller. */
	bool (*read_image)(struct elf_image *elf, void **image, struct error *err);
	void (*destroy_image)(void *image);

	/* What is known of all processes with such a machine; owned by the caller. */
	bool (*create)(struct code_names *names, void **state, struct error *err);
	void (*destroy)(void *state);

	/*
	 * Names the frames of a walked stack that are the machine's: they are replaced in sample->job->result, or left
	 * as they were. `bias`: image address of the machine's file = runtime address + bias.
	 */
	bool (*name)(void *state, const void *image, uint64_t bias, const struct interpret_sample *sample,
		struct error *err);

	/* A process executes another program, or its pid is another process's from now on. */
	void (*forget)(void *state, int32_t pid);

	/* Appends lines about frames that could not be named; may be NULL. */
	void (*tell)(const void *state, struct buffer *notices);
};

extern const struct interpreter_kind node_interpreter, hotspot_interpreter;
