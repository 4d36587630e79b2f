/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/session.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_WINDOWS = 1 << 17,
	MAX_ROUNDS = 1 << 22,
	MAX_URI_BYTES = 1 << 12,
	MAX_INTEGRATION_BYTES = 1 << 10,
};

struct session_window {
	int64_t start_ns, end_ns;
	char *uri; /* owned; NULL: not said yet */
	int32_t pid;
	bool is_named; /* also where the name cannot be kept */
};

void session_init(struct session *session)
{
	*session = (struct session){ .round_start_ns = -1 };
	buffer_init(&session->integrations, MAX_INTEGRATION_BYTES);
}

void session_deinit(struct session *session)
{
	for (size_t i = 0; i < session->window_count; i++)
		free(session->windows[i].uri);
	free(session->windows);
	free(session->rounds);
	buffer_deinit(&session->integrations);
	session_init(session);
}

/* A text of a harness as a string that can be shown, at most `max_bytes` long. */
static char *clean_text(struct protocol_text text, size_t max_bytes)
{
	CLEANUP(cleanup_free) char *copy = strndup(text.bytes, text.size < max_bytes ? text.size : max_bytes);
	struct buffer clean;

	/* A byte that is no character takes three. */
	buffer_init(&clean, 3 * max_bytes + 1);
	if (copy)
		unicode_append_clean(&clean, copy);
	buffer_append_byte(&clean, '\0');
	if (copy && !clean.failed)
		return clean.data;
	buffer_deinit(&clean);
	return NULL;
}

static void close_window(struct session *session, int64_t now_ns)
{
	if (!session->is_open)
		return;
	session->windows[session->window_count - 1].end_ns = now_ns;
	session->is_open = false;
}

static enum protocol_command start_window(struct session *session, int64_t now_ns)
{
	if (session->is_open)
		session->unclosed++;
	close_window(session, now_ns);
	if (session->window_count == MAX_WINDOWS) {
		session->left_out++;
		return PROTOCOL_ACK;
	}
	if (!ARRAY_RESERVE(&session->windows, &session->window_capacity, session->window_count + 1, MAX_WINDOWS,
		    &session->failure))
		return PROTOCOL_ERR;
	session->windows[session->window_count++] = (struct session_window){ .start_ns = now_ns };
	session->is_open = true;
	return PROTOCOL_ACK;
}

/* The last window that has ended; NULL: there is none. */
static struct session_window *last_ended(struct session *session)
{
	size_t ended = session->window_count - session->is_open;

	return ended > 0 ? &session->windows[ended - 1] : NULL;
}

static enum protocol_command name_window(struct session *session, const struct protocol_message *message)
{
	struct session_window *window = last_ended(session);

	/* Windows above the cap have names, too. */
	if (!window || window->is_named) {
		session->unnamed += session->left_out == 0;
		return PROTOCOL_ACK;
	}
	window->is_named = true;
	window->pid = message->pid;
	window->uri = clean_text(message->name, MAX_URI_BYTES);
	if (window->uri)
		return PROTOCOL_ACK;
	error_set_memory(&session->failure);
	return PROTOCOL_ERR;
}

static enum protocol_command session_end_round(struct session *session, const struct protocol_message *message)
{
	struct harness_round round = { .start_ns = session->round_start_ns, .end_ns = (int64_t)message->value };

	session->round_start_ns = -1;
	if (round.start_ns < 0 || message->pid != session->round_pid || round.end_ns <= round.start_ns) {
		session->unpaired++;
		return PROTOCOL_ACK;
	}
	if (session->round_count == MAX_ROUNDS) {
		session->left_out++;
		return PROTOCOL_ACK;
	}
	if (!ARRAY_RESERVE(&session->rounds, &session->round_capacity, session->round_count + 1, MAX_ROUNDS,
		    &session->failure))
		return PROTOCOL_ERR;
	session->rounds[session->round_count++] = round;
	return PROTOCOL_ACK;
}

static enum protocol_command take_marker(struct session *session, const struct protocol_message *message)
{
	if (message->marker > PROTOCOL_ROUND_END || message->value > INT64_MAX) {
		session->unknown++;
		return PROTOCOL_ERR;
	}
	switch ((enum protocol_marker)message->marker) {
	case PROTOCOL_ROUND_START:
		session->unpaired += session->round_start_ns >= 0;
		session->round_start_ns = (int64_t)message->value;
		session->round_pid = message->pid;
		break;
	case PROTOCOL_ROUND_END:
		return session_end_round(session, message);
	case PROTOCOL_SAMPLE_START:
	case PROTOCOL_SAMPLE_END:
		/* Start and Stop say the same. */
		break;
	}
	return PROTOCOL_ACK;
}

static bool knows_integration(const struct session *session, const char *text)
{
	const struct buffer *known = &session->integrations;

	for (size_t at = 0; at < known->size; at += strlen(known->data + at) + 1)
		if (strcmp(known->data + at, text) == 0)
			return true;
	return false;
}

static enum protocol_command take_integration(struct session *session, const struct protocol_message *message)
{
	enum { MOST = 100 };
	CLEANUP(cleanup_free) char *name = clean_text(message->name, MOST);
	CLEANUP(cleanup_free) char *version = clean_text(message->version, MOST);
	CLEANUP(cleanup_free) char *text = NULL;

	if (!name || !version || asprintf(&text, "%s %s", name, version) < 0) {
		text = NULL;
		error_set_memory(&session->failure);
		return PROTOCOL_ERR;
	}
	/* A suite of more harnesses than have room keeps the first. */
	if (!knows_integration(session, text))
		buffer_append(&session->integrations, text, strlen(text) + 1);
	return PROTOCOL_ACK;
}

/* Notes a pid. Those beyond the cap are not told apart. */
static void note_pid(struct session *session, int32_t pid)
{
	size_t at = 0, count = session->pid_count;

	if (count > 0 && session->pids[count - 1] == pid)
		return;
	while (at < count && session->pids[at] != pid)
		at++;
	if (at < count) {
		session->parallel[0] = session->pids[count - 1];
		session->parallel[1] = pid;
		memmove(&session->pids[at], &session->pids[at + 1], (count - at - 1) * sizeof(session->pids[0]));
		session->pids[count - 1] = pid;
	} else if (count < SESSION_MOST_PIDS) {
		session->pids[session->pid_count++] = pid;
	}
}

static enum protocol_command session_check_version(struct session *session, uint64_t version)
{
	if (version >= PROTOCOL_OLDEST_VERSION && version <= PROTOCOL_VERSION_NOW)
		return PROTOCOL_ACK;
	session->refused_version = version;
	return PROTOCOL_ERR;
}

enum protocol_command session_take(struct session *session, const struct protocol_message *message, int64_t now_ns)
{
	session->is_connected = true;
	switch (message->command) {
	case PROTOCOL_START:
		return start_window(session, now_ns);
	case PROTOCOL_STOP:
		close_window(session, now_ns);
		return PROTOCOL_ACK;
	case PROTOCOL_EXECUTED:
		note_pid(session, message->pid);
		return name_window(session, message);
	case PROTOCOL_MARKER:
		note_pid(session, message->pid);
		return take_marker(session, message);
	case PROTOCOL_INTEGRATION:
		return take_integration(session, message);
	case PROTOCOL_VERSION:
		return session_check_version(session, message->value);
	case PROTOCOL_MODE:
		return PROTOCOL_MODE_IS;
	case PROTOCOL_PING:
		return PROTOCOL_ACK;
	case PROTOCOL_ACK:
	case PROTOCOL_ERR:
	case PROTOCOL_MODE_IS:
	case PROTOCOL_COMMANDS:
		break;
	}
	session_take_unknown(session);
	return PROTOCOL_ERR;
}

void session_take_unknown(struct session *session)
{
	session->unknown++;
}

/* ---- What it makes ---- */

static int compare_rounds(const void *a, const void *b)
{
	const struct harness_round *left = a, *right = b;

	return left->start_ns != right->start_ns ? ORDER(left->start_ns, right->start_ns)
						 : ORDER(left->end_ns, right->end_ns);
}

/*
 * Gives a window the rounds that lie in it, from `*next` on, which moves behind them. Where two overlap, the one that
 * began first is kept.
 */
static bool take_rounds(struct session *session, struct harness_window *window, size_t *next, struct error *err)
{
	const struct harness_round *rounds = session->rounds;
	size_t first, end;
	int64_t free_from_ns = window->start_ns;

	while (*next < session->round_count && rounds[*next].start_ns < window->start_ns)
		(*next)++;
	first = end = *next;
	while (end < session->round_count && rounds[end].start_ns < window->end_ns)
		end++;
	*next = end;
	if (first == end)
		return true;
	window->rounds = calloc(end - first, sizeof(*window->rounds));
	if (!window->rounds)
		return error_set_memory(err);
	for (size_t i = first; i < end; i++) {
		if (rounds[i].end_ns > window->end_ns || rounds[i].start_ns < free_from_ns) {
			session->unpaired++;
			continue;
		}
		window->rounds[window->round_count++] = rounds[i];
		free_from_ns = rounds[i].end_ns;
	}
	return true;
}

static bool make_windows(struct session *session, struct harness_result *result, struct error *err)
{
	size_t next = 0;

	if (session->round_count > 0)
		qsort(session->rounds, session->round_count, sizeof(*session->rounds), compare_rounds);
	for (size_t i = 0; i < session->window_count; i++) {
		struct session_window *from = &session->windows[i];
		struct harness_window *window = &result->windows[result->window_count++];

		*window = (struct harness_window){
			.uri = TAKE(from->uri),
			.pid = from->pid,
			.start_ns = from->start_ns,
			.end_ns = from->end_ns,
		};
		if (!take_rounds(session, window, &next, err))
			return false;
	}
	return true;
}

static bool join_integrations(const struct session *session, char **joined, struct error *err)
{
	const struct buffer *known = &session->integrations;
	struct buffer text;

	if (known->size == 0)
		return true;
	buffer_init(&text, (size_t)2 * MAX_INTEGRATION_BYTES);
	for (size_t at = 0; at < known->size; at += strlen(known->data + at) + 1)
		buffer_printf(&text, "%s%s", at ? ", " : "", known->data + at);
	if (buffer_ok(&text, err)) {
		*joined = text.data;
		return true;
	}
	buffer_deinit(&text);
	return false;
}

static void report_count(struct buffer *notices, uint64_t count, const char *one, const char *more)
{
	if (count == 1)
		buffer_printf(notices, "benchmarks: %s\n", one);
	else if (count > 1)
		buffer_printf(notices, "benchmarks: %llu %s\n", (unsigned long long)count, more);
}

static void report_problems(const struct session *session, const struct harness_result *result, struct buffer *notices)
{
	size_t nameless = 0;

	for (size_t i = 0; i < result->window_count; i++)
		nameless += !result->windows[i].uri;
	report_count(notices, session->unknown,
		"the harness sent a command that is not known here; it was told so, and the recording went on",
		"commands of the harness are not known here; it was told so, and the recording went on");
	if (session->refused_version > 0)
		buffer_printf(notices,
			"benchmarks: a harness speaks version %llu of the protocol; this kelvin knows up to %d, so it was refused\n",
			(unsigned long long)session->refused_version, PROTOCOL_VERSION_NOW);
	report_count(notices, session->unclosed, "one never ended: it was taken to end where the next began",
		"never ended: they were taken to end where the next began");
	report_count(notices, nameless,
		"one was cut off before the harness said its name; its samples count as the harness's own",
		"were cut off before the harness said their names; their samples count as the harness's own");
	report_count(notices, session->unnamed, "one name came without a measurement, and is left out",
		"names came without a measurement, and are left out");
	report_count(notices, session->unpaired, "a round without a start, an end or time of its own was left out",
		"rounds without a start, an end or time of their own were left out");
	report_count(notices, session->left_out, "there are too many windows or rounds: one was left out",
		"windows and rounds were left out, because there are too many");
}

bool session_finish(struct session *session, int64_t end_ns, struct harness_result *result, struct buffer *notices,
	struct error *err)
{
	close_window(session, end_ns);
	session->unpaired += session->round_start_ns >= 0;
	session->round_start_ns = -1;
	if (session->failure.code != ERROR_NONE) {
		*err = session->failure;
		return false;
	}
	if (session->parallel[0] && session->unclosed + session->unpaired + session->unnamed > 0)
		return error_set(err, ERROR_EMPTY,
			"processes %d and %d of the suite ran benchmarks at the same time: they cannot be told apart, and take time from each other; run one at a time, as with pytest -n 0 or -p no:xdist",
			session->parallel[0], session->parallel[1]);
	result->windows = calloc(session->window_count + 1, sizeof(*result->windows));
	if (!result->windows)
		return error_set_memory(err);
	if (!make_windows(session, result, err) || !join_integrations(session, &result->integration, err))
		return false;
	if (notices)
		report_problems(session, result, notices);
	return true;
}
