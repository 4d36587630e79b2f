/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/java_name.h"

#include "profile/language.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

struct class_name {
	const char *start, *end; /* half-open; start NULL: no class */
};

/* The class in `Ljava/util/HashMap;`, before the method. */
static struct class_name class_of_descriptor(const char *name)
{
	const char *end = strchr(name, ';');

	if (name[0] != 'L' || !end || end == name + 1 || memchr(name, ' ', (size_t)(end - name)))
		return (struct class_name){ 0 };
	return (struct class_name){ name + 1, end };
}

/*
 * The class in `result package.Class.method(arguments)`; profilers that omit the arguments separate packages by
 * slashes.
 */
static struct class_name class_of_signature(const char *name)
{
	const char *end = name + strcspn(name, "("), *start = name, *method = NULL;

	for (const char *c = name; c < end; c++) {
		if (*c == ':')
			return (struct class_name){ 0 };
		if (*c == ' ') {
			start = c + 1;
			method = NULL;
		} else if (*c == '.') {
			method = c;
		}
	}
	if (!method || method == start || (*end != '(' && !memchr(start, '/', (size_t)(method - start))))
		return (struct class_name){ 0 };
	return (struct class_name){ start, method };
}

static struct class_name class_of(const char *name)
{
	struct class_name found = class_of_descriptor(name);

	if (!found.start)
		found = class_of_signature(name);
	if (found.start && !isalpha((unsigned char)*found.start) && *found.start != '_' && *found.start != '$')
		return (struct class_name){ 0 };
	return found;
}

static bool is_in_package(struct class_name class, const char *package)
{
	const char *c = class.start;

	for (; *package && c < class.end; package++, c++)
		if (*c != *package && !(*c == '/' && *package == '.'))
			return false;
	return *package == '\0';
}

bool profile_java_is_method(const char *name)
{
	return class_of(name).start != NULL;
}

bool profile_java_is_standard(const char *name)
{
	const char *const *packages = profile_languages[PROFILE_LANGUAGE_JAVA].standard_packages;
	struct class_name class = class_of(name);

	for (; class.start && *packages; packages++)
		if (is_in_package(class, *packages))
			return true;
	return false;
}
