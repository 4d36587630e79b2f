/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A foreign file's name must not control a terminal; a program gets its bytes unchanged. */
static void addr2line_append_foreign(struct buffer *out, const struct addr2line_style *style, const char *text)
{
	if (style->is_terminal)
		unicode_append_clean(out, text);
	else
		buffer_append_string(out, text);
}

/* There may be hundreds of thousands of lines, so numbers are written without a format to parse. */
static void addr2line_append_number(struct buffer *out, uint32_t number)
{
	char digits[12], *pos = digits + sizeof(digits);

	*--pos = '\0';
	do
		*--pos = (char)('0' + number % 10);
	while (number /= 10);
	buffer_append_string(out, pos);
}

static const char *file_of(const struct addr2line_style *style, const struct symbolize_frame *frame)
{
	const char *slash = strrchr(frame->file, '/');

	if (frame->file[0] == '\0')
		return "??";
	return style->basenames && slash ? slash + 1 : frame->file;
}

static void addr2line_append_frame(
	struct buffer *out, const struct addr2line_style *style, const struct symbolize_frame *frame, const char *note)
{
	const char *name = style->mangled && frame->linkage_name[0] ? frame->linkage_name : frame->name;

	addr2line_append_foreign(out, style, name[0] ? name : "??");
	buffer_append_string(out, style->pretty ? " at " : "\n");
	addr2line_append_foreign(out, style, file_of(style, frame));
	buffer_append_string(out, ":");
	if (frame->line)
		addr2line_append_number(out, frame->line);
	else
		buffer_append_string(out, "?");
	buffer_append_string(out, note);
	buffer_append_string(out, "\n");
}

/* Returns whether kelvin made the name of the module and the address; addr2line prints "??" then. */
static bool is_unknown(const struct symbolize_frames *frames)
{
	return frames->count == 0 || (frames->count == 1 && frames->frames[0].source == PROFILE_NAME_NONE);
}

void addr2line_append(struct buffer *out, const struct addr2line_style *style, uint64_t address,
	const struct symbolize_frames *frames, char *const *notes)
{
	buffer_printf(out, "0x%0*" PRIx64 "%s", style->wide ? 16 : 8, address, style->pretty ? ": " : "\n");
	if (is_unknown(frames)) {
		buffer_append_string(out, style->pretty ? "?? ??:0\n" : "??\n??:0\n");
		return;
	}
	for (size_t i = 0; i < frames->count; i++) {
		if (i > 0 && style->pretty)
			buffer_append_string(out, " (inlined by) ");
		addr2line_append_frame(out, style, &frames->frames[i], notes ? notes[i] : "");
	}
}

/* Returns a note such as " (library: source of a standard library)"; NULL if memory runs out. */
static char *addr2line_origin_note(
	const struct addresses_asked *asked, const struct symbolize_result *result, const struct symbolize_frame *frame)
{
	enum profile_origin origin;
	enum symbolize_rule rule;
	struct error ignored;
	char *note = NULL;

	if (!symbolize_frame_origin(result, asked->image, frame, asked->options, &origin, &rule, &ignored) ||
		asprintf(&note, " (%s: %s)", profile_origin_name(origin), symbolize_rule_text(rule)) < 0)
		return NULL;
	return note;
}

bool addr2line_append_explained(struct buffer *out, const struct addr2line_style *style,
	const struct addresses_asked *asked, const struct symbolize_result *result, uint64_t address,
	const struct symbolize_frames *frames, struct error *err)
{
	char **notes = calloc(frames->count + 1, sizeof(*notes));
	bool ok = notes != NULL;

	for (size_t i = 0; ok && i < frames->count; i++)
		ok = (notes[i] = addr2line_origin_note(asked, result, &frames->frames[i]));
	if (ok)
		addr2line_append(out, style, address, frames, notes);
	for (size_t i = 0; notes && i < frames->count; i++)
		free(notes[i]);
	free(notes);
	return ok || error_set_memory(err);
}
