/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of functions: names, values, intervals and states. */
#include "render/changes.h"
#include "render/page_data.h"

#include "diff/diff.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The strings of the functions, each once, numbered in the order of first use. */
struct text_table {
	uint32_t *numbers; /* [string id of the diff] number + 1; 0: not used yet */
	size_t count;
	struct buffer bytes; /* UTF-8, with a NUL between two strings */
};

/*
 * Returns the length of the UTF-8 sequence at `c`, or 0 if it is none: no overlong forms, no surrogates, nothing above
 * U+10FFFF.
 */
static size_t sequence_length(const unsigned char *c)
{
	size_t length = c[0] < 0x80                   ? 1
			: c[0] >= 0xc2 && c[0] < 0xe0 ? 2
			: c[0] >= 0xe0 && c[0] < 0xf0 ? 3
			: c[0] >= 0xf0 && c[0] < 0xf5 ? 4
						      : 0;

	for (size_t i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) ||
		(c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return length;
}

void page_data_append_utf8(struct buffer *out, const char *string)
{
	const unsigned char *c = (const unsigned char *)string;

	while (*c) {
		size_t length = sequence_length(c);

		if (length)
			buffer_append(out, c, length);
		else
			buffer_append_string(out, "\xef\xbf\xbd");
		c += length ? length : 1;
	}
}

static uint32_t page_functions_text_number(struct text_table *table, const struct diff *diff, uint32_t string)
{
	if (!table->numbers[string]) {
		if (table->count)
			buffer_append_byte(&table->bytes, 0);
		page_data_append_utf8(&table->bytes, diff_string(diff, string));
		table->numbers[string] = (uint32_t)++table->count;
	}
	return table->numbers[string] - 1;
}

/* Returns whether a key consists of the shown name and the module, as most do; it is not written then. */
static bool key_is_usual(const struct diff *diff, const struct diff_function *f)
{
	const char *key = diff_string(diff, f->key), *name = diff_string(diff, f->shown);
	size_t length = strlen(name);

	return strncmp(key, name, length) == 0 && key[length] == '`' &&
	       strcmp(key + length + 1, diff_string(diff, f->module)) == 0;
}

/* Appends a string that is usually equal to another one: 0 where it is. */
static void append_other(
	struct buffer *out, struct text_table *table, const struct diff *diff, uint32_t string, uint32_t usual)
{
	buffer_append_varint(out, string == usual ? 0 : (uint64_t)page_functions_text_number(table, diff, string) + 1);
}

static void append_places(struct buffer *out, struct text_table *table, const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_varint(out, page_functions_text_number(table, diff, diff->functions[i].module));
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_varint(out, page_functions_text_number(table, diff, diff->functions[i].file));
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_varint(
			out, key_is_usual(diff, &diff->functions[i])
				     ? 0
				     : (uint64_t)page_functions_text_number(table, diff, diff->functions[i].key) + 1);
	for (size_t i = 0; i < diff->function_count; i++)
		append_other(out, table, diff, diff->functions[i].name, diff->functions[i].shown);
	for (size_t i = 0; i < diff->function_count; i++)
		append_other(out, table, diff, diff->functions[i].shown_in, diff->functions[i].module);
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_varint(out, diff->functions[i].line);
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_varint(out, diff->functions[i].origin_rule);
}

struct page_functions_ranked {
	const char *key;
	uint32_t function;
};

static int page_functions_compare_ranked(const void *left, const void *right)
{
	const struct page_functions_ranked *a = left, *b = right;
	int order = strcmp(a->key, b->key);

	return order ? order : ORDER(a->function, b->function);
}

/* Appends the rank of each function's key, by which the viewer sorts siblings that it makes. */
static void append_ranks(struct buffer *out, const struct diff *diff)
{
	CLEANUP(cleanup_free)
	struct page_functions_ranked *ranked = memory_zeroed(diff->function_count + 1, sizeof(*ranked));
	CLEANUP(cleanup_free) uint32_t *ranks = memory_zeroed(diff->function_count + 1, sizeof(*ranks));

	for (uint32_t i = 0; i < diff->function_count; i++)
		ranked[i] = (struct page_functions_ranked){ diff_string(diff, diff->functions[i].key), i };
	qsort(ranked, diff->function_count, sizeof(*ranked), page_functions_compare_ranked);
	for (uint32_t i = 0; i < diff->function_count; i++)
		ranks[ranked[i].function] = i;
	for (uint32_t i = 0; i < diff->function_count; i++)
		buffer_append_varint(out, ranks[i]);
}

/* The viewer's origins of functions beside the program: the numbers after the last of enum profile_origin. */
enum { ORIGIN_INTERRUPTS = PROFILE_ORIGIN_COUNT, ORIGIN_COMPILATION };

/* Above the language of a function, the byte has the one that it interprets. */
enum { INTERPRETS_SHIFT = 4 };
_Static_assert(PROFILE_LANGUAGE_COUNT <= 1 << INTERPRETS_SHIFT, "half a byte tells a language");

static void page_functions_append_facts(struct buffer *out, const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		buffer_append_byte(out, f->compiles    ? (uint8_t)ORIGIN_COMPILATION
					: f->interrupt ? (uint8_t)ORIGIN_INTERRUPTS
						       : (uint8_t)f->origin);
	}
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_byte(out, (uint8_t)diff->functions[i].name_source);
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_byte(out, (uint8_t)diff->functions[i].code);
	for (size_t i = 0; i < diff->function_count; i++)
		buffer_append_byte(out,
			(uint8_t)(diff->functions[i].language | diff->functions[i].interprets << INTERPRETS_SHIFT));
}

static void append_float(struct buffer *out, double value)
{
	float narrow = (float)value;
	uint32_t bits;

	memcpy(&bits, &narrow, sizeof(bits));
	for (int shift = 0; shift < 32; shift += 8)
		buffer_append_byte(out, (uint8_t)(bits >> shift));
}

static void append_estimates(struct buffer *out, const struct diff *diff, size_t offset)
{
	static const size_t fields[] = { offsetof(struct diff_estimate, base), offsetof(struct diff_estimate, head),
		offsetof(struct diff_estimate, ci_low), offsetof(struct diff_estimate, ci_high),
		offsetof(struct diff_estimate, detectable) };

	for (size_t field = 0; field < sizeof(fields) / sizeof(fields[0]); field++)
		for (size_t i = 0; i < diff->function_count; i++) {
			double value;

			memcpy(&value, (const char *)&diff->functions[i] + offset + fields[field], sizeof(value));
			append_float(out, value);
		}
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_estimate *e = (const void *)((const char *)&diff->functions[i] + offset);

		buffer_append_byte(out, (uint8_t)e->state);
	}
}

/* A number that PROFILE_NONE has, too. */
static void append_id(struct buffer *out, uint32_t id)
{
	buffer_append_varint(out, id == PROFILE_NONE ? 0 : (uint64_t)id + 1);
}

/* A place that much of a change is waiting at, its lock, and who ended most of these waits on each side. */
static void append_wait(
	struct buffer *out, struct text_table *table, const struct diff *diff, const struct diff_wait_site *site)
{
	buffer_append_varint(out, (uint64_t)site->wait_class + 1);
	append_id(out, site->function);
	append_id(out, site->lock ? page_functions_text_number(table, diff, site->lock) : PROFILE_NONE);
	buffer_append_varint(out, site->lock_number);
	for (int side = 0; side < DIFF_SIDES; side++)
		append_id(out, diff_released_by_on(diff, site, (enum diff_side)side));
}

enum { CHANGE_IS_SELF = 1, CHANGE_IS_OF_OTHERS = 2, CHANGE_IS_CUT = 4 };

static void append_changes(struct buffer *out, struct text_table *table, const struct diff *diff)
{
	buffer_append_varint(out, diff->change_count);
	for (size_t i = 0; i < diff->change_count; i++) {
		const struct diff_change *change = &diff->changes[i];
		struct change_names names = change_names(diff, change);

		buffer_append_varint(out, (names.is_cut ? CHANGE_IS_CUT : 0) | (change->is_self ? CHANGE_IS_SELF : 0) |
						  (change->is_of_others ? CHANGE_IS_OF_OTHERS : 0));
		buffer_append_varint(out, change->function);
		append_id(out, change->caller);
		append_id(out, names.to);
		buffer_append_varint(out, change->count);
		for (size_t k = 0; k < change->count; k++)
			buffer_append_varint(out, diff->change_functions[change->first + k]);
		buffer_append_varint(out, change->wait_count);
		for (size_t k = 0; k < change->wait_count; k++)
			append_wait(out, table, diff, &diff->wait_sites[change->wait_sites[k]]);
	}
}

/* Appends what the first picture needs; the viewer reads the rest when it is asked about a function. */
static void append_first(struct buffer *out, struct text_table *table, const struct diff *diff)
{
	CLEANUP(cleanup_free) uint64_t *names = memory_zeroed(diff->function_count + 1, sizeof(*names));

	buffer_append_varint(out, diff->function_count);
	page_functions_append_facts(out, diff);
	if (diff->sides == 2) {
		append_estimates(out, diff, offsetof(struct diff_function, self));
		append_estimates(out, diff, offsetof(struct diff_function, total));
		for (size_t i = 0; i < diff->function_count; i++)
			buffer_append_byte(out, (uint8_t)diff->functions[i].tier);
	}
	for (size_t i = 0; i < diff->function_count; i++)
		names[i] = page_functions_text_number(table, diff, diff->functions[i].shown);
	page_data_append_fixed(out, names, diff->function_count);
	if (diff->sides == 2)
		append_changes(out, table, diff);
}

/* Appends the lines that changed most of functions whose own change is proven. */
static void append_changed_lines(struct buffer *out, const struct render_input *input)
{
	CLEANUP(cleanup_free) uint32_t *lines = memory_zeroed(input->diff->function_count + 1, sizeof(*lines));

	diff_changed_lines(input->diff, input->profiles, lines);
	for (size_t i = 0; i < input->diff->function_count; i++)
		buffer_append_varint(out, lines[i]);
}

/* Appends the functions of groups, which nothing tells apart from build to build, with their times as measured. */
static void append_members(struct buffer *out, struct text_table *table, const struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->member_count; i++)
		count += diff->functions[diff->members[i].function].tier == DIFF_TIER_GROUP;
	buffer_append_varint(out, count);
	for (size_t i = 0; i < diff->member_count; i++) {
		const struct diff_member *member = &diff->members[i];

		if (diff->functions[member->function].tier != DIFF_TIER_GROUP)
			continue;
		buffer_append_varint(out, member->function);
		buffer_append_varint(out, (uint64_t)member->side);
		buffer_append_varint(out, page_functions_text_number(table, diff, member->name));
		append_float(out, member->raw_self);
		append_float(out, member->raw_total);
	}
}

static void append_details(struct buffer *out, struct text_table *table, const struct render_input *input)
{
	const struct diff *diff = input->diff;

	append_places(out, table, diff);
	append_ranks(out, diff);
	for (size_t i = 0; diff->sides == 2 && i < diff->function_count; i++)
		buffer_append_varint(out,
			diff->functions[i].moved_to == PROFILE_NONE ? 0 : (uint64_t)diff->functions[i].moved_to + 1);
	if (diff->sides != 2)
		return;
	append_changed_lines(out, input);
	append_members(out, table, diff);
}

bool page_data_functions(const struct render_input *input, struct buffer *out, struct error *err)
{
	const struct diff *diff = input->diff;
	CLEANUP(cleanup_free)
	uint32_t *numbers = memory_zeroed((size_t)string_table_count(diff->strings) + 1, sizeof(*numbers));
	struct text_table table = { .numbers = numbers };
	struct buffer details;
	bool ok;

	buffer_init(&table.bytes, (size_t)1 << 30);
	buffer_init(&details, (size_t)1 << 30);
	append_first(out, &table, diff);
	append_details(&details, &table, input);
	ok = buffer_ok(&table.bytes, err) && buffer_ok(&details, err);
	if (ok) {
		buffer_append_varint(out, table.count);
		buffer_append_varint(out, table.bytes.size);
		buffer_append(out, table.bytes.data, table.bytes.size);
		buffer_append(out, details.data, details.size);
	}
	buffer_deinit(&table.bytes);
	buffer_deinit(&details);
	return ok && buffer_ok(out, err);
}
