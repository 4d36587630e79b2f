/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The report of a deploy, in a child of the watch: `kelvin diff` of the profiles before against those behind it, as a
 * page and as JSON; then a line on standard output, whose figures are those of the JSON, so that both say the same.
 */
struct watch_report {
	const char *base, *head; /* names of profiles, joined by commas */
	const char *page, *json; /* names of files */
	const char *begin;       /* of the line: "deploy 2026-11-26 08:10 version 41 → 42" */
	const char *end;         /* of the line: "3 profiles before and 3 after; report DIR/deploy-….html" */
};

int watch_report_make(const struct watch_report *report);
