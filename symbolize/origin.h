/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/* The data that the rules use. Strings are borrowed, "" if not known. */
struct origin_evidence {
	const char *name, *module;
	const char *file; /* of the definition, else of the line table */
	const char *path; /* of the mapping */
	enum profile_mapping_kind kind;
	bool has_mapping;
	bool is_program; /* the binary is a program, not a library: one of several main programs of a recording of all
			    processes */
};

/* Returns the evidence on a frame of a location: `line` is its index there. The strings are the profile's. */
struct origin_evidence origin_evidence_of(
	const struct profile *profile, const struct profile_location *location, uint32_t line);

/* Returns whether a path lies below a directory, by the letters alone. */
bool origin_is_below(const char *path, const char *directory);

/* Data that applies to the whole profile. */
struct origin_context {
	const struct symbolize_options *options;
	const char *main_path;             /* of the main program's mapping */
	const char *compilation_directory; /* of the main program; "" unknown, or it is an interpreter's */
	bool has_jvm;                      /* a JVM is among the binaries: code made at run time may belong to it */
};

struct origin_decision {
	enum profile_origin origin;
	enum symbolize_rule rule;
};

struct origin_decision origin_decide(const struct origin_context *context, const struct origin_evidence *evidence);

/* Keeps the decision of a recording, unless the present rules or project roots decide otherwise. */
struct origin_decision origin_revise(
	const struct origin_context *context, const struct origin_evidence *evidence, struct origin_decision before);

/*
 * Finds the first of the user's rules that matches: an origin for rules of origin; a class for rules of waits, with
 * PROFILE_WAIT_NONE for `keep`. False if none does.
 */
bool rules_match(const struct symbolize_rules *rules, const struct origin_evidence *evidence, uint32_t *value);

/*
 * The context as far as the profile has it: the main program is mapping 0, if that is a file. The compilation directory
 * stays unknown.
 */
struct origin_context origin_context_of(const struct symbolize_options *options, const struct profile *profile);
