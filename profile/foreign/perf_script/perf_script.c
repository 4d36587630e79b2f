/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/perf_script/perf_script.h"

#include "profile/foreign/perf_script/samples.h"

#include <ctype.h>
#include <string.h>

enum { MAX_LINE_BYTES = 1 << 24 };

struct perf_script {
	struct text_lines lines;
	struct script_samples samples;
	int64_t first_ns, last_ns;
};

static void perf_script_deinit(struct perf_script *r)
{
	text_lines_deinit(&r->lines);
	script_samples_deinit(&r->samples);
}

/* Reads a line of a stack; with -F srcline a line follows each that has neither an address nor a binary. */
static bool perf_script_read_frame(struct perf_script *r, struct text_cursor line, struct error *err)
{
	struct text_cursor binary = { "", "" };
	uint64_t address = 0;
	bool has_address = script_take_address(&line, &address), has_binary = script_take_binary(&line, &binary);

	line = script_trim(line);
	if (r->samples.frame_count > 0 && !has_address && !has_binary)
		return true;
	return script_samples_add_frame(&r->samples, address, line, binary, err);
}

/* ---- The line before a stack ---- */

/*
 * Words up to the time, from the right: flags and the CPU in brackets, the thread, and what is left is its name. Where
 * no time is printed, the first number is the thread's.
 */
static void read_owner(
	struct text_cursor before, bool has_time, struct profile_thread *thread, struct text_cursor *comm)
{
	struct text_cursor rest = before, word;

	*comm = script_trim(before);
	while (text_left(script_trim(rest)) > 0) {
		struct text_cursor left;

		word = script_last_word(rest, &left);
		if (script_is_thread(word, thread)) {
			*comm = script_trim(left);
			return;
		}
		if (has_time && *word.at != '[')
			return;
		rest = left;
	}
}

static bool perf_script_find_thread(struct perf_script *r, struct text_cursor before, bool has_time, struct error *err)
{
	struct profile_thread thread = { .run = r->samples.run };
	struct text_cursor comm;

	read_owner(before, has_time, &thread, &comm);
	if (!string_table_add(r->samples.profile->strings, comm.at, text_left(comm), &thread.name, err))
		return false;
	thread.process_name = thread.name;
	return profile_add_thread(r->samples.profile, &thread, &r->samples.thread, err);
}

static void note_time(struct perf_script *r, int64_t ns)
{
	if (r->first_ns == 0 || ns < r->first_ns)
		r->first_ns = ns;
	if (ns > r->last_ns)
		r->last_ns = ns;
}

/*
 * Reads a period and an event, and behind them what belongs to a tracepoint, or the only frame of a sample without a
 * stack. False: the line is of a record that is no sample.
 */
static bool perf_script_read_event(struct perf_script *r, struct text_cursor rest, bool *is_sample, struct error *err)
{
	struct text_cursor behind, word = script_first_word(rest, &behind), name = { "", "" };

	r->samples.period = 0;
	if (script_is_number(word, &r->samples.period)) {
		r->samples.has_periods = true;
		rest = behind;
		word = script_first_word(rest, &behind);
	}
	*is_sample = !text_starts_with(word, "PERF_RECORD_");
	if (!*is_sample)
		return true;
	if (text_left(word) > 1 && word.end[-1] == ':') {
		name = script_event_name(word);
		rest = behind;
	}
	rest = script_trim(rest);
	r->samples.is_open = true;
	if (!script_samples_set_event(&r->samples, name, err))
		return false;
	return rest.at == rest.end || rest.end[-1] != ')' || perf_script_read_frame(r, rest, err);
}

/*
 * Finds the event's word in a line without a time: the word with its colon ends what is told of the thread, or the
 * period before it: a number behind the thread's.
 */
static void find_event_word(struct text_cursor line, struct text_cursor *before, struct text_cursor *behind)
{
	struct text_cursor rest = line, word, left, last = { line.at, line.at }, last_but_one = last;
	struct profile_thread ignored;
	int64_t number;

	*before = line;
	*behind = (struct text_cursor){ line.end, line.end };
	for (; text_left(script_trim(rest)) > 0; rest = left, last_but_one = last, last = word) {
		word = script_first_word(rest, &left);
		if (text_left(word) < 2 || word.end[-1] != ':')
			continue;
		if (script_is_number(last, &number) && script_is_thread(last_but_one, &ignored))
			word.at = last.at;
		*before = (struct text_cursor){ line.at, word.at };
		*behind = (struct text_cursor){ word.at, line.end };
		return;
	}
}

static bool perf_script_read_header(struct perf_script *r, struct text_cursor line, struct error *err)
{
	struct text_cursor before, behind;
	int64_t ns;
	bool has_time = script_find_time(line, &before, &behind, &ns), is_sample;

	if (!has_time)
		find_event_word(line, &before, &behind);
	if (!perf_script_read_event(r, behind, &is_sample, err) || !is_sample)
		return !is_sample;
	if (has_time)
		note_time(r, ns);
	return perf_script_find_thread(r, before, has_time, err);
}

/* ---- The text ---- */

/* Lines of a stack are indented, unless a mail or a page took that away; those before it may be, but have a time. */
static bool is_header(const struct perf_script *r, struct text_cursor line)
{
	struct text_cursor before, behind, binary, frame = line;
	uint64_t address;
	int64_t ns;

	if (script_find_time(line, &before, &behind, &ns))
		return true;
	return !isspace((unsigned char)*line.at) &&
	       !(r->samples.is_open && script_take_address(&frame, &address) && script_take_binary(&frame, &binary));
}

static bool perf_script_read_line(struct perf_script *r, struct text_cursor line, struct error *err)
{
	/* An empty line ends a stack; one that stands before it, as in edited files, does not. */
	if (text_left(script_trim(line)) == 0)
		return r->samples.frame_count == 0 || script_samples_end(&r->samples, err);
	if (*line.at == '#')
		return true;
	if (is_header(r, line))
		return script_samples_end(&r->samples, err) && perf_script_read_header(r, line, err);
	if (!r->samples.is_open) {
		/* -F ip,sym: nothing stands before the stack. */
		r->samples.is_open = true;
		r->samples.period = 0;
		if (!script_samples_set_event(&r->samples, (struct text_cursor){ "", "" }, err) ||
			!perf_script_find_thread(r, (struct text_cursor){ "", "" }, true, err))
			return false;
	}
	return perf_script_read_frame(r, line, err);
}

static bool perf_script_read_lines(struct perf_script *r, struct error *err)
{
	const char *line;
	size_t size;

	do {
		if (!text_lines_next(&r->lines, &line, &size, err))
			return false;
		if (line && !perf_script_read_line(r, (struct text_cursor){ line, line + size }, err))
			return error_prefix(err, "line %zu", r->lines.line);
	} while (line);
	return script_samples_end(&r->samples, err);
}

bool perf_script_read(const struct text_source *text, const char *name, size_t most_stacks, struct profile **profile,
	struct error *err)
{
	CLEANUP(perf_script_deinit) struct perf_script r = { 0 };

	if (!text_lines_init(&r.lines, text, MAX_LINE_BYTES, err) || !script_samples_init(&r.samples, err))
		return false;
	profile_limit_stacks(r.samples.profile, most_stacks);
	if (!perf_script_read_lines(&r, err) || !script_samples_finish(&r.samples, err) ||
		!profile_validate(r.samples.profile, err))
		return r.lines.read_failed ? false : error_prefix(err, "cannot read %s", name);
	r.samples.profile->runs[r.samples.run].duration_ns = r.last_ns - r.first_ns;
	*profile = TAKE(r.samples.profile);
	return true;
}

/* ---- What a text is ---- */

static struct text_cursor perf_script_next_line(struct text_cursor *text)
{
	struct text_cursor line = *text;
	const char *end = line.at < line.end ? memchr(line.at, '\n', text_left(line)) : NULL;

	line.end = end ? end : line.end;
	text->at = end ? end + 1 : text->end;
	return line;
}

/*
 * Returns whether a line is a frame: an address, and a function, whose binary is told unless the line is indented. A
 * count at its end makes a folded stack of it.
 */
static bool looks_like_frame(struct text_cursor line)
{
	enum { LEAST_ADDRESS = 0x1000 };
	bool is_indented = line.at < line.end && isspace((unsigned char)*line.at);
	struct text_cursor binary, before, last = script_last_word(line, &before);
	uint64_t address;

	while (last.at < last.end && isdigit((unsigned char)*last.at))
		last.at++;
	return last.at < last.end && script_take_address(&line, &address) && address >= LEAST_ADDRESS &&
	       (is_indented ? text_left(script_trim(line)) > 0 : script_take_binary(&line, &binary));
}

/* A sample has a time. Where none is printed, a stack begins in the line below, or at once. */
bool perf_script_is(const char *text, size_t size)
{
	struct text_cursor left = { text, text + size }, line, before, behind;
	int64_t ns;

	do {
		line = perf_script_next_line(&left);
	} while (left.at < left.end && (text_left(script_trim(line)) == 0 || *line.at == '#'));
	return script_find_time(line, &before, &behind, &ns) || looks_like_frame(line) ||
	       looks_like_frame(perf_script_next_line(&left));
}
