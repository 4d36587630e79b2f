/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_changes.h"

#include "render/json_text.h"

static void json_changes_put_function(struct buffer *out, uint32_t function)
{
	if (function == PROFILE_NONE)
		JSON_TEXT(out, "null");
	else
		json_text_integer(out, function);
}

static void json_changes_put_flag(struct buffer *out, bool flag)
{
	buffer_append_string(out, flag ? "true" : "false");
}

static bool json_changes_put_lock(const struct diff *diff, const struct diff_wait_site *site, struct buffer *out)
{
	if (site->lock != 0)
		return json_text_string(out, diff_string(diff, site->lock));
	JSON_TEXT(out, "null");
	return true;
}

/* A place that much of the change is waiting at, and who let threads go on there. */
static bool put_wait(const struct diff *diff, const struct diff_wait_site *site, struct buffer *out)
{
	JSON_TEXT(out, "{\"class\":\"");
	buffer_append_string(out, profile_wait_info(site->wait_class)->name);
	JSON_TEXT(out, "\",\"function\":");
	json_changes_put_function(out, site->function);
	JSON_TEXT(out, ",\"lock\":");
	if (!json_changes_put_lock(diff, site, out))
		return false;
	JSON_TEXT(out, ",\"released_by\":{\"base\":");
	json_changes_put_function(out, diff_released_by_on(diff, site, DIFF_BASE));
	JSON_TEXT(out, ",\"head\":");
	json_changes_put_function(out, diff_released_by_on(diff, site, DIFF_HEAD));
	JSON_TEXT(out, "}}");
	return true;
}

static bool json_changes_put_change(const struct diff *diff, const struct diff_change *change, struct buffer *out)
{
	JSON_TEXT(out, "{\"name\":");
	if (!json_text_string(out, diff_string(diff, diff->functions[change->function].name)))
		return false;
	JSON_TEXT(out, ",\"function\":");
	json_changes_put_function(out, change->function);
	JSON_TEXT(out, ",\"is_self\":");
	json_changes_put_flag(out, change->is_self);
	JSON_TEXT(out, ",\"of_others\":");
	json_changes_put_flag(out, change->is_of_others);
	JSON_TEXT(out, ",\"caller\":");
	json_changes_put_function(out, change->caller);
	JSON_TEXT(out, ",\"functions\":[");
	for (size_t i = 0; i < change->count; i++) {
		if (i > 0)
			JSON_TEXT(out, ",");
		json_changes_put_function(out, diff->change_functions[change->first + i]);
	}
	JSON_TEXT(out, "],\"waits\":[");
	for (size_t i = 0; i < change->wait_count; i++) {
		if (i > 0)
			JSON_TEXT(out, ",");
		if (!put_wait(diff, &diff->wait_sites[change->wait_sites[i]], out))
			return false;
	}
	JSON_TEXT(out, "]}");
	return true;
}

bool json_changes(const struct diff *diff, struct buffer *out)
{
	JSON_TEXT(out, ",\n \"changes\": [");
	for (size_t i = 0; i < diff->change_count && !out->failed; i++) {
		buffer_append_string(out, i ? ",\n  " : "\n  ");
		if (!json_changes_put_change(diff, &diff->changes[i], out))
			return false;
	}
	buffer_append_string(out, diff->change_count ? "\n ]" : "]");
	return true;
}
