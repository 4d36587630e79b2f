/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/sql.h"

#include "sampler/routes/table.h"

/* Where the table of a statement stands. */
enum sql_table { TABLE_NONE, TABLE_NEXT, TABLE_AFTER_INTO, TABLE_AFTER_FROM };

static const struct {
	const char *name;
	enum sql_table table;
} verbs[] = {
	{ "select", TABLE_AFTER_FROM },
	{ "insert", TABLE_AFTER_INTO },
	{ "update", TABLE_NEXT },
	{ "delete", TABLE_AFTER_FROM },
	{ "replace", TABLE_AFTER_INTO },
	{ "merge", TABLE_AFTER_INTO },
	{ "with", TABLE_AFTER_FROM },
	{ "copy", TABLE_NEXT },
	{ "truncate", TABLE_NEXT },
	{ "call", TABLE_NEXT },
	{ "execute", TABLE_NEXT },
	{ "table", TABLE_NEXT },
	{ "begin", TABLE_NONE },
	{ "commit", TABLE_NONE },
	{ "rollback", TABLE_NONE },
	{ "start", TABLE_NONE },
	{ "end", TABLE_NONE },
	{ "abort", TABLE_NONE },
	{ "savepoint", TABLE_NONE },
	{ "release", TABLE_NONE },
	{ "set", TABLE_NONE },
	{ "reset", TABLE_NONE },
	{ "show", TABLE_NONE },
	{ "use", TABLE_NONE },
	{ "create", TABLE_NONE },
	{ "alter", TABLE_NONE },
	{ "drop", TABLE_NONE },
	{ "grant", TABLE_NONE },
	{ "revoke", TABLE_NONE },
	{ "comment", TABLE_NONE },
	{ "explain", TABLE_NONE },
	{ "describe", TABLE_NONE },
	{ "desc", TABLE_NONE },
	{ "analyze", TABLE_NONE },
	{ "vacuum", TABLE_NONE },
	{ "optimize", TABLE_NONE },
	{ "reindex", TABLE_NONE },
	{ "cluster", TABLE_NONE },
	{ "checkpoint", TABLE_NONE },
	{ "lock", TABLE_NONE },
	{ "unlock", TABLE_NONE },
	{ "declare", TABLE_NONE },
	{ "fetch", TABLE_NONE },
	{ "move", TABLE_NONE },
	{ "close", TABLE_NONE },
	{ "listen", TABLE_NONE },
	{ "notify", TABLE_NONE },
	{ "unlisten", TABLE_NONE },
	{ "prepare", TABLE_NONE },
	{ "deallocate", TABLE_NONE },
	{ "discard", TABLE_NONE },
	{ "do", TABLE_NONE },
	{ "values", TABLE_NONE },
	{ "load", TABLE_NONE },
	{ "refresh", TABLE_NONE },
	{ "kill", TABLE_NONE },
	{ "flush", TABLE_NONE },
	{ "handler", TABLE_NONE },
	{ "xa", TABLE_NONE },
	{ "import", TABLE_NONE },
	{ "security", TABLE_NONE },
	{ "reassign", TABLE_NONE },
};

enum sql_token_kind {
	TOKEN_END, /* of what is seen; also of a comment or literal that does not end */
	TOKEN_WORD,
	TOKEN_QUOTED, /* a name in quotes */
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_DOT,
	TOKEN_OTHER, /* a literal, a number, an operator */
};

struct sql_token {
	enum sql_token_kind kind;
	struct text_cursor text; /* of a word or name, without its quotes */
};

struct sql_lexer {
	struct text_cursor rest;
	enum sql_dialect dialect;
};

static bool sql_is_word_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '_' || byte == '$' || (unsigned char)byte >= 0x80;
}

static bool sql_is_keyword(struct sql_token token, const char *word)
{
	return token.kind == TOKEN_WORD && text_left(token.text) == strlen(word) &&
	       strncasecmp(token.text.at, word, strlen(word)) == 0;
}

/* Moves behind the mark that ends a comment or literal; to the end where there is none. */
static bool sql_skip_to(struct text_cursor *text, const char *mark, size_t mark_size)
{
	const char *found = memmem(text->at, text_left(*text), mark, mark_size);

	text->at = found ? found + mark_size : text->end;
	return found;
}

static void sql_skip_space(struct sql_lexer *lexer)
{
	struct text_cursor *rest = &lexer->rest;

	for (;;) {
		while (text_left(*rest) > 0 && (unsigned char)*rest->at <= ' ')
			rest->at++;
		if (text_take_literal(rest, "/*"))
			sql_skip_to(rest, "*/", 2);
		else if (text_starts_with(*rest, "--") || (lexer->dialect == SQL_MYSQL && text_is_at(*rest, '#')))
			sql_skip_to(rest, "\n", 1);
		else
			return;
	}
}

/* Moves behind a literal or quoted name, whose quote stands in it twice; a backslash hides one where it may. */
static struct text_cursor take_quoted(struct sql_lexer *lexer, char quote, bool has_escapes)
{
	struct text_cursor *rest = &lexer->rest, inner;

	inner.at = ++rest->at;
	for (; text_left(*rest) > 0; rest->at++) {
		if (has_escapes && *rest->at == '\\' && text_left(*rest) > 1) {
			rest->at++;
		} else if (*rest->at == quote) {
			if (text_left(*rest) < 2 || rest->at[1] != quote)
				break;
			rest->at++;
		}
	}
	inner.end = rest->at;
	rest->at += text_left(*rest) > 0;
	return inner;
}

/* PostgreSQL's $tag$ … $tag$. */
static bool skip_dollar_quoted(struct text_cursor *rest)
{
	struct text_cursor tag = *rest;

	tag.at++;
	while (text_left(tag) > 0 && *tag.at != '$' && sql_is_word_byte(*tag.at))
		tag.at++;
	if (!text_take_byte(&tag, '$'))
		return false;
	tag = (struct text_cursor){ rest->at, tag.at };
	rest->at = tag.end;
	sql_skip_to(rest, tag.at, text_left(tag));
	return true;
}

static struct sql_token sql_next_token(struct sql_lexer *lexer)
{
	struct text_cursor *rest = &lexer->rest;
	struct sql_token token = { .kind = TOKEN_OTHER };
	bool is_mysql = lexer->dialect == SQL_MYSQL;

	sql_skip_space(lexer);
	if (text_left(*rest) == 0)
		return (struct sql_token){ .kind = TOKEN_END };
	token.text = *rest;
	if (*rest->at == '\'' || (*rest->at == '"' && is_mysql)) {
		take_quoted(lexer, *rest->at, is_mysql);
	} else if (*rest->at == '"' || (*rest->at == '`' && is_mysql)) {
		token.kind = TOKEN_QUOTED;
		token.text = take_quoted(lexer, *rest->at, false);
	} else if (*rest->at == '$' && !is_mysql && skip_dollar_quoted(rest)) {
		return token;
	} else if (sql_is_word_byte(*rest->at)) {
		while (text_left(*rest) > 0 && sql_is_word_byte(*rest->at))
			rest->at++;
		token.text.end = rest->at;
		token.kind = *token.text.at >= '0' && *token.text.at <= '9' ? TOKEN_OTHER : TOKEN_WORD;
		/* A letter before a quote is a part of the literal: E'…', N'…', x'…', U&'…'. */
		if (text_left(token.text) == 1 && text_is_at(*rest, '\'')) {
			take_quoted(lexer, '\'', (*token.text.at | 0x20) == 'e' || is_mysql);
			token.kind = TOKEN_OTHER;
		}
	} else {
		token.kind = *rest->at == '('   ? TOKEN_OPEN
			     : *rest->at == ')' ? TOKEN_CLOSE
			     : *rest->at == '.' ? TOKEN_DOT
						: TOKEN_OTHER;
		rest->at++;
	}
	return token;
}

/* Where the names of tables may stand, as words that are none. */
static bool is_before_table(struct sql_token token)
{
	static const char *const words[] = { "only", "lateral", "table", "low_priority", "ignore", "quick", "delayed",
		"high_priority", "if", "exists", "into" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (sql_is_keyword(token, words[i]))
			return true;
	return false;
}

/*
 * Enters the name that begins with this token, of which the last part is the table's. What touches the end of what is
 * seen may be half of a name.
 */
static uint32_t enter_table(struct routes *routes, struct sql_lexer *lexer, struct sql_token token, bool is_cut)
{
	struct text_cursor name = token.text;

	for (;;) {
		struct sql_lexer after = *lexer;

		if (is_cut && text_left(lexer->rest) == 0)
			return places_enter(routes, PLACE_TABLES, text_over(PLACE_ANY, strlen(PLACE_ANY)));
		if (sql_next_token(&after).kind != TOKEN_DOT)
			break;
		token = sql_next_token(&after);
		if (token.kind != TOKEN_WORD && token.kind != TOKEN_QUOTED)
			return places_enter(routes, PLACE_TABLES, text_over(PLACE_ANY, strlen(PLACE_ANY)));
		name = token.text;
		*lexer = after;
	}
	return places_enter_segment(routes, PLACE_TABLES, name);
}

/* The depth of parentheses that are told apart: in those of a function FROM is no clause, as in extract(day from x). */
struct sql_nesting {
	uint64_t has_select; /* a bit a depth */
	unsigned int depth;
};

static void sql_nest(struct sql_nesting *nesting, struct sql_token token)
{
	if (token.kind == TOKEN_OPEN) {
		nesting->depth += nesting->depth < 63;
		nesting->has_select &= ~(1ull << nesting->depth);
	} else if (token.kind == TOKEN_CLOSE) {
		nesting->depth -= nesting->depth > 0;
	} else if (sql_is_keyword(token, "select") || sql_is_keyword(token, "delete")) {
		nesting->has_select |= 1ull << nesting->depth;
	}
}

/* Finds the first table of a statement behind its verb; PLACE_NONE: it has none. */
static uint32_t find_table(struct routes *routes, struct sql_lexer *lexer, enum sql_table table, bool is_cut)
{
	struct sql_nesting nesting = { .has_select = 1 };
	bool is_next = table == TABLE_NEXT;
	struct sql_token before = { 0 }, token;

	while ((token = sql_next_token(lexer)).kind != TOKEN_END) {
		sql_nest(&nesting, token);
		if (is_next && is_before_table(token))
			continue;
		if (is_next && (token.kind == TOKEN_WORD || token.kind == TOKEN_QUOTED) &&
			!sql_is_keyword(token, "select"))
			return enter_table(routes, lexer, token, is_cut);
		/* A subquery has its table behind a FROM of its own. */
		if (is_next && token.kind == TOKEN_OPEN)
			table = TABLE_AFTER_FROM;
		is_next = (table == TABLE_AFTER_INTO && sql_is_keyword(token, "into")) ||
			  (table == TABLE_AFTER_FROM && sql_is_keyword(token, "from") &&
				  !sql_is_keyword(before, "distinct") && nesting.has_select >> nesting.depth & 1);
		before = token;
	}
	return is_cut ? places_enter(routes, PLACE_TABLES, text_over(PLACE_ANY, strlen(PLACE_ANY))) : PLACE_NONE;
}

uint32_t sql_enter(struct routes *routes, struct text_cursor sql, bool is_cut, enum sql_dialect dialect)
{
	struct sql_lexer lexer = { sql, dialect };
	struct sql_token token;
	uint32_t place;

	do
		token = sql_next_token(&lexer);
	while (token.kind == TOKEN_OPEN);
	if (token.kind == TOKEN_END)
		return places_enter_verb(routes, PLACE_NAMES, is_cut ? "(statement not seen)" : "(empty statement)");
	if (token.kind != TOKEN_WORD)
		return PLACE_NONE;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (!sql_is_keyword(token, verbs[i].name))
			continue;
		place = verbs[i].table == TABLE_NONE ? PLACE_NONE : find_table(routes, &lexer, verbs[i].table, is_cut);
		return places_enter_verb(routes, place == PLACE_NONE ? PLACE_TABLES : place, verbs[i].name);
	}
	return places_enter_verb(routes, PLACE_NAMES, "(other statement)");
}
