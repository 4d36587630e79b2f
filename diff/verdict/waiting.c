/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/waiting.h"

#include "diff/constants.h"
#include "diff/metric.h"
#include "diff/verdict/sentences.h"
#include "diff/verdict/size.h"
#include "diff/wait_sites.h"
#include "diff/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_NAME_COLUMNS = 80, MAX_NAME_BYTES = 400 };

bool waiting_is_apart(const struct diff *diff, enum profile_wait_class wait_class)
{
	return wait_class == PROFILE_WAIT_RUN_QUEUE &&
	       (diff->run_queue.raw[DIFF_BASE] > 0 || diff->run_queue.raw[DIFF_HEAD] > 0);
}

/* ---- The site ---- */

/* Returns whether waits of the class are in the metric's total: those for a CPU are beside it. */
static bool is_in_metric(const struct diff *diff, enum profile_wait_class wait_class)
{
	return !waiting_is_apart(diff, wait_class) && diff_has_wait_class(diff, wait_class);
}

static bool verdict_waiting_is_proven(const struct diff_estimate *estimate, double delta)
{
	return diff_state_is_difference(estimate->state) && (estimate->delta > 0) == (delta > 0);
}

/*
 * Returns whether a site carries a proven difference: its function's or that of its class, of which it has the greater
 * share.
 */
static bool carries(const struct diff *diff, const struct diff_wait_site *site)
{
	const struct diff_estimate *of_class = &diff->waits[site->wait_class].total,
				   *of_function = &diff->functions[site->function].total;

	return (verdict_waiting_is_proven(of_function, site->delta) &&
		       fabs(site->delta) >= waiting_greater_share * fabs(of_function->delta)) ||
	       (verdict_waiting_is_proven(of_class, site->delta) &&
		       fabs(site->delta) >= waiting_greater_share * fabs(of_class->delta));
}

/*
 * Returns the site with the greatest proven difference in the direction of `delta`, of one class (PROFILE_WAIT_NONE:
 * any). Places are in order of their differences.
 */
static const struct diff_wait_site *find_site_from(
	const struct diff *diff, size_t from, enum profile_wait_class wait_class, double delta)
{
	for (size_t i = from; i < diff->wait_site_count; i++) {
		const struct diff_wait_site *site = &diff->wait_sites[i];

		if (site->function != PROFILE_NONE && is_in_metric(diff, site->wait_class) &&
			(wait_class == PROFILE_WAIT_NONE || wait_class == site->wait_class) &&
			site->delta * delta > 0 && carries(diff, site))
			return site;
	}
	return NULL;
}

static const struct diff_wait_site *find_site(const struct diff *diff, enum profile_wait_class wait_class, double delta)
{
	return find_site_from(diff, 0, wait_class, delta);
}

static void verdict_waiting_append_name(const struct diff *diff, uint32_t function, struct buffer *text)
{
	words_append_name(diff, &diff->functions[function], MAX_NAME_COLUMNS, text);
}

/* Appends "for the lock `cache_lock`", "for a timer". */
static void verdict_waiting_append_reason(
	const struct diff *diff, const struct diff_wait_site *site, struct buffer *text)
{
	const char *lock = diff_string(diff, site->lock);

	if (lock[0]) {
		buffer_append_string(text, "for the lock `");
		profile_shorten_name(lock, MAX_NAME_COLUMNS, text);
		buffer_append_byte(text, '`');
	} else if (site->lock_number > 0) {
		buffer_printf(text, "for lock %" PRIu32 ", which has no name", site->lock_number);
	} else {
		buffer_append_string(text, profile_wait_info(site->wait_class)->reason);
	}
}

/* Appends ", held by `Cache::evict`", if it is known who ended the waits. */
static void append_release(const struct diff *diff, const struct diff_wait_site *site, struct buffer *text)
{
	uint32_t by = diff_released_by(diff, site);

	if (by == PROFILE_NONE)
		return;
	buffer_printf(text, ", %s ", diff_release_words(site->wait_class));
	verdict_waiting_append_name(diff, by, text);
}

/* Appends "`Cache::get` waits for the lock `cache_lock`, held by `Cache::evict`". */
static void verdict_waiting_append_site(
	const struct diff *diff, const struct diff_wait_site *site, const char *verb, struct buffer *text)
{
	verdict_waiting_append_name(diff, site->function, text);
	buffer_printf(text, " %s ", verb);
	verdict_waiting_append_reason(diff, site, text);
	append_release(diff, site, text);
}

static const char *site_verb(const struct diff_wait_site *site)
{
	if (!(site->base > 0))
		return "waits";
	if (!(site->head > 0))
		return "no longer waits";
	return site->delta > 0 ? "waits longer" : "waits less";
}

void waiting_append_named(const struct diff *diff, struct buffer *text)
{
	const struct diff_wait_site *site = &diff->wait_sites[diff->named_wait];

	verdict_waiting_append_site(diff, site, site_verb(site), text);
}

void waiting_append_most(const struct diff *diff, double delta, struct buffer *text)
{
	for (size_t i = 0; i < diff->wait_site_count; i++) {
		const struct diff_wait_site *site = &diff->wait_sites[i];

		if (site->function == PROFILE_NONE || waiting_is_apart(diff, site->wait_class) ||
			site->delta / delta < waiting_greater_share)
			continue;
		buffer_append_string(text, ", most of all ");
		verdict_waiting_append_name(diff, site->function, text);
		buffer_append_byte(text, ' ');
		verdict_waiting_append_reason(diff, site, text);
		return;
	}
}

static void note_site(struct diff *diff, const struct diff_wait_site *site)
{
	diff->named_wait = site ? (uint32_t)(site - diff->wait_sites) : PROFILE_NONE;
}

/* ---- The total ---- */

/* Appends "`Cache::get` waits longer for the lock `cache_lock`, held by `Cache::evict`: +31 ms per run, 62 %". */
static void append_site_change(const struct diff_build *build, const struct diff_wait_site *site, struct buffer *text)
{
	char size[SIZE_WORDS];

	verdict_waiting_append_site(build->diff, site, site_verb(site), text);
	size_words(build, site->delta, size);
	buffer_printf(text, ": %s%s%.0f %%", size, size[0] ? ", " : "",
		fmin(site->delta / build->diff->total.delta, 1) * 100);
}

/* Appends the sites with the greatest proven differences in the direction of `delta`: two at most. */
static void append_sites(struct diff_build *build, double delta, struct buffer *text)
{
	struct diff *diff = build->diff;
	const struct diff_wait_site *site = find_site(diff, PROFILE_WAIT_NONE, delta), *next;

	note_site(diff, site);
	if (!site)
		return;
	append_site_change(build, site, text);
	buffer_append_string(text, diff->total.delta > 0 ? " of the increase" : " of the decrease");
	next = find_site_from(diff, (size_t)(site - diff->wait_sites) + 1, PROFILE_WAIT_NONE, delta);
	if (!next || next->delta / diff->total.delta < waiting_second_share)
		return;
	buffer_append_string(text, "; ");
	append_site_change(build, next, text);
}

/* Appends "2.1 s more waiting". */
static void verdict_waiting_append_part(
	const struct diff_build *build, double delta, const char *what, struct buffer *text)
{
	if (fabs(delta) < waiting_least_share * build->diff->total.base) {
		buffer_printf(text, "%s unchanged", what);
		return;
	}
	size_append_duration(fabs(delta) / size_basis(build), text);
	buffer_printf(text, " %s %s", delta > 0 ? "more" : "less", what);
}

/* Explains wall-clock time: what changed most comes first. */
static void explain_wall(struct diff_build *build, const char *cause, struct buffer *text)
{
	struct diff *diff = build->diff;
	double waits = 0, cpu;
	bool has_sites;

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		waits += is_in_metric(diff, (enum profile_wait_class)i) ? diff->waits[i].total.delta : 0;
	cpu = diff->total.delta - waits;
	has_sites = waits * diff->total.delta > 0 && fabs(waits) >= fabs(cpu) && !diff->elapsed.is_overlapped;
	if (has_sites)
		append_sites(build, waits, text);
	else if (!diff->elapsed.is_overlapped)
		note_site(diff, find_site(diff, PROFILE_WAIT_NONE, waits));
	if (text->size == 0)
		buffer_append_string(text, cause);
	/* Of elapsed time more is known than these two parts (elapsed.h). */
	if (metric_is_elapsed(build->profiles[DIFF_HEAD], build->metric[DIFF_HEAD]))
		return;
	buffer_append_string(text, text->size > 0 ? "; " : "");
	if (fabs(cpu) > fabs(waits)) {
		verdict_waiting_append_part(build, cpu, "CPU time", text);
		buffer_append_string(text, ", ");
		verdict_waiting_append_part(build, waits, "waiting time", text);
	} else {
		verdict_waiting_append_part(build, waits, "waiting time", text);
		buffer_append_string(text, ", ");
		verdict_waiting_append_part(build, cpu, "CPU time", text);
	}
}

void waiting_explain(struct diff_build *build, const char *cause, struct buffer *text)
{
	if (build->diff->waiting == DIFF_WAITING_PART) {
		explain_wall(build, cause, text);
		return;
	}
	append_sites(build, build->diff->total.delta, text);
	if (text->size == 0)
		buffer_append_string(text, cause);
}

/* ---- A function ---- */

/*
 * The beginning of a sentence about a difference, and the owner of its figures: a site and its function's, a function
 * that mostly waits, a class, or a site and the figures of the function through which it waits, such as
 * pthread_mutex_lock.
 */
enum waiting_subject { SUBJECT_SITE, SUBJECT_FUNCTION, SUBJECT_CLASS, SUBJECT_BELOW };

static enum waiting_subject choose_subject(const struct diff *diff, const struct diff_wait_site *site)
{
	const struct diff_estimate *whole = site ? &diff->functions[site->function].total : NULL;

	if (!site || !verdict_waiting_is_proven(whole, site->delta) ||
		fabs(site->delta) < waiting_greater_share * fabs(whole->delta))
		return SUBJECT_CLASS;
	return fabs(site->delta) >= waiting_whole_share * fabs(whole->delta) ? SUBJECT_SITE : SUBJECT_FUNCTION;
}

/* Appends what a sentence is about: "`Cache::get` waits for the lock `cache_lock`, held by `Cache::evict`". */
static void append_subject(const struct diff *diff, enum waiting_subject subject, enum profile_wait_class wait_class,
	const struct diff_wait_site *site, struct buffer *text)
{
	if (!site)
		buffer_printf(text, "waiting %s", profile_wait_info(wait_class)->reason);
	else
		verdict_waiting_append_site(diff, site, subject == SUBJECT_FUNCTION ? "mostly waits" : "waits", text);
	if (site && subject == SUBJECT_CLASS)
		buffer_printf(text, ", which is most of all waiting %s", profile_wait_info(wait_class)->reason);
}

/* Returns the difference of a site's waits that are below a function. */
static double delta_below(const struct diff_build *build, const struct diff_wait_site *site, uint32_t function)
{
	const struct diff *diff = build->diff;
	double delta = 0;

	for (uint32_t top = 1; top < diff->node_count; top++) {
		if (diff->nodes[top].function != function || !build->topmost[top])
			continue;
		for (uint32_t n = top; n < diff->nodes[top].subtree_end; n++)
			if (diff_wait_class(diff, &diff->functions[diff->nodes[n].function]) == site->wait_class &&
				wait_sites_responsible(diff, n) == site->function)
				delta += diff->node_self[DIFF_HEAD][n] * diff->scale.factor -
					 diff->node_self[DIFF_BASE][n];
	}
	return delta;
}

/* Returns the site whose waits are nearly all of a function's proven difference. Only the greatest sites are tried. */
static const struct diff_wait_site *find_below(
	const struct diff_build *build, const struct diff_function *function, const struct diff_estimate *estimate)
{
	enum { MOST_TRIED = 16 };
	const struct diff *diff = build->diff;
	uint32_t id = (uint32_t)(function - diff->functions);

	for (size_t i = 0; i < diff->wait_site_count && i < MOST_TRIED; i++) {
		const struct diff_wait_site *site = &diff->wait_sites[i];

		if (site->function != PROFILE_NONE && is_in_metric(diff, site->wait_class) &&
			site->delta * estimate->delta > 0 &&
			delta_below(build, site, id) / estimate->delta >= waiting_whole_share)
			return site;
	}
	return NULL;
}

/* Returns the site that explains a function's difference, and how to say so; NULL: there is none. */
static const struct diff_wait_site *verdict_waiting_find_reason(const struct diff_build *build,
	const struct diff_function *function, const struct diff_estimate *estimate, enum waiting_subject *subject)
{
	const struct diff *diff = build->diff;
	enum profile_wait_class of_frame = diff_wait_class(diff, function);
	const struct diff_wait_site *site = find_site(diff, of_frame, estimate->delta);

	*subject = choose_subject(diff, site);
	if (of_frame != PROFILE_WAIT_NONE ||
		(site && (diff->waiting == DIFF_WAITING_ALL ||
				 fabs(site->delta) >= waiting_greater_share * fabs(estimate->delta))))
		return site;
	*subject = SUBJECT_BELOW;
	return find_below(build, function, estimate);
}

bool waiting_is_reason(
	const struct diff_build *build, const struct diff_function *function, const struct diff_estimate *estimate)
{
	enum waiting_subject subject;

	if (build->diff->waiting == DIFF_WAITING_NONE)
		return false;
	return diff_wait_class(build->diff, function) != PROFILE_WAIT_NONE ||
	       verdict_waiting_find_reason(build, function, estimate, &subject);
}

bool waiting_append_what(struct diff_build *build, const struct diff_function *function,
	const struct diff_estimate *estimate, struct buffer *text)
{
	enum waiting_subject subject;
	const struct diff_wait_site *site;

	if (!waiting_is_reason(build, function, estimate))
		return false;
	site = verdict_waiting_find_reason(build, function, estimate, &subject);
	append_subject(build->diff, subject, diff_wait_class(build->diff, function), site, text);
	return true;
}

static void verdict_waiting_append_change(
	const struct diff *diff, const struct diff_estimate *estimate, struct buffer *text)
{
	char words[WORDS_CHANGE];

	words_change(diff, estimate, words);
	buffer_printf(text, ": %s, %.1f %% of all %s after %.1f %% in base", words,
		estimate->head / diff->total.head * 100, words_metric(diff), estimate->base / diff->total.base * 100);
}

bool waiting_say(struct diff_build *build, const struct diff_function *function, const struct diff_estimate *estimate,
	const char *rest, struct error *err)
{
	enum { MAX_TEXT = 4096 };
	struct diff *diff = build->diff;
	enum profile_wait_class of_frame = diff_wait_class(diff, function);
	enum waiting_subject subject;
	const struct diff_wait_site *site = verdict_waiting_find_reason(build, function, estimate, &subject);
	enum profile_wait_class wait_class = site ? site->wait_class : of_frame;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT);

	note_site(diff, site);
	append_subject(diff, subject, wait_class, site, &text);
	if (subject == SUBJECT_CLASS)
		estimate = &diff->waits[wait_class].total;
	else if (subject != SUBJECT_BELOW)
		estimate = &diff->functions[site->function].total;
	verdict_waiting_append_change(diff, estimate, &text);
	buffer_append_string(&text, rest);
	return sentence_set(diff, &text, err);
}
