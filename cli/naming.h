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
};

enum {
	NAMING_PROJECT_ROOT = OPTIONS_SHARED,
	NAMING_ORIGIN_RULES,
	NAMING_WAIT_RULES,
	NAMING_NO_NAMES,
	NAMING_REQUIRE_CONFINEMENT,
	NAMING_LAST
};

/* Rows of getopt_long()'s table. */
#define NAMING_OPTIONS                                                                                                 \
	{ "project-root", required_argument, NULL, NAMING_PROJECT_ROOT },                                              \
	{                                                                                                              \
		"origin-rules", required_argument, NULL, NAMING_ORIGIN_RULES                                           \
	}
#define NAMING_HELP                                                                                                    \
	"      --project-root DIR      functions with sources below DIR are the user's own; repeatable\n"              \
	"      --origin-rules FILE     rules that decide what is user, library or system\n"

/* For the commands that make or read profiles. */
#define NAMING_PROFILE_OPTIONS                                                                                         \
	{ "wait-rules", required_argument, NULL, NAMING_WAIT_RULES },                                                  \
		{ "no-names", no_argument, NULL, NAMING_NO_NAMES },                                                    \
	{                                                                                                              \
		"require-confinement", no_argument, NULL, NAMING_REQUIRE_CONFINEMENT                                   \
	}
#define NAMING_PROFILE_HELP                                                                                                    \
	"      --wait-rules FILE       rules that decide what threads wait for, as 'idle function *Pool::take*'\n"             \
	"      --no-names              names no functions: code is shown as binary+address, and no binary is read for names\n" \
	"      --require-confinement   fails where a part of the confinement of who reads binaries is not to be had\n"

/* Handles one of these options, whose value is in `optarg`; ERROR_USAGE for any other. */
COMMON_MUST_CHECK
bool naming_take(struct naming *naming, int option, struct error *err);

/* Of a struct naming. */
extern const struct options_row naming_symbolize_rows[]; /* --project-root and --origin-rules */
extern const struct options_row naming_rows[];           /* all of them */

/*
 * Reads the file of rules and fills the options, which borrow from `naming`. ERROR_SYSTEM if confinement is required
 * and this machine does not have all of it.
 */
COMMON_MUST_CHECK
bool naming_prepare(struct naming *naming, struct symbolize_options *options, struct error *err);
void naming_deinit(struct naming *naming);
