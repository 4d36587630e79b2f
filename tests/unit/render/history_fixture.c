/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_fixture.h"

#include "tests/viewer/maker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_CHANGES = 512,
	MOST_POINTS = 32,
	LARGE_FUNCTIONS = 3000,
	LARGE_PROFILES = 1000,
	NOBODY = -1,
	MOST_BYTES = 64 << 20
};

static const int64_t day_ns = 86400LL * 1000000000;
/* 12 October 2026, 14:02 UTC */
static const int64_t first_ns = 1791813720LL * 1000000000;

/* A function of the service. Its time changes at most twice. */
struct known_function {
	const char *name, *module;
	enum profile_origin origin;
	int caller;
	double ns;         /* CPU time per request in the function itself */
	size_t at, went;   /* profiles from which on, and up to which, it is another one; 0: never, always */
	double changed_ns; /* that one */
	enum history_code code;
	bool has_moved, drifts;
};

static const struct known_function checkout[] = {
	{ "main", "checkout", PROFILE_ORIGIN_USER, NOBODY, 5000 },
	{ "handle_request", "checkout", PROFILE_ORIGIN_USER, 0, 60000 },
	{ "parse_header", "checkout", PROFILE_ORIGIN_USER, 1, 22000, 37, 0, 48000, HISTORY_CODE_CHANGED },
	{ "json::Value::clone", "checkout", PROFILE_ORIGIN_USER, 2, 0, 37, 0, 9300, HISTORY_CODE_NEW },
	{ "render_template", "checkout", PROFILE_ORIGIN_USER, 1, 210000 },
	{ "gc_mark", "checkout", PROFILE_ORIGIN_USER, 0, 24000, 29, 31, 41000, HISTORY_CODE_SAME },
	{ "SSL_write", "libssl.so.3", PROFILE_ORIGIN_LIBRARY, 1, 180000, 22, 0, 208000, HISTORY_CODE_SAME },
	{ "do_syscall_64", "[kernel.kallsyms]", PROFILE_ORIGIN_SYSTEM, 1, 300000 },
	{ "compress_block", "libz.so.1", PROFILE_ORIGIN_LIBRARY, 1, 140000 },
	{ "lookup_price", "checkout", PROFILE_ORIGIN_USER, 1, 160000, .drifts = true },
	{ "std::vector<Item>::reserve", "checkout", PROFILE_ORIGIN_USER, 1, 90000, 13, 0, 41000, HISTORY_CODE_CHANGED },
	{ "log_line", "checkout", PROFILE_ORIGIN_USER, 1, 30000, 13, 0, 0, HISTORY_CODE_GONE, true },
	{ "log_record", "checkout", PROFILE_ORIGIN_USER, 1, 0, 13, 0, 30000, HISTORY_CODE_NEW, true },
};
enum { KNOWN = sizeof(checkout) / sizeof(checkout[0]), DAYS = 42 };

static const struct known_point {
	size_t at;
	bool is_deploy;
	const char *fact;
} checkout_points[] = {
	{ 13, true, "version 39 → 40" },
	{ 20, true, "version 40 → 41" },
	{ 22, false, "libssl.so.3 3.0.11 → 3.0.15" },
	{ 29, false, "" },
	{ 31, false, "" },
	{ 37, true, "version 41 → 42" },
};

/* ---- Strings, numbers, arrays ---- */

static uint32_t text_of(struct string_table *strings, const char *text)
{
	struct error err;
	uint32_t id;

	maker_check(string_table_add(strings, text, strlen(text), &id, &err), &err);
	return id;
}

static void *array_of(size_t count, size_t size)
{
	void *array = calloc(count + 1, size);
	struct error err;

	if (!array)
		maker_check(error_set_memory(&err), &err);
	return array;
}

/* A factor near 1, the same for the same arguments. */
static double noise(size_t profile, size_t function)
{
	uint32_t x = (uint32_t)(profile * 2654435761u + function * 40503u + 17);

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	return 1 + 0.015 * ((double)(x % 2001) / 1000 - 1);
}

/* ---- Summaries ---- */

static void set_init(struct summary_set *set, size_t functions, size_t profiles)
{
	struct error err;

	*set = (struct summary_set){ .count = profiles };
	maker_check(string_table_create((size_t)1 << 28, &set->strings, &err), &err);
	set->functions = array_of(functions, sizeof(*set->functions));
	set->items = array_of(profiles, sizeof(*set->items));
}

static void set_deinit(struct summary_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->items[i].rows);
	free(set->items);
	free(set->functions);
	string_table_destroy(set->strings);
}

static void set_function(struct summary_set *set, const char *name, const char *module, enum profile_origin origin)
{
	char key[512];

	snprintf(key, sizeof(key), "%s:%s", module, name);
	set->functions[set->function_count++] = (struct summary_function){ .key = text_of(set->strings, key),
		.name = text_of(set->strings, name),
		.shown = text_of(set->strings, name),
		.module = text_of(set->strings, module),
		.origin = origin };
}

static struct summary *set_profile(struct summary_set *set, size_t number, const char *name, const char *version)
{
	struct summary *profile = &set->items[number];

	*profile = (struct summary){ .name = text_of(set->strings, name),
		.id = { number + 1, 7 },
		.start_unix_ns = first_ns + (int64_t)number * day_ns,
		.duration_ns = 30LL * 1000000000,
		.metric = text_of(set->strings, "cpu"),
		.unit = text_of(set->strings, "nanoseconds"),
		.metric_words = text_of(set->strings, "CPU time"),
		.is_time = true,
		.samples = 25000,
		.runs = 1,
		.rows = array_of(set->function_count, sizeof(*profile->rows)) };
	profile->labels[0] =
		(struct profile_label){ text_of(set->strings, "service.version"), text_of(set->strings, version) };
	profile->label_count = 1;
	return profile;
}

static void set_row(struct summary *profile, uint32_t function, double self, double total)
{
	if (total <= 0)
		return;
	profile->rows[profile->row_count++] = (struct summary_row){ .function = function,
		.fingerprint = function + 1,
		.self = self,
		.total = total,
		.self_error = (float)(self / 100),
		.total_error = (float)(total / 100) };
}

/* ---- Histories ---- */

static void history_init(struct history_fixture *fixture, size_t series)
{
	struct history *history = &fixture->history;
	struct error err;

	*history = (struct history){ .set = &fixture->set, .series = fixture->series, .series_count = series };
	maker_check(string_table_create((size_t)1 << 24, &history->strings, &err), &err);
	history->notices = array_of(1, sizeof(*history->notices));
	for (size_t i = 0; i < series; i++) {
		fixture->series[i] = (struct history_series){ .scale = DIFF_SCALE_PER_REQUEST,
			.points = array_of(MOST_POINTS, sizeof(struct history_point)),
			.changes = array_of(MOST_CHANGES, sizeof(struct history_change)),
			.drifts = array_of(1, sizeof(struct history_drift)),
			.notices = array_of(1, sizeof(uint32_t)) };
	}
}

static void history_deinit(struct history_fixture *fixture)
{
	for (size_t i = 0; i < fixture->history.series_count; i++) {
		struct history_series *series = &fixture->series[i];

		free(series->profiles);
		free(series->factor);
		free(series->points);
		free(series->changes);
		free(series->drifts);
		free(series->notices);
	}
	free(fixture->history.notices);
	string_table_destroy(fixture->history.strings);
}

/* The profiles from `first` on become those of a series. */
static void series_profiles(struct history_fixture *fixture, size_t number, size_t first, size_t count)
{
	struct history_series *series = &fixture->series[number];

	series->count = count;
	series->profiles = array_of(count, sizeof(*series->profiles));
	series->factor = array_of(count, sizeof(*series->factor));
	for (size_t i = 0; i < count; i++) {
		const struct summary *profile = &fixture->set.items[first + i];

		series->profiles[i] = first + i;
		series->factor[i] = profile->requests > 0 ? 1 / profile->requests : 1;
		series->typical_total += profile->total * series->factor[i] / (double)count;
	}
}

static double mean_of(const double *values, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += values[i];
	return sum / (double)(to - from);
}

static size_t point_at(const struct history_series *series, size_t at)
{
	for (size_t i = 0; i < series->point_count; i++)
		if (series->points[i].at == at)
			return i;
	return SIZE_MAX;
}

/* Adds a change whose figures are the means of the series' values: from `from` to `at`, and from there to `to`. */
static struct history_change *add_change(
	struct history_fixture *fixture, uint32_t function, size_t from, size_t at, size_t to)
{
	struct history_series *series = &fixture->series[0];
	struct history_change *change = &series->changes[series->change_count++];
	double *values = array_of(series->count, sizeof(*values)), half;

	history_values(&fixture->history, series, function, function != HISTORY_WHOLE, values);
	*change = (struct history_change){ .function = function,
		.is_self = function != HISTORY_WHOLE,
		.point = point_at(series, at),
		.went = to < series->count ? point_at(series, to) : SIZE_MAX,
		.before = mean_of(values, from, at),
		.after = mean_of(values, at, to),
		.last = mean_of(values, to < series->count ? to : at, series->count),
		.q = 0.0001,
		.agree = to - at,
		.of = to - at };
	change->delta = change->after - change->before;
	half = fabs(change->delta) / 8;
	change->ci_low = change->delta - half;
	change->ci_high = change->delta + half;
	free(values);
	return change;
}

/* ---- The service ---- */

static double self_of(const struct known_function *f, size_t profile, size_t days)
{
	bool is_changed = f->at && profile >= f->at && (!f->went || profile < f->went);
	double ns = is_changed ? f->changed_ns : f->ns;

	return f->drifts ? ns * (1 + 0.25 * (double)profile / (double)days) : ns;
}

static void add_day(struct history_fixture *fixture, size_t number, bool counted, bool changes)
{
	size_t day = number % DAYS;
	double self[KNOWN], total[KNOWN] = { 0 }, requests = counted ? 20000 + 1500 * (double)(day % 7) : 0,
			    load = counted ? requests : 20000;
	char name[64];
	const char *version = day < 13 ? "39" : day < 20 ? "40" : day < 37 ? "41" : "42";
	struct summary *profile;

	snprintf(name, sizeof(name), "checkout-%03zu.pb.gz", number + 1);
	profile = set_profile(&fixture->set, number, name, changes ? version : "7");
	profile->requests = requests;
	profile->work = counted ? PROFILE_WORK_SOCKETS : PROFILE_WORK_UNKNOWN;
	for (size_t f = KNOWN; f-- > 0;) {
		self[f] = self_of(&checkout[f], changes ? day : 0, DAYS) * noise(number, f) * load;
		total[f] += self[f];
		if (checkout[f].caller != NOBODY)
			total[checkout[f].caller] += total[f];
		profile->total += self[f];
	}
	for (uint32_t f = 0; f < KNOWN; f++)
		set_row(profile, f, self[f], total[f]);
}

/* In the order of struct history_series: open ones first, the latest first. */
static void add_known_changes(struct history_fixture *fixture, bool counted)
{
	static const uint32_t order[] = { 2, 3, 6, 10, 5, 11, 12 };
	struct history_series *series = &fixture->series[0];
	const size_t count = series->count;

	if (counted)
		add_change(fixture, HISTORY_WHOLE, 22, 37, count)->code = HISTORY_CODE_CHANGED;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct known_function *f = &checkout[order[i]];
		struct history_change *change = add_change(fixture, order[i], 0, f->at, f->went ? f->went : count);

		change->code = f->code;
		change->has_moved = f->has_moved;
		change->q = 0.0001 * (double)(i * i + 1);
	}
	series->drifts[series->drift_count++] =
		(struct history_drift){ .function = 9, .first = 13.1, .last = 16.4, .q = 0.002 };
}

static void make_checkout(struct history_fixture *fixture, bool counted)
{
	enum { OTHERS = 6 };
	struct history *history = &fixture->history;

	set_init(&fixture->set, KNOWN, DAYS + OTHERS);
	for (size_t i = 0; i < KNOWN; i++)
		set_function(&fixture->set, checkout[i].name, checkout[i].module, checkout[i].origin);
	for (size_t i = 0; i < DAYS + OTHERS; i++)
		add_day(fixture, i, counted && i < DAYS, i < DAYS);
	history_init(fixture, 2);
	series_profiles(fixture, 0, 0, DAYS);
	series_profiles(fixture, 1, DAYS, OTHERS);
	for (size_t i = 0; i < sizeof(checkout_points) / sizeof(checkout_points[0]); i++) {
		const struct known_point *known = &checkout_points[i];

		fixture->series[0].points[fixture->series[0].point_count++] =
			(struct history_point){ known->at, known->is_deploy, text_of(history->strings, known->fact) };
	}
	if (!counted)
		fixture->series[0].scale = DIFF_SCALE_ROBUST;
	fixture->series[0].title = text_of(history->strings, "checkout on api-1");
	fixture->series[0].facts = text_of(history->strings, "cpu-clock, 997 Hz, AMD EPYC 7763");
	fixture->series[1].scale = DIFF_SCALE_ROBUST;
	fixture->series[1].title = text_of(history->strings, "checkout on api-2");
	fixture->series[1].facts = text_of(history->strings, "cpu-clock, 997 Hz, Intel Xeon 8370C");
	add_known_changes(fixture, counted);
	fixture->series[1].notices[fixture->series[1].notice_count++] =
		text_of(history->strings, "With 6 profiles only large changes can be proven.");
	history->notices[history->notice_count++] =
		text_of(history->strings, "2 profiles have no time and are in no series: old.pb.gz and copy.pb.gz.");
}

static void make_quiet(struct history_fixture *fixture)
{
	enum { PROFILES = 12 };

	set_init(&fixture->set, KNOWN, PROFILES);
	for (size_t i = 0; i < KNOWN; i++)
		set_function(&fixture->set, checkout[i].name, checkout[i].module, checkout[i].origin);
	for (size_t i = 0; i < PROFILES; i++)
		add_day(fixture, i, true, false);
	history_init(fixture, 1);
	series_profiles(fixture, 0, 0, PROFILES);
	fixture->series[0].title = text_of(fixture->history.strings, "checkout");
}

/* ---- Bad cases ---- */

static void make_hostile(struct history_fixture *fixture)
{
	static const char *const names[] = { "</script><img src=x onerror=window.hacked=1>|@all|",
		"\033[2J\033]0;owned\007\r\n\tx", "\xff\xfe broken \xe2\x82", "\xe2\x80\xaegnp.exe", "",
		"`a` **b** <!-- kelvin-diff --> __proto__", "a'b; rm -rf \"$HOME\"" };
	enum { NAMES = sizeof(names) / sizeof(names[0]), PROFILES = 8 };
	struct history_series *series = fixture->series;
	struct history *history = &fixture->history;

	set_init(&fixture->set, NAMES, PROFILES);
	for (size_t i = 0; i < NAMES; i++)
		set_function(&fixture->set, names[i], names[(i + 1) % NAMES], PROFILE_ORIGIN_USER);
	for (size_t i = 0; i < PROFILES; i++) {
		struct summary *profile = set_profile(&fixture->set, i, names[i % NAMES], names[(i + 2) % NAMES]);

		/* Not known, two of one time, before 1970. */
		profile->start_unix_ns = i < 2 ? 0 : i < 4 ? first_ns : i == 4 ? -1 : (int64_t)i * day_ns;
		for (uint32_t f = 0; f < NAMES; f++)
			set_row(profile, f, 1000 * (double)(i + 1), 1000 * (double)(i + 1));
		profile->total = 7000 * (double)(i + 1);
	}
	history_init(fixture, 1);
	series_profiles(fixture, 0, 0, PROFILES);
	series->scale = DIFF_SCALE_ROBUST;
	series->title = text_of(history->strings, names[0]);
	series->facts = text_of(history->strings, names[1]);
	for (size_t i = 1; i < PROFILES; i++)
		series->points[series->point_count++] =
			(struct history_point){ i, i % 2, text_of(history->strings, names[i % NAMES]) };
	for (uint32_t i = 0; i < NAMES; i++) {
		struct history_change *change =
			add_change(fixture, i, 0, i + 1, i % 3 == 0 && i + 2 < PROFILES ? i + 2 : PROFILES);

		change->code = (enum history_code)(i % HISTORY_CODE_COUNT);
	}
	series->changes[0].before = NAN;
	series->changes[1].after = INFINITY;
	series->changes[2].ci_low = -INFINITY;
	series->changes[3].q = NAN;
	series->notices[series->notice_count++] = text_of(history->strings, names[1]);
	history->notices[history->notice_count++] = text_of(history->strings, names[0]);
}

static void make_large(struct history_fixture *fixture)
{
	enum { POINTS = 20, CHANGED = 400 };
	struct history_series *series = fixture->series;
	char name[160];

	set_init(&fixture->set, LARGE_FUNCTIONS, LARGE_PROFILES);
	for (size_t i = 0; i < LARGE_FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "shop::module_%zu::a_function_with_a_long_name<like::this>[%zu]", i / 100,
			i);
		set_function(&fixture->set, name, "shop", PROFILE_ORIGIN_USER);
	}
	for (size_t i = 0; i < LARGE_PROFILES; i++) {
		struct summary *profile;

		snprintf(name, sizeof(name), "profiles/shop-%05zu.pb.gz", i);
		profile = set_profile(&fixture->set, i, name, i % 2 ? "1" : "2");
		profile->start_unix_ns = first_ns + (int64_t)i * day_ns / 24;
		profile->requests = 10000;
		for (uint32_t f = 0; f < LARGE_FUNCTIONS; f++) {
			bool is_changed = f < CHANGED && i >= 40 * (1 + f / (CHANGED / POINTS));
			double ns = 1e7 / (double)(f + 10) * noise(i, f) * (is_changed ? 1.5 : 1);

			set_row(profile, f, ns, ns);
			profile->total += ns;
		}
	}
	history_init(fixture, 1);
	series_profiles(fixture, 0, 0, LARGE_PROFILES);
	series->title = text_of(fixture->history.strings, "shop");
	for (size_t i = 0; i < POINTS; i++)
		series->points[series->point_count++] = (struct history_point){ 40 * (i + 1), true, 0 };
	for (uint32_t f = CHANGED; f-- > 0;)
		add_change(fixture, f, 0, 40 * (1 + f / (CHANGED / POINTS)), LARGE_PROFILES);
}

/* ---- The diffs of points ---- */

/* The profiles of one side of a pair as the runs of one: a sample stands for a microsecond per request. */
static struct profile *side_profile(const struct history_pair *pair, enum diff_side side)
{
	struct maker maker = maker_create("checkout", side ? "22" : "11");

	for (size_t run = 0; run < pair->count[side]; run++) {
		size_t day = pair->profiles[side][run];

		maker_run(&maker, "checkout", 2000);
		for (size_t f = 0; f < KNOWN; f++) {
			double us = self_of(&checkout[f], day, DAYS) * noise(day, f) / 1000;
			char stack[512] = "", before[512];

			for (int at = (int)f; at != NOBODY; at = checkout[at].caller) {
				bool is_changed = checkout[at].code == HISTORY_CODE_CHANGED;

				snprintf(before, sizeof(before), "%.400s", stack);
				snprintf(stack, sizeof(stack), "%s!%s@%c%s%s%s", checkout[at].name, checkout[at].module,
					profile_origin_name(checkout[at].origin)[0], is_changed ? "#~" : "",
					before[0] ? ";" : "", before);
			}
			if (us >= 1)
				maker_add(&maker, maker_stack_of(&maker, stack), (int64_t)us, -1);
		}
	}
	return maker_finish(&maker);
}

/* Explains the points of the first series at these profiles. */
static void explain(struct history_fixture *fixture)
{
	static const size_t explained[] = { 13, 22, 37 };
	struct diff_options options = { .scale = DIFF_SCALE_PER_RUN };

	for (size_t i = 0; i < sizeof(explained) / sizeof(explained[0]); i++) {
		struct render_history_part *part = &fixture->parts[i];
		struct error err;

		part->pair = history_pair_of(&fixture->history, 0, point_at(&fixture->series[0], explained[i]));
		for (int side = DIFF_BASE; side < DIFF_SIDES; side++)
			fixture->profiles[i][side] = side_profile(&part->pair, (enum diff_side)side);
		maker_check(diff_create(fixture->profiles[i][DIFF_BASE], fixture->profiles[i][DIFF_HEAD], &options,
				    &fixture->diffs[i], &err),
			&err);
		part->input = (struct render_input){ .diff = fixture->diffs[i],
			.profiles = { fixture->profiles[i][DIFF_BASE], fixture->profiles[i][DIFF_HEAD] },
			.tool = "kelvin test" };
		fixture->input.part_count++;
	}
}

void history_fixture_create(struct history_fixture *fixture, enum history_fixture_kind kind)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->input =
		(struct render_history){ .history = &fixture->history, .parts = fixture->parts, .tool = "kelvin test" };
	switch (kind) {
	case HISTORY_CHECKOUT:
	case HISTORY_SHARES:
		make_checkout(fixture, kind == HISTORY_CHECKOUT);
		explain(fixture);
		return;
	case HISTORY_QUIET:
		make_quiet(fixture);
		return;
	case HISTORY_HOSTILE:
		make_hostile(fixture);
		return;
	case HISTORY_LARGE:
		make_large(fixture);
		return;
	}
}

void history_fixture_destroy(struct history_fixture *fixture)
{
	for (size_t i = 0; i < fixture->input.part_count; i++) {
		diff_destroy(fixture->diffs[i]);
		for (int side = 0; side < DIFF_SIDES; side++)
			profile_destroy(fixture->profiles[i][side]);
	}
	history_deinit(fixture);
	set_deinit(&fixture->set);
}

/* ---- Writing ---- */

char *history_fixture_text(const struct history_fixture *fixture, unsigned int width, bool colour)
{
	struct render_text_options options = { .width = width, .is_whole = width == 0, .colour = colour };
	struct buffer out;
	struct error err;

	buffer_init(&out, MOST_BYTES);
	maker_check(render_history_text(&fixture->input, &options, &out, &err), &err);
	return out.data;
}

static char *written_by(bool (*write)(const struct render_history *, struct buffer *, struct error *),
	const struct history_fixture *fixture)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, MOST_BYTES);
	maker_check(write(&fixture->input, &out, &err), &err);
	return out.data;
}

char *history_fixture_json(const struct history_fixture *fixture)
{
	return written_by(render_history_json, fixture);
}

char *history_fixture_markdown(const struct history_fixture *fixture)
{
	return written_by(render_history_markdown, fixture);
}

char *history_fixture_html(const struct history_fixture *fixture)
{
	return written_by(render_history_html, fixture);
}
