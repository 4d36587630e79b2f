/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions line by line: known times of lines, texts that changed, that are missing, that are very long or mean harm.
 */
#include "kinds.h"

#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 10, STEADY = 30, STEADY_MS = 40, STACK_BYTES = 256, MOST_FRAMES = 8 };
enum { GENERATED_FIRST = 998, GENERATED_LINES = 5000 };

/* ---- Texts ---- */

#define HTTP "src/http.c"

static const struct text_line {
	int line[DIFF_SIDES]; /* 0: the side has no such line */
	const char *text[DIFF_SIDES];
} parse_header_lines[] = {
#define BOTH(base, head, text)                                                                                         \
	{                                                                                                              \
		{ base, head },                                                                                        \
		{                                                                                                      \
			text, text                                                                                     \
		}                                                                                                      \
	}
	BOTH(38, 40, "static size_t parse_header(struct request *r, const char *p, size_t n)"),
	BOTH(39, 41, "{"),
	BOTH(40, 42, "\tsize_t i, length = 0;"),
	BOTH(41, 43, ""),
	{ { 0, 44 }, { "", "\tif (n > MOST_HEADER)" } },
	{ { 0, 45 }, { "", "\t\treturn 0;" } },
	BOTH(42, 46, "\tfor (i = 0; i < n; i++) {"),
	{ { 43, 47 }, { "\t\tif (fast_match(p + i))", "\t\tif (regexec(&r->name, p + i, 0, NULL, 0) == 0)" } },
	BOTH(44, 48, "\t\t\tbreak;"),
	BOTH(45, 49, "\t\tlength += weight_of(p[i]);"),
	BOTH(46, 50, "\t}"),
	BOTH(47, 51, "\t/* What follows is rarely run: nothing of it has time. */"),
	BOTH(48, 52, "\tif (i == n)"),
	BOTH(49, 53, "\t\treturn 0;"),
	BOTH(50, 54, "\tif (p[i] == '\\r')"),
	BOTH(51, 55, "\t\ti++;"),
	BOTH(52, 56, "\tif (p[i] == '\\n')"),
	BOTH(53, 57, "\t\ti++;"),
	BOTH(54, 58, "\tif (p[i] == ' ' || p[i] == '\\t')"),
	BOTH(55, 59, "\t\tlength++;"),
	BOTH(56, 60, "\tr->header_count++;"),
	BOTH(57, 61, "\tif (r->is_folded)"),
	BOTH(58, 62, "\t\treturn parse_header(r, p + i, n - i);"),
	BOTH(59, 63, "\tcopy_value(r, p, length);"),
	{ { 60, 0 }, { "\tcount_bytes(r, length);", "" } },
	BOTH(61, 64, "\treturn length;"),
	BOTH(62, 65, "}"),
};

/* From line 8 on; a line of 5,000 letters follows, and the end. */
static const char *const weird_lines[] = {
	"int weird(void)",
	"{",
	"\t</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>",
	"\tbell\x07 escape\x1b[31m tab\there return\r delete\x7f",
	"\t\xe2\x80\xaeright to left\xe2\x80\xac and \xff\xfe broken utf-8",
};

enum { WEIRD_LINE = 8, LONG_LINE = 5000 };

/* ---- Samples ---- */

/*
 * Of a run. Frames are "name^line", root first; "outer^7|inner^3" is code of `inner` that was inlined at line 7 of
 * `outer`; "name^file.h:7" is a line in another file.
 */
static const struct {
	const char *stack;
	int ms[DIFF_SIDES];
} rows[] = {
	{ "main^5;serve^12;parse_header^#42", { 30, 30 } },
	{ "main^5;serve^12;parse_header^#43|fast_match^7", { 90, 0 } },
	{ "main^5;serve^12;parse_header^#43", { 10, 12 } },
	{ "main^5;serve^12;parse_header^#43;regexec^0", { 0, 240 } },
	{ "main^5;serve^12;parse_header^#45|weight_of^3", { 50, 50 } },
	{ "main^5;serve^12;parse_header^#59;copy_value^21", { 60, 60 } },
	{ "main^5;serve^12;parse_header^include/limits.h:7", { 8, 8 } },
	{ "main^5;serve^12;parse_header^#60;count_bytes^31", { 25, 0 } },
	{ "main^5;serve^12;parse_header^#58;parse_header^#42", { 20, 20 } },
	{ "main^5;serve^12;parse_header^#58;parse_header^#58;parse_header^#45|weight_of^3", { 15, 15 } },
	{ "main^5;serve^14;no_text^102", { 40, 40 } },
	{ "main^5;serve^14;no_text^105;copy_value^21", { 30, 30 } },
	{ "main^5;serve^16;weird^10", { 80, 80 } },
	{ "main^5;serve^16;weird^13", { 80, 80 } },
	{ "main^5;serve^17;format_page^72", { 100, 0 } },
	{ "main^5;serve^17;render_page^72", { 0, 100 } },
};

/* Lines of base of parse_header in head. */
static int line_in(int side, int base)
{
	for (size_t i = 0; i < sizeof(parse_header_lines) / sizeof(parse_header_lines[0]); i++)
		if (parse_header_lines[i].line[DIFF_BASE] == base)
			return parse_header_lines[i].line[side];
	return 0;
}

struct frame {
	char name[32], file[32]; /* file: "" for that of the function */
	int line;
	bool is_inlined; /* into the one before it */
};

/* Takes a stack apart; returns the number of its frames. */
static size_t frames_of(const char *stack, int side, struct frame frames[MOST_FRAMES])
{
	char copy[STACK_BYTES], *at = copy, *text;
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", stack);
	while ((text = strsep(&at, ";"))) {
		char *part;

		for (bool is_inlined = false; (part = strsep(&text, "|")); is_inlined = true) {
			char *line = strchr(part, '^');
			char *colon = strchr(line, ':');
			struct frame *frame = &frames[count++];

			*line++ = '\0';
			snprintf(frame->file, sizeof(frame->file), "%.*s", colon ? (int)(colon - line) : 0, line);
			line = colon ? colon + 1 : line;
			snprintf(frame->name, sizeof(frame->name), "%s", part);
			frame->line = *line == '#' ? line_in(side, atoi(line + 1)) : atoi(line);
			frame->is_inlined = is_inlined;
		}
	}
	return count;
}

static uint32_t intern(struct maker *maker, const char *text)
{
	struct error err;
	uint32_t id;

	maker_check(profile_intern(maker->profile, text, &id, &err), &err);
	return id;
}

/* Where functions are; those that are not here are in HTTP, and nobody knows where they begin. */
static const struct {
	const char *name, *file;
	uint32_t line;
	uint64_t fingerprint;
} places[] = {
	{ "main", HTTP, 3 },
	{ "serve", HTTP, 10 },
	{ "fast_match", "src/match.h", 5 },
	{ "weight_of", "src/match.h", 2 },
	{ "no_text", "src/none.c", 100 },
	{ "weird", "src/weird.c", WEIRD_LINE },
	{ "format_page", HTTP, 70, 77 },
	{ "render_page", HTTP, 70, 77 },
	{ "generated", "src/generated.c", GENERATED_FIRST },
	{ "regexec" },
};

static struct profile_line line_of(struct maker *maker, const struct frame *frame)
{
	bool is_system = strcmp(frame->name, "regexec") == 0;
	struct profile_function function = { .name = intern(maker, frame->name),
		.file = intern(maker, HTTP),
		.module = intern(maker, is_system ? "libc.so" : "app"),
		.origin = is_system ? PROFILE_ORIGIN_SYSTEM : PROFILE_ORIGIN_USER,
		.origin_rule = is_system ? 3 : 1,
		.name_source = PROFILE_NAME_DWARF };
	struct profile_line line = { .line = (uint32_t)frame->line,
		.file = frame->file[0] ? intern(maker, frame->file) : 0 };
	struct error err;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(places[i].name, frame->name) == 0) {
			function.file = places[i].file ? intern(maker, places[i].file) : 0;
			function.start_line = places[i].line;
			function.fingerprint = places[i].fingerprint;
		}
	if (strcmp(frame->name, "parse_header") == 0)
		function.start_line = (uint32_t)line_in(maker->build_id[0] == '2', 38);
	maker_check(profile_add_function(maker->profile, &function, &line.function, &err), &err);
	return line;
}

static uint32_t mapping_of(struct maker *maker, bool is_system)
{
	struct profile_mapping mapping = { .start = 0x1000,
		.end = UINT64_C(1) << 40,
		.path = intern(maker, is_system ? "/lib/libc.so" : "/srv/app"),
		.build_id = intern(maker, is_system ? "cc" : maker->build_id) };
	struct error err;
	uint32_t id;

	maker_check(profile_add_mapping(maker->profile, &mapping, &id, &err), &err);
	return id;
}

static uint32_t stack_of(struct maker *maker, const char *text, int side)
{
	struct frame frames[MOST_FRAMES];
	size_t count = frames_of(text, side, frames);
	uint32_t stack = 0;

	for (size_t i = 0; i < count;) {
		size_t end = i + 1, lines = 0;
		struct profile_line line[MOST_FRAMES];
		uint32_t location;
		struct error err;

		while (end < count && frames[end].is_inlined)
			end++;
		for (size_t k = end; k-- > i;)
			line[lines++] = line_of(maker, &frames[k]);
		maker_check(profile_add_location_of_lines(maker->profile,
				    mapping_of(maker, strcmp(frames[i].name, "regexec") == 0), line, lines, &location,
				    &err),
			&err);
		stack = maker_stack_at(maker, stack, location);
		i = end;
	}
	return stack;
}

static void add_steady(struct maker *maker, int run)
{
	for (int i = 0; i < STEADY; i++) {
		char stack[64];

		snprintf(stack, sizeof(stack), "main^5;steady^80;steady_%02d^90", i);
		maker_add(maker, stack_of(maker, stack, DIFF_BASE), STEADY_MS + (run + i) * 7 % 5 - 2, -1);
	}
}

/* Keeps lines of a file, from one on. */
static void keep(struct maker *maker, const char *path, uint32_t first, const struct buffer *text, bool may_differ)
{
	struct profile_source_file file = { .path = intern(maker, path),
		.proof = may_differ ? PROFILE_SOURCE_MAY_DIFFER : PROFILE_SOURCE_NOT_NEWER };
	struct error err;
	uint32_t id;

	maker_check(buffer_ok(text, &err), &err);
	maker_check(profile_add_source_file(maker->profile, &file, &id, &err), &err);
	maker_check(profile_add_source_text(maker->profile, id, first, text->data, &err), &err);
}

static void keep_parse_header(struct maker *maker, int side)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	for (size_t i = 0; i < sizeof(parse_header_lines) / sizeof(parse_header_lines[0]); i++)
		if (parse_header_lines[i].line[side])
			buffer_printf(&text, "%s%s", text.size ? "\n" : "", parse_header_lines[i].text[side]);
	keep(maker, HTTP, (uint32_t)line_in(side, 38), &text, side == DIFF_BASE);
}

static void keep_others(struct maker *maker, bool is_large)
{
	CLEANUP(buffer_deinit) struct buffer weird = { 0 };
	CLEANUP(buffer_deinit) struct buffer generated = { 0 };

	buffer_init(&weird, (size_t)1 << 20);
	buffer_init(&generated, (size_t)1 << 20);
	for (size_t i = 0; i < sizeof(weird_lines) / sizeof(weird_lines[0]); i++)
		buffer_printf(&weird, "%s\n", weird_lines[i]);
	buffer_append_byte(&weird, '\t');
	for (int i = 0; i < LONG_LINE; i++)
		buffer_append_byte(&weird, 'x');
	buffer_append_string(&weird, "the end\n}");
	keep(maker, "src/weird.c", WEIRD_LINE, &weird, false);
	if (!is_large)
		return;
	buffer_append_string(&generated, "int generated(int i)\n{");
	for (int line = 0; line < GENERATED_LINES; line++)
		buffer_printf(&generated, "\n\tcase %d: return table[%d];", line, line * 7);
	buffer_append_string(&generated, "\n}");
	keep(maker, "src/generated.c", GENERATED_FIRST, &generated, false);
}

static struct profile *make_profile(int side, bool is_large)
{
	struct maker maker = maker_create(side ? "./app --new" : "./app --old", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker_run(&maker, "app", 3000);
		maker_thread(&maker, "app", 100);
		add_steady(&maker, run);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			/* Every second run has another thread. */
			if (i == 5 && run % 2)
				maker_thread(&maker, "other", 101);
			if (rows[i].ms[side] > 0)
				maker_add(&maker, stack_of(&maker, rows[i].stack, side),
					rows[i].ms[side] + (rows[i].ms[side] >= 20 ? (run + (int)i) * 7 % 5 - 2 : 0),
					-1);
		}
		for (int line = 0; is_large && line < GENERATED_LINES; line += 3) {
			char stack[64];

			snprintf(stack, sizeof(stack), "main^5;generated^%d", 1000 + line);
			maker_add(&maker, stack_of(&maker, stack, side), 1 + (side && line % 300 == 0), -1);
		}
	}
	keep_parse_header(&maker, side);
	keep_others(&maker, is_large);
	return maker_finish(&maker);
}

struct profile *kinds_lines(int side)
{
	return make_profile(side, false);
}

struct profile *kinds_lines_large(int side)
{
	return make_profile(side, true);
}

/* ---- Listing ---- */

static struct listing *make_listing(
	const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], size_t largest)
{
	struct listing_options options = { .proven = 50, .largest = largest, .all_lines = true, .line_bytes = 1 << 14 };
	struct listing *listing = NULL;
	struct error err;

	maker_check(listing_create(diff, profiles, &options, &listing, &err), &err);
	return listing;
}

/* Functions with little time have no lines. */
struct listing *kinds_lines_listing(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES])
{
	return make_listing(diff, profiles, 12);
}
