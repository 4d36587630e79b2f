/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pprof_bytes.h"
#include "profile_fixture.h"

#include <string.h>

enum { MAX_BYTES = 1 << 24, WIRE_NUMBER = 0, WIRE_BYTES = 2 };

void pprof_number(struct buffer *message, uint32_t field, uint64_t value)
{
	buffer_append_varint(message, field << 3 | WIRE_NUMBER);
	buffer_append_varint(message, value);
}

void pprof_text(struct buffer *message, uint32_t field, const void *bytes, size_t size)
{
	buffer_append_varint(message, field << 3 | WIRE_BYTES);
	buffer_append_varint(message, size);
	if (size)
		buffer_append(message, bytes, size);
}

/* Adds a message to another and empties it. */
static void add_message(struct buffer *to, uint32_t field, struct buffer *message)
{
	pprof_text(to, field, message->data, message->size);
	buffer_deinit(message);
}

static struct buffer new_message(void)
{
	struct buffer message;

	buffer_init(&message, MAX_BYTES);
	return message;
}

void pprof_bytes_init(struct pprof_bytes *p)
{
	*p = (struct pprof_bytes){ .file = new_message(), .strings = new_message() };
	pprof_string(p, "");
}

void pprof_bytes_deinit(struct pprof_bytes *p)
{
	buffer_deinit(&p->file);
	buffer_deinit(&p->strings);
}

int64_t pprof_string(struct pprof_bytes *p, const char *string)
{
	pprof_text(&p->strings, PPROF_STRING, string, strlen(string));
	return p->string_count++;
}

void pprof_value_type(struct pprof_bytes *p, enum pprof_field field, const char *type, const char *unit)
{
	struct buffer message = new_message();

	pprof_number(&message, 1, (uint64_t)pprof_string(p, type));
	pprof_number(&message, 2, (uint64_t)pprof_string(p, unit));
	add_message(&p->file, field, &message);
}

void pprof_mapping(struct pprof_bytes *p, uint64_t id, uint64_t start, const char *path, const char *build_id)
{
	struct buffer message = new_message();

	pprof_number(&message, 1, id);
	pprof_number(&message, 2, start);
	pprof_number(&message, 3, start + 0x100000);
	pprof_number(&message, 5, (uint64_t)pprof_string(p, path));
	pprof_number(&message, 6, (uint64_t)pprof_string(p, build_id));
	add_message(&p->file, PPROF_MAPPING, &message);
}

void pprof_function(struct pprof_bytes *p, uint64_t id, const char *name)
{
	struct buffer message = new_message();

	pprof_number(&message, 1, id);
	pprof_number(&message, 2, (uint64_t)pprof_string(p, name));
	add_message(&p->file, PPROF_FUNCTION, &message);
}

void pprof_location(struct pprof_bytes *p, uint64_t id, uint64_t mapping, uint64_t address, const uint64_t *functions)
{
	struct buffer message = new_message();

	pprof_number(&message, 1, id);
	pprof_number(&message, 2, mapping);
	pprof_number(&message, 3, address);
	for (; *functions; functions++) {
		struct buffer line = new_message();

		pprof_number(&line, 1, *functions);
		pprof_number(&line, 2, 7);
		add_message(&message, 4, &line);
	}
	add_message(&p->file, PPROF_LOCATION, &message);
}

static void add_numbers(
	struct pprof_bytes *p, struct buffer *message, uint32_t field, const uint64_t *numbers, size_t count)
{
	struct buffer column = new_message();

	for (size_t i = 0; i < count; i++) {
		if (p->packed)
			buffer_append_varint(&column, numbers[i]);
		else
			pprof_number(message, field, numbers[i]);
	}
	if (p->packed)
		add_message(message, field, &column);
}

void pprof_sample(struct pprof_bytes *p, const struct pprof_sample *sample)
{
	struct buffer message = new_message();
	size_t depth = 0;

	while (depth < PPROF_MAX_DEPTH && sample->locations[depth])
		depth++;
	add_numbers(p, &message, 1, sample->locations, depth);
	add_numbers(p, &message, 2, (const uint64_t *)sample->values, sample->value_count);
	for (size_t i = 0; i < 4 && sample->labels[i].key; i++) {
		struct buffer label = new_message();

		pprof_number(&label, 1, (uint64_t)pprof_string(p, sample->labels[i].key));
		if (sample->labels[i].string)
			pprof_number(&label, 2, (uint64_t)pprof_string(p, sample->labels[i].string));
		pprof_number(&label, 3, (uint64_t)sample->labels[i].number);
		add_message(&message, 3, &label);
	}
	add_message(&p->file, PPROF_SAMPLE, &message);
}

void pprof_finish(struct pprof_bytes *p)
{
	buffer_append(&p->file, p->strings.data, p->strings.size);
}

struct profile *pprof_read(struct pprof_bytes *p)
{
	struct profile *profile;

	pprof_finish(p);
	profile = read_profile(p->file.data, p->file.size);
	pprof_bytes_deinit(p);
	return profile;
}

void pprof_refuse(struct pprof_bytes *p, const char *words)
{
	pprof_finish(p);
	expect_refused(p->file.data, p->file.size, ERROR_FORMAT, words);
	pprof_bytes_deinit(p);
}
