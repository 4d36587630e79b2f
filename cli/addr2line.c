/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/addr2line.h"

#include <inttypes.h>
#include <string.h>

static const char *file_of(const struct addr2line_style *style, const struct symbolize_frame *frame)
{
	const char *slash = strrchr(frame->file, '/');

	if (frame->file[0] == '\0')
		return "??";
	return style->basenames && slash ? slash + 1 : frame->file;
}

static void print_frame(FILE *stream, const struct addr2line_style *style, const struct symbolize_frame *frame)
{
	fprintf(stream, "%s%s%s:", frame->name[0] ? frame->name : "??", style->pretty ? " at " : "\n", file_of(style, frame));
	if (frame->line)
		fprintf(stream, "%" PRIu32 "\n", frame->line);
	else
		fputs("?\n", stream);
}

/* A name made of the module and the address is Kelvin's own; addr2line has "??" for it. */
static bool is_unknown(const struct symbolize_frames *frames)
{
	return frames->count == 0 || (frames->count == 1 && frames->frames[0].source == PROFILE_NAME_NONE);
}

void addr2line_print(FILE *stream, const struct addr2line_style *style, uint64_t address, const struct symbolize_frames *frames)
{
	fprintf(stream, "0x%0*" PRIx64 "%s", style->wide ? 16 : 8, address, style->pretty ? ": " : "\n");
	if (is_unknown(frames)) {
		fprintf(stream, "??%s??:0\n", style->pretty ? " " : "\n");
		return;
	}
	for (size_t i = 0; i < frames->count; i++) {
		if (i > 0 && style->pretty)
			fputs(" (inlined by) ", stream);
		print_frame(stream, style, &frames->frames[i]);
	}
}
