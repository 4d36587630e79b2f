/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/*
 * The source text around sampled functions, as it was when the program was recorded, and what is known of the files
 * that it is from. It is kept since the next deploy replaces the files too.
 */

/* The proof that a text is the one that the program was built from. In order: the later, the better. */
enum profile_source_proof {
	PROFILE_SOURCE_MAY_DIFFER, /* nothing shows it */
	PROFILE_SOURCE_NOT_NEWER,  /* the file was last changed before the program was built, or started if it is a
				      script */
	PROFILE_SOURCE_SAME_BYTES, /* it has the MD5 that the debug information holds, or was embedded there */
};
enum { PROFILE_SOURCE_PROOF_COUNT = 3, PROFILE_SOURCE_MD5_BYTES = 16 };

/*
 * Returns what people read of it: "its MD5 is the build's", "not changed since the build", "may differ from what was
 * built".
 */
const char *profile_source_proof_words(enum profile_source_proof proof);

/* A source file. Each path occurs once. */
struct profile_source_file {
	uint32_t path; /* string: as `file` of functions and lines has it */
	/*
	 * MD5 of the whole file that the program was built from, by its debug information (DWARF 5, DW_LNCT_MD5); of a
	 * file whose text was kept without such, of that file. A text found later is the same one if it has this MD5.
	 */
	uint8_t md5[PROFILE_SOURCE_MD5_BYTES];
	bool has_md5;
	bool is_md5_of_build;            /* the debug information has it */
	bool is_embedded;                /* the texts are from the debug information (DW_LNCT_LLVM_source) */
	bool is_mixed;                   /* the profile is of two builds in which it differs: no MD5, no proof */
	enum profile_source_proof proof; /* of the texts that are kept */
};

/*
 * Lines of a file that were kept. Those of one file do not overlap, and are in order of lines. One may begin where the
 * one before it ends.
 */
struct profile_source_text {
	uint32_t file;       /* index in profile.source_files */
	uint32_t first_line; /* from 1 */
	uint32_t text;       /* string: whole lines with '\n' between them; UTF-8 or not, without NUL */
};

enum {
	PROFILE_MAX_SOURCE_FILES = 1 << 16,
	PROFILE_MAX_SOURCE_TEXTS = 1 << 15,
	PROFILE_MAX_SOURCE_TEXT_BYTES = 1 << 16,    /* of a text; longer ones are several */
	PROFILE_MAX_SOURCE_BYTES = 2 << 20,         /* of all kept texts of one recording */
	PROFILE_MAX_MERGED_SOURCE_BYTES = 16 << 20, /* of all texts of a profile */
};

/*
 * Adds a file, or finds that of the same path; the better proof and an MD5 that it had not are taken over. Where both
 * have an MD5 and these differ, the file is mixed for good: the profile is of two builds. *id is PROFILE_NONE where
 * there are PROFILE_MAX_SOURCE_FILES already.
 */
COMMON_MUST_CHECK
bool profile_add_source_file(
	struct profile *profile, const struct profile_source_file *file, uint32_t *id, struct error *err);

/*
 * Adds lines of a file. Lines that are there already stay as they are; if these differ in text, the file is mixed.
 * Nothing is added to the file PROFILE_NONE, nor beyond the limits above. ERROR_FORMAT if there is no such file, or
 * line.
 */
COMMON_MUST_CHECK
bool profile_add_source_text(
	struct profile *profile, uint32_t file, uint32_t first_line, const char *text, struct error *err);

/* Returns the file with this path (a string of the profile); PROFILE_NONE: nothing is known of it. */
uint32_t profile_find_source_file(const struct profile *profile, uint32_t path);

/* Returns how many lines a text has: one more than it has '\n'. */
uint32_t profile_count_lines(const char *text);
