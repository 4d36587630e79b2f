/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_page KIND FILE: writes a page of known content for the viewer's tests. Without arguments it lists the kinds. */
#include "kinds.h"
#include "kinds_history.h"
#include "kinds_suite.h"
#include "maker.h"
#include "render/render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t max_page_bytes = (size_t)1 << 30;

static const char *rule_text(unsigned int rule)
{
	static const char *const texts[] = { "no rule", "the program itself", "a library's directory",
		"kernel or low-level runtime" };

	return rule < sizeof(texts) / sizeof(texts[0]) ? texts[rule] : "a rule without a text";
}

static void swap_sides(struct diff *diff)
{
	double *self = diff->node_self[DIFF_BASE], *total = diff->node_total[DIFF_BASE];
	uint32_t *nodes = diff->sample_nodes[DIFF_BASE];

	diff->node_self[DIFF_BASE] = diff->node_self[DIFF_HEAD];
	diff->node_total[DIFF_BASE] = diff->node_total[DIFF_HEAD];
	diff->sample_nodes[DIFF_BASE] = diff->sample_nodes[DIFF_HEAD];
	diff->node_self[DIFF_HEAD] = self;
	diff->node_total[DIFF_HEAD] = total;
	diff->sample_nodes[DIFF_HEAD] = nodes;
}

static void set_estimate(struct diff_estimate *e, const double raw[DIFF_SIDES])
{
	*e = (struct diff_estimate){ .base = raw[DIFF_BASE],
		.head = raw[DIFF_HEAD],
		.delta = raw[DIFF_HEAD] - raw[DIFF_BASE],
		.ci_low = NAN,
		.ci_high = NAN,
		.q = NAN,
		.detectable = NAN,
		.state = raw[DIFF_HEAD] > 0   ? DIFF_STATE_NEW
			 : raw[DIFF_BASE] > 0 ? DIFF_STATE_GONE
					      : DIFF_STATE_SAME };
}

/* diff_create() refuses to compare with nothing; the page must bear it all the same: the one side, and nothing beside
 * it. */
static void add_empty_side(struct diff *diff, const struct kind *kind)
{
	bool to_base = kind->sides == KIND_EMPTY_HEAD;
	struct error err;

	diff->sides = DIFF_SIDES;
	diff->scale.factor = 1;
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (diff->node_self[side])
			continue;
		diff->node_self[side] = calloc(diff->node_count, sizeof(double));
		diff->node_total[side] = calloc(diff->node_count, sizeof(double));
		if (!diff->node_self[side] || !diff->node_total[side])
			maker_check(error_set_memory(&err), &err);
	}
	if (to_base) {
		swap_sides(diff);
		diff->raw_total[DIFF_BASE] = diff->raw_total[DIFF_HEAD];
		diff->raw_total[DIFF_HEAD] = 0;
		for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
			double base = diff->origins[i].head;

			diff->origins[i] = (struct diff_origin){ .raw = { base }, .base = base, .delta = -base };
		}
	}
	set_estimate(&diff->total, diff->raw_total);
	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		if (to_base) {
			f->raw_self[DIFF_BASE] = f->raw_self[DIFF_HEAD];
			f->raw_total[DIFF_BASE] = f->raw_total[DIFF_HEAD];
			f->raw_self[DIFF_HEAD] = f->raw_total[DIFF_HEAD] = 0;
		}
		f->tier = DIFF_TIER_ONE_SIDED;
		set_estimate(&f->self, f->raw_self);
		set_estimate(&f->total, f->raw_total);
	}
	for (size_t i = 1; i < diff->node_count; i++)
		diff->nodes[i].state = to_base ? DIFF_STATE_GONE : DIFF_STATE_NEW;
}

static struct profile *empty_profile(void)
{
	struct maker maker = maker_create("./nothing", "33");

	maker_run(&maker, "nothing", 1);
	return maker_finish(&maker);
}

static struct diff *make_diff(const struct kind *kind, struct profile *profiles[DIFF_SIDES])
{
	struct diff_options options = { .scale = DIFF_SCALE_PER_RUN };
	struct diff *diff;
	struct error err;

	if (profiles[DIFF_BASE]) {
		maker_check(diff_create(profiles[DIFF_BASE], profiles[DIFF_HEAD], &options, &diff, &err), &err);
		return diff;
	}
	maker_check(diff_create_single(profiles[DIFF_HEAD], &options, &diff, &err), &err);
	if (kind->sides == KIND_SINGLE)
		return diff;
	add_empty_side(diff, kind);
	profiles[DIFF_BASE] = empty_profile();
	if (kind->sides == KIND_EMPTY_HEAD) {
		struct profile *empty = profiles[DIFF_BASE];

		profiles[DIFF_BASE] = profiles[DIFF_HEAD];
		profiles[DIFF_HEAD] = empty;
	}
	return diff;
}

static bool write_file(const char *path, const struct buffer *page)
{
	FILE *file = fopen(path, "wb");
	bool ok = file && fwrite(page->data, 1, page->size, file) == page->size;

	if (file && fclose(file) != 0)
		ok = false;
	if (!ok)
		perror(path);
	return ok;
}

static bool make_page(const struct kind *kind, const char *path)
{
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	CLEANUP(listing_cleanup) struct listing *listing = NULL;
	struct profile *profiles[DIFF_SIDES] = { NULL, NULL };
	struct render_input input = { .title = kind->title, .tool = "kelvin test", .origin_rule_text = rule_text };
	struct buffer page;
	struct error err;
	bool ok;

	for (int side = kind->sides == KIND_BOTH ? DIFF_BASE : DIFF_HEAD; side < DIFF_SIDES; side++)
		profiles[side] = kind->profile(side);
	diff = make_diff(kind, profiles);
	base = profiles[DIFF_BASE];
	head = profiles[DIFF_HEAD];
	input.diff = diff;
	input.profiles[DIFF_BASE] = base;
	input.profiles[DIFF_HEAD] = head;
	if (kind->listing)
		input.listing = listing = kind->listing(diff, input.profiles);
	buffer_init(&page, max_page_bytes);
	maker_check(render_html(&input, &page, &err), &err);
	ok = write_file(path, &page);
	buffer_deinit(&page);
	return ok;
}

static bool make_suite_page(const struct suite_kind *kind, const char *path)
{
	CLEANUP(buffer_deinit) struct buffer page = { 0 };

	buffer_init(&page, max_page_bytes);
	suite_kind_page(kind, &page);
	return write_file(path, &page);
}

static bool make_history_page(const struct history_kind *kind, const char *path)
{
	CLEANUP(buffer_deinit) struct buffer page = { 0 };

	buffer_init(&page, max_page_bytes);
	history_kind_page(kind, &page);
	return write_file(path, &page);
}

int main(int argc, char **argv)
{
	const struct kind *kind = argc == 3 ? kind_find(argv[1]) : NULL;
	const struct suite_kind *suite = argc == 3 ? suite_kind_find(argv[1]) : NULL;
	const struct history_kind *history = argc == 3 ? history_kind_find(argv[1]) : NULL;

	if (history)
		return make_history_page(history, argv[2]) ? EXIT_SUCCESS : EXIT_FAILURE;
	if (suite)
		return make_suite_page(suite, argv[2]) ? EXIT_SUCCESS : EXIT_FAILURE;
	if (!kind) {
		kind_list();
		suite_kind_list();
		history_kind_list();
		return argc == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	return make_page(kind, argv[2]) ? EXIT_SUCCESS : EXIT_FAILURE;
}
