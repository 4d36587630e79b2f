/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/*
 * The code that a process had mapped when its stack was copied: mappings made later must not change how that stack is
 * read.
 */
struct code_region {
	uint64_t start, end;              /* runtime addresses */
	uint64_t bias;                    /* image address = runtime address + bias, modulo 2^64 */
	uint32_t mapping_id;              /* of the profile */
	struct elf_image *image;          /* borrowed from the process table; NULL: none */
	const struct frame_table *frames; /* of the image, likewise */
	bool is_made;                     /* code that was made while the program runs */
	bool is_go;                       /* of Go, of a version whose frame pointers lead to the end of each stack */
	bool keeps_frame_pointers;        /* likewise of code without tables that is not Go's */
};

struct code_map {
	int32_t pid;
	uint64_t generation;         /* of the process's mappings */
	struct code_region *regions; /* owned; by start */
	size_t count;
};

/*
 * Tells whether code of a process that has no tables keeps frame pointers: of an image, or (NULL) what was made while
 * it runs.
 */
struct code_frame_pointers {
	bool (*are_kept)(void *context, int32_t pid, const struct elf_image *elf); /* NULL: nobody knows */
	void *context;                                                             /* borrowed */
};

COMMON_MUST_CHECK
bool code_map_create(const struct process_table *table, const struct process *process,
	const struct code_frame_pointers *frame_pointers, struct code_map **map, struct error *err);
void code_map_destroy(struct code_map *map);

/* The region that holds a runtime address; NULL: none. */
const struct code_region *code_map_find(const struct code_map *map, uint64_t address);
