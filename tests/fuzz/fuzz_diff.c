/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/diff.h"
#include "render/render.h"

#include <stdlib.h>

/* Two profiles of any kind, what is different between them, and every way to show it; or one alone. Input: the size of
 * the first (16 bits; 0: there is none), the first, the second. */

enum { MAX_OUTPUT_BYTES = 1 << 26 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct render_input *input)
{
	const struct render_text_options text = { .rows = 5 };
	const struct render_svg_options svg = { 0 };
	struct buffer out;
	struct error err;
	bool ok;

	buffer_init(&out, MAX_OUTPUT_BYTES);
	ok = render_text(input, &text, &out, &err) && render_json(input, &out, &err) &&
	     (input->diff->sides == 1 || render_markdown(input, &out, &err)) && render_svg(input, &svg, &out, &err) &&
	     render_html(input, &out, &err);
	/* What a reader took can be shown, unless it is too large. */
	if (!ok && err.code != ERROR_LIMIT) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	buffer_deinit(&out);
}

static void show(const struct profile *base, const struct profile *head)
{
	const struct diff_options options = { 0 };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;
	bool ok =
		base ? diff_create(base, head, &options, &diff, &err) : diff_create_single(head, &options, &diff, &err);

	if (ok)
		render(&(struct render_input){
			.diff = diff, .profiles = { base, head }, .names = { "base", "head" }, .tool = "fuzz" });
}

static struct profile *take_profile(struct byte_reader *r, size_t size, const char *name)
{
	struct profile *profile;
	struct error err;

	size = size < byte_reader_left(r) ? size : byte_reader_left(r);
	return profile_read(byte_reader_bytes(r, size), size, name, &profile, &err) ? profile : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	size_t first = byte_reader_u16(&r);
	CLEANUP(profile_cleanup) struct profile *base = take_profile(&r, first, "base");
	CLEANUP(profile_cleanup) struct profile *head = take_profile(&r, byte_reader_left(&r), "head");

	if (head && (base || first == 0))
		show(base, head);
	return 0;
}
