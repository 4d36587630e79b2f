/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_members.h"
#include "render/json_text.h"

static void put_function_number(struct buffer *out, const char *key, uint32_t function)
{
	json_text_member_known(out, key, function != PROFILE_NONE, function);
}

/* A place that much of the change is waiting at, and who let threads go on there. */
static void put_wait(const struct diff *diff, const struct diff_wait_site *site, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member(out, "class", profile_wait_info(site->wait_class)->name);
	put_function_number(out, "function", site->function);
	json_text_member_if(out, "lock", diff_string(diff, site->lock));
	json_text_begin(out, "released_by", '{');
	put_function_number(out, "base", diff_released_by_on(diff, site, DIFF_BASE));
	put_function_number(out, "head", diff_released_by_on(diff, site, DIFF_HEAD));
	json_text_close(out, '}');
	json_text_close(out, '}');
}

static void json_changes_put_change(const struct diff *diff, const struct diff_change *change, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member(out, "name", diff_string(diff, diff->functions[change->function].name));
	put_function_number(out, "function", change->function);
	json_text_flag(out, "is_self", change->is_self);
	json_text_flag(out, "of_others", change->is_of_others);
	put_function_number(out, "caller", change->caller);
	json_text_begin(out, "functions", '[');
	for (size_t i = 0; i < change->count; i++)
		json_text_integer(out, diff->change_functions[change->first + i]);
	json_text_close(out, ']');
	json_text_begin(out, "waits", '[');
	for (size_t i = 0; i < change->wait_count; i++)
		put_wait(diff, &diff->wait_sites[change->wait_sites[i]], out);
	json_text_close(out, ']');
	json_text_close(out, '}');
}

void json_changes(const struct diff *diff, struct buffer *out)
{
	json_text_list(out, "changes");
	for (size_t i = 0; i < diff->change_count && !out->failed; i++) {
		json_text_line(out, 2);
		json_changes_put_change(diff, &diff->changes[i], out);
	}
	json_text_end_list(out);
}
