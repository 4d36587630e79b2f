/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"

#include <ctype.h>
#include <string.h>

static bool check_key(const char *key, struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
	size_t size = strlen(key);

	if (size == 0)
		return error_set(err, ERROR_USAGE, "the key is empty");
	if (size > PROFILE_LABEL_KEY_BYTES)
		return error_set(
			err, ERROR_USAGE, "the key is %zu bytes long; the most is %d", size, PROFILE_LABEL_KEY_BYTES);
	if (key[0] != '_' && !isalpha((unsigned char)key[0]))
		return error_set(err, ERROR_USAGE, "a key begins with a letter or '_'");
	return key[strspn(key, letters)] == '\0' ||
	       error_set(err, ERROR_USAGE, "a key is made of letters, digits and '_', '.', '-', '/'");
}

static bool check_value(const char *value, struct error *err)
{
	size_t size = strlen(value);

	if (size == 0)
		return error_set(err, ERROR_USAGE, "the value is empty");
	if (size > PROFILE_LABEL_VALUE_BYTES)
		return error_set(err, ERROR_USAGE, "the value is %zu bytes long; the most is %d", size,
			PROFILE_LABEL_VALUE_BYTES);
	for (uint32_t code; (code = unicode_next(&value)) != 0;)
		if (unicode_clean(code) != code || code == 0xfffd)
			return error_set(err, ERROR_USAGE,
				"the value has a control character, an invisible one, or is not UTF-8");
	return true;
}

bool profile_label_check(const char *key, const char *value, struct error *err)
{
	return check_key(key, err) && check_value(value, err);
}

/* Returns the first label whose key does not come before this one in the order of bytes. */
static size_t profile_labels_find_label(const struct profile *profile, const char *key, bool *found)
{
	size_t at = 0;
	int order = -1;

	for (; at < profile->label_count; at++) {
		order = strcmp(profile_string(profile, profile->labels[at].key), key);
		if (order >= 0)
			break;
	}
	*found = order == 0;
	return at;
}

bool profile_set_label(struct profile *profile, const char *key, const char *value, struct error *err)
{
	struct profile_label label;
	bool found;
	size_t at = profile_labels_find_label(profile, key, &found);

	if (!profile_label_check(key, value, err))
		return false;
	if (!found && profile->label_count == PROFILE_MAX_LABELS)
		return error_set(err, ERROR_LIMIT, "there are more than %d labels", PROFILE_MAX_LABELS);
	if (!profile_intern(profile, key, &label.key, err) || !profile_intern(profile, value, &label.value, err))
		return false;
	if (!found)
		memmove(&profile->labels[at + 1], &profile->labels[at],
			(profile->label_count++ - at) * sizeof(profile->labels[0]));
	profile->labels[at] = label;
	return true;
}

const char *profile_label(const struct profile *profile, const char *key)
{
	bool found;
	size_t at = profile_labels_find_label(profile, key, &found);

	return found ? profile_string(profile, profile->labels[at].value) : NULL;
}

void profile_remove_label(struct profile *profile, const char *key)
{
	bool found;
	size_t at = profile_labels_find_label(profile, key, &found);

	if (!found)
		return;
	profile->label_count--;
	memmove(&profile->labels[at], &profile->labels[at + 1],
		(profile->label_count - at) * sizeof(profile->labels[0]));
}

/* ---- Words ---- */

/* Returns whether the service and its version are known, which together say what a profile is of. */
static bool labels_have_identity(const struct profile *profile)
{
	return profile_label(profile, PROFILE_LABEL_SERVICE) && profile_label(profile, PROFILE_LABEL_VERSION);
}

void profile_identities(const struct profile *base, const struct profile *head, struct buffer *out)
{
	const char *service = profile_label(head, PROFILE_LABEL_SERVICE), *before;

	if (!labels_have_identity(head) || (base && !labels_have_identity(base)))
		return;
	if (base) {
		before = profile_label(base, PROFILE_LABEL_SERVICE);
		buffer_printf(out, "%s %s → ", before, profile_label(base, PROFILE_LABEL_VERSION));
		if (strcmp(before, service) == 0)
			service = NULL;
	}
	buffer_printf(
		out, "%s%s%s", service ? service : "", service ? " " : "", profile_label(head, PROFILE_LABEL_VERSION));
}

void profile_labels_words(const struct profile *profile, struct buffer *out)
{
	for (size_t i = 0; i < profile->label_count; i++)
		buffer_printf(out, "%s%s %s", i ? ", " : "", profile_string(profile, profile->labels[i].key),
			profile_string(profile, profile->labels[i].value));
}
