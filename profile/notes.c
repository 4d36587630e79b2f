/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/notes.h"

#include "profile/profile.h"

#include <stdarg.h>

static void notes_add(struct profile_notes *notes, uint32_t text)
{
	for (size_t i = 0; i < notes->count; i++)
		if (notes->texts[i] == text)
			return;
	if (notes->count < PROFILE_MAX_NOTES)
		notes->texts[notes->count++] = text;
	else
		notes->left_out++;
}

bool profile_add_note(struct profile *profile, struct error *err, const char *format, ...)
{
	char text[400];
	uint32_t string;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!profile_intern(profile, text, &string, err))
		return false;
	notes_add(&profile->notes, string);
	return true;
}

void profile_add_notes(struct profile_notes *into, const struct profile_notes *from, const uint32_t *texts)
{
	for (size_t i = 0; i < from->count; i++)
		notes_add(into, texts[from->texts[i]]);
	into->left_out += from->left_out;
}
