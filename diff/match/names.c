/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/names.h"

#include <ctype.h>
#include <string.h>

struct names_key names_of(const char *key)
{
	return (struct names_key){ key, profile_split_key(key) };
}

/* Returns the end of what is compared: of the name with its file. */
static const char *names_end(const struct names_key *key)
{
	return key->parts.module[0] ? key->parts.module : key->text + strlen(key->text);
}

/* Skips a number, from the first digit that counts on. */
static const char *names_skip_number(const char **at, const char *end)
{
	const char *last;

	while (*at < end && **at == '0')
		++*at;
	for (last = *at; last < end && isdigit((unsigned char)*last);)
		last++;
	return last;
}

static int names_compare_bytes(const char *x, const char *x_end, const char *y, const char *y_end)
{
	return x_end - x != y_end - y ? ORDER(x_end - x, y_end - y) : memcmp(x, y, (size_t)(x_end - x));
}

int names_compare(const struct names_key *a, const struct names_key *b)
{
	const char *x = a->text, *y = b->text, *x_end = names_end(a), *y_end = names_end(b);

	while (x < x_end && y < y_end) {
		if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
			const char *x_behind = names_skip_number(&x, x_end), *y_behind = names_skip_number(&y, y_end);
			int order = names_compare_bytes(x, x_behind, y, y_behind);

			if (order != 0)
				return order;
			x = x_behind;
			y = y_behind;
		} else if (*x != *y) {
			return ORDER((unsigned char)*x, (unsigned char)*y);
		} else {
			x++;
			y++;
		}
	}
	if (x < x_end || y < y_end)
		return x < x_end ? 1 : -1;
	/* They are one but for zeros before their numbers. */
	return names_compare_bytes(a->text, x_end, b->text, y_end);
}

bool names_are_one(const struct names_key *a, const struct names_key *b)
{
	size_t size = a->parts.name_bytes;

	return b->parts.name_bytes == size && memcmp(a->text, b->text, size) == 0;
}

/* Returns where the last component of a path begins. */
static const char *names_last_component(const char *start, const char *end)
{
	while (end > start && end[-1] != '/' && end[-1] != '\\')
		end--;
	return end;
}

double names_differ_in_file(const struct names_key *left, const struct names_key *right)
{
	struct profile_key_parts a = left->parts, b = right->parts;
	const char *ends[] = { a.file + a.file_bytes, b.file + b.file_bytes };
	double common = 0, all = 0;

	if (a.file_bytes == 0 || b.file_bytes == 0)
		return 0;
	/* From the end on, until the first that differs. */
	for (bool is_common = true; ends[0] > a.file || ends[1] > b.file; all++) {
		const char *starts[] = { names_last_component(a.file, ends[0]), names_last_component(b.file, ends[1]) };
		size_t size = (size_t)(ends[0] - starts[0]);

		is_common =
			is_common && size == (size_t)(ends[1] - starts[1]) && memcmp(starts[0], starts[1], size) == 0;
		common += is_common;
		ends[0] = starts[0] > a.file ? starts[0] - 1 : a.file;
		ends[1] = starts[1] > b.file ? starts[1] - 1 : b.file;
	}
	return 1 - common / all;
}

bool names_has_line(const struct names_key *key)
{
	const char *name = key->text;
	size_t size = key->parts.name_bytes, digits = 0;

	while (digits < size && isdigit((unsigned char)name[size - 1 - digits]))
		digits++;
	return key->parts.line > 0 || (digits > 0 && digits < size && name[size - 1 - digits] == ':');
}

bool names_is_unnamed(const char *key)
{
	static const char mark[] = "[unnamed]`";

	return strncmp(key, mark, sizeof(mark) - 1) == 0;
}

void names_append_module(const char *key, struct buffer *out)
{
	static const char mark[] = "+0x";
	struct profile_key_parts parts = profile_split_key(key);
	const char *plus = memmem(key, parts.name_bytes, mark, sizeof(mark) - 1);
	CLEANUP(buffer_deinit) struct buffer path = BUFFER_INIT(SIZE_MAX / 2);

	if (!plus || plus == key || parts.module[0] != '\0')
		return;
	buffer_append(&path, key, (size_t)(plus - key));
	profile_module_name(path.data, out);
}

bool names_has_none(const char *key)
{
	static const char mark[] = "[code ";

	return names_is_unnamed(key) || strncmp(key, mark, sizeof(mark) - 1) == 0;
}
