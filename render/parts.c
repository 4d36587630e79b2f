/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/parts.h"

#include "render/question.h"

void parts_verdict(struct document *d, bool gate_failed)
{
	document_put(d, DOCUMENT_VERDICT, "");
	if (gate_failed)
		document_put(d, DOCUMENT_PARAGRAPH,
			"A limit given with " DOCUMENT_CODE "--fail-on" DOCUMENT_END " is exceeded.");
}

void parts_side(struct document *d, const struct parts_recording *r)
{
	bool is_text = document_is_text(d);

	if (!r->profile && !is_text)
		return;
	buffer_append_string(&d->words, r->label);
	if (r->command[0])
		buffer_printf(&d->words, "%s%s", r->command, is_text ? ", " : ": ");
	if (is_text && r->name && r->name[0] && r->name != r->command)
		buffer_printf(&d->words, "%s, ", r->name);
	if (is_text && r->executions > 0)
		buffer_printf(&d->words, "%zu execution%s, ", r->executions, r->executions == 1 ? "" : "s");
	if (r->profile)
		summary_quality(r->profile, &d->words);
	if (is_text)
		summary_verified(r->profile, ". ", &d->words);
	summary_labels(r->profile, ". Labels: ", &d->words);
	document_put(d, DOCUMENT_SIDE, is_text ? "." : "");
}

void parts_warnings(
	struct document *d, const struct string_table *strings, const struct diff_warning *warnings, size_t count)
{
	if (count == 0)
		return;
	document_put(d, DOCUMENT_HEADING, "Warnings");
	for (size_t i = 0; i < count; i++) {
		buffer_append_string(&d->words, string_table_get(strings, warnings[i].text));
		document_put(d, DOCUMENT_ITEM,
			document_is_text(d) && warnings[i].blocks_gate
				? " (the limits of --fail-on are not checked because of this)"
				: "");
	}
	document_put(d, DOCUMENT_GAP, "");
}

struct summary_list parts_list(struct document *d, enum summary_order order, size_t limit)
{
	struct summary_list list = { 0 };

	summary_list(d->diff, order, limit, &list);
	return list;
}

const char *parts_id(const struct document *d, const struct diff_function *function, char *id)
{
	id[0] = '\0';
	if (d->input->question && d->input->question->has_ids)
		question_id(d->diff, function, id);
	return id;
}

void parts_top(struct document *d, enum summary_order order)
{
	const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "id", .left = true },
		{ .title = "module", .left = true, .flexible = true, .is_text = true, .drop = 2 },
		{ .title = "origin", .left = true, .drop = 1 },
		{ .title = "self" },
		{ .title = "self %", .drop = 3 },
		{ .title = "total" },
		{ .title = "total %", .drop = 3 },
		/* The bottleneck of the self values, only where the profile tells of bottlenecks. */
		{ .title = "bottleneck",
			.left = true,
			.drop = 1,
			.hidden = order != SUMMARY_SELF || !d->diff->has_bottlenecks },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	CLEANUP(summary_list_deinit) struct summary_list list = parts_list(d, order, d->rows);

	for (size_t i = 0; i < list.count; i++) {
		const struct diff_function *f = &d->diff->functions[list.ids[i]];
		double whole = d->diff->total.head;
		char id[PROFILE_FUNCTION_ID_DIGITS + 1];

		TABLE_ADD(&table, TABLE_PLAIN, diff_string(d->diff, f->shown), parts_id(d, f, id),
			format_module(diff_string(d->diff, f->shown_in)), profile_origin_name(f->origin),
			format_value(f->self.head, d->unit).text,
			format_percent(format_share(f->self.head, whole)).text,
			format_value(f->total.head, d->unit).text,
			format_percent(format_share(f->total.head, whole)).text,
			profile_bottleneck_name(diff_function_bottleneck(d->diff, f).side[DIFF_HEAD]));
	}
	summary_heading(d->diff, order, &d->words);
	document_table(d, &table);
}
