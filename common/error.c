/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *err, enum error_code code, const char *format, ...)
{
	va_list args;

	err->code = code;
	err->system_errno = 0;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return false;
}

static enum error_code code_of_errno(int system_errno)
{
	switch (system_errno) {
	case EACCES:
	case EPERM:
		return ERROR_PERMISSION;
	case ENOENT:
	case ESRCH:
		return ERROR_NOT_FOUND;
	case ENOMEM:
		return ERROR_MEMORY;
	default:
		return ERROR_SYSTEM;
	}
}

bool error_set_errno(struct error *err, int system_errno, const char *format, ...)
{
	char text[128];
	size_t size;
	va_list args;

	err->code = code_of_errno(system_errno);
	err->system_errno = system_errno;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	size = strlen(err->message);
	/* GNU strerror_r() is thread-safe and always returns a text. */
	snprintf(
		err->message + size, sizeof(err->message) - size, ": %s", strerror_r(system_errno, text, sizeof(text)));
	return false;
}

bool error_set_memory(struct error *err)
{
	return error_set(err, ERROR_MEMORY, "out of memory");
}

bool error_prefix(struct error *err, const char *format, ...)
{
	char prefixed[ERROR_MESSAGE_SIZE];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(prefixed, sizeof(prefixed), format, args);
	va_end(args);
	if (size >= 0 && (size_t)size < sizeof(prefixed))
		snprintf(prefixed + size, sizeof(prefixed) - (size_t)size, ": %s", err->message);
	memcpy(err->message, prefixed, sizeof(prefixed));
	return false;
}
