/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/kernel_type_part.h"

#include "sampler/ebpf/kernel_type_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NESTED = 8, MOST_MEMBERS = 1 << 16, MOST_TYPES = 1 << 22, BYTE_BITS = 8, NO_TYPE = 0 };

struct program_structure {
	const char *name; /* borrowed from the program's types */
	size_t name_length;
	uint32_t kind, id;
};

/* The kernel's types by id, and what is made of them. Ids of all three descriptions start at 1; 0 is void. */
struct type_part {
	struct kernel_type_sections sections;
	uint32_t *offsets; /* [id] of the entry in the section of types */
	size_t count, capacity;
	const struct btf *program;
	struct program_structure *structures;
	size_t structure_count;
	struct btf *made;
	unsigned int nested;
};

static bool is_composite(uint32_t kind)
{
	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

/* ---- The kernel's types ---- */

static int index_kernel_types(struct type_part *part)
{
	struct byte_reader types = part->sections.types;
	struct kernel_type_entry entry;
	struct error ignored;

	part->count = 1;
	for (;;) {
		if (!ARRAY_RESERVE(&part->offsets, &part->capacity, part->count + 1, MOST_TYPES, &ignored))
			return -ENOMEM;
		part->offsets[part->count] = (uint32_t)byte_reader_offset(&types);
		if (!kernel_type_entry_next(&types, &entry))
			return byte_reader_left(&types) == 0 ? 0 : -ENOENT;
		part->count++;
	}
}

static bool find_kernel_type(const struct type_part *part, uint32_t id, struct kernel_type_entry *entry)
{
	struct byte_reader types = part->sections.types;

	if (id == NO_TYPE || id >= part->count)
		return false;
	byte_reader_seek(&types, part->offsets[id]);
	return kernel_type_entry_next(&types, entry);
}

/* Finds a type without its qualifiers and the names that stand for other types. A chain that has no end is cut. */
static bool resolve_kernel_type(const struct type_part *part, uint32_t id, struct kernel_type_entry *entry)
{
	for (size_t steps = 0; steps < part->count && find_kernel_type(part, id, entry); steps++)
		switch (BTF_INFO_KIND(entry->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = entry->size_or_type;
			break;
		default:
			return true;
		}
	return false;
}

/* ---- The program's types ---- */

/* The type of the member with that name, also within structures without names; NO_TYPE: the program does not name it.
 */
static uint32_t find_program_member(const struct type_part *part, uint32_t structure, const char *name)
{
	const struct btf_type *type = btf__type_by_id(part->program, structure);
	const struct btf_member *members;

	if (!type || !is_composite(btf_kind(type)))
		return NO_TYPE;
	members = btf_members(type);
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		uint32_t found = NO_TYPE;

		if (members[i].name_off == 0)
			found = find_program_member(part, members[i].type, name);
		else if (strcmp(btf__name_by_offset(part->program, members[i].name_off), name) == 0)
			found = members[i].type;
		if (found != NO_TYPE)
			return found;
	}
	return NO_TYPE;
}

static uint32_t resolve_program_type(const struct type_part *part, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(part->program, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type))) {
		id = type->type;
		type = btf__type_by_id(part->program, id);
	}
	return id;
}

/* Lists the structures that have names, which libbpf looks for in the kernel by the name before a "___flavour". */
static int list_program_structures(struct type_part *part)
{
	uint32_t count = btf__type_cnt(part->program);

	part->structures = calloc(count, sizeof(*part->structures));
	if (!part->structures)
		return -ENOMEM;
	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(part->program, id);
		const char *name = btf__name_by_offset(part->program, type->name_off), *flavour = strstr(name, "___");
		size_t length = flavour ? (size_t)(flavour - name) : strlen(name);

		if (is_composite(btf_kind(type)) && length > 0)
			part->structures[part->structure_count++] =
				(struct program_structure){ name, length, btf_kind(type), id };
	}
	return 0;
}

static bool is_structure_of(const struct program_structure *own, uint32_t kind, const char *name)
{
	return own->kind == kind && strncmp(own->name, name, own->name_length) == 0 && name[own->name_length] == '\0';
}

/* ---- What is made of both ---- */

static int copy_type(struct type_part *part, uint32_t own, uint32_t id);
static int copy_structure(
	struct type_part *part, uint32_t own, const struct kernel_type_entry *entry, const char *name);

static int copy_array(struct type_part *part, uint32_t own, const struct kernel_type_entry *entry)
{
	const struct btf_type *own_type = btf__type_by_id(part->program, own);
	struct byte_reader body = entry->members;
	struct btf_array array = { 0 };
	int element, index;

	/* A malformed description may have an array that is its own element. */
	if (part->nested == MOST_NESTED)
		return -E2BIG;
	part->nested++;
	byte_reader_copy(&body, &array, sizeof(array));
	element = byte_reader_ok(&body)
			  ? copy_type(part, own_type && btf_is_array(own_type) ? btf_array(own_type)->type : NO_TYPE,
				    array.type)
			  : -ENOENT;
	part->nested--;
	index = element < 0 ? element : btf__add_int(part->made, "number", sizeof(uint32_t), 0);
	return index < 0 ? index : btf__add_array(part->made, index, element, array.nelems);
}

/*
 * What libbpf compares of a member's type is its kind, of numbers the size; all pointers are alike to it.
 *
 * Returns the id of the type that was made, NO_TYPE for what no program reads, or -errno.
 */
static int copy_type(struct type_part *part, uint32_t own, uint32_t id)
{
	struct kernel_type_entry entry;

	if (id == NO_TYPE)
		return NO_TYPE;
	if (!resolve_kernel_type(part, id, &entry))
		return -ENOENT;
	own = resolve_program_type(part, own);
	switch (BTF_INFO_KIND(entry.info)) {
	case BTF_KIND_PTR:
		return btf__add_ptr(part->made, NO_TYPE);
	case BTF_KIND_INT:
		return btf__add_int(part->made, "number", entry.size_or_type, 0);
	case BTF_KIND_ENUM:
		return btf__add_enum(part->made, NULL, entry.size_or_type);
	case BTF_KIND_ARRAY:
		return copy_array(part, own, &entry);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_structure(part, own, &entry, NULL);
	default:
		return NO_TYPE;
	}
}

struct copied_member {
	const char *name; /* "" within a structure without a name */
	int id;
	uint32_t bit_offset, bit_size;
};

/* Reads a member and makes its type. False: the program does not name it. A failure is the member's id. */
static bool copy_member(struct type_part *part, uint32_t own, const struct kernel_type_entry *entry,
	struct byte_reader *members, struct copied_member *copied)
{
	struct btf_member member = { 0 };
	bool has_sizes = BTF_INFO_KFLAG(entry->info);
	const char *name;
	uint32_t own_member = own;

	byte_reader_copy(members, &member, sizeof(member));
	name = byte_reader_ok(members) ? kernel_type_name(&part->sections, member.name_off) : NULL;
	*copied = (struct copied_member){ .name = name, .id = -ENOENT };
	if (!name)
		return true;
	if (name[0] != '\0')
		own_member = find_program_member(part, own, name);
	if (own_member == NO_TYPE)
		return false;
	copied->bit_offset = has_sizes ? BTF_MEMBER_BIT_OFFSET(member.offset) : member.offset;
	copied->bit_size = has_sizes ? BTF_MEMBER_BITFIELD_SIZE(member.offset) : 0;
	copied->id = copy_type(part, own_member, member.type);
	return true;
}

static int add_structure(struct type_part *part, const struct kernel_type_entry *entry, const char *name,
	const struct copied_member *members, size_t count)
{
	bool is_union = BTF_INFO_KIND(entry->info) == BTF_KIND_UNION;
	int made = is_union ? btf__add_union(part->made, name, entry->size_or_type)
			    : btf__add_struct(part->made, name, entry->size_or_type);
	int result = made < 0 ? made : 0;

	for (size_t i = 0; i < count && result == 0; i++)
		result = btf__add_field(
			part->made, members[i].name, members[i].id, members[i].bit_offset, members[i].bit_size);
	return result == 0 ? made : result;
}

/*
 * The kernel's structure, with the members that the program's structure `own` names. Types of members are made before
 * the structure: its members have to be the last things that were added. Returns its id or -errno.
 */
static int copy_structure(struct type_part *part, uint32_t own, const struct kernel_type_entry *entry, const char *name)
{
	CLEANUP(cleanup_free) struct copied_member *members = NULL;
	struct byte_reader reader = entry->members;
	size_t count = 0, capacity = 0;
	struct error ignored;
	int result = 0;

	if (part->nested == MOST_NESTED)
		return -E2BIG;
	part->nested++;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(entry->info) && result == 0; i++) {
		if (!ARRAY_RESERVE(&members, &capacity, count + 1, MOST_MEMBERS, &ignored))
			result = -ENOMEM;
		else if (copy_member(part, own, entry, &reader, &members[count]))
			result = members[count].id < 0 ? members[count].id : (count++, 0);
	}
	part->nested--;
	return result == 0 ? add_structure(part, entry, name, members, count) : result;
}

/*
 * Copies a structure once for each flavour of it that the program has, with its members: libbpf looks at all structures
 * of a name. Returns 0 or -errno.
 */
static int copy_flavours(struct type_part *part, const struct kernel_type_entry *entry)
{
	const char *name = kernel_type_name(&part->sections, entry->name);
	int result = 0;

	for (size_t i = 0; name && i < part->structure_count && result >= 0; i++)
		if (is_structure_of(&part->structures[i], BTF_INFO_KIND(entry->info), name))
			result = copy_structure(part, part->structures[i].id, entry, name);
	return result < 0 ? result : 0;
}

static int copy_structures(struct type_part *part)
{
	struct byte_reader types = part->sections.types;
	struct kernel_type_entry entry;
	int result = 0;

	while (result == 0 && kernel_type_entry_next(&types, &entry))
		if (is_composite(BTF_INFO_KIND(entry.info)) && entry.name != 0)
			result = copy_flavours(part, &entry);
	return result;
}

int kernel_type_part_write(const struct ebpf_kernel_types *types, const struct btf *program, int fd)
{
	struct type_part part = { .program = program };
	const void *bytes;
	uint32_t size;
	int result;

	if (!program || !kernel_type_sections_open(types, &part.sections))
		return -ENOENT;
	part.made = btf__new_empty();
	result = part.made ? index_kernel_types(&part) : -errno;
	if (result == 0)
		result = list_program_structures(&part);
	if (result == 0)
		result = copy_structures(&part);
	if (result == 0) {
		bytes = btf__raw_data(part.made, &size);
		if (!bytes)
			result = -ENOMEM;
		else if (!file_write_all(fd, bytes, size))
			result = -errno;
	}
	btf__free(part.made);
	free(part.structures);
	free(part.offsets);
	return result;
}
