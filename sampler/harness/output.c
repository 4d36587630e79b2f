/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/output.h"

#include "common/common.h"
#include "sampler/harness/output_dialect.h"
#include "sampler/harness/warmup.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	OUTPUT_MAX_BENCHMARKS = 100000, /* of a program that names more, the rest is only counted */
	OUTPUT_MAX_ROUNDS = 10000,      /* of one benchmark: their times are kept */
};

/* A benchmark that has ended. */
struct output_found {
	char *uri; /* owned */
	enum output_dialect dialect;
	int64_t start_ns, end_ns;
	double *times_ns; /* owned; of one iteration, of each result */
	size_t time_count, time_capacity;
	uint64_t rounds;
	double stdev_ns, error_ns;
};

/*
 * The benchmark that runs now. A program that names its benchmarks only when they have ended runs the next one since
 * the last line that said that nothing else runs any more.
 */
struct output_running {
	struct buffer name;          /* empty: it has none yet */
	enum output_dialect dialect; /* of the name */
	int64_t start_ns;            /* -1: nothing has been said so far */
	int64_t end_ns;              /* -1: it has not ended */
	uint64_t rounds;
};

struct harness_output {
	struct output_found *found;
	size_t count, capacity;
	uint64_t beyond;    /* benchmarks that were one too many */
	struct buffer last; /* the name of the last one found, as the program has printed it */
	struct output_running running;
	struct buffer scope;
	bool has_rounds; /* what was found last goes on: the next round is of it */
	bool has_table[OUTPUT_DIALECTS], has_titles[OUTPUT_DIALECTS];
	bool has_failed; /* out of memory */
};

bool harness_output_create(struct harness_output **output, struct error *err)
{
	struct harness_output *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	buffer_init(&made->running.name, HARNESS_LINE_BYTES);
	buffer_init(&made->scope, HARNESS_LINE_BYTES);
	buffer_init(&made->last, HARNESS_LINE_BYTES);
	made->running.start_ns = made->running.end_ns = -1;
	*output = made;
	return true;
}

static void found_deinit(struct output_found *found)
{
	free(found->uri);
	free(found->times_ns);
}

void harness_output_destroy(struct harness_output *output)
{
	if (!output)
		return;
	for (size_t i = 0; i < output->count; i++)
		found_deinit(&output->found[i]);
	free(output->found);
	buffer_deinit(&output->running.name);
	buffer_deinit(&output->scope);
	buffer_deinit(&output->last);
	free(output);
}

/* ---- Lines ---- */

/* The size of the escape sequence that begins at `text`: CSI and OSC as in ECMA-48, else two bytes. */
static size_t escape_size(const char *text, size_t size)
{
	size_t i = 2;

	if (size < 2)
		return size;
	if (text[1] == '[') {
		while (i < size && (text[i] < '@' || text[i] > '~'))
			i++;
		return i < size ? i + 1 : size;
	}
	if (text[1] == ']') {
		while (i < size && text[i] != '\a' && text[i] != '\033')
			i++;
		return i < size ? i + (text[i] == '\a' ? 1 : 2) : size;
	}
	return 2;
}

/*
 * Copies what a terminal would show of a line: without escape sequences and control characters, and from the last
 * carriage return that something follows. Returns its size, which is at most `size`.
 */
static size_t line_clean(const char *text, size_t size, char *clean)
{
	bool is_return = false;
	size_t count = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\033') {
			i += escape_size(text + i, size - i) - 1;
		} else if (text[i] == '\r') {
			is_return = true;
		} else if (text[i] == '\t' || (unsigned char)text[i] >= ' ') {
			if (is_return)
				count = 0;
			is_return = false;
			clean[count++] = text[i];
		}
	}
	while (count > 0 && clean[count - 1] == ' ')
		count--;
	return count;
}

static void harness_output_keep_text(struct buffer *buffer, const struct text_cursor *text)
{
	buffer->size = 0;
	buffer_append(buffer, text->at, text_left(*text));
}

static bool harness_output_is_text(const struct buffer *buffer, const struct text_cursor *text)
{
	return buffer->size == text_left(*text) &&
	       (buffer->size == 0 || memcmp(buffer->data, text->at, buffer->size) == 0);
}

static void running_none(struct output_running *running, int64_t time_ns)
{
	running->name.size = 0;
	running->start_ns = time_ns;
	running->end_ns = -1;
	running->rounds = 0;
}

static void running_begin(struct output_running *running, const struct output_event *event, int64_t time_ns)
{
	if (harness_output_is_text(&running->name, &event->name) && running->end_ns < 0)
		return;
	running_none(running, time_ns);
	harness_output_keep_text(&running->name, &event->name);
	running->dialect = event->dialect;
}

/* JMH's "org.demo.Parse.small" is a method of a class: "org.demo.Parse::small". */
static void split_method(struct buffer *name)
{
	const char *dot = name->size > 0 ? memrchr(name->data, '.', name->size) : NULL;
	size_t at = dot ? (size_t)(dot - name->data) : 0;

	if (at == 0)
		return;
	buffer_append_byte(name, ':');
	if (name->failed)
		return;
	memmove(name->data + at + 2, name->data + at + 1, name->size - at - 2);
	memcpy(name->data + at, "::", 2);
}

/* ---- Results ---- */

static bool found_add_time(struct output_found *found, const struct output_event *event, struct error *err)
{
	if (found->time_count == OUTPUT_MAX_ROUNDS)
		return true;
	if (!ARRAY_RESERVE(&found->times_ns, &found->time_capacity, found->time_count + 1, OUTPUT_MAX_ROUNDS, err))
		return false;
	found->times_ns[found->time_count++] = event->time_ns;
	return true;
}

/* "package::name". Foreign bytes become text here. */
static bool found_name(
	struct output_found *found, const struct buffer *scope, const struct text_cursor *name, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer whole, uri;
	const bool has_scope = scope->size > 0;

	buffer_init(&whole, 2 * HARNESS_LINE_BYTES + 8);
	buffer_init(&uri, (size_t)8 * HARNESS_LINE_BYTES);
	if (has_scope)
		buffer_append(&whole, scope->data, scope->size);
	buffer_append_string(&whole, has_scope ? "::" : "");
	buffer_append(&whole, name->at, text_left(*name));
	if (!buffer_ok(&whole, err))
		return false;
	unicode_append_clean(&uri, whole.data);
	if (!buffer_ok(&uri, err))
		return false;
	found->uri = uri.data;
	uri.data = NULL;
	return true;
}

/*
 * google-benchmark prints all repetitions of a benchmark together, and behind them their mean, median and so on, whose
 * number of iterations is that of the repetitions.
 */
static bool is_aggregate(const struct harness_output *output, const struct output_event *event)
{
	const struct output_found *last = &output->found[output->count - 1];
	const struct text_cursor start = { event->name.at, event->name.at + output->last.size };

	return last->time_count > 1 && event->iterations == last->time_count &&
	       text_left(event->name) > output->last.size + 1 && harness_output_is_text(&output->last, &start) &&
	       *start.end == '_';
}

static bool output_add(struct harness_output *output, const struct output_event *event, int64_t time_ns,
	const struct text_cursor *name, struct error *err)
{
	struct output_running *running = &output->running;
	struct output_found found = { .dialect = event->dialect, .stdev_ns = event->stdev_ns };

	if (output->count == OUTPUT_MAX_BENCHMARKS) {
		output->beyond++;
		return true;
	}
	if (!ARRAY_RESERVE(&output->found, &output->capacity, output->count + 1, OUTPUT_MAX_BENCHMARKS, err))
		return false;
	if (!found_name(&found, &output->scope, name, err) || !found_add_time(&found, event, err)) {
		found_deinit(&found);
		return false;
	}
	found.error_ns = event->error_ns;
	found.rounds = event->rounds ? event->rounds : running->rounds;
	found.end_ns = running->end_ns >= 0 ? running->end_ns : time_ns;
	found.start_ns = running->start_ns >= 0 ? running->start_ns : found.end_ns;
	output->found[output->count++] = found;
	harness_output_keep_text(&output->last, name);
	return true;
}

static bool output_result(
	struct harness_output *output, const struct output_event *event, int64_t time_ns, struct error *err)
{
	struct output_found *last = output->count > 0 ? &output->found[output->count - 1] : NULL;
	const struct output_running *running = &output->running;
	struct text_cursor name = event->name;

	if (event->dialect == OUTPUT_GOOGLE) {
		if (!output->has_table[OUTPUT_GOOGLE])
			return true;
		if (last && last->dialect == OUTPUT_GOOGLE && is_aggregate(output, event))
			return true;
		if (last && last->dialect == OUTPUT_GOOGLE && harness_output_is_text(&output->last, &name)) {
			last->end_ns = time_ns;
			return found_add_time(last, event, err);
		}
	}
	if (name.at == name.end && running->dialect == event->dialect && running->name.size > 0)
		name = (struct text_cursor){ running->name.data, running->name.data + running->name.size };
	return name.at == name.end || output_add(output, event, time_ns, &name, err);
}

/* One more of the same, which may be that which ended last. */
static void output_again(struct harness_output *output, const struct output_event *event, int64_t time_ns)
{
	struct output_running *running = &output->running;

	if (running->name.size == 0 && output->count > 0 &&
		output->found[output->count - 1].dialect == event->dialect) {
		harness_output_keep_text(&running->name,
			&(struct text_cursor){ output->last.data, output->last.data + output->last.size });
		running->dialect = event->dialect;
	}
	running->start_ns = time_ns;
	running->end_ns = -1;
	output->has_rounds = false;
}

static bool output_round(
	struct harness_output *output, const struct output_event *event, int64_t time_ns, struct error *err)
{
	struct output_found *last;
	bool ok = true;

	if (!output->has_rounds) {
		size_t before = output->count;

		ok = output_result(output, event, time_ns, err);
		output->has_rounds = output->count > before;
	} else {
		last = &output->found[output->count - 1];
		last->end_ns = time_ns;
		ok = found_add_time(last, event, err);
	}
	running_none(&output->running, time_ns);
	return ok;
}

static bool output_event(
	struct harness_output *output, const struct output_event *event, int64_t time_ns, struct error *err)
{
	struct output_running *running = &output->running;
	bool ok = true;

	switch (event->kind) {
	case OUTPUT_NOTHING:
		break;
	case OUTPUT_SCOPE:
		harness_output_keep_text(&output->scope, &event->name);
		running_none(running, time_ns);
		break;
	case OUTPUT_TABLE:
		output->has_table[event->dialect] = true;
		break;
	case OUTPUT_BOUNDARY:
		running_none(running, time_ns);
		break;
	case OUTPUT_TITLE:
		output->has_titles[event->dialect] = true;
		running_begin(running, event, time_ns);
		break;
	case OUTPUT_BEGIN:
		output->has_rounds = false;
		if (!output->has_titles[event->dialect])
			running_begin(running, event, time_ns);
		if (event->dialect == OUTPUT_JMH)
			split_method(&running->name);
		break;
	case OUTPUT_MEASURE:
		running_none(running, time_ns);
		running_begin(running, event, time_ns);
		running->rounds = event->rounds;
		break;
	case OUTPUT_VARIANT:
		if (running->name.size > 0 && running->dialect == event->dialect) {
			buffer_append_byte(&running->name, '[');
			buffer_append(&running->name, event->name.at, text_left(event->name));
			buffer_append_byte(&running->name, ']');
		}
		break;
	case OUTPUT_AGAIN:
		output_again(output, event, time_ns);
		break;
	case OUTPUT_ROUND:
		ok = output_round(output, event, time_ns, err);
		break;
	case OUTPUT_END:
		if (harness_output_is_text(&running->name, &event->name))
			running->end_ns = time_ns;
		break;
	case OUTPUT_RESULT:
		output->has_rounds = false;
		ok = output_result(output, event, time_ns, err);
		running_none(running, time_ns);
		break;
	case OUTPUT_ROUNDS:
		if (output->count > 0 && output->found[output->count - 1].dialect == event->dialect)
			output->found[output->count - 1].rounds = event->rounds;
		break;
	}
	return ok && buffer_ok(&running->name, err) && buffer_ok(&output->scope, err) && buffer_ok(&output->last, err);
}

void harness_output_line(
	struct harness_output *output, int stream, const char *text, size_t size, int64_t time_ns, bool is_complete)
{
	char line[HARNESS_LINE_BYTES];
	struct output_event event;
	struct error err;

	(void)stream; /* criterion says on one what runs, and on the other how long it took */
	if (output->has_failed)
		return;
	size = line_clean(text, size < sizeof(line) ? size : sizeof(line), line);
	event = output_dialect_read((struct text_cursor){ line, line + size }, is_complete);
	if (!output_event(output, &event, time_ns, &err))
		output->has_failed = true;
}

/* ---- Windows ---- */

/*
 * Nothing is measured where the time of an iteration is 0 in the unit that the program prints.
 *
 * A window also holds what its program runs to find out how often it has to run the benchmark, so that it counts for as
 * many iterations as it has time for.
 */
static void window_measured(struct output_found *found, struct profile_measured *measured)
{
	const double duration_ns = (double)(found->end_ns - found->start_ns);
	const size_t count = found->time_count;
	double sum = 0, squares = 0;

	warmup_sort(found->times_ns, count);
	for (size_t i = 0; i < count; i++)
		sum += found->times_ns[i];
	measured->mean_ns = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += pow(found->times_ns[i] - measured->mean_ns, 2);
	if (measured->mean_ns <= 0)
		return;
	measured->quartile_ns = found->times_ns[(count - 1) / 4];
	measured->median_ns = (found->times_ns[(count - 1) / 2] + found->times_ns[count / 2]) / 2;
	measured->rounds = count > 1 ? count : found->rounds > 1 ? found->rounds : 1;
	measured->stdev_ns = count > 1 ? sqrt(squares / (double)(count - 1)) : found->stdev_ns;
	measured->error_ns = measured->stdev_ns / sqrt((double)measured->rounds);
	if (found->error_ns > 0) {
		measured->error_ns = found->error_ns;
		measured->stdev_ns = found->error_ns * sqrt((double)measured->rounds);
	}
	if (duration_ns / measured->mean_ns < 1e18)
		measured->iterations = (uint64_t)fmax(1, round(duration_ns / measured->mean_ns));
}

static void output_notice(const struct harness_output *output, size_t timeless, struct buffer *notices)
{
	if (timeless > 0)
		buffer_printf(notices,
			"%zu benchmarks are left out: the program printed their names only together with others', so that "
			"nothing tells when they ran; does it buffer its output?\n",
			timeless);
	if (output->beyond > 0)
		buffer_printf(notices,
			"%" PRIu64 " benchmarks are left out: only the first %d that a program names are told apart\n",
			output->beyond, OUTPUT_MAX_BENCHMARKS);
}

bool harness_output_finish(struct harness_output *output, int64_t end_ns, struct harness_result *result,
	struct buffer *notices, struct error *err)
{
	struct harness_window *windows;
	char *integration;
	size_t count = 0;

	if (output->has_failed)
		return error_set_memory(err);
	if (output->count == 0)
		return true;
	windows = calloc(output->count, sizeof(*windows));
	integration = strdup(output_dialect_name(output->found[0].dialect));
	if (!windows || !integration) {
		free(windows);
		free(integration);
		return error_set_memory(err);
	}
	for (size_t i = 0; i < output->count; i++) {
		struct output_found *found = &output->found[i];
		struct harness_window *window = &windows[count];

		found->end_ns = found->end_ns < end_ns ? found->end_ns : end_ns;
		if (found->start_ns >= found->end_ns)
			continue;
		*window = (struct harness_window){
			.uri = found->uri, .start_ns = found->start_ns, .end_ns = found->end_ns
		};
		window_measured(found, &window->measured);
		found->uri = NULL;
		count++;
	}
	output_notice(output, output->count - count, notices);
	if (count > 0) {
		result->windows = windows;
		result->window_count = count;
		result->integration = integration;
	} else {
		free(windows);
		free(integration);
	}
	return true;
}
