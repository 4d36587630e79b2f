/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/addr2line.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 24 };

/* There may be hundreds of thousands of lines, so strings are written without a format to parse. */
static void put(FILE *stream, const char *text)
{
	fputs_unlocked(text, stream);
}

/* A foreign file's name must not control a terminal; a program gets its bytes unchanged. */
static void put_foreign(FILE *stream, const struct addr2line_style *style, const char *text)
{
	struct buffer clean = BUFFER_INIT(MAX_TEXT_BYTES);

	if (!style->is_terminal) {
		put(stream, text);
		return;
	}
	unicode_append_clean(&clean, text);
	fwrite_unlocked(clean.data ? clean.data : "", 1, clean.size, stream);
	buffer_deinit(&clean);
}

static void addr2line_put_number(FILE *stream, uint32_t number)
{
	char digits[12], *pos = digits + sizeof(digits);

	*--pos = '\0';
	do
		*--pos = (char)('0' + number % 10);
	while (number /= 10);
	put(stream, pos);
}

static const char *file_of(const struct addr2line_style *style, const struct symbolize_frame *frame)
{
	const char *slash = strrchr(frame->file, '/');

	if (frame->file[0] == '\0')
		return "??";
	return style->basenames && slash ? slash + 1 : frame->file;
}

static void print_frame(
	FILE *stream, const struct addr2line_style *style, const struct symbolize_frame *frame, const char *note)
{
	const char *name = style->mangled && frame->linkage_name[0] ? frame->linkage_name : frame->name;

	put_foreign(stream, style, name[0] ? name : "??");
	put(stream, style->pretty ? " at " : "\n");
	put_foreign(stream, style, file_of(style, frame));
	put(stream, ":");
	if (frame->line)
		addr2line_put_number(stream, frame->line);
	else
		put(stream, "?");
	put(stream, note);
	put(stream, "\n");
}

/* Returns whether kelvin made the name of the module and the address; addr2line prints "??" then. */
static bool is_unknown(const struct symbolize_frames *frames)
{
	return frames->count == 0 || (frames->count == 1 && frames->frames[0].source == PROFILE_NAME_NONE);
}

void addr2line_print(FILE *stream, const struct addr2line_style *style, uint64_t address,
	const struct symbolize_frames *frames, char *const *notes)
{
	fprintf(stream, "0x%0*" PRIx64 "%s", style->wide ? 16 : 8, address, style->pretty ? ": " : "\n");
	if (is_unknown(frames)) {
		put(stream, style->pretty ? "?? ??:0\n" : "??\n??:0\n");
		return;
	}
	for (size_t i = 0; i < frames->count; i++) {
		if (i > 0 && style->pretty)
			put(stream, " (inlined by) ");
		print_frame(stream, style, &frames->frames[i], notes ? notes[i] : "");
	}
}
