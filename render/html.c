/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the page of a report or of a suite, and what pages of several reports share: list, script, styles and blocks
 * of data. */
#include "render/escape.h"
#include "render/html_page.h"
#include "render/page_data.h"
#include "render/question.h"
#include "render/suite.h"
#include "render/summary.h"
#include "render/viewer_assets.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Large blocks, as of hundreds of instances, are packed three times as fast and are a few percent larger. */
enum { COMPRESSION_LEVEL = 9, FAST_COMPRESSION_LEVEL = 5, LARGE_BLOCK_BYTES = 1 << 24 };
/* A page of more than this is slow to open, and too large for what keeps the artefacts of builds. */
static const size_t max_page_bytes = (size_t)64 << 20;

static void append_base64(struct buffer *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t encoded = (size + 2) / 3 * 4;
	char *to = buffer_reserve(out, encoded);

	if (!to)
		return;
	for (size_t i = 0; i < size; i += 3) {
		uint32_t group = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (i + 2 < size ? bytes[i + 2] : 0);

		*to++ = digits[group >> 18];
		*to++ = digits[group >> 12 & 63];
		*to++ = (char)(i + 1 < size ? digits[group >> 6 & 63] : '=');
		*to++ = (char)(i + 2 < size ? digits[group & 63] : '=');
	}
	buffer_commit(out, encoded);
}

static bool compress(const struct buffer *block, struct buffer *gzipped, struct error *err)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(
		block->size < LARGE_BLOCK_BYTES ? COMPRESSION_LEVEL : FAST_COMPRESSION_LEVEL);
	size_t bound = compressor ? libdeflate_gzip_compress_bound(compressor, block->size) : 0;
	void *room = compressor ? buffer_reserve(gzipped, bound) : NULL;

	if (room)
		buffer_commit(gzipped, libdeflate_gzip_compress(compressor, block->data, block->size, room, bound));
	libdeflate_free_compressor(compressor);
	return room ? true : error_set_memory(err);
}

/*
 * Appends data as an inert block: the browser does not run a script of an unknown type, and base64 contains nothing
 * that could end the block.
 */
bool html_append_bytes(const struct html_page *page, const char *id, struct buffer *block, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer gzipped = { 0 };

	buffer_init(&gzipped, HTML_MAX_BLOCK_BYTES);
	if (!block->data)
		buffer_append(block, "", 0);
	if (!compress(block, &gzipped, err))
		return false;
	buffer_printf(page->out, "<script type=\"application/x-kelvin\" id=\"data-%s%s\">", page->prefix, id);
	append_base64(page->out, (const uint8_t *)gzipped.data, gzipped.size);
	buffer_append_string(page->out, "</script>\n");
	return true;
}

static bool append_block(const struct html_page *page, const char *id,
	bool (*make)(const struct render_input *, struct buffer *, struct error *), const struct render_input *input,
	struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer block = { 0 };

	buffer_init(&block, HTML_MAX_BLOCK_BYTES);
	return make(input, &block, err) && html_append_bytes(page, id, &block, err);
}

/* The blocks that the first picture needs. */
static bool append_first_blocks(const struct html_page *page, const struct render_input *input, struct error *err)
{
	return append_block(page, "meta", page_data_meta, input, err) &&
	       append_block(page, "functions", page_data_functions, input, err) &&
	       append_block(page, "tree", page_data_tree, input, err);
}

static bool append_later_blocks(const struct html_page *page, const struct render_input *input, struct error *err)
{
	if (!append_block(page, "samples", page_data_samples, input, err) ||
		!append_block(page, "timeline", page_data_timeline, input, err))
		return false;
	if (input->diff->has_bottlenecks && !append_block(page, "bottlenecks", page_data_bottlenecks, input, err))
		return false;
	if (page_data_has_lines(input) && (!append_block(page, "lines", page_data_lines, input, err) ||
						  !append_block(page, "linestacks", page_data_line_stacks, input, err)))
		return false;
	return !page_data_has_releases(input) || append_block(page, "waits", page_data_waits, input, err);
}

void html_append_head(struct buffer *out, const struct html_words *words)
{
	buffer_append_string(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	buffer_printf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; worker-src blob:; "
		"base-uri 'none'; form-action 'none'\">\n",
		words->viewer->script.hash, words->viewer->style.hash);
	buffer_append_string(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	escape_append(out, words->title);
	buffer_printf(out, "%s</title>\n<style>", words->suffix);
	buffer_append(out, words->viewer->style.bytes, words->viewer->style.size);
	buffer_append_string(out, "</style>\n</head>\n<body>\n<noscript>");
	escape_append(out, words->verdict);
	buffer_printf(out, " (The %s needs JavaScript.)</noscript>\n<div id=\"app\"></div>\n", words->picture);
}

/* The script is not a module, since a module runs only after a first frame without a picture has been shown. */
static void append_script(struct buffer *out, const struct viewer_assets *viewer)
{
	buffer_append_string(out, "<script>");
	buffer_append(out, viewer->script.bytes, viewer->script.size);
	buffer_append_string(out, "</script>\n");
}

static const char *html_command(const struct profile *head)
{
	const char *command = profile_string(head, head->facts.command);

	return command[0] ? command : "Kelvin";
}

static const char *html_suffix(size_t sides)
{
	return sides == 2 ? " – Kelvin diff" : " – Kelvin";
}

/* The blocks that the first picture needs come before the script, all others behind it. */
bool render_html(const struct render_input *input, struct buffer *out, struct error *err)
{
	struct html_page page = { out, "" };
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	buffer_init(&title, HTML_MAX_TITLE_BYTES);
	question_title(input, &title);
	out->failed |= title.failed;
	html_append_head(out, &(struct html_words){ &viewer_report,
				      title.size ? title.data : html_command(input->profiles[DIFF_HEAD]),
				      diff_string(input->diff, input->diff->verdict_text),
				      html_suffix(input->diff->sides), "flame graph" });
	if (!append_first_blocks(&page, input, err))
		return false;
	append_script(out, &viewer_report);
	if (!append_later_blocks(&page, input, err))
		return false;
	buffer_append_string(out, "</body>\n</html>\n");
	return buffer_ok(out, err);
}

/* ---- Pages of several reports ---- */

bool html_append_parts(struct buffer *out, const struct html_parts *parts, bool *left_out, struct error *err)
{
	char prefix[16];
	struct html_page page = { out, prefix };
	size_t max_bytes = parts->max_page_bytes ? parts->max_page_bytes : max_page_bytes;

	for (size_t i = 0; i < parts->count; i++) {
		const struct render_input *input = parts->input(parts->of, i);
		size_t before = out->size;

		snprintf(prefix, sizeof(prefix), "%zu-", i);
		if (!append_first_blocks(&page, input, err) || !append_later_blocks(&page, input, err) ||
			!buffer_ok(out, err))
			return false;
		left_out[i] = out->size > max_bytes;
		if (left_out[i])
			out->size = before;
	}
	return true;
}

void html_append_end(struct buffer *out, const struct viewer_assets *viewer, const struct buffer *parts)
{
	append_script(out, viewer);
	if (parts->size)
		buffer_append(out, parts->data, parts->size);
	buffer_append_string(out, "</body>\n</html>\n");
}

/* ---- The page of a suite ---- */

static void append_suite_head(struct buffer *out, const struct render_suite *input)
{
	const struct diff_suite *suite = input->suite;
	bool is_diff = suite->sides == 2;
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	buffer_init(&title, HTML_MAX_TITLE_BYTES);
	buffer_append_string(&title, "Benchmarks: ");
	profile_identities(is_diff ? suite->profiles[DIFF_BASE] : NULL, suite->profiles[DIFF_HEAD], &title);
	if (title.size == sizeof("Benchmarks: ") - 1)
		buffer_append_string(&title, html_command(suite->profiles[DIFF_HEAD]));
	out->failed |= title.failed;
	html_append_head(
		out, &(struct html_words){ &viewer_suite, title.data ? title.data : "",
			     diff_suite_string(suite, suite->verdict_text), html_suffix(suite->sides), "flame graph" });
}

static const struct render_input *suite_part(const void *of, size_t number)
{
	return &((const struct render_suite *)of)->parts[number].input;
}

/* The list comes before the script, since it is the first picture. */
bool render_suite_html(const struct render_suite *input, struct buffer *out, struct error *err)
{
	struct html_page page = { out, "" };
	CLEANUP(buffer_deinit) struct buffer list = { 0 };
	CLEANUP(buffer_deinit) struct buffer parts = { 0 };
	CLEANUP(cleanup_free) bool *left_out = memory_zeroed(input->part_count + 1, sizeof(*left_out));
	struct html_parts of = { input, suite_part, input->part_count, input->max_page_bytes };

	buffer_init(&list, HTML_MAX_BLOCK_BYTES);
	buffer_init(&parts, HTML_MAX_BLOCK_BYTES);
	if (!html_append_parts(&parts, &of, left_out, err) || !page_data_benchmarks(input, left_out, &list, err))
		return false;
	append_suite_head(out, input);
	if (!html_append_bytes(&page, "benchmarks", &list, err))
		return false;
	html_append_end(out, &viewer_suite, &parts);
	return buffer_ok(out, err);
}
