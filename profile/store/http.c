/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/http.h"

#include "profile/store/curl.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum {
	CONNECT_S = 10,
	TOTAL_S = 300,
	LEAST_BYTES_PER_S = 1000, /* slower is a stall */
	MOST_HEADER_BYTES = 64 << 10,
	MOST_CERTIFICATE_BYTES = 4 << 20,
	/*
	 * CURLOPT_PROTOCOLS: since libcurl 7.85 there is another one with names, which Debian 11 and Ubuntu 22.04 do
	 * not have; the number stays.
	 */
	OPTION_PROTOCOLS = CURLOPTTYPE_LONG + 181,
	PROTOCOL_HTTP = 1 << 0,
	PROTOCOL_HTTPS = 1 << 1,
};

struct http {
	struct curl_library curl;
	CURL *handle;                        /* owned; keeps its connection */
	const char *origin;                  /* borrowed */
	const struct store_secrets *secrets; /* borrowed */
	struct buffer certificates;          /* PEM, of the file that the environment names */
	double failing_s;
	char why[CURL_ERROR_SIZE];
};

/* ---- The client ---- */

/* Reads the certificates that curl(1) reads, too. */
static bool read_certificates(struct http *http, struct error *err)
{
	const char *path = getenv("CURL_CA_BUNDLE");

	buffer_init(&http->certificates, MOST_CERTIFICATE_BYTES);
	if (!path || !path[0])
		path = getenv("SSL_CERT_FILE");
	if (!path || !path[0])
		return true;
	return file_read(path, &http->certificates, err) ||
	       error_prefix(err, "the certificates that CURL_CA_BUNDLE or SSL_CERT_FILE names");
}

bool http_create(const char *origin, const struct store_secrets *secrets, struct http **http, struct error *err)
{
	struct http *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->origin = origin;
	made->secrets = secrets;
	if (!read_certificates(made, err) || !curl_library_load(&made->curl, err))
		goto fail;
	made->handle = made->curl.easy_init();
	if (!made->handle) {
		error_set_memory(err);
		goto fail;
	}
	*http = made;
	return true;
fail:
	http_destroy(made);
	return false;
}

void http_destroy(struct http *http)
{
	if (!http)
		return;
	if (http->handle)
		http->curl.easy_cleanup(http->handle);
	buffer_deinit(&http->certificates);
	free(http);
}

const char *http_origin(const struct http *http)
{
	return http->origin;
}

const struct store_secrets *http_secrets(const struct http *http)
{
	return http->secrets;
}

double *http_failing_s(struct http *http)
{
	return &http->failing_s;
}

void http_answer_deinit(struct http_answer *answer)
{
	buffer_deinit(&answer->body);
	cleanup_close(&answer->fd);
	*answer = (struct http_answer){ .fd = -1 };
}

/* ---- One request ---- */

/* The context of libcurl's callbacks. */
struct exchange {
	const struct http *http;
	const struct http_request *request;
	struct http_answer *answer;
	uint64_t sent_bytes, received_bytes, header_bytes;
	bool is_too_large, is_out_of_memory, is_body_unreadable;
};

static size_t give_body(char *into, size_t size, size_t count, void *context)
{
	struct exchange *exchange = context;
	const struct http_request *request = exchange->request;
	uint64_t left = request->body_bytes - exchange->sent_bytes;
	size_t room = size * count;
	ssize_t got = left < room ? (ssize_t)left : (ssize_t)room;

	if (request->has_body_fd) {
		do
			got = pread(request->body_fd, into, (size_t)got, (off_t)exchange->sent_bytes);
		while (got < 0 && errno == EINTR);
		/* A file that is shorter than it was would be sent as a body that never ends. */
		if (got < 0 || (got == 0 && left > 0)) {
			exchange->is_body_unreadable = true;
			return CURL_READFUNC_ABORT;
		}
	} else if (got > 0) {
		memcpy(into, (const char *)request->body + exchange->sent_bytes, (size_t)got);
	}
	exchange->sent_bytes += (uint64_t)got;
	return (size_t)got;
}

/* A proxy that wants other credentials, or a connection that was closed before it was used, has it sent again. */
static int rewind_body(void *context, curl_off_t offset, int origin)
{
	struct exchange *exchange = context;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > exchange->request->body_bytes)
		return CURL_SEEKFUNC_FAIL;
	exchange->sent_bytes = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
	struct exchange *exchange = context;
	const struct http_request *request = exchange->request;
	uint64_t most = request->max_answer_bytes ? request->max_answer_bytes : HTTP_DEFAULT_ANSWER_BYTES;
	struct error ignored;

	size *= count;
	exchange->received_bytes += size;
	if (exchange->received_bytes > most) {
		exchange->is_too_large = true;
		return 0;
	}
	if (request->to_file) {
		exchange->is_out_of_memory = !file_write_all(exchange->answer->fd, bytes, size);
	} else {
		buffer_append(&exchange->answer->body, bytes, size);
		exchange->is_out_of_memory = !buffer_ok(&exchange->answer->body, &ignored);
	}
	return exchange->is_out_of_memory ? 0 : size;
}

/* ---- Headers ---- */

/* Returns where the value of the header begins, if it is the one of that name; it ends with the line. */
static const char *header_value(const char *line, size_t size, const char *name, size_t *value_size)
{
	size_t name_size = strlen(name);
	const char *value = line + name_size + 1, *end = line + size;

	if (size <= name_size || strncasecmp(line, name, name_size) != 0 || line[name_size] != ':')
		return NULL;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && isspace((unsigned char)end[-1]))
		end--;
	*value_size = (size_t)(end - value);
	return value;
}

static void copy_words(const struct http *http, const char *bytes, size_t size, char words[HTTP_MAX_WORDS])
{
	CLEANUP(buffer_deinit) struct buffer clean = BUFFER_INIT((size_t)HTTP_MAX_WORDS * 8);

	http_append_words(http, &clean, bytes, size);
	snprintf(words, HTTP_MAX_WORDS, "%s", clean.data ? clean.data : "");
}

static double seconds_of(const char *value, size_t size)
{
	const uint64_t most = 999999999;
	struct text_cursor left = text_over(value, size);
	uint64_t seconds;

	return text_take_number(&left, most, &seconds) && text_left(left) == 0 ? (double)seconds : 0;
}

static void http_read_header(struct exchange *exchange, const char *line, size_t size)
{
	struct http_answer *answer = exchange->answer;
	const char *value;
	size_t value_size;

	/* An answer that goes before the last, as "100 Continue" does, has headers of its own. */
	if (size > 5 && memcmp(line, "HTTP/", 5) == 0) {
		answer->retry_after_s = 0;
		answer->is_html = false;
		answer->location[0] = answer->exception[0] = answer->content_type[0] = '\0';
	} else if ((value = header_value(line, size, "Content-Type", &value_size))) {
		char words[HTTP_MAX_WORDS];

		copy_words(exchange->http, value, value_size, words);
		snprintf(answer->content_type, sizeof(answer->content_type), "%s", words);
		answer->is_html = strncasecmp(words, "text/html", 9) == 0;
	} else if ((value = header_value(line, size, "Retry-After", &value_size))) {
		answer->retry_after_s = seconds_of(value, value_size);
	} else if ((value = header_value(line, size, "Location", &value_size))) {
		copy_words(exchange->http, value, value_size, answer->location);
	} else if ((value = header_value(line, size, "X-ClickHouse-Exception-Code", &value_size))) {
		copy_words(exchange->http, value, value_size, answer->exception);
	}
}

static size_t take_header(char *line, size_t size, size_t count, void *context)
{
	struct exchange *exchange = context;

	size *= count;
	exchange->header_bytes += size;
	if (exchange->header_bytes > MOST_HEADER_BYTES) {
		exchange->is_too_large = true;
		return 0;
	}
	http_read_header(exchange, line, size);
	return size;
}

/* ---- Options ---- */

/* Returns the list that libcurl reads; secrets are copied into it, in the memory of the courier alone. */
static struct curl_slist *list_headers(const struct http *http, const struct http_request *request)
{
	/* Without them libcurl asks first whether a larger body is welcome, and waits a second for the answer. */
	struct curl_slist *list = http->curl.slist_append(NULL, "Expect:");
	CLEANUP(buffer_deinit) struct buffer bearer = { 0 };

	for (size_t i = 0; list && i < HTTP_MAX_HEADERS && request->headers[i]; i++) {
		struct curl_slist *longer = http->curl.slist_append(list, request->headers[i]);

		if (!longer)
			http->curl.slist_free_all(list);
		list = longer;
	}
	if (list && http->secrets->token) {
		struct curl_slist *longer;

		buffer_init(&bearer, UINT32_MAX);
		buffer_printf(&bearer, "Authorization: Bearer %s", http->secrets->token);
		longer = bearer.failed ? NULL : http->curl.slist_append(list, bearer.data);
		if (bearer.data)
			explicit_bzero(bearer.data, bearer.size);
		if (!longer)
			http->curl.slist_free_all(list);
		list = longer;
	}
	return list;
}

static bool set_limits(const struct http *http, const struct http_request *request)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = http->curl.easy_setopt;
	long protocols = strncmp(http->origin, "https:", 6) == 0 ? PROTOCOL_HTTPS : PROTOCOL_HTTP;
	CURL *handle = http->handle;

	return set(handle, (CURLoption)OPTION_PROTOCOLS, protocols) == CURLE_OK &&
	       set(handle, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK && set(handle, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       set(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) == CURLE_OK &&
	       set(handle, CURLOPT_LOW_SPEED_LIMIT, (long)LEAST_BYTES_PER_S) == CURLE_OK &&
	       set(handle, CURLOPT_LOW_SPEED_TIME, (long)(request->stall_s ? request->stall_s : HTTP_STALL_S)) ==
		       CURLE_OK &&
	       set(handle, CURLOPT_TIMEOUT, (long)(request->total_s ? request->total_s : TOTAL_S)) == CURLE_OK;
}

static bool set_security(const struct http *http)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = http->curl.easy_setopt;
	struct curl_blob blob = { http->certificates.data, http->certificates.size, CURL_BLOB_COPY };
	CURL *handle = http->handle;
	bool ok = set(handle, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
		  set(handle, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK;

	if (ok && http->certificates.size > 0)
		ok = set(handle, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK;
	/* Headers of ours, the token among them, are for the server and not for a proxy that leads to it. */
	ok = ok && set(handle, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE) == CURLE_OK;
	if (ok && http->secrets->user)
		ok = set(handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) == CURLE_OK &&
		     set(handle, CURLOPT_USERNAME, http->secrets->user) == CURLE_OK &&
		     set(handle, CURLOPT_PASSWORD, http->secrets->password ? http->secrets->password : "") == CURLE_OK;
	return ok;
}

static bool set_body(const struct http *http, struct exchange *exchange)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = http->curl.easy_setopt;
	const struct http_request *request = exchange->request;
	CURL *handle = http->handle;

	if (strcmp(request->method, "POST") != 0)
		return set(handle, CURLOPT_HTTPGET, 1L) == CURLE_OK;
	return set(handle, CURLOPT_POST, 1L) == CURLE_OK &&
	       set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_bytes) == CURLE_OK &&
	       set(handle, CURLOPT_READFUNCTION, give_body) == CURLE_OK &&
	       set(handle, CURLOPT_READDATA, exchange) == CURLE_OK &&
	       set(handle, CURLOPT_SEEKFUNCTION, rewind_body) == CURLE_OK &&
	       set(handle, CURLOPT_SEEKDATA, exchange) == CURLE_OK;
}

static bool set_options(struct http *http, struct exchange *exchange, const char *url, struct curl_slist *headers)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = http->curl.easy_setopt;
	CURL *handle = http->handle;

	/* A connection that is open stays so. */
	http->curl.easy_reset(handle);
	http->why[0] = '\0';
	return set(handle, CURLOPT_URL, url) == CURLE_OK && set(handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
	       set(handle, CURLOPT_ERRORBUFFER, http->why) == CURLE_OK &&
	       set(handle, CURLOPT_FRESH_CONNECT, exchange->request->is_once ? 1L : 0L) == CURLE_OK &&
	       set(handle, CURLOPT_USERAGENT, "kelvin") == CURLE_OK &&
	       set(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
	       set(handle, CURLOPT_ACCEPT_ENCODING, "gzip") == CURLE_OK &&
	       set(handle, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
	       set(handle, CURLOPT_WRITEDATA, exchange) == CURLE_OK &&
	       set(handle, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
	       set(handle, CURLOPT_HEADERDATA, exchange) == CURLE_OK && set_limits(http, exchange->request) &&
	       set_security(http) && set_body(http, exchange);
}

/* ---- Failures ---- */

static enum http_outcome outcome_of(CURLcode code, const struct exchange *exchange)
{
	if (exchange->is_too_large || exchange->is_out_of_memory || exchange->is_body_unreadable)
		return HTTP_IMPOSSIBLE;
	switch ((int)code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		return HTTP_NOT_SENT;
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_SSL_CONNECT_ERROR: /* also a connection that was closed while it was made */
		return HTTP_INTERRUPTED;
	default:
		return HTTP_IMPOSSIBLE;
	}
}

static bool http_refuse(const struct http *http, const struct exchange *exchange, CURLcode code, struct error *err)
{
	char words[HTTP_MAX_WORDS];
	const char *why = http->why[0] ? http->why : http->curl.easy_strerror(code);

	if (exchange->is_too_large)
		return error_set(err, ERROR_LIMIT,
			"%s answers with more than was to be expected, and was not heard out; is it the right address?",
			http->origin);
	if (exchange->is_out_of_memory)
		return error_set_memory(err);
	if (exchange->is_body_unreadable)
		return error_set(err, ERROR_SYSTEM, "what was to be sent to %s cannot be read", http->origin);
	/* libcurl quotes what servers say. */
	copy_words(http, why, strlen(why), words);
	return error_set(err, ERROR_SYSTEM, "%s: %s", http->origin, words);
}

static bool begin_answer(const struct http_request *request, struct http_answer *answer, struct error *err)
{
	*answer = (struct http_answer){ .fd = -1 };
	buffer_init(&answer->body, UINT32_MAX);
	if (!request->to_file)
		return true;
	answer->fd = file_in_memory("answer", err);
	return answer->fd >= 0;
}

static bool is_retryable(int status)
{
	enum { TOO_MANY = 429, NOT_IMPLEMENTED = 501, VERSION_NOT_SUPPORTED = 505 };

	return status == TOO_MANY ||
	       (status >= 500 && status < 600 && status != NOT_IMPLEMENTED && status != VERSION_NOT_SUPPORTED);
}

static bool perform(struct http *http, struct exchange *exchange, enum http_outcome *outcome, struct error *err)
{
	struct http_answer *answer = exchange->answer;
	CURLcode code = http->curl.easy_perform(http->handle);
	long status = 0;

	if (code != CURLE_OK) {
		*outcome = outcome_of(code, exchange);
		return http_refuse(http, exchange, code, err);
	}
	(void)http->curl.easy_getinfo(http->handle, CURLINFO_RESPONSE_CODE, &status);
	*outcome = HTTP_ANSWERED;
	answer->status = (int)status;
	answer->is_retryable = is_retryable(answer->status);
	if (answer->fd >= 0)
		(void)lseek(answer->fd, 0, SEEK_SET);
	return true;
}

bool http_once(struct http *http, const struct http_request *request, struct http_answer *answer,
	enum http_outcome *outcome, struct error *err)
{
	struct exchange exchange = { .http = http, .request = request, .answer = answer };
	struct curl_slist *headers = NULL;
	char *url = NULL;
	bool ok = false;

	*outcome = HTTP_IMPOSSIBLE;
	if (!begin_answer(request, answer, err))
		return false;
	if (asprintf(&url, "%s%s", http->origin, request->path) < 0)
		url = NULL;
	headers = list_headers(http, request);
	if (!url || !headers)
		(void)error_set_memory(err);
	else if (!set_options(http, &exchange, url, headers))
		(void)error_set(err, ERROR_UNSUPPORTED,
			"libcurl.so.4 is too old, or was built without something that a store needs (7.77 is needed, with HTTP and TLS)");
	else
		ok = perform(http, &exchange, outcome, err);
	/* libcurl must not find what is freed. */
	http->curl.easy_setopt(http->handle, CURLOPT_HTTPHEADER, NULL);
	http->curl.slist_free_all(headers);
	free(url);
	if (!ok)
		http_answer_deinit(answer);
	return ok;
}
