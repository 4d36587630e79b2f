/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unary calls of the Connect protocol: an answer with status 200 is protobuf, any other has its error as JSON. */
#include "profile/store/pyroscope/pyroscope.h"

#include <string.h>

/*
 * Replaces the body {"code":"invalid_argument","message":"..."} by its message, and anything else by nothing: words
 * for an error. Escapes are read as far as a message needs it.
 */
static void keep_message(struct buffer *body)
{
	static const char key[] = "\"message\":";
	char *from = body->size > 0 ? memmem(body->data, body->size, key, strlen(key)) : NULL, *to = body->data;
	const char *end = body->data + body->size;

	if (!from)
		return;
	from += strlen(key);
	while (from < end && (*from == ' ' || *from == '"'))
		from++;
	for (; from < end && *from != '"'; from++) {
		if (*from == '\\' && from + 1 < end) {
			from++;
			if (*from == 'n' || *from == 't' || *from == 'r') {
				*to++ = ' ';
				continue;
			}
			/* An escape of a character stays: what conceals secrets reads it (profile/store/conceal.h). */
			if (*from == 'u')
				*to++ = '\\';
			*to++ = *from;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	body->size = (size_t)(to - body->data);
}

static bool check_answer(struct courier *courier, const char *what, struct http_answer *answer, struct error *err)
{
	if (answer->status != 200)
		keep_message(&answer->body);
	if (!http_check(courier->http, answer, what, err)) {
		if (strstr(err->message, "ingestion window"))
			(void)error_prefix(err,
				"Pyroscope takes profiles of the last hour only, unless validation.reject-older-than says otherwise");
		return false;
	}
	if (answer->status == 200 && strncmp(answer->content_type, "application/proto", 17) == 0)
		return true;
	return error_set(err, ERROR_UNSUPPORTED,
		"%s: %s%s answers, but not as Pyroscope does; nothing was accepted. Is it the right address?", what,
		http_origin(courier->http), courier->address->path);
}

bool pyroscope_ask(struct courier *courier, const struct pyroscope_call *call, struct http_answer *answer,
	bool *was_done, int *status, struct error *err)
{
	const struct http_patience patience = {
		.seconds = call->patience_s, .is_done = call->is_done, .context = call->context
	};
	CLEANUP(buffer_deinit) struct buffer path = BUFFER_INIT(1 << 16);
	struct http_request request = { .method = "POST",
		.headers = { "Content-Type: application/proto", "Connect-Protocol-Version: 1" },
		.body = call->message->data ? call->message->data : "",
		.body_bytes = call->message->size,
		.is_once = call->is_done != NULL,
		.max_answer_bytes = call->max_answer_bytes };

	*status = 0;
	buffer_printf(&path, "%s/%s", courier->address->path, call->method);
	if (!buffer_ok(&path, err))
		return false;
	request.path = path.data;
	if (!http_send(courier->http, &request, &patience, answer, was_done, err))
		return error_prefix(err, "%s", call->what);
	if (*was_done)
		return true;
	*status = answer->status;
	if (check_answer(courier, call->what, answer, err))
		return true;
	http_answer_deinit(answer);
	return false;
}
