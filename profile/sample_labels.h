/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/labels.h"

struct profile;
struct profile_thread;

/*
 * A label that a program gives its own samples, as Go's pprof.Do and OpenTelemetry do: `route=/upload`. A thread that
 * says something else becomes another one, as one that renames itself does, so that stacks, times and weights stay as
 * they are. All labels of a thread are one string, in order of their keys; only what is here knows its form.
 */
struct profile_sample_label {
	const char *key, *value; /* within the profile's string, and not NUL-terminated */
	size_t key_bytes, value_bytes;
};

enum { PROFILE_MAX_SAMPLE_LABELS = 32 }; /* of one sample; more are left out */

/*
 * Makes the set of some labels, whose keys and values are strings of the profile; the array is sorted. Of labels with
 * equal keys the first one is kept.
 */
COMMON_MUST_CHECK
bool profile_make_label_set(
	struct profile *profile, struct profile_label *labels, size_t count, uint32_t *set, struct error *err);

/* Takes the first label off `*set`; false: there is none left. `*set` begins as a thread's string. */
bool profile_next_sample_label(const char **set, struct profile_sample_label *label);

/* Finds the label of a thread by its key; false: it has none. */
bool profile_thread_label(const struct profile *profile, const struct profile_thread *thread, const char *key,
	struct profile_sample_label *label);
