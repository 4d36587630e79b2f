/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds_history.h"

#include "maker.h"
#include "tests/unit/render/history_fixture.h"

#include <stdio.h>
#include <string.h>

static const struct history_kind {
	const char *name;
	enum history_fixture_kind kind;
} history_kinds[] = {
	{ "history", HISTORY_CHECKOUT },
	{ "history-shares", HISTORY_SHARES },
	{ "history-quiet", HISTORY_QUIET },
	{ "history-hostile", HISTORY_HOSTILE },
	{ "history-large", HISTORY_LARGE },
};
enum { HISTORY_KINDS = sizeof(history_kinds) / sizeof(history_kinds[0]) };

const struct history_kind *history_kind_find(const char *name)
{
	for (size_t i = 0; i < HISTORY_KINDS; i++) {
		if (strcmp(history_kinds[i].name, name) == 0)
			return &history_kinds[i];
	}
	return NULL;
}

void history_kind_page(const struct history_kind *kind, struct buffer *page)
{
	struct history_fixture fixture;
	struct error err;

	history_fixture_create(&fixture, kind->kind);
	maker_check(render_history_html(&fixture.input, page, &err), &err);
	history_fixture_destroy(&fixture);
}

void history_kind_list(void)
{
	for (size_t i = 0; i < HISTORY_KINDS; i++)
		printf("%s\n", history_kinds[i].name);
}
