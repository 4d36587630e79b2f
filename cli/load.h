/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/source.h"
#include "profile/profile.h"
#include "symbolize/symbolize.h"

struct load_options {
	struct symbolize_options naming;
	const char *metric;    /* of a recording of several events the one to read is called so; NULL: the first */
	uint32_t verify_every; /* of a recording, one stack in so many is compared (cli/verification.h); 0: none */
	const struct recording_opener *opener; /* borrowed: of recordings' other files; NULL: this process does */
	bool is_recovery;                      /* as in struct source_file_options */
	const struct store_secrets *secrets;   /* borrowed: for stores that are named; NULL: no store may be */
};

/* The profiles that the user named as one side, opened. All zero: nothing. */
struct load_inputs {
	char *names;          /* owned */
	char **profile_names; /* owned, each of them: of profiles that a store has sent */
	size_t profile_name_count;
	struct source **sources; /* owned, each of them */
	int *descriptors;        /* owned; those of the sources, borrowed */
	size_t count, source_capacity, descriptor_capacity;
};

/*
 * Takes the secrets of stores out of the environment, as store_take_secrets(), before any child begins. What is wrong
 * with them is an error if one of the names is an address of a store. They are to be wiped before a process without
 * rights begins.
 */
COMMON_MUST_CHECK
bool load_take_secrets(char *const *names, size_t count, struct store_secrets *secrets, struct error *err);

/*
 * Opens what the user named as one side: a file, "-", several joined by commas, or the address of a store, of which all
 * profiles that it asks for are fetched now. (A file whose own name holds a comma is found first.) Reads no more of
 * them than their first bytes, which tell what they are. To be deinitialized also after an error.
 */
COMMON_MUST_CHECK
bool load_open(const char *names, const struct load_options *options, struct load_inputs *inputs, struct error *err);
void load_inputs_deinit(struct load_inputs *inputs);

/*
 * Returns what reports call a side: its name, of more than three files "a.pb.gz and 499 more". Owned; NULL: out of
 * memory.
 */
char *load_title(const char *names, const struct load_inputs *inputs);

/* Returns whether all of them have names: then nothing but their descriptors is needed to read them. */
bool load_are_named(const struct load_inputs *inputs);

/*
 * Reads them, as the runs of one profile. Functions of profiles that other tools wrote get their origins. perf.data and
 * unfinished recordings are read as well, and named with the binaries that are there; notices go to standard error.
 */
COMMON_MUST_CHECK
bool load_read(const struct load_inputs *inputs, const struct load_options *options, struct profile **profile,
	struct error *err);
