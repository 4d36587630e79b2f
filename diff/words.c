/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/words.h"

#include "diff/metric.h"

#include <math.h>
#include <string.h>

/* Smaller values would be shown as 0.0 %. */
static const double least_shown_percent = 0.05;

const char *words_metric(const struct diff *diff)
{
	return diff_string(diff, diff->metric_words);
}

const char *words_verb(const struct diff *diff)
{
	static const char *const verbs[][2] = { { "instructions", "executes" }, { "system-calls", "makes" },
		{ "l1-misses", "has" }, { "ll-misses", "has" }, { "branch-misses", "has" } };

	for (size_t i = 0; diff->is_exact && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(diff_string(diff, diff->metric), verbs[i][0]) == 0)
			return verbs[i][1];
	if (diff->waiting != DIFF_WAITING_ALL)
		return "takes";
	return diff->is_idle ? "is idle" : "waits";
}

const char *words_scale(enum diff_scale_mode mode)
{
	switch (mode) {
	case DIFF_SCALE_PER_RUN:
		return " per run";
	case DIFF_SCALE_RATE:
		return " per second";
	case DIFF_SCALE_PER_REQUEST:
		return " per request";
	case DIFF_SCALE_WORK:
		return " per unit of work";
	case DIFF_SCALE_ROBUST:
		return " at a guessed load";
	case DIFF_SCALE_SHARE:
		return " by share";
	case DIFF_SCALE_AUTO:
		return "";
	}
	return "";
}

/* Behind the metric in a sentence: the basis of comparison. Exact counts are of one run, if nothing else is said. */
static const char *words_basis(const struct diff *diff)
{
	return diff->is_exact && diff->scale.mode == DIFF_SCALE_PER_RUN ? "" : words_scale(diff->scale.mode);
}

/* The words that say how much, with the metric behind them: "more CPU time", "longer". */
enum { WORDS_AMOUNT = 80 };

static void amount_words(const struct diff *diff, const char *of_time, const char *of_waits, char out[WORDS_AMOUNT])
{
	if (diff->waiting == DIFF_WAITING_ALL)
		snprintf(out, WORDS_AMOUNT, "%s", of_waits);
	else
		snprintf(out, WORDS_AMOUNT, "%s %s", of_time, words_metric(diff));
}

static const char *less_word(const struct diff *diff)
{
	return diff->is_counted ? "fewer" : "less";
}

static const char *much_word(const struct diff *diff)
{
	return diff->is_counted ? "many" : "much";
}

/* Returns the reason why a difference whose interval does not contain 0 is still not called proven. */
static const char *word_doubt(const struct diff *diff, const struct diff_estimate *e)
{
	if (isnan(e->ci_low) || (e->ci_low <= 0 && e->ci_high >= 0))
		return "";
	/* The total is one question, and the functions are another: each has half of the error rate. */
	if (e->state == DIFF_STATE_UNPROVEN && e == &diff->total)
		return diff->scale.load_is_unknown ? "; another load can explain it" : "; just short of proof";
	if (e->state == DIFF_STATE_UNPROVEN)
		return "; among so many functions chance can explain it";
	return e->state == DIFF_STATE_SAME ? "; below --min-effect" : "";
}

static int diff_words_digits_of(double times)
{
	return times < 10 ? 2 : times < 100 ? 1 : 0;
}

static void change_in_times(const struct diff *diff, const struct diff_estimate *e, char *out, size_t size)
{
	double times = e->head / e->base, low = 1 + e->ci_low / e->base, high = 1 + e->ci_high / e->base;
	char amount[WORDS_AMOUNT];
	int used;

	amount_words(diff, much_word(diff), "long", amount);
	used = snprintf(out, size, "%.*f times as %s%s", diff_words_digits_of(times), times, amount, words_basis(diff));

	if (diff->is_exact)
		snprintf(out + used, size - (size_t)used, " (exact)");
	else if (!isnan(e->ci_low))
		snprintf(out + used, size - (size_t)used, " (95 %% interval %.*f to %.*f times%s)",
			diff_words_digits_of(low), low, diff_words_digits_of(high), high, word_doubt(diff, e));
}

bool words_equal(const struct diff *diff, const struct diff_estimate *estimate)
{
	static const double half = 0.5, last_digits = 1e-14;

	return diff->is_exact ? fabs(estimate->delta) < fmax(half, last_digits * estimate->base)
			      : fabs(estimate->delta) * 100 / estimate->base < least_shown_percent;
}

void words_percent(const struct diff *diff, double percent, char out[WORDS_PERCENT])
{
	static const double least_exact_percent = 0.0001, most_digits_percent = 99.95;

	if (!diff->is_exact || percent == 0)
		snprintf(out, WORDS_PERCENT, "%.1f %%", percent);
	else if (percent < least_exact_percent)
		snprintf(out, WORDS_PERCENT, "less than %g %%", least_exact_percent);
	else if (percent < most_digits_percent)
		snprintf(out, WORDS_PERCENT, "%#.3g %%", percent);
	else
		snprintf(out, WORDS_PERCENT, "%.0f %%", percent);
}

static double cleaned(double percent)
{
	return fabs(percent) < least_shown_percent ? 0 : percent; /* not -0.0 */
}

static void change_in_percent(const struct diff *diff, const struct diff_estimate *e, char *out, size_t size)
{
	double sign = e->delta < 0 ? -1 : 1, unit = 100 / e->base, percent = fabs(e->delta) * unit;
	double low = sign * (sign > 0 ? e->ci_low : e->ci_high) * unit,
	       high = sign * (sign > 0 ? e->ci_high : e->ci_low) * unit;
	bool equal = words_equal(diff, e);
	char amount[WORDS_AMOUNT], shown[WORDS_PERCENT];
	int used;

	words_percent(diff, percent, shown);
	if (equal)
		amount_words(diff, much_word(diff), "long", amount);
	else
		amount_words(diff, sign > 0 ? "more" : less_word(diff), sign > 0 ? "longer" : "less", amount);
	used = equal ? snprintf(out, size, "as %s%s as base", amount, words_basis(diff))
		     : snprintf(out, size, "%s %s%s", shown, amount, words_basis(diff));

	if (diff->is_exact)
		snprintf(out + used, size - (size_t)used, " (exact)");
	else if (e->ci_low < 0 && e->ci_high >= e->base)
		snprintf(out + used, size - (size_t)used, " (95 %% interval %.1f %% less to %.*f times%s)",
			fmin(-e->ci_low * unit, 100), diff_words_digits_of(1 + e->ci_high / e->base),
			1 + e->ci_high / e->base, word_doubt(diff, e));
	else if (!isnan(e->ci_low))
		snprintf(out + used, size - (size_t)used, " (95 %% interval %s%.1f to %.1f %%%s)",
			equal ? "of the change " : "", cleaned(low), cleaned(high), word_doubt(diff, e));
}

void words_change(const struct diff *diff, const struct diff_estimate *estimate, char out[WORDS_CHANGE])
{
	if (!(estimate->base > 0) && diff->waiting == DIFF_WAITING_ALL)
		snprintf(out, WORDS_CHANGE, "where base does not");
	else if (!(estimate->base > 0))
		snprintf(out, WORDS_CHANGE, "%s, of which base took none", words_metric(diff));
	else if (estimate->head >= words_most_in_percent * estimate->base)
		change_in_times(diff, estimate, out, WORDS_CHANGE);
	else
		change_in_percent(diff, estimate, out, WORDS_CHANGE);
}

void words_ratio(const struct diff *diff, double base, double head, char out[WORDS_CHANGE])
{
	double times = head / base;

	if (times >= words_most_in_percent)
		snprintf(out, WORDS_CHANGE, "%.*f times as %s", diff_words_digits_of(times), times, much_word(diff));
	else if (fabs(times - 1) * 100 < least_shown_percent)
		snprintf(out, WORDS_CHANGE, "as %s", much_word(diff));
	else
		snprintf(out, WORDS_CHANGE, "%.1f %% %s", fabs(times - 1) * 100, times > 1 ? "more" : less_word(diff));
}

/* Returns whether only a function's place tells it from others of its file. */
static bool words_is_nameless(const struct diff *diff, const struct diff_function *function)
{
	const char *shown = diff_string(diff, function->shown);

	return diff_string(diff, function->shown_in)[0] && profile_is_nameless(shown, strlen(shown));
}

void words_append_short_name(
	const struct diff *diff, const struct diff_function *function, size_t columns, struct buffer *out)
{
	buffer_append_byte(out, '`');
	profile_shorten_name(diff_string(diff, function->shown), columns, out);
	buffer_append_byte(out, '`');
	if (words_is_nameless(diff, function)) {
		buffer_append_string(out, " in ");
		unicode_append_middle(out, diff_string(diff, function->shown_in), columns);
	}
}

void words_append_name(
	const struct diff *diff, const struct diff_function *function, size_t columns, struct buffer *out)
{
	const char *file = diff_string(diff, function->file), *slash = strrchr(file, '/');

	words_append_short_name(diff, function, columns, out);
	/* Many functions of Python are called `run`. */
	if (!words_is_nameless(diff, function) && function->language == PROFILE_LANGUAGE_PYTHON && file[0]) {
		buffer_append_string(out, " in ");
		unicode_append_middle(out, slash ? slash + 1 : file, columns);
	}
}

void words_name(const struct diff *diff, const struct diff_function *function, struct buffer *out)
{
	enum { COLUMNS = 400, MAX_BYTES = 4096 };

	buffer_init(out, MAX_BYTES);
	words_append_name(diff, function, COLUMNS, out);
}
