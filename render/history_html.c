/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the page of a history: its series, and the reports of its points as parts. */
#include "render/history_words.h"
#include "render/html_page.h"
#include "render/page_data.h"

#include <stdlib.h>

static bool history_head(struct buffer *out, const struct history *history, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer title = { 0 };
	CLEANUP(buffer_deinit) struct buffer verdict = { 0 };

	buffer_init(&title, HTML_MAX_TITLE_BYTES);
	buffer_init(&verdict, HTML_MAX_TITLE_BYTES);
	buffer_append_string(&title, "History");
	for (size_t i = 0; i < history->series_count; i++) {
		struct history_words words = history_words_of(history, &history->series[i]);

		if (i == 0 && history_string(history, history->series[i].title)[0])
			buffer_printf(&title, ": %s", history_string(history, history->series[i].title));
		buffer_append_string(&verdict, i ? " " : "");
		history_words_verdict(&words, &verdict);
	}
	buffer_append(&verdict, "", 0);
	if (!buffer_ok(&title, err) || !buffer_ok(&verdict, err))
		return false;
	html_append_head(out, &(struct html_words){ &viewer_history, title.data, verdict.data, " – Kelvin", "page" });
	return true;
}

static const struct render_input *history_part(const void *of, size_t number)
{
	return &((const struct render_history *)of)->parts[number].input;
}

bool render_history_html(const struct render_history *input, struct buffer *out, struct error *err)
{
	struct html_page page = { out, "" };
	CLEANUP(buffer_deinit) struct buffer list = { 0 };
	CLEANUP(buffer_deinit) struct buffer values = { 0 };
	CLEANUP(buffer_deinit) struct buffer parts = { 0 };
	CLEANUP(cleanup_free) bool *left_out = memory_zeroed(input->part_count + 1, sizeof(*left_out));
	struct html_parts of = { input, history_part, input->part_count, input->max_page_bytes };

	buffer_init(&list, HTML_MAX_BLOCK_BYTES);
	buffer_init(&values, HTML_MAX_BLOCK_BYTES);
	buffer_init(&parts, HTML_MAX_BLOCK_BYTES);
	if (!html_append_parts(&parts, &of, left_out, err) ||
		!page_data_history(input, left_out, &list, &values, err) || !history_head(out, input->history, err) ||
		!html_append_bytes(&page, "history", &list, err) || !html_append_bytes(&page, "values", &values, err))
		return false;
	html_append_end(out, &viewer_history, &parts);
	return buffer_ok(out, err);
}
