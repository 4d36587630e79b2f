/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/* Turns a mapping into an image. */

/*
 * Returns whether the mapping is of a file without a name: a program or library (runc, loaders of plugins), or code
 * made at run time that is mapped twice (.NET).
 */
bool image_is_nameless(const struct elf_mapping *mapped);

/* Prepares the hash map of process_table.by_file. */
void image_keys_init(struct hash_map *map);

/* Adds an image without a file, as process_table_add_names() needs it. */
COMMON_MUST_CHECK
bool image_add_names(struct process_table *table, uint32_t *image, struct error *err);

/*
 * Finds or opens the image of a mapping, and computes the bias from runtime to image addresses. The owner of the
 * process pays for what is opened (sampler/process/owner.h); the image is PROFILE_NONE where he cannot.
 */
COMMON_MUST_CHECK
bool image_of_mapping(struct process_table *table, struct process *process, const struct elf_mapping *mapped,
	struct process_place *place, struct error *err);

/*
 * Returns whether what was found at a mapping, by image_of_mapping(), may be what is believed to lie there: an image is
 * one of several places where its segments have bytes of one page.
 */
bool image_may_be(const struct process_table *table, const struct process_place *found,
	const struct process_place *believed, const struct elf_mapping *mapped);

/*
 * The program that a process executes gives way to another one: what its code is named by ends here. Times are by the
 * records' clock.
 */
void image_end_program(struct process_table *table, const struct process *process, uint64_t clock_ns);

/* Opens our own vdso, which is the same in every 64-bit process under this kernel. */
COMMON_MUST_CHECK
bool image_open_vdso(struct elf_image **image, struct error *err);

/* Reads the build id of a kernel from its notes, an open file as /sys/kernel/notes; size 0 if it is not known. */
void image_build_id_of_notes(const struct file_opened *file, struct elf_build_id *id);

/* Reads that of the running kernel. */
void image_kernel_build_id(struct elf_build_id *id);
