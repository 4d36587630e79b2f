/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/ask.h"

#include "profile/store/clickhouse/row.h"

#include <stdlib.h>

static const size_t ask_max_sql_bytes = (size_t)200 << 10; /* what a server accepts by default: max_query_size */
static const unsigned int ask_total_s = 600;

/* ---- Building ---- */

void clickhouse_query_init(struct clickhouse_query *query, const char *what)
{
	*query = (struct clickhouse_query){ .what = what, .max_answer_bytes = (size_t)1 << 28 };
	buffer_init(&query->sql, ask_max_sql_bytes);
	buffer_init(&query->parameters, (size_t)1 << 16);
}

void clickhouse_query_deinit(struct clickhouse_query *query)
{
	buffer_deinit(&query->sql);
	buffer_deinit(&query->parameters);
}

/* The server reads values as fields of its format TabSeparated, in which these bytes are escaped. */
static void ask_escape(struct buffer *out, const char *value)
{
	for (; *value; value++)
		switch (*value) {
		case '\\':
			buffer_append_string(out, "\\\\");
			break;
		case '\t':
			buffer_append_string(out, "\\t");
			break;
		case '\n':
			buffer_append_string(out, "\\n");
			break;
		case '\r':
			buffer_append_string(out, "\\r");
			break;
		default:
			buffer_append_byte(out, (uint8_t)*value);
		}
}

void clickhouse_query_text(struct clickhouse_query *query, const char *value)
{
	CLEANUP(buffer_deinit) struct buffer escaped = BUFFER_INIT((size_t)1 << 16);

	ask_escape(&escaped, value);
	buffer_printf(&query->sql, "{p%zu:String}", query->parameter_count);
	buffer_printf(&query->parameters, "&param_p%zu=", query->parameter_count);
	if (escaped.failed)
		query->parameters.failed = query->parameters.over_limit = true;
	else if (escaped.data)
		http_encode(&query->parameters, escaped.data);
	query->parameter_count++;
}

/* ---- Failures ---- */

bool clickhouse_is_transient(int code)
{
	/*
	 * TIMEOUT_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, SOCKET_TIMEOUT, NETWORK_ERROR, NO_ZOOKEEPER,
	 * MEMORY_LIMIT_EXCEEDED, TABLE_IS_READ_ONLY, TOO_MANY_PARTS, UNKNOWN_STATUS_OF_INSERT, SYSTEM_ERROR,
	 * CANNOT_SCHEDULE_TASK, KEEPER_EXCEPTION
	 */
	static const int codes[] = { 159, 202, 209, 210, 225, 241, 242, 252, 319, 425, 439, 999 };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == code)
			return true;
	return false;
}

static bool ask_is_final(const struct http_answer *answer)
{
	return answer->exception[0] && !clickhouse_is_transient(atoi(answer->exception));
}

static const char *ask_advice(int code)
{
	switch (code) {
	case CLICKHOUSE_AUTHENTICATION_FAILED:
		return "; set KELVIN_STORE_USER and KELVIN_STORE_PASSWORD, or KELVIN_STORE_TOKEN";
	case CLICKHOUSE_UNKNOWN_DATABASE:
		return "; create it: CREATE DATABASE ...";
	case CLICKHOUSE_UNKNOWN_TABLE:
		return "; 'kelvin push' creates the tables";
	default:
		return "";
	}
}

/* Appends "Code: 60. DB::Exception: Table ... (UNKNOWN_TABLE) (version ...)" without what is of no use to a reader. */
static void ask_words(const struct http *http, struct buffer *words, const struct http_answer *answer)
{
	static const char begin[] = "DB::Exception: ";
	const char *text = answer->body.size > 0 ? answer->body.data : "";
	const char *found = strstr(text, begin);

	text = found ? found + strlen(begin) : text;
	http_append_words(http, words, text, strcspn(text, "\n"));
}

static bool ask_refusal(
	struct courier *courier, const struct http_answer *answer, const char *what, int *code, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer words = BUFFER_INIT((size_t)HTTP_MAX_WORDS * 8);

	*code = 0;
	if (!answer->exception[0])
		return http_check(courier->http, answer, what, err);
	*code = atoi(answer->exception);
	ask_words(courier->http, &words, answer);
	return error_set(err, *code == CLICKHOUSE_ACCESS_DENIED ? ERROR_PERMISSION : ERROR_UNSUPPORTED,
		"%s: %s/%s: %s%s", what, http_origin(courier->http), courier->address->path,
		words.size > 0 ? words.data : "", ask_advice(*code));
}

/* ---- Asking ---- */

static void clickhouse_ask_path(struct courier *courier, struct buffer *path)
{
	buffer_init(path, (size_t)1 << 18);
	buffer_append_string(path, "/?database=");
	http_encode(path, courier->address->path);
}

static bool ask_send(struct courier *courier, struct http_request *request, const char *what,
	struct http_answer *answer, int *code, struct error *err)
{
	struct http_patience patience = { .seconds = courier->patience_s, .is_final = ask_is_final };
	bool was_done;

	*code = 0;
	request->method = "POST";
	request->total_s = ask_total_s;
	request->stall_s = ask_total_s / 5;
	if (!http_send(courier->http, request, &patience, answer, &was_done, err))
		return error_prefix(err, "%s", what);
	return ask_refusal(courier, answer, what, code, err);
}

bool clickhouse_ask(struct courier *courier, struct clickhouse_query *query, struct buffer *answer, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer path = { 0 };
	CLEANUP(http_answer_deinit) struct http_answer got = { .fd = -1 };
	struct http_request request = { .headers = { "Content-Type: text/plain" },
		.max_answer_bytes = query->max_answer_bytes };

	clickhouse_ask_path(courier, &path);
	if (query->parameters.size > 0)
		buffer_append(&path, query->parameters.data, query->parameters.size);
	if (!buffer_ok(&path, err) || !buffer_ok(&query->sql, err) || !buffer_ok(&query->parameters, err))
		return error_prefix(err, "%s: the query is too long", query->what);
	request.path = path.data;
	request.body = query->sql.data;
	request.body_bytes = query->sql.size;
	if (!ask_send(courier, &request, query->what, &got, &query->code, err))
		return false;
	/* The answer's buffer changes its owner. */
	buffer_deinit(answer);
	*answer = got.body;
	got.body = (struct buffer){ 0 };
	return true;
}

bool clickhouse_insert(
	struct courier *courier, const char *insert, const char *token, const struct buffer *rows, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer path = { 0 }, packed = { 0 };
	CLEANUP(http_answer_deinit) struct http_answer answer = { .fd = -1 };
	struct http_request request = { .headers = {
						"Content-Type: application/octet-stream", "Content-Encoding: gzip" } };
	int code;

	if (rows->size == 0)
		return true;
	clickhouse_ask_path(courier, &path);
	buffer_printf(&path, "&wait_end_of_query=1&insert_deduplication_token=%s&query=", token);
	http_encode(&path, insert);
	buffer_init(&packed, rows->max_bytes);
	if (!buffer_ok(&path, err) || !gzip_compress(rows->data, rows->size, &packed, err))
		return false;
	request.path = path.data;
	request.body = packed.data;
	request.body_bytes = packed.size;
	if (!ask_send(courier, &request, "cannot insert rows", &answer, &code, err))
		return false;
	if (answer.body.size > 0) {
		struct byte_reader words = byte_reader_over(answer.body.data, answer.body.size);

		return row_end(&words, err) || error_prefix(err, "cannot insert rows");
	}
	return true;
}

bool clickhouse_execute(struct courier *courier, const char *statement, const char *what, int *code, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer path = { 0 };
	CLEANUP(http_answer_deinit) struct http_answer answer = { .fd = -1 };
	struct http_request request = {
		.headers = { "Content-Type: text/plain" }, .body = statement, .body_bytes = strlen(statement)
	};

	clickhouse_ask_path(courier, &path);
	if (!buffer_ok(&path, err))
		return false;
	request.path = path.data;
	return ask_send(courier, &request, what, &answer, code, err);
}
