/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/kernel_types.h"

/* The entries of a description of types, one after the other: what only this room reads of them. */

/* Both are readers whose offsets count from the section's own start. They borrow the description's bytes. */
struct kernel_type_sections {
	struct byte_reader types, strings;
};

struct kernel_type_entry {
	uint32_t name, info;
	uint32_t size_or_type;
	struct byte_reader members; /* what follows the entry; of structures their members */
};

/* False if the description's header is malformed. */
bool kernel_type_sections_open(const struct ebpf_kernel_types *types, struct kernel_type_sections *sections);

/* Reads the next entry. False at the end, and after an entry of an unknown kind, whose size is not known either. */
bool kernel_type_entry_next(struct byte_reader *types, struct kernel_type_entry *entry);

/* The string at an offset, borrowed; "" of what has no name, NULL if the offset is wrong. */
const char *kernel_type_name(const struct kernel_type_sections *sections, uint32_t name);

/* The id of the first type of that kind (BTF_KIND_…) and name; 0: there is none. */
uint32_t kernel_type_find_id(const struct ebpf_kernel_types *types, uint32_t kind, const char *name);
