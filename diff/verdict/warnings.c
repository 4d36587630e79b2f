/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/warnings.h"

#include "diff/constants.h"
#include "diff/match/detail.h"
#include "diff/match/interrupts.h"
#include "diff/metric.h"
#include "diff/statistics/load.h"
#include "diff/statistics/scale.h"
#include "diff/verdict/arguments.h"
#include "diff/verdict/copies.h"
#include "diff/verdict/instance_words.h"
#include "diff/verdict/programs.h"
#include "diff/verdict/readings.h"
#include "diff/verdict/timed.h"
#include "diff/verdict/warmup.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

/* Notes on files come first, and leave room for all others. */
enum { MAX_WARNINGS = 24 + DIFF_SIDES * (PROFILE_MAX_NOTES + 1), MAX_FACT_BYTES = 120 };

static void warnings_add(struct diff *diff, bool blocks_gate, const char *text)
{
	uint32_t id;

	if (diff->warning_count == MAX_WARNINGS)
		return;
	build_text(diff, &id, "%s", text);
	diff->warnings[diff->warning_count++] = (struct diff_warning){ .text = id, .blocks_gate = blocks_gate };
}

/* Appends a fact's value on `side`. A flag has no value: the side that has it is named first, then the other. */
static void warnings_append_fact(const struct profile *const profiles[DIFF_SIDES], const struct profile_fact *fact,
	enum diff_side side, struct buffer *text)
{
	size_t most = text->size + MAX_FACT_BYTES;

	if (fact->type == PROFILE_FACT_FLAG) {
		bool base_has_it = profile_fact_get(&profiles[DIFF_BASE]->facts, fact) != 0;

		buffer_append_string(text, diff_side_name((side == DIFF_BASE) == base_has_it ? DIFF_BASE : DIFF_HEAD));
		return;
	}
	profile_fact_words(profiles[side], fact, text);
	if (text->size > most)
		text->size = most;
}

bool warnings_compare_fact(const struct profile *const profiles[DIFF_SIDES], const struct profile_fact *fact,
	bool is_exact, struct buffer *text)
{
	if (!fact->differs[1] || !profile_fact_differs(profiles[DIFF_BASE], profiles[DIFF_HEAD], fact) ||
		(is_exact && fact->is_of_speed))
		return false;
	buffer_append_string(text, fact->differs[0]);
	warnings_append_fact(profiles, fact, DIFF_BASE, text);
	buffer_append_string(text, fact->differs[1]);
	warnings_append_fact(profiles, fact, DIFF_HEAD, text);
	buffer_append_string(text, fact->differs[2]);
	return true;
}

static bool compare_fact(struct diff_build *build, const struct profile_fact *fact, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT((size_t)1 << 20);

	if (!warnings_compare_fact(build->profiles, fact, build->diff->is_exact, &text))
		return true;
	/* Where exact counts were made, by a simulator, hardly changes them. */
	if (!buffer_ok(&text, err))
		return false;
	warnings_add(build->diff, fact->blocks_gate && !build->diff->is_exact, text.data);
	return true;
}

static bool warnings_compare_facts(struct diff_build *build, struct error *err)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++)
		if (!compare_fact(build, &facts[i], err))
			return false;
	return true;
}

/* If the sides have no other common metric, samples are compared; those of different events mean different things. */
static void compare_metrics(struct diff_build *build)
{
	const char *types[DIFF_SIDES], *units[DIFF_SIDES];
	char text[400];

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];
		const struct profile_value_type *own = &profile->value_types[profile->default_value_type];

		if (build->options.metric || build->metric[side] != 0 || profile->default_value_type == 0)
			return;
		types[side] = profile_string(profile, own->type);
		units[side] = profile_string(profile, own->unit);
	}
	snprintf(text, sizeof(text),
		"base measured %.60s (%.60s) and head measured %.60s (%.60s), so only sample counts are compared; record both with the same event",
		types[DIFF_BASE], units[DIFF_BASE], types[DIFF_HEAD], units[DIFF_HEAD]);
	warnings_add(build->diff, true, text);
}

static void check_lost(struct diff_build *build, enum diff_side side)
{
	const struct profile_quality *quality = &build->profiles[side]->quality;
	double lost = (double)quality->lost, all = lost + (double)quality->samples;
	char text[160];

	if (all <= 0 || lost / all * 100 < warnings_max_lost_percent)
		return;
	snprintf(text, sizeof(text), "%s lost %.1f %% of its samples; record with a lower -F", diff_side_name(side),
		lost / all * 100);
	warnings_add(build->diff, true, text);
}

static double unsampled_percent(const struct profile *profile)
{
	double unsampled = profile->facts.unsampled_ms * 1e6;

	return unsampled > 0 ? 100 * unsampled / (unsampled + (double)profile_sampled_cpu_ns(profile)) : 0;
}

/* Appends "0.42 s of base's CPU time (65 %)"; a part of a profile does not know the whole time. */
static void append_unsampled(const struct diff_build *build, enum diff_side side, struct buffer *text)
{
	const struct profile *profile = build->profiles[side];

	if (!profile || profile->facts.unsampled_ms == 0)
		return;
	buffer_printf(text, "%s%.2f s of %s%sCPU time", text->size > 0 ? " and " : "",
		profile->facts.unsampled_ms / 1e3, build_two_sided(build) ? diff_side_name(side) : "",
		build_two_sided(build) ? "'s " : "");
	if (!build->options.like)
		buffer_printf(text, " (%.0f %%)", unsampled_percent(profile));
}

/* Programs whose CPU time the kernel let nobody sample, on either side. */
static bool check_unsampled(struct diff_build *build, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(1000);
	bool is_doubt = build_two_sided(build) && !build->options.like &&
			fabs(unsampled_percent(build->profiles[DIFF_BASE]) -
				unsampled_percent(build->profiles[DIFF_HEAD])) >= warnings_max_unsampled_points;

	append_unsampled(build, DIFF_BASE, &text);
	append_unsampled(build, DIFF_HEAD, &text);
	if (text.size == 0)
		return true;
	buffer_append_string(&text,
		" are not in the samples: the kernel stopped sampling at the start of programs that are set-user-ID, unreadable or have "
		"capabilities of the file; 'sudo kelvin record -a' while they run, or 'sudo kelvin record -- sudo -u USER COMMAND', "
		"samples them");
	buffer_append_byte(&text, '\0');
	if (!buffer_ok(&text, err))
		return false;
	warnings_add(build->diff, is_doubt, text.data);
	return true;
}

static void compare_cut(struct diff_build *build)
{
	double cut[DIFF_SIDES];
	char text[200];

	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!profile_knows_whole_stacks(build->profiles[side]))
			return;
		cut[side] = 100 - profile_quality_whole_percent(&build->profiles[side]->quality);
	}
	if (fabs(cut[0] - cut[1]) < warnings_max_cut_points)
		return;
	snprintf(text, sizeof(text),
		"%.1f %% of base's stacks and %.1f %% of head's are not whole, so total times (with all that a function calls) are not comparable",
		cut[0], cut[1]);
	warnings_add(build->diff, true, text);
}

static void warnings_add_note(struct diff_build *build, const char *side, const char *note, bool is_doubt)
{
	char text[480];

	snprintf(text, sizeof(text), "%s%s", side, note);
	warnings_add(build->diff, is_doubt && build_two_sided(build), text);
}

/* Adds what the files of a side leave open, before any warning that is made from their contents. */
static void name_notes(struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	const char *name = !build_two_sided(build) ? "" : side == DIFF_BASE ? "base: " : "head: ";
	char more[80];

	for (size_t i = 0; profile && i < profile->notes.count; i++)
		warnings_add_note(
			build, name, profile_string(profile, profile->notes.texts[i]), profile->notes.are_doubts[i]);
	if (!profile || profile->notes.left_out == 0)
		return;
	snprintf(more, sizeof(more), "%zu further notes on its files are left out", profile->notes.left_out);
	warnings_add_note(build, name, more, true);
}

/* A file that has calls of two functions each, not stacks, leaves totals open where a function has several callers. */
static void check_estimated(struct diff_build *build)
{
	bool estimated[DIFF_SIDES] = { false };
	char text[320];

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		estimated[side] = profile && strcmp(profile_string(profile, profile->facts.call_graph),
						     PROFILE_CALL_GRAPH_ESTIMATED) == 0;
	}
	if (!estimated[DIFF_BASE] && !estimated[DIFF_HEAD])
		return;
	snprintf(text, sizeof(text),
		"stacks%s are estimated from calls between two functions each: what a function costs is shared among its callers in proportion to the cost of their calls; of valgrind's callgrind, --separate-callers=N keeps N callers apart",
		!build_two_sided(build) ? ""
		: !estimated[DIFF_HEAD] ? " of base"
		: !estimated[DIFF_BASE] ? " of head"
					: "");
	warnings_add(build->diff, false, text);
}

/* Sums the percentage of each side's time without a function name, and of that in code made at run time. */
static void sum_unknown(const struct diff *diff, double unknown[DIFF_SIDES], double made[DIFF_SIDES])
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		unknown[side] = diff->node_self[side][0];
		made[side] = 0;
		for (size_t i = 0; i < diff->function_count; i++) {
			const struct diff_function *f = &diff->functions[i];

			if (f->name_source != PROFILE_NAME_NONE || diff_wait_class(diff, f) != PROFILE_WAIT_NONE)
				continue;
			unknown[side] += f->raw_self[side];
			if (profile_is_made_at_run_time(diff_string(diff, f->module)))
				made[side] += f->raw_self[side];
		}
		unknown[side] *= 100 / diff->raw_total[side];
		made[side] *= 100 / diff->raw_total[side];
	}
}

/* The languages of a side whose functions have no names. */
struct nameless {
	struct profile_nameless found[PROFILE_LANGUAGE_COUNT];
	size_t count;
};

static const struct profile_nameless *find_nameless(
	const struct nameless *nameless, const struct profile_nameless *same)
{
	for (size_t i = 0; i < nameless->count; i++)
		if (nameless->found[i].language == same->language && nameless->found[i].is_beside == same->is_beside)
			return &nameless->found[i];
	return NULL;
}

/* Adds a warning. `side`: "base: ", "head: ", or "" for a single profile. */
static bool say_nameless(struct diff_build *build, const char *side, const struct profile_nameless *nameless,
	bool blocks, struct error *err)
{
	enum { MAX_SENTENCE_BYTES = 1024 };
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_SENTENCE_BYTES);

	buffer_append_string(&text, side);
	profile_nameless_sentence(nameless, &text);
	buffer_append_byte(&text, '\0');
	if (!buffer_ok(&text, err))
		return false;
	warnings_add(build->diff, blocks, (const char *)text.data);
	return true;
}

static void say_nameless_on_both(
	struct diff_build *build, const struct profile_nameless *base, const struct profile_nameless *head, bool blocks)
{
	const struct profile_language_row *row = &profile_languages[head->language];
	char text[400];

	snprintf(text, sizeof(text),
		"%.0f %% of base's time and %.0f %% of head's pass through %s that have no names: %s", base->percent,
		head->percent, head->is_beside ? row->beside : row->functions, row->next_step);
	warnings_add(build->diff, blocks, text);
}

/*
 * Warns about functions without names on either side, once for languages that lack them on both. Sets `*any` if there
 * are some.
 */
static bool warnings_compare_nameless(struct diff_build *build, bool blocks, bool *any, struct error *err)
{
	struct nameless sides[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++)
		if (!profile_find_nameless(build->profiles[side], sides[side].found, &sides[side].count, err))
			return false;
	*any = sides[DIFF_BASE].count + sides[DIFF_HEAD].count > 0;
	for (size_t i = 0; i < sides[DIFF_HEAD].count; i++) {
		const struct profile_nameless *head = &sides[DIFF_HEAD].found[i];
		const struct profile_nameless *base = find_nameless(&sides[DIFF_BASE], head);

		if (base) {
			say_nameless_on_both(build, base, head, blocks);
		} else if (!say_nameless(build, "head: ", head, blocks, err)) {
			return false;
		}
	}
	for (size_t i = 0; i < sides[DIFF_BASE].count; i++) {
		const struct profile_nameless *base = &sides[DIFF_BASE].found[i];

		if (!find_nameless(&sides[DIFF_HEAD], base) && !say_nameless(build, "base: ", base, blocks, err))
			return false;
	}
	return true;
}

static bool compare_unknown(struct diff_build *build, struct error *err)
{
	double unknown[DIFF_SIDES], made[DIFF_SIDES];
	char text[240];
	bool differ, is_made, is_said;

	sum_unknown(build->diff, unknown, made);
	differ = fabs(unknown[0] - unknown[1]) >= warnings_max_unknown_points;
	is_made = differ && fabs(made[0] - made[1]) > fabs(unknown[0] - unknown[1]) / 2;
	if (!warnings_compare_nameless(build, is_made, &is_said, err))
		return false;
	if (!differ || (is_made && is_said))
		return true;
	snprintf(text, sizeof(text), "%.1f %% of base's time and %.1f %% of head's is in %s", unknown[0], unknown[1],
		is_made ? "code generated at run time without function names: 'man kelvin-record' says which runtimes provide them, and how"
			: "functions without names: install the missing debug symbols");
	warnings_add(build->diff, true, text);
	return true;
}

/* A single profile is not compared, but names may be missing in it too. */
static bool check_nameless(struct diff_build *build, struct error *err)
{
	struct nameless head;

	if (!profile_find_nameless(build->profiles[DIFF_HEAD], head.found, &head.count, err))
		return false;
	for (size_t i = 0; i < head.count; i++)
		if (!say_nameless(build, "", &head.found[i], false, err))
			return false;
	return true;
}

/* A larger share of interrupts means that other work ran on the same CPUs, with the same caches. */
static void compare_interrupts(struct diff_build *build)
{
	static const double disturbance_per_interrupt = 1.5, width = 2;
	const struct diff *diff = build->diff;
	double base = interrupts_share(diff, DIFF_BASE) * 100, head = interrupts_share(diff, DIFF_HEAD) * 100;
	bool head_busier = head > base;
	char text[240];

	if (!(fabs(head - base) >= warnings_max_interrupt_points))
		return;
	snprintf(text, sizeof(text),
		"interrupts took %.1f %% of %s's time and %.1f %% of %s's: the machine was busier during %s, so changes below about %.0f %% cannot be told from its disturbance",
		head_busier ? head : base, diff_side_name(head_busier), head_busier ? base : head,
		diff_side_name(!head_busier), diff_side_name(head_busier),
		disturbance_per_interrupt * width * fabs(head - base));
	warnings_add(build->diff, false, text);
}

/* Returns the percentage of the time in which a side's threads could have run that they waited for a CPU. */
static double waiting_for_cpu_percent(const struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	double waited = build->diff->waits[PROFILE_WAIT_RUN_QUEUE].raw[side],
	       ran = (double)profile_sum(profile, profile_wait_values(profile).cpu);

	return waited + ran > 0 ? waited / (waited + ran) * 100 : 0;
}

/* Where CPUs are busy, the holder of a lock waits for one as well, and all who want the lock wait with it. */
static void compare_waiting_for_cpus(struct diff_build *build)
{
	double base, head;
	bool head_busier;
	char text[240];

	if (build->diff->waiting == DIFF_WAITING_NONE)
		return;
	base = waiting_for_cpu_percent(build, DIFF_BASE);
	head = waiting_for_cpu_percent(build, DIFF_HEAD);
	head_busier = head > base;
	if (fabs(head - base) < warnings_max_cpu_wait_points)
		return;
	snprintf(text, sizeof(text),
		"threads that could run waited for a CPU for %.0f %% of the time in %s and %.0f %% in %s: busier CPUs make threads wait longer for locks too",
		head_busier ? head : base, diff_side_name(head_busier), head_busier ? base : head,
		diff_side_name(!head_busier));
	warnings_add(build->diff, false, text);
}

/*
 * Samples are weighted by their period, so different periods do not block gates. Different frequencies have a warning
 * of their own.
 */
static void compare_periods(struct diff_build *build)
{
	const struct profile *b = build->profiles[DIFF_BASE], *h = build->profiles[DIFF_HEAD];
	char text[160];

	if (b->period <= 0 || h->period <= 0 || b->period == h->period ||
		(b->facts.frequency_hz && b->facts.frequency_hz != h->facts.frequency_hz))
		return;
	snprintf(text, sizeof(text), "base was sampled every %lld and head every %lld %s", (long long)b->period,
		(long long)h->period, profile_string(h, h->period_type.unit));
	warnings_add(build->diff, false, text);
}

/* Limits are of totals, and of functions in parts of them. */
static void check_lengths(struct diff_build *build)
{
	char text[SCALE_LENGTH_WORDS];

	if (!build->diff->scale.length_is_unknown)
		return;
	scale_length_warning(build, text);
	warnings_add(build->diff, true, text);
}

/* A short recording may lack rare events that a long one has: a garbage collection, a flush, the start. */
static void compare_durations(struct diff_build *build)
{
	const struct profile *b = build->profiles[DIFF_BASE], *h = build->profiles[DIFF_HEAD];
	double base = load_seconds(b), head = load_seconds(h);
	bool base_whole = scale_whole_commands(b), head_whole = scale_whole_commands(h);
	char text[200];

	if (base_whole != head_whole && (base > 0) && (head > 0)) {
		snprintf(text, sizeof(text),
			"%s holds whole runs of a command and %s does not, so only %s includes start and exit",
			diff_side_name(head_whole), diff_side_name(!head_whole), diff_side_name(head_whole));
		warnings_add(build->diff, false, text);
		return;
	}
	if (base_whole || base <= 0 || head <= 0 ||
		(base < head * warnings_max_duration_ratio && head < base * warnings_max_duration_ratio))
		return;
	snprintf(text, sizeof(text),
		"base was recorded for %.1f s and head for %.1f s; the longer one may include rare events that the other missed",
		base, head);
	warnings_add(build->diff, false, text);
}

/* Threads that were only sampled without a value in the metric are not counted: CPU time has none that only waited. */
static void warnings_count_threads(const struct diff_build *build, enum diff_side side, double *per_run)
{
	const struct profile *profile = build->profiles[side];
	enum { NOT_MET, WITHOUT_VALUE, WITH_VALUE };
	CLEANUP(cleanup_free) uint8_t *met = memory_zeroed(profile->thread_count + 1, sizeof(*met));
	size_t count = 0;

	for (size_t i = 0; i < profile->sample_count; i++) {
		uint8_t *thread = &met[profile->samples[i].thread];

		if (*thread != WITH_VALUE)
			*thread = build_value(build, side, i) > 0 ? WITH_VALUE : WITHOUT_VALUE;
	}
	for (size_t i = 0; i < profile->thread_count; i++)
		count += met[i] != WITHOUT_VALUE;
	*per_run = profile->run_count ? (double)count / (double)profile->run_count : 0;
}

static void warnings_compare_threads(struct diff_build *build)
{
	double base, head;
	char text[160];

	warnings_count_threads(build, DIFF_BASE, &base);
	warnings_count_threads(build, DIFF_HEAD, &head);
	if (fabs(base - head) < 2 ||
		(base < head * warnings_max_thread_ratio && head < base * warnings_max_thread_ratio))
		return;
	snprintf(text, sizeof(text), "base ran %.0f thread%s%s and head %.0f, so waiting and contention may differ",
		base, base < 1.5 ? "" : "s", build->profiles[DIFF_BASE]->run_count > 1 ? " per run" : "", head);
	warnings_add(build->diff, false, text);
}

/* Warns of runs that failed: they did other work. */
static void warnings_check_exits(struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	size_t failed = 0;
	char text[160];

	for (size_t i = 0; i < profile->run_count; i++)
		failed += profile->runs[i].whole_command && profile->runs[i].exit_status > 0;
	if (failed == 0)
		return;
	snprintf(text, sizeof(text), "%zu of %zu runs of %s failed", failed, profile->run_count, diff_side_name(side));
	warnings_add(build->diff, true, text);
}

static void check_copies(struct diff_build *build)
{
	char text[160];

	copies_name(build, text, sizeof(text));
	if (text[0] != '\0')
		warnings_add(build->diff, true, text);
}

static void check_warmup(struct diff_build *build)
{
	char text[320];

	for (int side = 0; side < DIFF_SIDES; side++) {
		warmup_describe(build, (enum diff_side)side, text, sizeof(text));
		if (text[0] != '\0')
			warnings_add(build->diff, true, text);
	}
}

static void compare_programs(struct diff_build *build)
{
	char text[320];

	if (programs_differ(build, text, sizeof(text)))
		warnings_add(build->diff, false, text);
}

/*
 * Describes functions on which both readings disagree. Neither is wrong: they answer different questions. Of
 * benchmarks, and of commands that were run in turn, nobody asks the other one: both sides did the same work.
 */
static void name_readings(struct diff_build *build)
{
	enum { COLUMNS = 60, MAX_NAME_BYTES = 400 };
	CLEANUP(buffer_deinit) struct buffer name = BUFFER_INIT(MAX_NAME_BYTES);
	const struct diff *diff = build->diff;
	const struct diff_function *f;
	char text[800], others[120] = "";
	uint32_t greatest;
	size_t count = readings_disagree(diff, build->options.min_effect_points, &greatest);
	bool more;

	if (count == 0 || build->options.runs_in_pairs || profile_has_phases(build->profiles[DIFF_HEAD]))
		return;
	f = &diff->functions[greatest];
	more = f->self.state == DIFF_STATE_MORE ||
	       (f->self.state != DIFF_STATE_LESS && f->total.state == DIFF_STATE_MORE);
	if (count > 1)
		snprintf(others, sizeof(others), " (%zu other function%s direction too)", count - 1,
			count > 2 ? "s change" : " changes");
	words_append_name(diff, f, COLUMNS, &name);
	snprintf(text, sizeof(text), "%s takes %s %s %s but %s %s; --scale %s shows that view%s",
		name.data ? name.data : "", more ? "more" : metric_less(build), metric_noun(build),
		diff_scale_words(diff->scale.mode), more ? metric_less(build) : "more",
		diff_scale_words(diff->scale.other_mode), diff_scale_mode_name(diff->scale.other_mode), others);
	warnings_add(build->diff, false, text);
}

/*
 * This check comes first, because no other matters if both sides were given different work, or a fixed time instead of
 * work.
 */
static void compare_work(struct diff_build *build)
{
	char text[800];

	if (build->diff->scale.mode == DIFF_SCALE_WORK)
		return;
	if (arguments_differ(build, text, sizeof(text)))
		warnings_add(build->diff, false, text);
	if (timed_by_design(build, text, sizeof(text)) || timed_by_looks(build, text, sizeof(text)))
		warnings_add(build->diff, false, text);
}

/* Instances that lie far from the others of their side, and CPU models that are not all the same. */
static bool say_of_instances(struct diff_build *build, struct error *err)
{
	bool blocks = false;

	for (int part = 0; part <= DIFF_SIDES; part++) {
		CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT((size_t)1 << 20);
		bool any;

		any = part == DIFF_SIDES ? instance_words_cpus(build->diff, &text, &blocks)
					 : instance_words_outliers(build->diff, (enum diff_side)part, &text);
		buffer_append_byte(&text, '\0');
		if (!buffer_ok(&text, err))
			return false;
		if (any)
			warnings_add(build->diff, blocks, text.data);
	}
	return true;
}

/*
 * Compares the conditions that change how long things take, and how much of that was recorded. Exact counts show none
 * of it.
 */
static void compare_conditions(struct diff_build *build)
{
	if (!build->diff->is_exact) {
		compare_periods(build);
		compare_durations(build);
		warnings_compare_threads(build);
	}
}

/* Says what the stacks of one side alone tell, which is left out. */
static void name_detail(struct diff_build *build)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	if (detail_describe(build, &text))
		warnings_add(build->diff, false, text.data);
}

bool warnings_collect(struct diff_build *build, struct error *err)
{
	build->diff->warnings = memory_zeroed(MAX_WARNINGS, sizeof(*build->diff->warnings));
	name_notes(build, DIFF_BASE);
	name_notes(build, DIFF_HEAD);
	if (!build_two_sided(build)) {
		if (!check_unsampled(build, err) || !check_nameless(build, err))
			return false;
		check_estimated(build);
		return true;
	}
	compare_work(build);
	name_detail(build);
	for (int side = 0; side < DIFF_SIDES; side++) {
		check_lost(build, (enum diff_side)side);
		warnings_check_exits(build, (enum diff_side)side);
	}
	if (!check_unsampled(build, err))
		return false;
	check_lengths(build);
	check_copies(build);
	if (!warnings_compare_facts(build, err) || !say_of_instances(build, err))
		return false;
	compare_metrics(build);
	compare_conditions(build);
	compare_programs(build);
	check_warmup(build);
	compare_interrupts(build);
	compare_waiting_for_cpus(build);
	compare_cut(build);
	check_estimated(build);
	if (!compare_unknown(build, err))
		return false;
	name_readings(build);
	return true;
}
