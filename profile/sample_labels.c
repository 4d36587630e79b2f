/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels of samples, as one string for each set of them. */
#include "profile/sample_labels.h"

#include "profile/model.h"

#include <stdlib.h>
#include <string.h>

/* Separators between a key and its value, and between two labels. No text has these; what has becomes a space. */
enum { AFTER_KEY = '\x01', AFTER_LABEL = '\x02' };

struct sample_labels_keyed {
	const char *key;
	size_t position;
	struct profile_label label;
};

static int by_key(const void *left, const void *right)
{
	const struct sample_labels_keyed *a = left, *b = right;
	int order = strcmp(a->key, b->key);

	return order ? order : ORDER(a->position, b->position);
}

static void sample_labels_append_text(struct buffer *out, const char *text)
{
	for (; *text; text++)
		buffer_append_byte(out, *text == AFTER_KEY || *text == AFTER_LABEL ? ' ' : (uint8_t)*text);
}

bool profile_make_label_set(
	struct profile *profile, struct profile_label *labels, size_t count, uint32_t *set, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT((size_t)1 << 20);
	struct sample_labels_keyed keyed[PROFILE_MAX_SAMPLE_LABELS];

	count = count < PROFILE_MAX_SAMPLE_LABELS ? count : PROFILE_MAX_SAMPLE_LABELS;
	for (size_t i = 0; i < count; i++)
		keyed[i] = (struct sample_labels_keyed){ profile_string(profile, labels[i].key), i, labels[i] };
	if (count > 1)
		qsort(keyed, count, sizeof(*keyed), by_key);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && strcmp(keyed[i].key, keyed[i - 1].key) == 0)
			continue;
		if (i > 0)
			buffer_append_byte(&text, AFTER_LABEL);
		sample_labels_append_text(&text, keyed[i].key);
		buffer_append_byte(&text, AFTER_KEY);
		sample_labels_append_text(&text, profile_string(profile, keyed[i].label.value));
	}
	return buffer_ok(&text, err) &&
	       string_table_add(profile->strings, text.data ? text.data : "", text.size, set, err);
}

bool profile_next_sample_label(const char **set, struct profile_sample_label *label)
{
	const char *text = *set, *end = text + strcspn(text, (const char[]){ AFTER_LABEL, '\0' });
	const char *middle = memchr(text, AFTER_KEY, (size_t)(end - text));

	if (text == end)
		return false;
	*label = (struct profile_sample_label){
		.key = text, .key_bytes = (size_t)((middle ? middle : end) - text), .value = middle ? middle + 1 : end
	};
	label->value_bytes = (size_t)(end - label->value);
	*set = *end ? end + 1 : end;
	return true;
}

bool profile_thread_label(const struct profile *profile, const struct profile_thread *thread, const char *key,
	struct profile_sample_label *label)
{
	const char *set = profile_string(profile, thread->labels);
	size_t bytes = strlen(key);

	while (profile_next_sample_label(&set, label))
		if (label->key_bytes == bytes && memcmp(label->key, key, bytes) == 0)
			return true;
	return false;
}
