/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/glob.h"

#include <fnmatch.h>
#include <string.h>

static bool is_special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

bool glob_matches(const char *glob, const char *text)
{
	size_t length, size;

	for (; *glob && !is_special(*glob); glob++, text++)
		if (*glob != *text)
			return false;
	if (*glob == '\0')
		return *text == '\0';
	length = strlen(text);
	size = strcspn(glob + 1, "*?[\\");
	if (glob[0] == '*' && glob[size + 1] == '\0')
		return length >= size && memcmp(text + length - size, glob + 1, size) == 0;
	if (glob[0] == '*' && glob[size + 1] == '*' && glob[size + 2] == '\0')
		return memmem(text, length, glob + 1, size) != NULL;
	return fnmatch(glob, text, 0) == 0;
}

bool glob_matches_any(const char *const *globs, const char *text)
{
	/* Nearly all globs of a list begin with another letter. */
	for (; globs && *globs; globs++)
		if ((**globs == *text || is_special(**globs)) && glob_matches(*globs, text))
			return true;
	return false;
}
