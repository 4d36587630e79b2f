/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/escape.h"
#include "render/page_data.h"
#include "render/summary.h"
#include "render/viewer_assets.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

enum { COMPRESSION_LEVEL = 9 };
static const size_t max_block_bytes = (size_t)1 << 30;

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
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(COMPRESSION_LEVEL);
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
static bool append_block(struct buffer *out, const char *id,
	bool (*make)(const struct render_input *, struct buffer *, struct error *), const struct render_input *input,
	struct error *err)
{
	struct buffer block, gzipped;
	bool ok;

	buffer_init(&block, max_block_bytes);
	buffer_init(&gzipped, max_block_bytes);
	ok = make(input, &block, err);
	if (ok && !block.data)
		buffer_append(&block, "", 0);
	ok = ok && compress(&block, &gzipped, err);
	if (ok) {
		buffer_printf(out, "<script type=\"application/x-kelvin\" id=\"data-%s\">", id);
		append_base64(out, (const uint8_t *)gzipped.data, gzipped.size);
		buffer_append_string(out, "</script>\n");
	}
	buffer_deinit(&block);
	buffer_deinit(&gzipped);
	return ok;
}

static void append_head(struct buffer *out, const struct render_input *input)
{
	const char *command = profile_string(input->profiles[DIFF_HEAD], input->profiles[DIFF_HEAD]->facts.command);
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	buffer_init(&title, (size_t)1 << 20);
	summary_title(input, &title);
	out->failed |= title.failed;

	buffer_append_string(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	buffer_printf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; worker-src blob:; "
		"base-uri 'none'; form-action 'none'\">\n",
		viewer_script_hash, viewer_style_hash);
	buffer_append_string(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	escape_append(out, title.size ? title.data : command[0] ? command : "Kelvin");
	buffer_append_string(
		out, input->diff->sides == 2 ? " – Kelvin diff</title>\n<style>" : " – Kelvin</title>\n<style>");
	buffer_append(out, viewer_style, viewer_style_size);
	buffer_append_string(out, "</style>\n</head>\n<body>\n<noscript>");
	escape_append(out, diff_string(input->diff, input->diff->verdict_text));
	buffer_append_string(out, " (The flame graph needs JavaScript.)</noscript>\n<div id=\"app\"></div>\n");
}

/* The script is not a module, since a module runs only after a first frame without a picture has been shown. */
static void append_script(struct buffer *out)
{
	buffer_append_string(out, "<script>");
	buffer_append(out, viewer_script, viewer_script_size);
	buffer_append_string(out, "</script>\n");
}

/* The blocks that the first picture needs come before the script, all others behind it. */
bool render_html(const struct render_input *input, struct buffer *out, struct error *err)
{
	append_head(out, input);
	if (!append_block(out, "meta", page_data_meta, input, err) ||
		!append_block(out, "functions", page_data_functions, input, err) ||
		!append_block(out, "tree", page_data_tree, input, err))
		return false;
	append_script(out);
	if (!append_block(out, "samples", page_data_samples, input, err) ||
		!append_block(out, "timeline", page_data_timeline, input, err))
		return false;
	if (input->diff->has_bottlenecks && !append_block(out, "bottlenecks", page_data_bottlenecks, input, err))
		return false;
	if (page_data_has_releases(input) && !append_block(out, "waits", page_data_waits, input, err))
		return false;
	buffer_append_string(out, "</body>\n</html>\n");
	return buffer_ok(out, err);
}
