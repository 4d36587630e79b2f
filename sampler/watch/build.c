/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ---- Deploys ---- */

static bool watch_build_differs(const char *before, const char *now)
{
	return before[0] && now[0] && strcmp(before, now) != 0;
}

bool watch_is_deploy(const struct watch_build *before, const struct watch_build *now)
{
	return watch_build_differs(before->build_id, now->build_id) ||
	       watch_build_differs(before->version, now->version) || watch_build_differs(before->image, now->image);
}

static void carry(const char *before, char *now)
{
	if (!now[0])
		memcpy(now, before, strlen(before) + 1);
}

void watch_build_carry(const struct watch_build *before, struct watch_build *now)
{
	carry(before->build_id, now->build_id);
	carry(before->version, now->version);
	carry(before->image, now->image);
}

void watch_deploy_words(const struct watch_build *before, const struct watch_build *now, struct buffer *out)
{
	enum { SHOWN = 12 }; /* characters of a hash */

	if (watch_build_differs(before->version, now->version))
		buffer_printf(out, "version %s → %s", before->version, now->version);
	else if (watch_build_differs(before->image, now->image))
		buffer_printf(out, "image %.*s → %.*s", SHOWN, before->image, SHOWN, now->image);
	else if (watch_build_differs(before->build_id, now->build_id))
		buffer_printf(out, "build %.*s → %.*s", SHOWN, before->build_id, SHOWN, now->build_id);
}

/* ---- Images ---- */

/*
 * A line of mountinfo: "36 35 98:0 /root /mount options tag... - type source super-options". Returns the super options
 * of the overlay that is mounted at "/", up to the line's end; NULL: the line is none of one.
 */
static const char *root_options(const char *line, size_t size)
{
	static const char type[] = " - overlay ", root[] = " / ";
	enum { FIELDS_BEFORE = 4 };
	const char *end = line + size, *at = line, *found;

	for (int i = 0; i < FIELDS_BEFORE && at; i++) {
		at = memchr(at, ' ', (size_t)(end - at));
		at = at && at + 1 < end ? at + (i + 1 < FIELDS_BEFORE) : NULL;
	}
	if (!at || (size_t)(end - at) < sizeof(root) - 1 || memcmp(at, root, sizeof(root) - 1) != 0)
		return NULL;
	found = memmem(at, (size_t)(end - at), type, sizeof(type) - 1);
	if (!found)
		return NULL;
	found += sizeof(type) - 1;
	found = memchr(found, ' ', (size_t)(end - found));
	return found ? found + 1 : NULL;
}

/* The list of lower layers in the options, the uppermost first; they are separated by colons. */
static const char *lower_layers(const char *options, size_t size, size_t *bytes)
{
	static const char key[] = "lowerdir=";
	const char *end = options + size;

	for (const char *at = options; at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;

		if ((size_t)(stop - at) > sizeof(key) - 1 && memcmp(at, key, sizeof(key) - 1) == 0) {
			*bytes = (size_t)(stop - at) - (sizeof(key) - 1);
			return at + sizeof(key) - 1;
		}
		at = stop + 1;
	}
	return NULL;
}

static bool is_dockers(const char *cgroup)
{
	return strstr(cgroup, "/docker/") || strstr(cgroup, "/docker-");
}

void watch_image_of(const char *mountinfo, const char *cgroup, char image[static WATCH_WORD_BYTES])
{
	enum { SHOWN_BYTES = 8 };
	const char *layers = NULL;
	size_t bytes = 0;
	uint8_t digest[MD5_BYTES];

	image[0] = '\0';
	/* A later mount at the same place covers the earlier one. */
	for (const char *line = mountinfo; *line;) {
		size_t size = strcspn(line, "\n");
		const char *options = root_options(line, size);

		if (options)
			layers = lower_layers(options, (size_t)(line + size - options), &bytes);
		line += size + (line[size] == '\n');
	}
	if (layers && is_dockers(cgroup)) {
		const char *colon = memchr(layers, ':', bytes);

		bytes -= colon ? (size_t)(colon + 1 - layers) : 0;
		layers = colon ? colon + 1 : layers;
	}
	if (!layers)
		return;
	md5(layers, bytes, digest);
	for (int i = 0; i < SHOWN_BYTES; i++)
		sprintf(image + 2 * (size_t)i, "%02x", digest[i]);
}

/* ---- The environment ---- */

/* Copies a percent-encoded value without blanks around it; false: it is too long. */
static bool watch_build_decode(const char *from, size_t size, char value[static WATCH_WORD_BYTES])
{
	size_t used = 0;

	while (size > 0 && isspace((unsigned char)from[0])) {
		from++;
		size--;
	}
	while (size > 0 && isspace((unsigned char)from[size - 1]))
		size--;
	for (size_t i = 0; i < size; i++) {
		struct text_cursor code = { from + i + 1, from + size };
		uint8_t byte = (uint8_t)from[i];

		if (used + 1 >= WATCH_WORD_BYTES)
			return false;
		if (from[i] == '%' && text_take_hex_byte(&code, &byte))
			i += 2;
		value[used++] = (char)byte;
	}
	value[used] = '\0';
	return strlen(value) == used;
}

bool watch_attribute(const char *attributes, const char *key, char value[static WATCH_WORD_BYTES])
{
	size_t key_size = strlen(key);
	struct error ignored;
	bool is_good = false;

	for (const char *at = attributes; *at && !is_good;) {
		size_t size = strcspn(at, ","), blank = strspn(at, " \t");

		blank = blank < size ? blank : size;
		if (size - blank > key_size && strncmp(at + blank, key, key_size) == 0 && at[blank + key_size] == '=')
			is_good = watch_build_decode(at + blank + key_size + 1, size - blank - key_size - 1, value) &&
				  profile_label_check(PROFILE_LABEL_VERSION, value, &ignored);
		at += size + (at[size] == ',');
	}
	if (!is_good)
		value[0] = '\0';
	return is_good;
}

/* The value of a variable that the text sets; NULL: it sets another one. */
static const char *variable(const char *text, const char *name)
{
	size_t size = strlen(name);

	return strncmp(text, name, size) == 0 && text[size] == '=' ? text + size + 1 : NULL;
}

void watch_read_environment(const char *bytes, size_t size, struct watch_environment *environment)
{
	struct error ignored;

	*environment = (struct watch_environment){ 0 };
	for (const char *at = bytes, *end = bytes + size; at < end;) {
		const char *stop = memchr(at, '\0', (size_t)(end - at)), *value;

		if (!stop)
			return;
		value = variable(at, "OTEL_RESOURCE_ATTRIBUTES");
		if (value && !environment->service[0])
			(void)watch_attribute(value, "service.name", environment->service);
		if (value)
			(void)watch_attribute(value, "service.version", environment->version);
		value = variable(at, "OTEL_SERVICE_NAME");
		if (value && strlen(value) < WATCH_WORD_BYTES &&
			profile_label_check(PROFILE_LABEL_SERVICE, value, &ignored))
			memcpy(environment->service, value, strlen(value) + 1);
		at = stop + 1;
	}
}
