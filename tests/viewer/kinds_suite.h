/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Pages of suites of benchmarks, whose figures are made by hand; tests/viewer/browser/benchmarks.js knows them. */
struct suite_kind;

/* NULL if there is none of that name. */
const struct suite_kind *suite_kind_find(const char *name);

/* Appends the page. */
void suite_kind_page(const struct suite_kind *kind, struct buffer *page);

/* One a line. */
void suite_kind_list(void);
