/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "symbolize/symbolize.h"

/* --project-root DIR (repeatable) and --origin-rules FILE, which record, diff, report and symbolize share; and
 * --wait-rules FILE, --no-names and --require-confinement of all but symbolize. */
struct naming {
	struct options_list roots;
	const char *origin_rules_path, *wait_rules_path;   /* borrowed; NULL: none */
	struct symbolize_rules *origin_rules, *wait_rules; /* owned */
	bool no_names, require_confinement;
	bool all_sources, no_sources; /* --sources, --no-sources */
};

/* The options of a struct naming. */
extern const struct options_row naming_symbolize_rows[]; /* --project-root and --origin-rules */
extern const struct options_row naming_rows[];           /* all of them */

/* More options of a struct naming: --sources and --no-sources, for commands that make profiles. */
extern const struct options_row naming_sources_rows[];

/*
 * Reads the file of rules and fills the options, which borrow from `naming`. ERROR_SYSTEM if confinement is required
 * and this machine does not have all of it.
 */
COMMON_MUST_CHECK
bool naming_prepare(struct naming *naming, struct symbolize_options *options, struct error *err);
void naming_deinit(struct naming *naming);

/*
 * Sets debuginfod's environment variables, by which its library is configured: a timeout for servers, and progress
 * messages for a terminal. Fails as symbolize_debuginfod_possible().
 */
COMMON_MUST_CHECK
bool naming_prepare_debuginfod(struct error *err);
