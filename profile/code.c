/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the code of functions in a profile: each byte of a binary once, in order. */
#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

/* Returns the first code that begins behind an address. */
static size_t find_behind(const struct profile *profile, uint32_t mapping, uint64_t address)
{
	return BISECT(profile->code_count, i,
		profile->codes[i].mapping < mapping ||
			(profile->codes[i].mapping == mapping && profile->codes[i].address <= address));
}

static bool profile_code_holds(const struct profile_code *code, uint32_t mapping, uint64_t address)
{
	return code->mapping == mapping && address >= code->address && address - code->address < code->size;
}

const struct profile_code *profile_find_code(const struct profile *profile, uint32_t mapping, uint64_t address)
{
	size_t behind = find_behind(profile, mapping, address);
	const struct profile_code *code = behind > 0 ? &profile->codes[behind - 1] : NULL;

	return code && code->bytes && profile_code_holds(code, mapping, address) ? code : NULL;
}

/* Returns whether the bytes that two overlapping pieces share are the same. */
static bool agrees(const struct profile_code *left, const struct profile_code *right)
{
	const struct profile_code *first = left->address < right->address ? left : right;
	const struct profile_code *second = first == left ? right : left;
	uint64_t offset = second->address - first->address;
	size_t shared = first->size - offset < second->size ? first->size - offset : second->size;

	return left->bytes && right->bytes && left->machine == right->machine &&
	       memcmp(first->bytes + offset, second->bytes, shared) == 0;
}

/* Drops the bytes of a piece that differs in two binaries: which of them was sampled is not known any more. */
static void profile_code_mix(struct profile *profile, struct profile_code *code)
{
	if (code->bytes)
		profile->index->code_bytes -= code->size;
	free(code->bytes);
	code->bytes = NULL;
	code->machine = 0;
}

/* Compares with all that overlaps, from the piece `at` on; whether there is any. */
static bool profile_code_compare(struct profile *profile, size_t at, const struct profile_code *code)
{
	bool is_known = false;

	for (; at < profile->code_count; at++) {
		struct profile_code *known = &profile->codes[at];

		if (!profile_code_holds(known, code->mapping, code->address) &&
			!profile_code_holds(code, known->mapping, known->address))
			break;
		is_known = true;
		if (!agrees(known, code))
			profile_code_mix(profile, known);
	}
	return is_known;
}

static bool insert(struct profile *profile, size_t at, const struct profile_code *code, struct error *err)
{
	struct profile_code *codes;
	uint8_t *bytes = NULL;

	if (!ARRAY_RESERVE(
		    &profile->codes, &profile->index->code_capacity, profile->code_count + 1, PROFILE_MAX_CODES, err))
		return false;
	if (code->bytes) {
		bytes = malloc(code->size);
		if (!bytes)
			return error_set_memory(err);
		memcpy(bytes, code->bytes, code->size);
		profile->index->code_bytes += code->size;
	}
	codes = profile->codes;
	memmove(&codes[at + 1], &codes[at], (profile->code_count - at) * sizeof(*codes));
	codes[at] = *code;
	codes[at].bytes = bytes;
	profile->code_count++;
	return true;
}

static bool profile_code_is_place(const struct profile *profile, const struct profile_code *code)
{
	return code->mapping < profile->mapping_count && code->size > 0 &&
	       code->size <= PROFILE_MAX_FUNCTION_CODE_BYTES && code->address <= UINT64_MAX - code->size;
}

bool profile_add_code(struct profile *profile, const struct profile_code *code, struct error *err)
{
	size_t at, before;

	if (!profile_code_is_place(profile, code))
		return error_set(err, ERROR_FORMAT, "the code at 0x%llx of mapping %u is of no mapping or too long",
			(unsigned long long)code->address, code->mapping);
	at = find_behind(profile, code->mapping, code->address);
	before = at > 0 && profile_code_holds(&profile->codes[at - 1], code->mapping, code->address) ? at - 1 : at;
	if (profile_code_compare(profile, before, code))
		return true;
	if (profile->code_count == PROFILE_MAX_CODES ||
		profile->index->code_bytes + code->size > PROFILE_MAX_MERGED_CODE_BYTES)
		return true;
	return insert(profile, at, code, err);
}

bool profile_validate_codes(const struct profile *profile, struct error *err)
{
	size_t bytes = 0;

	for (size_t i = 0; i < profile->code_count; i++) {
		const struct profile_code *code = &profile->codes[i], *before = i > 0 ? &code[-1] : NULL;

		bytes += code->bytes ? code->size : 0;
		if (!profile_code_is_place(profile, code) || bytes > PROFILE_MAX_MERGED_CODE_BYTES)
			return error_set(err, ERROR_FORMAT, "code %zu is of no mapping or too long", i);
		if (!code->bytes && code->machine)
			return error_set(err, ERROR_FORMAT, "code %zu is not there", i);
		if (before && (before->mapping > code->mapping ||
				      (before->mapping == code->mapping &&
					      (before->address > code->address ||
						      profile_code_holds(before, code->mapping, code->address)))))
			return error_set(err, ERROR_FORMAT, "code %zu is not in order", i);
	}
	return true;
}
