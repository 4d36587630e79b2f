/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/headline.h"

#include "render/changes.h"
#include "render/format.h"
#include "render/summary.h"

#include <math.h>
#include <string.h>

/* ---- What else is proven ---- */

/*
 * Returns whether the verdict says all of a change: it is the first, or nothing but waiting at the place that is named.
 */
static bool is_said(const struct diff *diff, size_t i)
{
	return diff_change_is_named(diff, &diff->changes[i]) && (i == 0 || diff->changes[i].wait_count <= 1);
}

size_t headline_others(const struct diff *diff, const struct diff_change *others[static HEADLINE_OTHERS])
{
	size_t count = 0;

	for (size_t i = 0; i < diff->change_count && count < HEADLINE_OTHERS; i++)
		if (!diff->changes[i].is_of_others && !is_said(diff, i))
			others[count++] = &diff->changes[i];
	return count;
}

const char *headline_others_words(const struct diff *diff)
{
	return diff->cause.function == PROFILE_NONE && diff->named_wait == PROFILE_NONE ? "Proven:" : "Also proven:";
}

void headline_other(const struct diff *diff, const struct diff_change *change, struct buffer *words)
{
	const struct diff_estimate *e = diff_change_estimate(diff, change);
	const char *less = diff->is_counted ? "fewer" : "less", *itself = change->is_self ? " itself" : "";

	change_append_names(diff, change, words);
	if (!(e->base > 0))
		buffer_append_string(words, " is new");
	else if (!(e->head > 0))
		buffer_append_string(words, " is gone");
	else if (e->head >= 2 * e->base)
		buffer_printf(words, "%s takes %s as %s", itself, format_change(e->base, e->head).text,
			diff->is_counted ? "many" : "much");
	else
		buffer_printf(words, "%s takes %s %s", itself, format_percent(100 * fabs(e->delta) / e->base).text,
			e->delta > 0 ? "more" : less);
	buffer_printf(words, ": %s, %s points", format_delta(e->delta, diff_string(diff, diff->unit)).text,
		format_points(summary_points(diff, e->delta)).text);
	if (change->wait_count > 0) {
		buffer_append_string(words, "; waiting for ");
		change_append_waits(diff, change, words);
	}
}

/* ---- What to do next ---- */

/* The characters that a shell reads as they stand. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/,:@+=-";

/* Returns whether the user's name of a side can stand in a command as it is. */
static bool headline_is_plain(const char *name)
{
	enum { MOST_CHARACTERS = 24 };

	return name && name[0] && name[0] != '-' && strlen(name) <= MOST_CHARACTERS && !name[strspn(name, plain)];
}

/*
 * Appends an option that chooses samples or frames, with its value as a shell must read it. False: text, which breaks
 * lines at spaces and cleans what it shows, cannot repeat it.
 */
static bool append_filter(struct buffer *out, const char *option, const char *value)
{
	enum { MOST_CHARACTERS = 80 };
	static const char quoted[] = "!\"#$%&()*;<>?[\\]^{|}~";
	size_t bytes = strlen(value);
	char both[sizeof(plain) + sizeof(quoted)];

	snprintf(both, sizeof(both), "%s%s", plain, quoted);
	if (bytes == 0 || bytes > MOST_CHARACTERS || value[strspn(value, both)])
		return false;
	buffer_printf(out, value[strspn(value, plain)] ? " %s '%s'" : " %s %s", option, value);
	return true;
}

static bool append_where(struct buffer *out, const struct profile_where *where)
{
	CLEANUP(buffer_deinit) struct buffer text;

	buffer_init(&text, SIZE_MAX / 2);
	buffer_printf(&text, "%s=%s", profile_selection_key_name(where), where->value);
	buffer_append_byte(&text, '\0');
	return !text.failed && append_filter(out, "--where", text.data);
}

/* Appends what the part that is shown was chosen by, so that a command is about the same part. */
static bool append_filters(const struct profile_selection *selection, struct buffer *out)
{
	bool ok = (!selection->focus || append_filter(out, "--focus", selection->focus)) &&
		  (!selection->hide || append_filter(out, "--hide", selection->hide)) &&
		  (selection->only == PROFILE_ORIGIN_UNKNOWN ||
			  append_filter(out, "--only", profile_origin_name(selection->only)));

	for (size_t i = 0; ok && i < selection->where_count; i++)
		ok = append_where(out, &selection->where[i]);
	return ok;
}

/* Appends a command; `filters` as append_filters() has them: "" or " --focus parse". */
static void headline_append_command(
	const struct render_input *input, const char *filters, const char *options, struct buffer *out)
{
	const char *base = input->names[DIFF_BASE], *head = input->names[DIFF_HEAD];
	bool are_plain = headline_is_plain(base) && headline_is_plain(head);

	buffer_printf(out, "`kelvin diff %s %s%s %s`", are_plain ? base : "BASE", are_plain ? head : "HEAD", filters,
		options);
}

/* Several runs on both sides: how large a change they exclude is what there is to know of them. */
static void append_excluded(const struct render_input *input, const char *filters, struct buffer *out)
{
	enum { MOST_PERCENT = 50 };
	const struct diff_estimate *total = &input->diff->total;
	double percent = ceil(100 * fmax(total->ci_high, -total->ci_low) / total->base);
	char option[48];

	if (!(percent <= MOST_PERCENT))
		return;
	snprintf(option, sizeof(option), "--fail-on 'total>%.0f%%'", percent);
	buffer_append_string(out, "Next: if smaller changes do not matter, ");
	headline_append_command(input, filters, option, out);
	buffer_append_string(out, " says that there is none.");
}

static void next_of_inconclusive(const struct render_input *input, const char *filters, struct buffer *out)
{
	const struct diff *diff = input->diff;

	if (diff->scale.length_is_unknown) {
		buffer_append_string(out, "Next: if both were recorded for the same time at the same rate, ");
		headline_append_command(input, filters, "--scale per-run", out);
		buffer_append_byte(out, '.');
	} else if (diff_load_is_open(diff)) {
		buffer_append_string(out, "Next: if the load was the same, ");
		headline_append_command(
			input, filters, diff->scale.mode == DIFF_SCALE_RATE ? "--scale rate" : "--scale per-run", out);
		buffer_append_byte(out, '.');
	} else if (diff->scale.load_is_unknown) {
		buffer_append_string(out, "Next: with the number of requests of each recording, ");
		headline_append_command(input, filters, "--scale work=BASE:HEAD", out);
		buffer_append_byte(out, '.');
	} else if (diff->evidence.mode == DIFF_EVIDENCE_RUNS) {
		append_excluded(input, filters, out);
	} else if (diff_widest(&diff->evidence) == DIFF_VARIANCE_LOAD) {
		buffer_append_string(out, "Next: record both sides at the same load.");
	} else if (diff->evidence.mode != DIFF_EVIDENCE_EXACT) {
		buffer_printf(out,
			"Next: record each side 3 times or more, and `kelvin diff BASE1,BASE2,BASE3 HEAD1,HEAD2,HEAD3%s`.",
			filters);
	}
}

/* Appends how the lines of the function that the verdict names are shown, if it has lines and they are not here. */
static void headline_append_lines(const struct render_input *input, struct buffer *out)
{
	static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.";
	const struct diff *diff = input->diff;
	const struct diff_function *f;
	const char *name;

	if (input->listing || diff->cause.function == PROFILE_NONE)
		return;
	f = &diff->functions[diff->cause.function];
	name = diff_string(diff, f->shown);
	if (f->line > 0 && diff_string(diff, f->file)[0] && name[0] && !name[strspn(name, of_names)])
		buffer_printf(out, ", and with `--list '^%s$'` its lines", name);
}

static void append_next(const struct render_input *input, const char *filters, struct buffer *out)
{
	switch (input->diff->verdict) {
	case DIFF_REGRESSED:
	case DIFF_IMPROVED:
	case DIFF_MIXED:
	case DIFF_MINOR:
		buffer_append_string(out, "Next: ");
		headline_append_command(input, filters, "-o diff.html", out);
		buffer_append_string(out, " shows each call path");
		headline_append_lines(input, out);
		if (input->diff->elapsed.is_by_together || input->diff->elapsed.is_overlapped)
			buffer_append_string(out, ", and with `--metric wall` what threads wait for meanwhile");
		buffer_append_byte(out, '.');
		return;
	case DIFF_INCONCLUSIVE:
		next_of_inconclusive(input, filters, out);
		return;
	case DIFF_MACHINE:
		buffer_append_string(out, "Next: `kelvin record -a -d 10` shows which programs use the CPUs.");
		return;
	case DIFF_PLACEMENT:
	case DIFF_UNCHANGED:
		return;
	}
}

void headline_next(const struct render_input *input, struct buffer *out)
{
	const struct profile_selection *selection = input->question ? input->question->selection : NULL;
	CLEANUP(buffer_deinit) struct buffer filters;

	buffer_init(&filters, SIZE_MAX / 2);
	/* Of a part of a suite, the sides' names alone make no command. */
	if (input->title && input->title[0])
		return;
	if (selection && !append_filters(selection, &filters))
		return;
	buffer_append_byte(&filters, '\0');
	if (!filters.failed)
		append_next(input, filters.data, out);
}
