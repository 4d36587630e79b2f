/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/output_dialect.h"

#include <math.h>
#include <string.h>

/* ---- Text: each function moves past what it takes, or leaves the text as it is ---- */

static void text_skip_spaces(struct text_cursor *text)
{
	while (text_take_byte(text, ' '))
		;
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Returns where `literal` comes first, or last; NULL: nowhere. */
static const char *text_find(const struct text_cursor *text, const char *literal)
{
	return memmem(text->at, text_left(*text), literal, strlen(literal));
}

static const char *text_find_last(const struct text_cursor *text, const char *literal)
{
	struct text_cursor rest = *text;
	const char *last = NULL, *found;

	while ((found = text_find(&rest, literal))) {
		last = found;
		rest.at = found + 1;
	}
	return last;
}

static double text_digits(struct text_cursor *text, double *scale)
{
	double value = 0;

	for (; text->at < text->end && is_digit(*text->at); text->at++) {
		value = value * 10 + (*text->at - '0');
		*scale *= 10;
	}
	return value;
}

static bool text_exponent(struct text_cursor *text, double *value)
{
	struct text_cursor rest = *text;
	const bool is_negative = text_take_literal(&rest, "e-");
	double scale = 1, exponent;

	if (!is_negative && !text_take_literal(&rest, "e+"))
		return false;
	exponent = text_digits(&rest, &scale);
	*value *= pow(10, is_negative ? -exponent : exponent);
	*text = rest;
	return true;
}

/* A decimal number that is no sum of money: up to 1e18, as all counts and all nanoseconds of 30 years are. */
static bool output_dialect_text_number(struct text_cursor *text, double *number)
{
	struct text_cursor rest = *text;
	double scale = 1, value;

	if (rest.at == rest.end || !is_digit(*rest.at))
		return false;
	value = text_digits(&rest, &scale);
	if (text_take_byte(&rest, '.')) {
		scale = 1;
		value += text_digits(&rest, &scale) / scale;
	}
	text_exponent(&rest, &value);
	if (!isfinite(value) || value > 1e18)
		return false;
	*number = value;
	*text = rest;
	return true;
}

static bool text_count(struct text_cursor *text, uint64_t *count)
{
	struct text_cursor rest = *text;
	double value;

	if (!output_dialect_text_number(&rest, &value) || memchr(text->at, '.', (size_t)(rest.at - text->at)))
		return false;
	*count = (uint64_t)value;
	*text = rest;
	return true;
}

/* Reads a time with its unit: "1.5 us". */
static bool text_time(struct text_cursor *text, double *time_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "\u00b5s", 1e3 }, { "\u03bcs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ "ps", 1e-3 }, { "fs", 1e-6 } };
	struct text_cursor rest = *text;
	double value;

	if (!output_dialect_text_number(&rest, &value) || !text_take_literal(&rest, " "))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (text_take_literal(&rest, units[i].name) &&
			(rest.at == rest.end || *rest.at == ' ' || *rest.at == ']')) {
			*time_ns = value * units[i].ns;
			*text = rest;
			return true;
		}
	return false;
}

/* ---- go test -bench: "BenchmarkFib-2 <tab>", when it begins, and behind it "   8827 <tab>  3236 ns/op", when it ends
 */

/* Iterations and time stand on both sides of a tab, wherever the benchmark has printed something before them. */
static bool go_read_result(const struct text_cursor *line, struct output_event *event)
{
	for (const char *tab = line->at; (tab = memchr(tab, '\t', (size_t)(line->end - tab))); tab++) {
		struct text_cursor time = { tab + 1, line->end }, count = { tab, tab };

		while (count.at > line->at && is_digit(count.at[-1]))
			count.at--;
		text_skip_spaces(&time);
		if (text_count(&count, &event->iterations) && output_dialect_text_number(&time, &event->time_ns) &&
			text_take_literal(&time, " ns/op"))
			return true;
	}
	return false;
}

static void output_dialect_go_read(struct text_cursor line, bool is_complete, struct output_event *event)
{
	struct text_cursor rest = line, name;

	if (text_take_literal(&rest, "pkg: ") && is_complete) {
		event->kind = OUTPUT_SCOPE;
		event->name = rest;
		return;
	}
	name = text_take_word(&rest, " \t");
	text_skip_spaces(&rest);
	/* As testing's own rule: a name goes on with no small letter. A name alone is what -v prints first. */
	if (!text_take_literal(&(struct text_cursor){ name.at, name.end }, "Benchmark") ||
		(name.end - name.at > 9 && name.at[9] >= 'a' && name.at[9] <= 'z') ||
		(rest.at == rest.end ? !is_complete : *rest.at != '\t'))
		name.end = name.at;
	if (is_complete && go_read_result(&line, event))
		event->kind = OUTPUT_RESULT;
	else if (name.at < name.end)
		event->kind = rest.at == rest.end ? OUTPUT_TITLE : OUTPUT_BEGIN;
	event->name = name;
}

/* ---- google-benchmark: "BM_fib    1515 ns    1515 ns    18615 counters", when it has ended ---- */

static void google_read(struct text_cursor line, bool is_complete, struct output_event *event)
{
	if (!is_complete)
		return;
	if (text_take_literal(&(struct text_cursor){ line.at, line.end }, "Benchmark ") && text_find(&line, " Time ") &&
		text_find(&line, " CPU ") && text_find(&line, " Iterations"))
		event->kind = OUTPUT_TABLE;
	else if (text_take_literal(&(struct text_cursor){ line.at, line.end }, "Running ") ||
		 text_find(&line, " ERROR OCCURRED: ") || text_find(&line, " SKIPPED: "))
		event->kind = OUTPUT_BOUNDARY;
	/* Names may have spaces. The first two times in sequence end the name. */
	for (const char *pos = line.at; (pos = memchr(pos, ' ', (size_t)(line.end - pos))); pos++) {
		struct text_cursor rest = { pos + 1, line.end };
		double cpu_ns;

		if (!text_time(&rest, &event->time_ns))
			continue;
		text_skip_spaces(&rest);
		if (!text_time(&rest, &cpu_ns))
			continue;
		text_skip_spaces(&rest);
		if (!text_count(&rest, &event->iterations) || (rest.at < rest.end && *rest.at != ' '))
			continue;
		while (pos > line.at && pos[-1] == ' ')
			pos--;
		event->kind = OUTPUT_RESULT;
		event->name = (struct text_cursor){ line.at, pos };
		return;
	}
}

/* ---- criterion: "Benchmarking fib: Collecting 100 samples in …", "… Analyzing", "fib   time:   [low middle high]"
 * ---- */

static bool criterion_read_state(struct text_cursor line, struct output_event *event)
{
	static const struct {
		const char *text;
		enum output_event_kind kind;
	} states[] = { { ": Collecting ", OUTPUT_MEASURE }, { ": Analyzing", OUTPUT_END },
		{ ": Warming up ", OUTPUT_BEGIN }, { ": Profiling ", OUTPUT_NOTHING }, { ": Running ", OUTPUT_BEGIN } };

	if (!text_take_literal(&line, "Benchmarking ") || line.at == line.end)
		return false;
	event->kind = OUTPUT_BEGIN;
	event->name = line;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		const char *found = text_find_last(&line, states[i].text);

		if (found) {
			event->kind = states[i].kind;
			event->name.end = found;
			line.at = found + strlen(states[i].text);
			if (event->kind == OUTPUT_MEASURE && !text_count(&line, &event->rounds))
				event->rounds = 0;
			return true;
		}
	}
	return true;
}

static void criterion_read(struct text_cursor line, bool is_complete, struct output_event *event)
{
	/* The interval holds the true time in 95 of 100 cases, by default. */
	static const double interval_errors = 2 * 1.96;
	double low_ns, high_ns;
	const char *found;

	if (!is_complete || criterion_read_state(line, event))
		return;
	found = text_find_last(&line, "time:   [");
	if (found) {
		struct text_cursor rest = { found + 9, line.end };

		if (text_time(&rest, &low_ns) && text_take_literal(&rest, " ") && text_time(&rest, &event->time_ns) &&
			text_take_literal(&rest, " ") && text_time(&rest, &high_ns) && text_take_literal(&rest, "]")) {
			event->kind = OUTPUT_RESULT;
			event->error_ns = fabs(high_ns - low_ns) / interval_errors;
		}
		return;
	}
	/* cargo: "     Running benches/suite.rs (target/release/deps/suite-4a2a08e3ef0c7cc0)" */
	text_skip_spaces(&line);
	if (text_take_literal(&line, "Running ") && (found = text_find_last(&line, " (")) && line.end[-1] == ')') {
		event->kind = OUTPUT_SCOPE;
		event->name = (struct text_cursor){ line.at, found };
	}
}

/* ---- hyperfine: "Benchmark 1: sleep 0.1", "  Time (mean ± σ): 100.9 ms ± 0.3 ms", "  Range (min … max): …   10 runs"
 */

static void hyperfine_read(struct text_cursor line, bool is_complete, struct output_event *event)
{
	struct text_cursor rest = line;
	const char *found;

	if (!is_complete)
		return;
	if (text_take_literal(&rest, "Benchmark ")) {
		text_take_literal(&rest, "#");
		if (text_count(&rest, &event->rounds) && text_take_literal(&rest, ": ")) {
			event->kind = OUTPUT_BEGIN;
			event->name = rest;
		}
		event->rounds = 0;
		return;
	}
	text_skip_spaces(&rest);
	if (text_take_literal(&rest, "Time (") && (found = text_find(&rest, "):"))) {
		rest.at = found + 2;
		text_skip_spaces(&rest);
		if (!text_time(&rest, &event->time_ns))
			return;
		event->kind = OUTPUT_RESULT;
		event->rounds = 1;
		if (text_take_literal(&rest, " \u00b1")) {
			text_skip_spaces(&rest);
			if (!text_time(&rest, &event->stdev_ns))
				event->stdev_ns = 0;
		}
	} else if (text_take_literal(&rest, "Range (") && (found = text_find_last(&rest, " runs"))) {
		rest.end = found;
		rest.at = found;
		while (rest.at > line.at && is_digit(rest.at[-1]))
			rest.at--;
		if (text_count(&rest, &event->rounds))
			event->kind = OUTPUT_ROUNDS;
	}
}

/* ---- JMH: "# Benchmark: org.demo.Parse.small", "# Parameters: (n = 10)", and for each process "# Fork: 1 of 5", "#
 * Warmup Iteration   1: 80.1 us/op", "Iteration   1: 76.3 us/op" ---- */

/* Reads the time of an operation: "76.3 us/op", "0.013 ops/ns", of many single times "0.064 ±(99.9%) 0.001 us/op". */
static bool jmh_read_score(struct text_cursor text, double *time_ns)
{
	static const struct {
		const char *per_operation, *operations_per;
		double ns;
	} units[] = { { " ns/op", " ops/ns", 1 }, { " us/op", " ops/us", 1e3 }, { " ms/op", " ops/ms", 1e6 },
		{ " s/op", " ops/s", 1e9 }, { " min/op", " ops/min", 60e9 } };
	double value, error;

	if (!output_dialect_text_number(&text, &value) || !(value > 0))
		return false;
	if (text_take_literal(&text, " \u00b1(99.9%) ") && !output_dialect_text_number(&text, &error))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		bool is_rate = text_take_literal(&text, units[i].operations_per);

		if (!is_rate && !text_take_literal(&text, units[i].per_operation))
			continue;
		*time_ns = is_rate ? units[i].ns / value : units[i].ns * value;
		return true;
	}
	return false;
}

static void jmh_read(struct text_cursor line, bool is_complete, struct output_event *event)
{
	struct text_cursor rest = line;
	uint64_t number;

	if (!is_complete)
		return;
	if (text_take_literal(&rest, "# Benchmark: ")) {
		event->kind = OUTPUT_BEGIN;
		event->name = rest;
	} else if (text_take_literal(&rest, "# Parameters: (") && rest.end > rest.at && rest.end[-1] == ')') {
		event->kind = OUTPUT_VARIANT;
		event->name = (struct text_cursor){ rest.at, rest.end - 1 };
	} else if (text_take_literal(&rest, "# Fork: ") || text_take_literal(&rest, "# Warmup Iteration ")) {
		event->kind = OUTPUT_AGAIN;
	} else if (text_take_literal(&rest, "Iteration ")) {
		text_skip_spaces(&rest);
		if (text_count(&rest, &number) && text_take_literal(&rest, ": ") &&
			jmh_read_score(rest, &event->time_ns))
			event->kind = OUTPUT_ROUND;
	}
}

/* ---- All of them ---- */

static const struct {
	const char *name;
	void (*read)(struct text_cursor line, bool is_complete, struct output_event *event);
} dialects[OUTPUT_DIALECTS] = {
	[OUTPUT_GO] = { "go test -bench", output_dialect_go_read },
	[OUTPUT_GOOGLE] = { "google-benchmark", google_read },
	[OUTPUT_CRITERION] = { "criterion", criterion_read },
	[OUTPUT_HYPERFINE] = { "hyperfine", hyperfine_read },
	[OUTPUT_JMH] = { "JMH", jmh_read },
};

const char *output_dialect_name(enum output_dialect dialect)
{
	return dialects[dialect].name;
}

struct output_event output_dialect_read(struct text_cursor line, bool is_complete)
{
	struct output_event event;

	for (enum output_dialect i = 0; i < OUTPUT_DIALECTS; i++) {
		event = (struct output_event){ .dialect = i };
		dialects[i].read(line, is_complete, &event);
		if (event.kind != OUTPUT_NOTHING)
			return event;
	}
	return (struct output_event){ .kind = OUTPUT_NOTHING };
}
