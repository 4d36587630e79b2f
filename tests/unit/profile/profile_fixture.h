/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * A profile with something in every table: two runs, three threads, a program, a library, the kernel and JIT code,
 * inlined frames, all origins, a timeline, locks and releases, requests. Failure to build it fails the test.
 */
struct profile *sample_profile(void);

/* Fails the test unless both hold the same: same tables in the same order, names, values, facts. */
void assert_profiles_equal(const struct profile *left, const struct profile *right);

/* As a file, to be freed with buffer_deinit(). */
struct buffer written_profile(const struct profile *profile);

/* How many samples of the profile's file have a label, as readers of pprof see them. */
size_t labelled_samples(const struct profile *profile, const char *key, const char *value);

/* Reads it back; fails the test with the message when that fails. */
struct profile *read_profile(const void *bytes, size_t size);

/* The same from a file of tests/data, by its path. */
struct profile *read_data(const char *path);

/* Fails the test unless reading fails with one line that has `words` in it, and with `code` if that is not ERROR_NONE.
 */
void expect_refused(const void *bytes, size_t size, enum error_code code, const char *words);
