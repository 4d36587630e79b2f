/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/routes/routes.h"

/*
 * A statement's verb and its first table: "select orders". Literals, comments, columns and all else are passed over. A
 * name that is cut, or is no word (sampler/routes/word.h), is not shown.
 */
enum sql_dialect { SQL_POSTGRESQL, SQL_MYSQL };

/* The leaf of a statement; PLACE_NONE: it begins with no word, so this is no SQL. is_cut: more of it may follow. */
uint32_t sql_enter(struct routes *routes, struct text_cursor sql, bool is_cut, enum sql_dialect dialect);
