/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Pages of histories that are made by hand (tests/unit/render/history_fixture.h). */
struct history_kind;

/* NULL if there is none of that name. */
const struct history_kind *history_kind_find(const char *name);

/* Appends the page. */
void history_kind_page(const struct history_kind *kind, struct buffer *page);

/* One a line. */
void history_kind_list(void);
