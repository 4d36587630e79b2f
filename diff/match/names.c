/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/names.h"

#include "profile/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

int names_compare(const char *a, const char *b)
{
	/* A name that is longer than any compiler writes is compared by its beginning, then byte by byte. */
	enum { MOST_NAME = 1024 };
	size_t a_size = strlen(a) - strlen(profile_split_key(a).module),
	       b_size = strlen(b) - strlen(profile_split_key(b).module);
	char x[MOST_NAME + 1], y[MOST_NAME + 1];
	int order;

	snprintf(x, sizeof(x), "%.*s", (int)(a_size < MOST_NAME ? a_size : MOST_NAME), a);
	snprintf(y, sizeof(y), "%.*s", (int)(b_size < MOST_NAME ? b_size : MOST_NAME), b);
	order = strverscmp(x, y);
	if (order == 0)
		order = memcmp(a, b, a_size < b_size ? a_size : b_size);
	return order ? order : ORDER(a_size, b_size);
}

bool names_are_one(const char *a, const char *b)
{
	size_t size = profile_split_key(a).name_bytes;

	return profile_split_key(b).name_bytes == size && memcmp(a, b, size) == 0;
}

/* Returns where the last component of a path begins. */
static const char *names_last_component(const char *start, const char *end)
{
	while (end > start && end[-1] != '/' && end[-1] != '\\')
		end--;
	return end;
}

double names_differ_in_file(const char *left, const char *right)
{
	struct profile_key_parts a = profile_split_key(left), b = profile_split_key(right);
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

bool names_has_line(const char *key)
{
	struct profile_key_parts parts = profile_split_key(key);
	size_t digits = 0;

	while (digits < parts.name_bytes && isdigit((unsigned char)key[parts.name_bytes - 1 - digits]))
		digits++;
	return parts.line > 0 || (digits > 0 && digits < parts.name_bytes && key[parts.name_bytes - 1 - digits] == ':');
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
