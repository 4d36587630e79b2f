/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/diff.h"
#include "render/render.h"

#include "profile_pair.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>

/* Two profiles of any kind, what is different between them, and every way to show it; or one alone.
 * Input: profile_pair.h. */

enum { MAX_OUTPUT_BYTES = 1 << 26 };

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

bool fuzz_take(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;

	if (!profile_pair_take(data, size, &base, &head))
		return false;
	show(base, head);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_take(data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutation_run(data, size, max_size, seed, mutate_profile_pair);
}
