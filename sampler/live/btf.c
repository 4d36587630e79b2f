/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/btf.h"

#include <linux/btf.h>
#include <string.h>

enum { MOST_NESTED = 4, BITS_OF_BYTE = 8, NO_BODY = 0 };

struct btf {
	struct byte_reader types, strings;
};

struct btf_entry {
	uint32_t name, info;
	struct byte_reader members; /* what follows the entry; of structures their members */
};

/* The member that is searched for, and the nesting of the search. */
struct search {
	const struct btf *btf;
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

static bool open_btf(const void *bytes, size_t size, struct btf *btf)
{
	struct byte_reader file = byte_reader_over(bytes, size);
	struct btf_header header = { 0 };

	byte_reader_copy(&file, &header, sizeof(header));
	return byte_reader_ok(&file) && header.magic == BTF_MAGIC && header.version == BTF_VERSION &&
	       open_section(&file, (uint64_t)header.hdr_len + header.type_off, header.type_len, &btf->types) &&
	       open_section(&file, (uint64_t)header.hdr_len + header.str_off, header.str_len, &btf->strings);
}

static bool is_named(const struct btf *btf, uint32_t name, const char *wanted)
{
	struct byte_reader r = btf->strings;
	const char *found;

	byte_reader_seek(&r, name);
	found = byte_reader_string(&r, NULL);
	return found && strcmp(found, wanted) == 0;
}

/* The size of the data that follows an entry. */
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

/* Reads the next entry. False at the end, and after an entry of an unknown kind, whose size is not known either. */
static bool next_entry(struct byte_reader *types, struct btf_entry *entry)
{
	struct btf_type type = { 0 };
	size_t size;

	if (byte_reader_left(types) == 0)
		return false;
	byte_reader_copy(types, &type, sizeof(type));
	if (!byte_reader_ok(types) || !find_body_size(type.info, &size))
		return false;
	*entry = (struct btf_entry){ type.name_off, type.info, byte_reader_split(types, size) };
	return byte_reader_ok(types);
}

static bool is_structure(const struct btf_entry *entry)
{
	uint32_t kind = BTF_INFO_KIND(entry->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

static bool find_structure(const struct btf *btf, const char *name, struct btf_entry *entry)
{
	struct byte_reader types = btf->types;

	while (next_entry(&types, entry))
		if (BTF_INFO_KIND(entry->info) == BTF_KIND_STRUCT && is_named(btf, entry->name, name))
			return true;
	return false;
}

/* Finds a type; ids start at 1. */
static bool find_by_id(const struct btf *btf, uint32_t id, struct btf_entry *entry)
{
	struct byte_reader types = btf->types;

	for (uint32_t i = 1; next_entry(&types, entry); i++)
		if (i == id)
			return is_structure(entry);
	return false;
}

/*
 * The offset of a member; false if it is a bit field. If the entry's flag is set, the upper byte is a bit field's size.
 */
static bool find_offset(const struct btf_entry *entry, const struct btf_member *member, uint32_t *bytes)
{
	bool has_sizes = BTF_INFO_KFLAG(entry->info);
	uint32_t bits = has_sizes ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;

	if (bits % BITS_OF_BYTE != 0 || (has_sizes && BTF_MEMBER_BITFIELD_SIZE(member->offset)))
		return false;
	*bytes = bits / BITS_OF_BYTE;
	return true;
}

static bool find_member(const struct search *search, const struct btf_entry *entry, uint32_t *offset);

static bool find_in_nested(const struct search *search, uint32_t id, uint32_t *offset)
{
	const struct search below = { search->btf, search->member, search->nested + 1 };
	struct btf_entry entry;

	return search->nested < MOST_NESTED && find_by_id(search->btf, id, &entry) &&
	       find_member(&below, &entry, offset);
}

static bool find_member(const struct search *search, const struct btf_entry *entry, uint32_t *offset)
{
	struct byte_reader members = entry->members;
	struct btf_member member = { 0 };
	uint32_t start, inner;

	for (uint32_t i = 0; i < BTF_INFO_VLEN(entry->info); i++) {
		byte_reader_copy(&members, &member, sizeof(member));
		if (!byte_reader_ok(&members))
			return false;
		if (member.name_off != 0 && is_named(search->btf, member.name_off, search->member))
			return find_offset(entry, &member, offset);
		if (member.name_off == 0 && find_offset(entry, &member, &start) &&
			find_in_nested(search, member.type, &inner)) {
			*offset = start + inner;
			return true;
		}
	}
	return false;
}

bool btf_find_member(const void *bytes, size_t size, const char *structure, const char *member, uint32_t *offset)
{
	struct btf btf;
	const struct search search = { &btf, member, 0 };
	struct btf_entry entry;

	return open_btf(bytes, size, &btf) && find_structure(&btf, structure, &entry) &&
	       find_member(&search, &entry, offset);
}
