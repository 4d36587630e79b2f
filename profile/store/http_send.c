/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tries requests again, and says what answers mean. */
#include "profile/store/http.h"

#include "profile/store/conceal.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

static const double first_pause_s = 0.25, longest_pause_s = 15, longest_retry_after_s = 120;

/* ---- Patience ---- */

/* Returns a random part, so that many who were refused at once do not come back at once. At least a quarter. */
static double with_jitter(double seconds)
{
	uint32_t random = UINT32_MAX / 2;

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	return seconds * (0.25 + 0.75 * ((double)random / UINT32_MAX));
}

static double now_s(void)
{
	return (double)clock_read_ns(CLOCK_MONOTONIC) / 1e9;
}

static void sleep_s(double seconds)
{
	struct timespec pause = { .tv_sec = (time_t)seconds };

	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	while (nanosleep(&pause, &pause) != 0)
		;
}

/* The tries of one request. */
struct tries {
	const struct http_patience *patience;
	double began_s, end_s, pause_s;
	unsigned int count;
	bool has_failed; /* the server, this time or before */
	bool is_over;    /* patience has ended */
};

/* Waits before the next try; false if patience ends before that. */
static bool wait_for_next(struct tries *tries, double retry_after_s)
{
	double pause_s = with_jitter(tries->pause_s);

	if (retry_after_s > longest_retry_after_s)
		retry_after_s = longest_retry_after_s;
	/* All who are told the same time are not to come at the same time. */
	if (retry_after_s > 0)
		pause_s = retry_after_s + with_jitter(first_pause_s);
	if (now_s() + pause_s > tries->end_s)
		return false;
	sleep_s(pause_s);
	tries->pause_s = tries->pause_s * 2 < longest_pause_s ? tries->pause_s * 2 : longest_pause_s;
	return true;
}

static bool http_send_give_up(const struct tries *tries, struct error *err)
{
	return tries->count <= 1 ||
	       error_prefix(err, "after %u tries in %.0f s", tries->count, now_s() - tries->began_s);
}

/* Asks a server that may have carried out a request whether it has. */
static bool ask_whether_done(const struct tries *tries, enum http_outcome outcome, bool *was_done, struct error *err)
{
	struct error why;

	*was_done = false;
	if (outcome == HTTP_NOT_SENT || !tries->patience->is_done)
		return true;
	if (tries->patience->is_done(tries->patience->context, was_done, &why))
		return true;
	*err = why;
	return error_prefix(err, "whether what was sent is stored cannot be found out");
}

/* A server that has failed before is not waited for by much longer than patience lasts. */
static struct http_request shortened(const struct http_request *request, const struct tries *tries)
{
	static const unsigned int least_s = 5;
	struct http_request next = *request;
	double left_s = tries->end_s - now_s();

	if (tries->has_failed && left_s < (next.stall_s ? next.stall_s : HTTP_STALL_S))
		next.stall_s = left_s > least_s ? (unsigned int)left_s : least_s;
	return next;
}

static bool send_again(struct http *http, const struct http_request *request, struct tries *tries,
	struct http_answer *answer, bool *was_done, struct error *err)
{
	const struct http_patience *patience = tries->patience;

	for (;;) {
		const struct http_request next = shortened(request, tries);
		enum http_outcome outcome;
		double retry_after_s = 0;
		bool is_answered = http_once(http, &next, answer, &outcome, err);

		tries->count++;
		tries->has_failed = true;
		if (is_answered && (!answer->is_retryable || (patience->is_final && patience->is_final(answer))))
			return true;
		if (is_answered)
			(void)!http_check(http, answer, "the server is not able to answer now", err);
		if (is_answered)
			retry_after_s = answer->retry_after_s;
		http_answer_deinit(answer);
		if (outcome == HTTP_IMPOSSIBLE)
			return false;
		if (!wait_for_next(tries, retry_after_s)) {
			tries->is_over = true;
			(void)!http_send_give_up(tries, err);
			return false;
		}
		if (!ask_whether_done(tries, outcome, was_done, err))
			return false;
		if (*was_done)
			return true;
	}
}

bool http_send(struct http *http, const struct http_request *request, const struct http_patience *patience,
	struct http_answer *answer, bool *was_done, struct error *err)
{
	double *failing_s = http_failing_s(http), began_s = now_s();
	struct tries tries = { .patience = patience,
		.began_s = began_s,
		.end_s = began_s + patience->seconds - *failing_s,
		.pause_s = first_pause_s,
		.has_failed = *failing_s > 0 };
	bool ok;

	*was_done = false;
	ok = send_again(http, request, &tries, answer, was_done, err);
	*failing_s = ok ? 0 : tries.is_over ? patience->seconds : *failing_s + now_s() - began_s;
	return ok;
}

/* ---- Answers ---- */

/* Makes one line of text: whatever is between two words is one space. */
static size_t join_words(const char *bytes, size_t size, char *text, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; i < size && used + 1 < room; i++) {
		bool is_space = bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\t' || bytes[i] == ' ';

		if (is_space && (used == 0 || text[used - 1] == ' '))
			continue;
		text[used++] = (char)(is_space ? ' ' : bytes[i] ? bytes[i] : '?');
	}
	while (used > 0 && text[used - 1] == ' ')
		used--;
	text[used] = '\0';
	return used;
}

void http_append_words(const struct http *http, struct buffer *out, const char *bytes, size_t size)
{
	enum { ROOM = 2048 };
	CLEANUP(cleanup_free) char *text = malloc(ROOM);
	size_t end = (size_t)HTTP_MAX_WORDS / 4 * 3;

	if (!text)
		return;
	(void)join_words(bytes, size, text, ROOM);
	conceal_secrets(http_secrets(http), text);
	/* The cut must not be within a character. */
	while (end > 0 && strlen(text) > end && (text[end] & 0xc0) == 0x80)
		end--;
	if (strlen(text) > end)
		text[end] = '\0';
	unicode_append_clean(out, text);
}

/* Appends the store's own words from its answer; "" where it says nothing, or has a page for people. */
static void append_answer_words(const struct http *http, struct buffer *out, const struct http_answer *answer)
{
	char bytes[4096];
	ssize_t got = 0;

	if (answer->is_html)
		return;
	if (answer->fd >= 0)
		got = pread(answer->fd, bytes, sizeof(bytes), 0);
	if (got > 0)
		http_append_words(http, out, bytes, (size_t)got);
	else if (answer->body.size > 0)
		http_append_words(http, out, answer->body.data, answer->body.size);
}

static const char *advice_for(int status)
{
	switch (status) {
	case 401:
	case 403:
		return "; it refused what it was told of who is asking: KELVIN_STORE_TOKEN, or KELVIN_STORE_USER and KELVIN_STORE_PASSWORD";
	case 404:
	case 405:
		return "; is it the right address?";
	default:
		return "";
	}
}

bool http_check(const struct http *http, const struct http_answer *answer, const char *what, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer words = BUFFER_INIT((size_t)HTTP_MAX_WORDS * 8);
	const char *origin = http_origin(http);

	if (answer->status >= 300 && answer->status < 400)
		return error_set(err, ERROR_UNSUPPORTED,
			"%s: %s leads elsewhere (status %d) to '%s', where neither the request nor a token is sent; if that is the store, name it instead",
			what, origin, answer->status, answer->location);
	if (answer->status >= 200 && answer->status < 300 && !answer->is_html)
		return true;
	if (answer->status >= 200 && answer->status < 300)
		return error_set(err, ERROR_UNSUPPORTED,
			"%s: %s answers with a page for people, such as one to log in; nothing was accepted. Is it the right address, and is KELVIN_STORE_TOKEN set?",
			what, origin);
	append_answer_words(http, &words, answer);
	return error_set(err, ERROR_UNSUPPORTED, "%s: %s answers with status %d%s%s%s", what, origin, answer->status,
		words.size > 0 ? ": " : "", words.size > 0 ? words.data : "", advice_for(answer->status));
}

void http_encode(struct buffer *path, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if ((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
			strchr("-._~", byte))
			buffer_append_byte(path, byte);
		else
			buffer_printf(path, "%%%02X", byte);
	}
}
