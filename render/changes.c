/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/changes.h"

#include "render/document.h"

#include <inttypes.h>

struct change_names change_names(const struct diff *diff, const struct diff_change *change)
{
	const uint32_t *functions = &diff->change_functions[change->first];
	bool has_caller = change->caller != PROFILE_NONE;
	struct change_names names = { .from = has_caller ? change->caller : change->function, .to = PROFILE_NONE };
	size_t last = change->count - 1, named = 0;

	/* What is waited for is said by other words. */
	while (last > 0 && diff_wait_class(diff, &diff->functions[functions[last]]) != PROFILE_WAIT_NONE)
		last--;
	while (functions[named] != change->function)
		named++;
	if (last > named)
		names.to = functions[last];
	else if (has_caller)
		names.to = change->function;
	names.is_cut = last > named + !has_caller;
	return names;
}

const struct diff_change *change_of(const struct diff *diff, uint32_t function)
{
	for (size_t i = 0; i < diff->change_count; i++)
		if (diff->changes[i].function == function)
			return &diff->changes[i];
	return NULL;
}

bool change_has_names(const struct diff_change *change)
{
	return change->count > 1 || change->caller != PROFILE_NONE;
}

static const char *render_changes_shown(const struct diff *diff, uint32_t function)
{
	return diff_string(diff, diff->functions[function].shown);
}

void change_append_names(const struct diff *diff, const struct diff_change *change, struct buffer *words)
{
	struct change_names names = change_names(diff, change);

	document_name(words, render_changes_shown(diff, names.from));
	if (names.to != PROFILE_NONE) {
		buffer_append_string(words, names.is_cut ? " → … → " : " → ");
		document_name(words, render_changes_shown(diff, names.to));
	}
}

static void render_changes_append_site(const struct diff *diff, const struct diff_wait_site *site, struct buffer *words)
{
	uint32_t holder = diff_released_by(diff, site);

	buffer_append_string(words, profile_wait_info(site->wait_class)->words);
	if (diff_string(diff, site->lock)[0]) {
		buffer_append_byte(words, ' ');
		document_name(words, diff_string(diff, site->lock));
	} else if (site->lock_number > 0) {
		buffer_printf(words, " %" PRIu32 " (no name)", site->lock_number);
	}
	if (holder == PROFILE_NONE)
		return;
	buffer_printf(words, ", %s ", diff_release_words(site->wait_class));
	document_name(words, render_changes_shown(diff, holder));
}

void change_append_waits(const struct diff *diff, const struct diff_change *change, struct buffer *words)
{
	for (size_t i = 0; i < change->wait_count; i++) {
		buffer_append_string(words, i > 0 ? "; " : "");
		render_changes_append_site(diff, &diff->wait_sites[change->wait_sites[i]], words);
	}
}
