/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/headline.h"

#include "render/format.h"
#include "render/summary.h"

#include <math.h>
#include <string.h>

/* A function's difference is the cause's if this part of it lies below the cause. */
static const double part_of_cause = 0.5;

/* ---- What else is proven ---- */

/* The function to whose self time a node's own counts: that which an interpreter runs has the interpreter's. */
static uint32_t function_of(const struct diff *diff, uint32_t node)
{
	uint32_t at = node;

	while (at != 0 && diff->functions[diff->nodes[at].function].interprets != PROFILE_LANGUAGE_NATIVE)
		at = diff->nodes[at].parent;
	return diff->nodes[at != 0 ? at : node].function;
}

/* Fills [function] with the difference of its self time below the cause. */
static void sum_below_cause(const struct diff *diff, double *below)
{
	uint32_t cause = diff->cause.function;

	for (uint32_t top = 1; top < diff->node_count; top++) {
		if (diff->nodes[top].function != cause)
			continue;
		for (uint32_t node = top; node < diff->nodes[top].subtree_end; node++)
			below[function_of(diff, node)] += diff->node_self[DIFF_HEAD][node] * diff->scale.factor -
							  diff->node_self[DIFF_BASE][node];
		top = diff->nodes[top].subtree_end - 1;
	}
}

static bool is_other(const struct diff *diff, uint32_t function, double below)
{
	const struct diff_function *f = &diff->functions[function];

	return summary_proven(f->self.state) && !f->interrupt && function != diff->cause.function &&
	       function != diff->cause.leaf && f->name_source != PROFILE_NAME_NONE &&
	       f->name_source != PROFILE_NAME_FDE && diff_wait_class(diff, f) == PROFILE_WAIT_NONE &&
	       !(below / f->self.delta >= part_of_cause);
}

static bool is_larger(const struct diff *diff, uint32_t a, uint32_t b)
{
	return fabs(diff->functions[a].self.delta) > fabs(diff->functions[b].self.delta);
}

bool headline_others(const struct diff *diff, uint32_t others[static HEADLINE_OTHERS], size_t *count, struct error *err)
{
	CLEANUP(cleanup_free) double *below = calloc(diff->function_count + 1, sizeof(*below));

	if (!below)
		return error_set_memory(err);
	*count = 0;
	if (diff->cause.function != PROFILE_NONE)
		sum_below_cause(diff, below);
	for (uint32_t i = 0; i < diff->function_count; i++) {
		size_t place = *count;

		if (!is_other(diff, i, below[i]))
			continue;
		while (place > 0 && is_larger(diff, i, others[place - 1]))
			place--;
		if (place == HEADLINE_OTHERS)
			continue;
		*count += *count < HEADLINE_OTHERS;
		memmove(others + place + 1, others + place, (*count - place - 1) * sizeof(*others));
		others[place] = i;
	}
	return true;
}

const char *headline_others_words(const struct diff *diff)
{
	return diff->cause.function == PROFILE_NONE ? "Proven:" : "Also proven:";
}

void headline_other(const struct diff *diff, uint32_t function, struct buffer *out)
{
	const struct diff_estimate *e = &diff->functions[function].self;
	const char *less = diff->is_counted ? "fewer" : "less";

	if (!(e->base > 0))
		buffer_append_string(out, " is new");
	else if (!(e->head > 0))
		buffer_append_string(out, " is gone");
	else if (e->head >= 2 * e->base)
		buffer_printf(out, " takes %s as %s", format_change(e->base, e->head).text,
			diff->is_counted ? "many" : "much");
	else
		buffer_printf(out, " takes %s %s", format_percent(100 * fabs(e->delta) / e->base).text,
			e->delta > 0 ? "more" : less);
	buffer_printf(out, ": %s, %s points", format_delta(e->delta, diff_string(diff, diff->unit)).text,
		format_points(summary_points(diff, e->delta)).text);
}

/* ---- What to do next ---- */

/* Whether the user's name of a side can stand in a command as it is. */
static bool is_plain(const char *name)
{
	enum { MOST_CHARACTERS = 24 };
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/,:@+=-";

	return name && name[0] && name[0] != '-' && strlen(name) <= MOST_CHARACTERS && !name[strspn(name, plain)];
}

static void append_command(const struct render_input *input, const char *options, struct buffer *out)
{
	const char *base = input->names[DIFF_BASE], *head = input->names[DIFF_HEAD];
	bool are_plain = is_plain(base) && is_plain(head);

	buffer_printf(out, "`kelvin diff %s %s %s`", are_plain ? base : "BASE", are_plain ? head : "HEAD", options);
}

/* Several runs on both sides: how large a change they exclude is what there is to know of them. */
static void append_excluded(const struct render_input *input, struct buffer *out)
{
	enum { MOST_PERCENT = 50 };
	const struct diff_estimate *total = &input->diff->total;
	double percent = ceil(100 * fmax(total->ci_high, -total->ci_low) / total->base);
	char option[48];

	if (!(percent <= MOST_PERCENT))
		return;
	snprintf(option, sizeof(option), "--fail-on 'total>%.0f%%'", percent);
	buffer_append_string(out, "Next: if smaller changes do not matter, ");
	append_command(input, option, out);
	buffer_append_string(out, " says that there is none.");
}

static void next_of_inconclusive(const struct render_input *input, struct buffer *out)
{
	const struct diff *diff = input->diff;

	if (diff_load_is_open(diff)) {
		buffer_append_string(out, "Next: if the load was the same, ");
		append_command(input, diff->scale.mode == DIFF_SCALE_RATE ? "--scale rate" : "--scale per-run", out);
		buffer_append_byte(out, '.');
	} else if (diff->scale.load_is_unknown) {
		buffer_append_string(out, "Next: with the number of requests of each recording, ");
		append_command(input, "--scale work=BASE:HEAD", out);
		buffer_append_byte(out, '.');
	} else if (diff->evidence.mode == DIFF_EVIDENCE_SINGLE || diff->evidence.mode == DIFF_EVIDENCE_COUNTS ||
		   diff->evidence.mode == DIFF_EVIDENCE_NONE) {
		buffer_append_string(out,
			"Next: record each side 3 times or more, and `kelvin diff BASE1,BASE2,BASE3 HEAD1,HEAD2,HEAD3`.");
	} else if (diff->evidence.mode == DIFF_EVIDENCE_RUNS) {
		append_excluded(input, out);
	}
}

void headline_next(const struct render_input *input, struct buffer *out)
{
	/* Of a part of a suite, the sides' names alone make no command. */
	if (input->title && input->title[0])
		return;
	switch (input->diff->verdict) {
	case DIFF_REGRESSED:
	case DIFF_IMPROVED:
	case DIFF_MIXED:
	case DIFF_MINOR:
		buffer_append_string(out, "Next: ");
		append_command(input, "-o diff.html", out);
		buffer_append_string(out, " shows each call path.");
		return;
	case DIFF_INCONCLUSIVE:
		next_of_inconclusive(input, out);
		return;
	case DIFF_MACHINE:
		buffer_append_string(out, "Next: `kelvin record -a -d 10` shows which programs use the CPUs.");
		return;
	case DIFF_UNCHANGED:
		return;
	}
}
