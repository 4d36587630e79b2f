/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/summary.h"

#include "render/format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Unproven differences of at least least_unproven_points fill the list up to this many rows. */
enum { MIN_ROWS = 5 };
static const double least_unproven_points = 0.1;

const char summary_interrupts_title[] = "interrupts";
const char summary_interrupts_words[] =
	"Interrupts are the machine's work in the program's threads (interrupts and preemption): not in the total, nor in the verdict.";

const char summary_run_queue_title[] = "waiting for a CPU";
const char summary_run_queue_words[] =
	"How long threads that could run wait for a CPU depends on what else runs on the machine: not in the total, nor in the verdict on the program.";

bool summary_has_run_queue(const struct diff *diff)
{
	return diff->run_queue.raw[DIFF_BASE] > 0 || diff->run_queue.raw[DIFF_HEAD] > 0;
}

void summary_machine_words(const struct render_input *input, const char *before, struct buffer *out)
{
	const struct profile *base = input->profiles[DIFF_BASE], *head = input->profiles[DIFF_HEAD];

	if (base && head && base->facts.machine_busy_percent && head->facts.machine_busy_percent)
		buffer_printf(out,
			"%sOf the machine's CPU time %" PRIu32 " %% was in use in base and %" PRIu32 " %% in head.",
			before, base->facts.machine_busy_percent, head->facts.machine_busy_percent);
}
const char summary_compilation_title[] = "just-in-time compilation";
const char summary_compilation_words[] =
	"Just-in-time compilation is the language's run time compiling the program while it runs, more of it in a program that has just begun: not in the total, nor in the verdict.";

const char summary_interpreter_words[] =
	"The time of a Python function itself includes that of the interpreter's C functions which do its work.";

bool summary_has_interpreter(const struct diff *diff)
{
	bool is_interpreted = false, interprets = false;

	for (size_t i = 0; i < diff->function_count; i++) {
		is_interpreted = is_interpreted || diff->functions[i].language == PROFILE_LANGUAGE_PYTHON;
		interprets = interprets || diff->functions[i].interprets == PROFILE_LANGUAGE_PYTHON;
	}
	return is_interpreted && interprets;
}

const enum profile_origin summary_origins[PROFILE_ORIGIN_COUNT] = { PROFILE_ORIGIN_USER, PROFILE_ORIGIN_LIBRARY,
	PROFILE_ORIGIN_SYSTEM, PROFILE_ORIGIN_UNKNOWN };

struct diff_estimate summary_beside(const struct diff_origin *origin)
{
	return (struct diff_estimate){
		.base = origin->base, .head = origin->head, .delta = origin->delta, .ci_low = NAN, .ci_high = NAN
	};
}

bool summary_has_beside(const struct diff_origin *origin)
{
	return origin->base != 0 || origin->head != 0;
}

double summary_points(const struct diff *diff, double delta)
{
	return format_share(delta, fmax(diff->total.base, diff->total.head));
}

double summary_percent_of_base(const struct diff_estimate *estimate)
{
	return format_share(estimate->delta, estimate->base);
}

struct format_text summary_interval_of_base(const struct diff_estimate *estimate)
{
	return format_percent_interval(
		format_share(estimate->ci_low, estimate->base), format_share(estimate->ci_high, estimate->base));
}

bool summary_proven(enum diff_state state)
{
	return diff_state_is_difference(state);
}

bool summary_same_code(const struct diff_function *function, enum diff_state state)
{
	return function->code == DIFF_CODE_SAME && (state == DIFF_STATE_MORE || state == DIFF_STATE_LESS);
}

const char summary_short_of_proof_words[] =
	"not proven: its own 95 % interval excludes 0, but among so many functions chance alone produces some such intervals";

void summary_same_code_self(const struct diff *diff, struct buffer *out)
{
	buffer_printf(out, "identical machine code; %s", diff_same_code_words(diff, false));
}

void summary_same_code_total(const struct diff *diff, struct buffer *out)
{
	buffer_printf(out, "identical machine code; %s", diff_same_code_words(diff, true));
}

bool summary_short_of_proof(const struct diff_estimate *estimate)
{
	return estimate->state == DIFF_STATE_UNPROVEN && isfinite(estimate->ci_low) && isfinite(estimate->ci_high) &&
	       (estimate->ci_low > 0 || estimate->ci_high < 0);
}

/* ---- Lists ---- */

void summary_list_deinit(struct summary_list *list)
{
	free(list->ids);
	*list = (struct summary_list){ 0 };
}

struct summary_candidate {
	double size;
	uint32_t id;
	bool proven;
	/* its change is that of the whole program, or that of the functions that it runs as their interpreter */
	bool is_of_others;
};

static int summary_by_rank(const void *a, const void *b)
{
	const struct summary_candidate *x = a, *y = b;

	if (x->proven != y->proven)
		return x->proven ? -1 : 1;
	if (x->is_of_others != y->is_of_others)
		return x->is_of_others ? 1 : -1;
	return x->size != y->size ? ORDER(y->size, x->size) : ORDER(x->id, y->id);
}

static bool change_listed(const struct diff *diff, const struct diff_estimate *estimate, int way)
{
	if (!(estimate->delta * way > 0))
		return false;
	return summary_proven(estimate->state) ||
	       (estimate->state == DIFF_STATE_UNPROVEN &&
		       fabs(summary_points(diff, estimate->delta)) >= least_unproven_points);
}

struct summary_choice {
	const struct diff *diff;
	enum summary_order order;
	bool has_interpreter;
};

static bool consider(const struct summary_choice *listing, uint32_t id, struct summary_candidate *candidate)
{
	const struct diff *diff = listing->diff;
	enum summary_order order = listing->order;
	const struct diff_function *f = &diff->functions[id];
	bool is_interpreter = listing->has_interpreter && f->interprets != PROFILE_LANGUAGE_NATIVE;
	bool is_total = order == SUMMARY_TOTAL || order == SUMMARY_MOVED;
	const struct diff_estimate *estimate = is_total ? &f->total : &f->self;

	*candidate = (struct summary_candidate){
		.id = id, .size = fabs(estimate->delta), .proven = summary_proven(estimate->state)
	};
	switch (order) {
	case SUMMARY_SELF_INCREASES:
		return change_listed(diff, estimate, 1);
	case SUMMARY_SELF_DECREASES:
		return change_listed(diff, estimate, -1);
	case SUMMARY_TOTAL_CHANGES:
		return false;
	case SUMMARY_MOVED:
		candidate->size = fmax(estimate->base, estimate->head);
		/*
		 * Only the function that moved is listed, not the caller that took its time over, and not the functions
		 * of a class one by one.
		 */
		return !diff_is_of_renaming(diff, f) && f->moved_to != PROFILE_NONE &&
		       f->moved_to < diff->function_count && candidate->size > 0 &&
		       (diff_tier_is_rename(f->tier) || f->total.state == DIFF_STATE_MOVED) &&
		       (f->moved_to > id || !(diff->functions[f->moved_to].total.head > 0) || estimate->head > 0);
	case SUMMARY_SELF:
	case SUMMARY_TOTAL:
		candidate->is_of_others = is_total && is_interpreter;
		candidate->proven = false;
		candidate->size = estimate->head;
		return estimate->head > 0;
	}
	return false;
}

/* A chain of callers whose changes are one is one row: that of the function that names it. */
static bool consider_change(
	const struct diff *diff, const struct diff_change *change, struct summary_candidate *candidate)
{
	const struct diff_estimate *total = &diff->functions[change->function].total;

	*candidate = (struct summary_candidate){
		.id = change->function,
		.size = fabs(total->delta),
		.proven = summary_proven(total->state),
		.is_of_others = change->is_of_others,
	};
	return candidate->proven;
}

/* Returns the number of ranked candidates that are shown. */
static size_t choose_count(
	const struct summary_candidate *candidates, size_t count, enum summary_order order, size_t limit)
{
	size_t proven = 0;

	while (proven < count && candidates[proven].proven)
		proven++;
	if (order == SUMMARY_SELF_INCREASES || order == SUMMARY_SELF_DECREASES) {
		size_t room = proven > MIN_ROWS ? proven : MIN_ROWS;

		count = count < room ? count : room;
	}
	return count < limit ? count : limit;
}

void summary_list(const struct diff *diff, enum summary_order order, size_t limit, struct summary_list *list)
{
	CLEANUP(cleanup_free)
	struct summary_candidate *candidates = memory_zeroed(diff->function_count + 1, sizeof(*candidates));
	struct summary_choice listing = { diff, order, summary_has_interpreter(diff) };
	size_t count = 0, shown;
	uint32_t *ids;

	for (size_t i = 0; i < (order == SUMMARY_TOTAL_CHANGES ? diff->change_count : diff->function_count); i++)
		count += order == SUMMARY_TOTAL_CHANGES ? consider_change(diff, &diff->changes[i], &candidates[count])
							: consider(&listing, (uint32_t)i, &candidates[count]);
	qsort(candidates, count, sizeof(*candidates), summary_by_rank);
	shown = choose_count(candidates, count, order, limit);
	ids = memory_alloc((shown + 1) * sizeof(*ids));
	for (size_t i = 0; i < shown; i++)
		ids[i] = candidates[i].id;
	*list = (struct summary_list){ .ids = ids, .count = shown };
	for (size_t i = shown; i < count; i++)
		list->proven_left_out += candidates[i].proven;
}

/* ---- Sentences ---- */

const char *summary_verdict_word(enum diff_verdict verdict)
{
	switch (verdict) {
	case DIFF_UNCHANGED:
		return "Unchanged";
	case DIFF_REGRESSED:
		return "Regressed";
	case DIFF_IMPROVED:
		return "Improved";
	case DIFF_INCONCLUSIVE:
		return "Inconclusive";
	case DIFF_MIXED:
		return "Mixed";
	case DIFF_MINOR:
		return "Minor changes";
	case DIFF_MACHINE:
		return "The machine, not the program";
	case DIFF_PLACEMENT:
		return "Placement, not the code";
	}
	return "";
}

void summary_verdict(const struct diff *diff, struct buffer *out)
{
	const char *text = diff_string(diff, diff->verdict_text);

	if (text[0])
		buffer_printf(out, "%s: %s.", summary_verdict_word(diff->verdict), text);
	else
		buffer_printf(out, "%s.", summary_verdict_word(diff->verdict));
}

void summary_scale(const struct diff *diff, struct buffer *out)
{
	const char *text = diff_string(diff, diff->scale_text);
	const char *unit = diff_string(diff, diff->unit);

	buffer_printf(out, "Compared %s (--scale %s)", diff_scale_words(diff->scale.mode),
		diff_scale_mode_name(diff->scale.mode));
	if (isfinite(diff->scale.factor) && fabs(diff->scale.factor - 1) >= 5e-5)
		buffer_printf(out, ", with head multiplied by %.4g", diff->scale.factor);
	buffer_printf(out, ". Measured: base %s, head %s.", format_value(diff->raw_total[DIFF_BASE], unit).text,
		format_value(diff->raw_total[DIFF_HEAD], unit).text);
	if (text[0])
		buffer_printf(
			out, " %c%s.", text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0], text + 1);
}

/* Appends what exact counts rest on, and what is noise of them. */
static void exact_source(const struct diff_evidence *evidence, struct buffer *out)
{
	size_t base = evidence->runs[DIFF_BASE], head = evidence->runs[DIFF_HEAD];

	buffer_printf(out, "Evidence: exact counts of %zu run%s of base and %zu of head; nothing was sampled.", base,
		base == 1 ? "" : "s", head);
	buffer_append_string(out,
		base > 1 && head > 1
			? " A difference is proven if it is larger than what runs of one side differ by."
			: " How far runs of one program differ is taken from how alike the functions of both sides are, and from other programs; several runs on each side show it.");
}

static void evidence_source(const struct diff_evidence *evidence, struct buffer *out)
{
	switch (evidence->mode) {
	case DIFF_EVIDENCE_NONE:
		if (evidence->uncounted) {
			buffer_append_string(out,
				"Evidence: none. The values are not counts of samples, and one file on each side does not show how much they vary by chance. Give 2 or more files on each side, separated by commas.");
			return;
		}
		buffer_append_string(out, "Evidence: none. There is too little data to tell a difference from noise.");
		return;
	case DIFF_EVIDENCE_RUNS:
		buffer_printf(out, "Evidence: %zu runs of base and %zu runs of head.", evidence->runs[DIFF_BASE],
			evidence->runs[DIFF_HEAD]);
		return;
	case DIFF_EVIDENCE_EXACT:
		exact_source(evidence, out);
		return;
	case DIFF_EVIDENCE_SINGLE:
	case DIFF_EVIDENCE_COUNTS:
		buffer_append_string(out,
			"Evidence: one recording of each side. How far starts of one program differ by themselves is taken from restarts of other programs; several runs on each side (kelvin bench, kelvin record --runs) show it, and prove smaller differences.");
		return;
	}
}

/* Appends how much the place where the linker put the code alone moves the program. */
static void say_layouts(const struct diff_layouts *layouts, struct buffer *out)
{
	if (layouts->count[DIFF_BASE] > 1 && isfinite(layouts->rsd))
		buffer_printf(out,
			" Each side was measured in several layouts of its code (%zu and %zu): layout alone moves this program by ± %.1f %%.",
			layouts->count[DIFF_BASE], layouts->count[DIFF_HEAD], layouts->rsd * 100);
	else if (layouts->widens)
		buffer_printf(out,
			" Where the linker put the code moves functions by ± %.1f %% here, as %zu function%s of the same code show%s, and intervals take that in.",
			layouts->same_code_rsd * 100, layouts->same_code_functions,
			layouts->same_code_functions == 1 ? "" : "s", layouts->same_code_functions == 1 ? "s" : "");
}

/* Appends the outcome of comparing base against itself. */
static void say_control(const struct diff_control *control, struct buffer *out)
{
	if (control->is_known && isfinite(control->change_low))
		buffer_printf(out,
			" The control, base against itself, differs by %+.1f %% (95 %% interval %.1f to %.1f %%).",
			control->change * 100, control->change_low * 100, control->change_high * 100);
}

void summary_evidence(const struct diff *diff, struct buffer *out)
{
	const struct diff_evidence *evidence = &diff->evidence;

	evidence_source(evidence, out);
	if (evidence->mode != DIFF_EVIDENCE_NONE)
		buffer_printf(out,
			" At most %.4g %% of the proven differences are expected to be chance (false discovery rate %.4g).",
			evidence->q * 100, evidence->q);
	say_layouts(&diff->layouts, out);
	say_control(&diff->control, out);
}

double summary_samples(const struct profile *profile)
{
	if (profile->counts_of[0] == PROFILE_NONE)
		return NAN;
	return profile->quality.samples > 0 ? (double)profile->quality.samples : (double)profile_sum(profile, 0);
}

bool summary_quality_recorded(const struct profile *profile)
{
	uint64_t counted = profile->quality.lost;

	for (size_t i = 0; i < PROFILE_STOP_COUNT; i++)
		counted |= profile->quality.stops[i];
	return counted != 0;
}

double summary_whole_percent(const struct profile *profile)
{
	return profile_knows_whole_stacks(profile) ? profile_quality_whole_percent(&profile->quality) : NAN;
}

static void summary_append_chains(const struct profile *profile, struct buffer *out)
{
	double percent = profile_quality_frameless_percent(&profile->quality);

	buffer_append_string(out, "stacks from frame pointers");
	if (percent >= 1)
		buffer_printf(out, ", %.1f %% without a caller", percent);
}

void summary_sampled(const struct profile *profile, struct buffer *out)
{
	double samples = summary_samples(profile);

	if (isfinite(samples))
		buffer_printf(out, "%s sample%s", format_count(samples).text, samples == 1 ? "" : "s");
	else
		buffer_printf(out, "%s stack%s, %s", format_count((double)profile->sample_count).text,
			profile->sample_count == 1 ? "" : "s",
			profile_metric(profile, profile->default_value_type).is_exact ? "counted without sampling"
										      : "samples not counted");
}

void summary_losses(const struct profile *profile, const char *separator, struct buffer *out)
{
	double whole = summary_whole_percent(profile);

	if (summary_quality_recorded(profile))
		buffer_printf(out, "%s%s lost", separator, format_count((double)profile->quality.lost).text);
	if (isfinite(whole)) {
		buffer_printf(out, "%s%.1f %% whole stacks", separator, whole);
	} else if (strcmp(profile_string(profile, profile->facts.call_graph), "fp") == 0) {
		buffer_append_string(out, separator);
		summary_append_chains(profile, out);
	}
	if (isfinite(whole) && profile->quality.stops[PROFILE_STOP_OPEN] > 0)
		buffer_printf(out, ", %.1f %% open", profile_quality_open_percent(&profile->quality));
}

void summary_quality(const struct profile *profile, struct buffer *out)
{
	double duration_ns = 0;

	for (size_t i = 0; i < profile->run_count; i++)
		duration_ns += (double)profile->runs[i].duration_ns;
	summary_sampled(profile, out);
	if (duration_ns > 0)
		buffer_printf(out, " in %.1f s", duration_ns / 1e9);
	summary_losses(profile, ", ", out);
}

void summary_verified(const struct profile *profile, const char *before, struct buffer *out)
{
	if (!profile || !profile->verification.is_there)
		return;
	buffer_append_string(out, before);
	profile_verification_sentence(&profile->verification, out);
}

void summary_labels(const struct profile *profile, const char *before, struct buffer *out)
{
	if (!profile || profile->label_count == 0)
		return;
	buffer_append_string(out, before);
	profile_labels_words(profile, out);
}

void summary_title(const struct render_input *input, struct buffer *out)
{
	const struct profile *base = input->profiles[DIFF_BASE], *head = input->profiles[DIFF_HEAD];
	bool is_diff = input->diff->sides == DIFF_SIDES;

	if (input->title && input->title[0])
		buffer_append_string(out, input->title);
	else if (head && (base || !is_diff))
		profile_identities(is_diff ? base : NULL, head, out);
}

const char *summary_command(const struct render_input *input, enum diff_side side)
{
	const struct profile *profile = input->profiles[side];

	if (profile && profile_string(profile, profile->facts.command)[0])
		return profile_string(profile, profile->facts.command);
	if (input->names[side] && input->names[side][0])
		return input->names[side];
	return "";
}

void summary_points_words(const struct diff *diff, struct buffer *out)
{
	buffer_append_string(out, "points: percentage points of total ");
	for (const char *at = diff_string(diff, diff->metric_words); *at; at++)
		buffer_append_byte(out, *at == '-' ? ' ' : (uint8_t)*at);
	buffer_append_string(out, "; from 3 % to 5 % is +2 points");
}

void summary_measure(const struct diff *diff, struct buffer *out)
{
	for (const char *at = diff->is_duration ? "time" : diff_string(diff, diff->metric); *at; at++)
		buffer_append_byte(out, *at == '-' ? ' ' : (uint8_t)*at);
}

void summary_heading(const struct diff *diff, enum summary_order order, struct buffer *out)
{
	static const struct {
		const char *before;
		bool takes_less;
		const char *after;
	} words[] = {
		[SUMMARY_SELF_INCREASES] = { "More ", false, " in the function itself" },
		[SUMMARY_SELF_DECREASES] = { "", true, " in the function itself" },
		[SUMMARY_TOTAL_CHANGES] = { "More or ", true, " in the function and all it calls" },
		[SUMMARY_MOVED] = { "Moved or renamed functions, by total ", false, "" },
		[SUMMARY_SELF] = { "Functions by ", false, " in the function itself" },
		[SUMMARY_TOTAL] = { "Functions by ", false, " in the function and all it calls" },
	};

	buffer_append_string(out, words[order].before);
	if (words[order].takes_less)
		buffer_append_string(out, words[order].before[0] ? (diff->is_counted ? "fewer " : "less ")
					  : diff->is_counted     ? "Fewer "
								 : "Less ");
	summary_measure(diff, out);
	buffer_append_string(out, words[order].after);
}
