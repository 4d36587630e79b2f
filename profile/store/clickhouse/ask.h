/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/courier.h"

/*
 * ClickHouse's HTTP interface (https://clickhouse.com/docs/interfaces/http). A query is a fixed text of this program:
 * what comes from a user, a profile or the server itself is given as a parameter, `{name:Type}` in the text, or as a
 * row of binary data, or it is a number that this program writes.
 */

/* A query that is built. All zero, then clickhouse_query_init(). */
struct clickhouse_query {
	struct buffer sql;
	struct buffer parameters; /* of the URL: "&param_x=..." */
	size_t parameter_count;
	const char *what; /* was tried, for messages: "cannot read profiles" */
	size_t max_answer_bytes;
	int code; /* of the server's exception, where that was the failure; else 0 */
};
void clickhouse_query_init(struct clickhouse_query *query, const char *what);
void clickhouse_query_deinit(struct clickhouse_query *query);

static inline void clickhouse_query_cleanup(struct clickhouse_query *query)
{
	clickhouse_query_deinit(query);
}

/* Appends "{pN:String}" and the value of this parameter, which may be any text. */
void clickhouse_query_text(struct clickhouse_query *query, const char *value);

/* Asks, and appends the answer, which may be up to query->max_answer_bytes long: rows (row.h). */
COMMON_MUST_CHECK
bool clickhouse_ask(struct courier *courier, struct clickhouse_query *query, struct buffer *answer, struct error *err);

/* Inserts rows. `token`: what the engine knows a repeated insert by. */
COMMON_MUST_CHECK
bool clickhouse_insert(
	struct courier *courier, const char *insert, const char *token, const struct buffer *rows, struct error *err);

/* Executes a statement without an answer. `*code`: of the server's exception, where that was the failure; else 0. */
COMMON_MUST_CHECK
bool clickhouse_execute(struct courier *courier, const char *statement, const char *what, int *code, struct error *err);

/* Codes of exceptions (src/Common/ErrorCodes.cpp of ClickHouse). */
enum {
	CLICKHOUSE_NO_SUCH_COLUMN = 16,
	CLICKHOUSE_UNKNOWN_TABLE = 60,
	CLICKHOUSE_UNKNOWN_DATABASE = 81,
	CLICKHOUSE_READONLY = 164,
	CLICKHOUSE_ACCESS_DENIED = 497,
	CLICKHOUSE_AUTHENTICATION_FAILED = 516,
};

/* Returns whether trying again may help: the server, or its disk, keeper or memory, is busy. */
bool clickhouse_is_transient(int code);
