/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/records/tracepoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELD_OFFSET = 256, MAX_FIELD_NAME = 64, MAX_FORMAT_BYTES = 4096 };

/* The number after the text `before`; -1 if that is missing. */
static long number_behind(const char *text, const char *before)
{
	const char *found = text ? strstr(text, before) : NULL;

	return found ? strtol(found + strlen(before), NULL, 10) : -1;
}

/* Parses a line such as "field:pid_t pid; offset:8; size:4; signed:1;". */
bool tracepoint_find_field(const char *format, const char *name, size_t size, uint16_t *offset)
{
	char word[MAX_FIELD_NAME];
	const char *field;
	long at;

	snprintf(word, sizeof(word), " %s;", name);
	field = strstr(format, word);
	at = number_behind(field, "\toffset:");
	if (at < 0 || at > MAX_FIELD_OFFSET || number_behind(field, "\tsize:") != (long)size)
		return false;
	*offset = (uint16_t)at;
	return true;
}

struct tracepoint_switch tracepoint_switch_default(void)
{
	return (struct tracepoint_switch){ .previous_state = 32, .next_tid = 56 };
}

bool tracepoint_find_switch(const void *bytes, size_t size, struct tracepoint_switch *found)
{
	static const char name[] = "name: sched_switch\n";
	const char *at = size > 0 ? memmem(bytes, size, name, strlen(name)) : NULL;
	char format[MAX_FORMAT_BYTES];
	struct tracepoint_switch fields;
	size_t left;

	if (!at)
		return false;
	left = size - (size_t)(at - (const char *)bytes);
	snprintf(format, sizeof(format), "%.*s", (int)(left < sizeof(format) ? left : sizeof(format) - 1), at);
	if (!tracepoint_find_field(format, "prev_state", sizeof(uint64_t), &fields.previous_state) ||
		!tracepoint_find_field(format, "next_pid", sizeof(uint32_t), &fields.next_tid))
		return false;
	*found = fields;
	return true;
}
