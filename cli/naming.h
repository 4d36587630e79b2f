/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "symbolize/symbolize.h"

/* --project-root DIR (repeatable) and --origin-rules FILE, which record, diff, report and symbolize share. */
struct naming {
	struct options_list roots;
	const char *rules_path;                      /* borrowed; NULL: none */
	struct symbolize_origin_rules *origin_rules; /* owned */
};

/* Reads the rules' file and fills the options; they borrow from `naming`. */
COMMON_MUST_CHECK
bool naming_prepare(struct naming *naming, struct symbolize_options *options, struct error *err);
void naming_deinit(struct naming *naming);
