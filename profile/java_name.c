/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/java_name.h"

#include "profile/language.h"
#include "profile/spelling.h"

#include <ctype.h>
#include <string.h>

struct class_name {
	const char *start, *end; /* half-open; start NULL: no class */
};

/* Returns the class in `Ljava/util/HashMap;`, before the method. */
static struct class_name class_of_descriptor(const char *name)
{
	const char *end = strchr(name, ';');

	if (name[0] != 'L' || !end || end == name + 1 || memchr(name, ' ', (size_t)(end - name)))
		return (struct class_name){ 0 };
	return (struct class_name){ name + 1, end };
}

/*
 * Returns the class in `result package.Class.method(arguments)`; profilers that omit the arguments separate packages by
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

/* Returns where the name of the class begins behind its package. */
static const char *simple_name(struct class_name class)
{
	const char *simple = class.start, *end = class.start;

	/* `Shop$$Lambda$9/0x00007ff0f4000a08`: what follows the slash is an address. */
	while (end < class.end && strncmp(end, "/0x", 3) != 0)
		end++;
	for (const char *c = class.start; c + 1 < end; c++)
		if (*c == '.' || *c == '/')
			simple = c + 1;
	return simple;
}

/* Returns the end of a class's name without the number and the address of one that is made at run time. */
static const char *end_without_number(const char *simple, const char *end)
{
	static const char lambda[] = "$$Lambda";
	const char *mark = memmem(simple, (size_t)(end - simple), lambda, sizeof(lambda) - 1), *address;

	if (mark)
		return mark + sizeof(lambda) - 1;
	address = memmem(simple, (size_t)(end - simple), "/0x", 3);
	return address ? address : end;
}

/* Appends types without their packages. */
static void append_types(const char *types, const char *end, struct buffer *out)
{
	while (types < end) {
		size_t size = strcspn(types, ",()[] ");
		const char *dot;

		size = size < (size_t)(end - types) ? size : (size_t)(end - types);
		dot = memrchr(types, '.', size);
		if (dot && dot + 1 < types + size) {
			size -= (size_t)(dot + 1 - types);
			types = dot + 1;
		}
		size += types + size < end;
		buffer_append(out, types, size);
		types += size;
	}
}

void profile_java_shown(const char *name, struct buffer *out)
{
	const char *end = name + profile_bare_size(name), *simple, *method, *arguments;
	struct class_name class = class_of(name);

	if (!class.start) {
		buffer_append_string(out, name);
		return;
	}
	simple = simple_name(class);
	buffer_append(out, simple, (size_t)(end_without_number(simple, class.end) - simple));
	method = class.end + strspn(class.end, ".;:");
	arguments = memchr(method, '(', (size_t)(end - method));
	buffer_append_byte(out, '.');
	buffer_append(out, method, (size_t)((arguments ? arguments : end) - method));
	/* Descriptors are for machines. */
	if (arguments && *class.end == '.')
		append_types(arguments, end, out);
}

void profile_java_package(const char *name, struct buffer *out)
{
	struct class_name class = class_of(name);

	for (const char *c = class.start, *end = class.start ? simple_name(class) - 1 : c; c < end; c++)
		buffer_append_byte(out, *c == '/' ? '.' : (uint8_t)*c);
}
