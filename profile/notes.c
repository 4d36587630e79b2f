/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/notes.h"

#include "profile/model.h"

#include <stdarg.h>

static void notes_add(struct profile_notes *notes, uint32_t text, bool is_doubt)
{
	for (size_t i = 0; i < notes->count; i++)
		if (notes->texts[i] == text)
			return;
	if (notes->count == PROFILE_MAX_NOTES) {
		notes->left_out++;
		return;
	}
	notes->are_doubts[notes->count] = is_doubt;
	notes->texts[notes->count++] = text;
}

__attribute__((format(printf, 4, 0))) static bool notes_add_text(
	struct profile *profile, bool is_doubt, struct error *err, const char *format, va_list arguments)
{
	char text[400];
	uint32_t string;

	vsnprintf(text, sizeof(text), format, arguments);
	if (!profile_intern(profile, text, &string, err))
		return false;
	notes_add(&profile->notes, string, is_doubt);
	return true;
}

bool profile_add_doubt(struct profile *profile, struct error *err, const char *format, ...)
{
	va_list arguments;
	bool ok;

	va_start(arguments, format);
	ok = notes_add_text(profile, true, err, format, arguments);
	va_end(arguments);
	return ok;
}

bool profile_add_remark(struct profile *profile, struct error *err, const char *format, ...)
{
	va_list arguments;
	bool ok;

	va_start(arguments, format);
	ok = notes_add_text(profile, false, err, format, arguments);
	va_end(arguments);
	return ok;
}

const char *profile_first_doubt(const struct profile *profile)
{
	for (size_t i = 0; i < profile->notes.count; i++)
		if (profile->notes.are_doubts[i])
			return profile_string(profile, profile->notes.texts[i]);
	return NULL;
}

void profile_add_notes(struct profile_notes *into, const struct profile_notes *from, const uint32_t *texts)
{
	for (size_t i = 0; i < from->count; i++)
		notes_add(into, texts[from->texts[i]], from->are_doubts[i]);
	into->left_out += from->left_out;
}
