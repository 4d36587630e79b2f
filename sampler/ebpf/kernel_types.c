/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/kernel_types.h"

#include "sampler/ebpf/kernel_type_entries.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MOST_NESTED = 4, BITS_OF_BYTE = 8, NO_BODY = 0, MOST_BYTES = 1 << 26 };

static const char types_path[] = "/sys/kernel/btf/vmlinux";

/* The member that is searched for, and the nesting of the search. */
struct kernel_types_search {
	const struct kernel_type_sections *sections;
	const char *member;
	unsigned int nested;
};

static bool open_section(const struct byte_reader *file, uint64_t offset, uint32_t size, struct byte_reader *section)
{
	struct byte_reader r = *file;

	byte_reader_seek(&r, offset);
	*section = byte_reader_split(&r, size);
	/* Offsets in the section count from its own start. */
	section->start = section->pos;
	return byte_reader_ok(&r);
}

bool kernel_type_sections_open(const struct ebpf_kernel_types *types, struct kernel_type_sections *sections)
{
	struct byte_reader file = byte_reader_over(types->bytes, types->size);
	struct btf_header header = { 0 };

	byte_reader_copy(&file, &header, sizeof(header));
	return byte_reader_ok(&file) && header.magic == BTF_MAGIC && header.version == BTF_VERSION &&
	       open_section(&file, (uint64_t)header.hdr_len + header.type_off, header.type_len, &sections->types) &&
	       open_section(&file, (uint64_t)header.hdr_len + header.str_off, header.str_len, &sections->strings);
}

const char *kernel_type_name(const struct kernel_type_sections *sections, uint32_t name)
{
	struct byte_reader r = sections->strings;

	byte_reader_seek(&r, name);
	return byte_reader_string(&r, NULL);
}

static bool kernel_types_is_named(const struct kernel_type_sections *sections, uint32_t name, const char *wanted)
{
	const char *found = kernel_type_name(sections, name);

	return found && strcmp(found, wanted) == 0;
}

/* Finds the size of the data that follows an entry. */
static bool find_body_size(uint32_t info, size_t *size)
{
	size_t count = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		*size = NO_BODY;
		return true;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		*size = sizeof(uint32_t);
		return true;
	case BTF_KIND_ARRAY:
		*size = sizeof(struct btf_array);
		return true;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		*size = count * sizeof(struct btf_param);
		return true;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		*size = count * sizeof(struct btf_member);
		return true;
	default:
		return false;
	}
}

bool kernel_type_entry_next(struct byte_reader *types, struct kernel_type_entry *entry)
{
	struct btf_type type = { 0 };
	size_t size;

	if (byte_reader_left(types) == 0)
		return false;
	byte_reader_copy(types, &type, sizeof(type));
	if (!byte_reader_ok(types) || !find_body_size(type.info, &size))
		return false;
	*entry = (struct kernel_type_entry){ type.name_off, type.info, type.size, byte_reader_split(types, size) };
	return byte_reader_ok(types);
}

static bool is_structure(const struct kernel_type_entry *entry)
{
	uint32_t kind = BTF_INFO_KIND(entry->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

static bool find_structure(
	const struct kernel_type_sections *sections, const char *name, struct kernel_type_entry *entry)
{
	struct byte_reader types = sections->types;

	while (kernel_type_entry_next(&types, entry))
		if (BTF_INFO_KIND(entry->info) == BTF_KIND_STRUCT && kernel_types_is_named(sections, entry->name, name))
			return true;
	return false;
}

/* Finds a type; ids start at 1. */
static bool find_by_id(const struct kernel_type_sections *sections, uint32_t id, struct kernel_type_entry *entry)
{
	struct byte_reader types = sections->types;

	for (uint32_t i = 1; kernel_type_entry_next(&types, entry); i++)
		if (i == id)
			return is_structure(entry);
	return false;
}

/*
 * Finds the offset of a member; false if it is a bit field. If the entry's flag is set, the upper byte is a bit field's
 * size.
 */
static bool kernel_types_find_offset(
	const struct kernel_type_entry *entry, const struct btf_member *member, uint32_t *bytes)
{
	bool has_sizes = BTF_INFO_KFLAG(entry->info);
	uint32_t bits = has_sizes ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;

	if (bits % BITS_OF_BYTE != 0 || (has_sizes && BTF_MEMBER_BITFIELD_SIZE(member->offset)))
		return false;
	*bytes = bits / BITS_OF_BYTE;
	return true;
}

static bool find_member(
	const struct kernel_types_search *search, const struct kernel_type_entry *entry, uint32_t *offset);

static bool find_in_nested(const struct kernel_types_search *search, uint32_t id, uint32_t *offset)
{
	const struct kernel_types_search below = { search->sections, search->member, search->nested + 1 };
	struct kernel_type_entry entry;

	return search->nested < MOST_NESTED && find_by_id(search->sections, id, &entry) &&
	       find_member(&below, &entry, offset);
}

static bool find_member(
	const struct kernel_types_search *search, const struct kernel_type_entry *entry, uint32_t *offset)
{
	struct byte_reader members = entry->members;
	struct btf_member member = { 0 };
	uint32_t start, inner;

	for (uint32_t i = 0; i < BTF_INFO_VLEN(entry->info); i++) {
		byte_reader_copy(&members, &member, sizeof(member));
		if (!byte_reader_ok(&members))
			return false;
		if (member.name_off != 0 && kernel_types_is_named(search->sections, member.name_off, search->member))
			return kernel_types_find_offset(entry, &member, offset);
		if (member.name_off == 0 && kernel_types_find_offset(entry, &member, &start) &&
			find_in_nested(search, member.type, &inner)) {
			*offset = start + inner;
			return true;
		}
	}
	return false;
}

bool ebpf_kernel_types_find_member(
	const struct ebpf_kernel_types *types, const char *structure, const char *member, uint32_t *offset)
{
	struct kernel_type_sections sections;
	const struct kernel_types_search search = { &sections, member, 0 };
	struct kernel_type_entry entry;

	return kernel_type_sections_open(types, &sections) && find_structure(&sections, structure, &entry) &&
	       find_member(&search, &entry, offset);
}

uint32_t kernel_type_find_id(const struct ebpf_kernel_types *types, uint32_t kind, const char *name)
{
	struct kernel_type_sections sections;
	struct kernel_type_entry entry;

	if (!kernel_type_sections_open(types, &sections))
		return 0;
	for (uint32_t id = 1; kernel_type_entry_next(&sections.types, &entry); id++)
		if (BTF_INFO_KIND(entry.info) == kind && kernel_types_is_named(&sections, entry.name, name))
			return id;
	return 0;
}

/* ---- The file ---- */

/* The file says its size; a kernel before Linux 6.16 maps none. */
static bool map_types(struct ebpf_kernel_types *types)
{
	CLEANUP(cleanup_close)
	int fd = open(types_path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *mapped;

	if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0 || status.st_size > MOST_BYTES)
		return false;
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED)
		return false;
	*types = (struct ebpf_kernel_types){ .bytes = mapped, .size = (size_t)status.st_size, .is_mapped = true };
	return true;
}

bool ebpf_kernel_types_open(struct ebpf_kernel_types *types, struct error *err)
{
	struct buffer read;

	if (map_types(types))
		return true;
	buffer_init(&read, MOST_BYTES);
	if (!file_read(types_path, &read, err)) {
		buffer_deinit(&read);
		return false;
	}
	*types = (struct ebpf_kernel_types){ .bytes = read.data, .size = read.size, .read = read };
	return true;
}

void ebpf_kernel_types_close(struct ebpf_kernel_types *types)
{
	if (types->is_mapped)
		munmap((void *)types->bytes, types->size);
	buffer_deinit(&types->read);
	*types = (struct ebpf_kernel_types){ 0 };
}

struct ebpf_kernel_types ebpf_kernel_types_over(const void *bytes, size_t size)
{
	return (struct ebpf_kernel_types){ .bytes = bytes, .size = size };
}
