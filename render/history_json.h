/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/history_words.h"

/* Parts that the JSON of a history and its page share. */

/* Appends a member whose text is made by a function. */
void history_json_words(const struct history_words *words, const char *key,
	void (*say)(const struct history_words *, struct buffer *), struct buffer *out);

/* Appends the labels of a profile as an object. */
void history_json_labels(const struct summary_set *set, const struct summary *profile, struct buffer *out);
