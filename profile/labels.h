/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Labels: what a profile is of, in words of the user or of the recorded service, as service=checkout, version=4.2.1.
 * They are kept in Kelvin's part of a file, and as comments "KEY=VALUE" for other tools. Every key may be used; those
 * below have a meaning here.
 */

struct profile;

#define PROFILE_LABEL_SERVICE "service"
#define PROFILE_LABEL_VERSION "version"
#define PROFILE_LABEL_ENVIRONMENT "environment"
#define PROFILE_LABEL_COMMIT "commit"
#define PROFILE_LABEL_HOST "host"
#define PROFILE_LABEL_INSTANCE "instance"

enum { PROFILE_MAX_LABELS = 32, PROFILE_LABEL_KEY_BYTES = 64, PROFILE_LABEL_VALUE_BYTES = 256 };

struct profile_label {
	uint32_t key, value; /* strings */
};

/*
 * Checks the text of a label: a key begins with a letter or `_`, and goes on with these, digits and `.-/`; a value is
 * UTF-8 that is not empty and has no control, invisible or direction-changing characters. ERROR_USAGE.
 */
COMMON_MUST_CHECK
bool profile_label_check(const char *key, const char *value, struct error *err);

/* Adds a label, or gives it another value. Fails as profile_label_check(), or with ERROR_LIMIT if there are too many.
 */
COMMON_MUST_CHECK
bool profile_set_label(struct profile *profile, const char *key, const char *value, struct error *err);

/* Returns the value of a label, borrowed; NULL: the profile has none with this key. */
const char *profile_label(const struct profile *profile, const char *key);

/* Removes a label, if it is there. */
void profile_remove_label(struct profile *profile, const char *key);

/*
 * Appends what two profiles are of: "checkout 4.2.1 → 4.3.0", "checkout 4.2.1 → cart 1.7". With `base` NULL what one
 * profile is of: "checkout 4.2.1". Nothing if a profile does not say both. Not cleaned.
 */
void profile_identities(const struct profile *base, const struct profile *head, struct buffer *out);

/* Appends all labels, by key: "commit 4f3c2a1, service checkout". Not cleaned. */
void profile_labels_words(const struct profile *profile, struct buffer *out);
