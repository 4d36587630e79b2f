/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/labels.h"

#include <stdlib.h>
#include <string.h>

const struct sampler_label *labels_find(const struct labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->items[i].key, key) == 0)
			return &labels->items[i];
	return NULL;
}

static bool check_label(const struct labels *labels, const char *key, const char *value, struct error *err)
{
	if (!value)
		return error_set(
			err, ERROR_USAGE, "there is no '='; write --label KEY=VALUE, as --label version=4.2.1");
	if (!profile_label_check(key, value, err))
		return false;
	if (labels_find(labels, key))
		return error_set(err, ERROR_USAGE, "'%s' was given before; a profile has one value for each key", key);
	return labels->count < PROFILE_MAX_LABELS ||
	       error_set(err, ERROR_USAGE, "the most is %d labels", PROFILE_MAX_LABELS);
}

/* Names the label in a message, which has one line. */
static bool cli_labels_name_label(const char *text, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer clean = BUFFER_INIT(1 << 20);

	unicode_append_clean(&clean, text);
	return error_prefix(err, "--label '%.80s'", clean.data ? clean.data : "");
}

/* A label whose key was given before is refused. */
static bool labels_take(void *context, const char *text, struct error *err)
{
	struct labels *labels = context;
	CLEANUP(cleanup_free) char *key = strdup(text);
	char *value;

	if (!key)
		return error_set_memory(err);
	value = strchr(key, '=');
	if (value)
		*value++ = '\0';
	if (!check_label(labels, key, value, err))
		return cli_labels_name_label(text, err);
	labels->items[labels->count++] = (struct sampler_label){ TAKE(key), value };
	return true;
}

const struct options_row labels_rows[] = {
	{ 0, "label", "KEY=VALUE", "kept in the profile and shown in reports, as service, version, commit or host",
		labels_take, .words = "service= version= environment= commit= host=", .repeatable = true },
	{ 0 },
};

void labels_deinit(struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		free((char *)labels->items[i].key);
	labels->count = 0;
}
