/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/source.h"

/* A file that the user names: a profile (Kelvin's, any pprof, folded stacks), perf.data, or an unfinished recording. */

struct source_file_options {
	const char *event; /* of a recording of several events the one to read is called so; NULL: the first */
	const struct recording_opener *opener; /* borrowed: as in struct recording_file */
	uint32_t verify_every; /* of perf.data, one stack in so many is compared (cli/verification.h); 0: none */
	int fd;                /* with `is_open`: it is read in place of a file of the name; taken over */
	bool is_open;
	bool is_recovery; /* only what a killed recorder has left is wanted; anything else is ERROR_USAGE */
};

/*
 * Opens `name`, "-" for standard input; its first bytes tell what it is. The name is borrowed. perf.data and unfinished
 * recordings are read as addresses, with the binaries that are there.
 */
COMMON_MUST_CHECK
bool source_file_open(
	const char *name, const struct source_file_options *options, struct source **source, struct error *err);

/* Returns whether what the user has named is a directory of `perf record --threads`. */
bool source_file_is_directory(const struct source *source);

/*
 * Makes a file of that name the open descriptor from now on, which stays the caller's: what was looked at before is
 * what is read. For a process that reads files on behalf of somebody else (cli/mcp.h). False: there are too many.
 */
COMMON_MUST_CHECK
bool source_file_give(const char *name, int fd);

/*
 * Refuses to open any other file from now on, neither a profile nor a binary that one names: recordings of addresses
 * are refused.
 */
void source_file_refuse_others(void);

/* Returns whether names are those of given files alone. */
bool source_file_are_given(void);

/*
 * Keeps the memory that a profile takes while it is read for the next one, and the comparison, instead of giving it
 * back to the kernel, which would clear it anew: a fifth of the time of comparing two large profiles.
 */
void source_file_keep_memory(void);
