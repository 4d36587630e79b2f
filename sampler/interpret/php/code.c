/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what names a function of PHP. */
#include "sampler/interpret/php/php.h"

#include "profile/profile.h"
#include "sampler/interpret/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_NAME_BYTES = 512, /* of a function, and of its class */
	MOST_FILE_BYTES = 1024,
	TEXT_ROOM = 4 * MOST_FILE_BYTES, /* for text whose characters may be replaced by longer ones */
	NAME_ROOM = 4 * TEXT_ROOM,
	MOST_LENGTH = 1 << 24, /* of text that is believed */
	/* zend_function, from its type up to what names an internal function */
	FUNCTION_BYTES = PHP_FUNCTION_SCOPE + 8,
	SOURCE_BYTES = 16, /* filename, line_start and line_end */
	EVAL_CODE = 4,     /* ZEND_EVAL_CODE */
};

struct php_code_reader {
	struct interpreter_source source;
	struct buffer function, class, file, name;
};

/* The marks in which two functions at the same address differ. */
struct php_marks {
	uint64_t kind, function, class, file; /* `kind`: type, arg_flags, fn_flags; the others are addresses */
	uint32_t first_line, last_line;
	uint64_t reserved;
};
_Static_assert(sizeof(struct php_marks) == sizeof(struct interpreter_marks), "marks are compared as bytes");

bool php_code_reader_create(const struct process_host *host, struct php_code_reader **reader, struct error *err)
{
	struct php_code_reader *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->source.host = host;
	buffer_init(&made->function, TEXT_ROOM);
	buffer_init(&made->class, TEXT_ROOM);
	buffer_init(&made->file, TEXT_ROOM);
	buffer_init(&made->name, NAME_ROOM);
	*reader = made;
	return true;
}

static void php_code_destroy_reader(void *context)
{
	struct php_code_reader *reader = context;

	buffer_deinit(&reader->function);
	buffer_deinit(&reader->class);
	buffer_deinit(&reader->file);
	buffer_deinit(&reader->name);
	free(reader);
}

static void php_code_use_copy(void *context, const struct ebpf_code *copy)
{
	struct php_code_reader *reader = context;

	reader->source.copy = copy;
}

/* ---- Marks ---- */

/* The sources of functions of the program, which are read together. */
struct php_sources {
	uint64_t addresses[INTERPRETER_MOST_MARKS];
	size_t owners[INTERPRETER_MOST_MARKS]; /* whose they are */
	size_t count;
	uint8_t bytes[INTERPRETER_MOST_MARKS][SOURCE_BYTES];
};

static void php_code_take_source(struct php_marks *marks, const uint8_t *source)
{
	marks->file = interpreter_word(source, 0);
	memcpy(&marks->first_line, source + sizeof(uint64_t), sizeof(marks->first_line));
	memcpy(&marks->last_line, source + sizeof(uint64_t) + sizeof(uint32_t), sizeof(marks->last_line));
}

static size_t php_code_read_functions(const struct php_code_reader *reader, const struct php_image *php,
	const uint64_t *addresses, size_t count, struct php_marks *marks)
{
	const struct interpreter_source *source = &reader->source;
	uint8_t functions[INTERPRETER_MOST_MARKS][FUNCTION_BYTES];
	struct php_sources sources = { .count = 0 };
	size_t read = interpreter_source_read_together(source, addresses, count, functions, FUNCTION_BYTES),
	       sources_read;

	for (size_t i = 0; i < read; i++) {
		marks[i] = (struct php_marks){ .kind = interpreter_word(functions[i], PHP_FUNCTION_TYPE),
			.function = interpreter_word(functions[i], PHP_FUNCTION_NAME),
			.class = interpreter_word(functions[i], PHP_FUNCTION_SCOPE) };
		if (PHP_IS_USER_CODE(marks[i].kind)) {
			sources.addresses[sources.count] = addresses[i] + php->read.filename;
			sources.owners[sources.count++] = i;
		}
	}
	sources_read =
		interpreter_source_read_together(source, sources.addresses, sources.count, sources.bytes, SOURCE_BYTES);
	for (size_t i = 0; i < sources_read; i++)
		php_code_take_source(&marks[sources.owners[i]], sources.bytes[i]);
	return sources_read < sources.count ? sources.owners[sources_read] : read;
}

static size_t php_code_read_marks(void *context, const void *image, int32_t pid, const uint64_t *addresses,
	size_t count, struct interpreter_marks *marks)
{
	struct php_code_reader *reader = context;
	struct php_marks of[INTERPRETER_MOST_MARKS];
	size_t read;

	reader->source.pid = pid;
	read = php_code_read_functions(reader, image, addresses, count, of);
	memcpy(marks, of, read * sizeof(*of));
	return read;
}

/* ---- Texts ---- */

/* Reads a zend_string, or its begin. False: it is none, or nothing of it can be read: no name is empty. */
static bool php_code_read_text(const struct php_code_reader *reader, uint64_t address, size_t most, struct buffer *text)
{
	char bytes[MOST_FILE_BYTES];
	uint64_t length;
	size_t size;

	if (interpreter_source_read(&reader->source, address + PHP_TEXT_LENGTH, &length, sizeof(length)) !=
			sizeof(length) ||
		length > MOST_LENGTH)
		return false;
	size = length < most ? (size_t)length : most;
	size = interpreter_source_read(&reader->source, address + PHP_TEXT, bytes, size);
	interpreter_append_text(text, bytes, size);
	return text->size > 0;
}

static bool read_class(const struct php_code_reader *reader, uint64_t class, struct buffer *text)
{
	const struct ebpf_code *copy = reader->source.copy;
	uint64_t name;

	if (copy)
		name = copy->pieces[EBPF_CODE_PIECES - 1].address;
	else if (interpreter_source_read(&reader->source, class + PHP_CLASS_NAME, &name, sizeof(name)) != sizeof(name))
		return false;
	return php_code_read_text(reader, name, MOST_NAME_BYTES, text);
}

/* ---- Names ---- */

static const char *php_code_text_of(const struct buffer *text)
{
	return text->size > 0 ? text->data : "";
}

/* The file of code that eval() made is "FILE(LINE) : eval()'d code": cuts all but FILE. */
static void php_code_cut_eval(struct buffer *file)
{
	char *end = file->size > 0 ? strstr(file->data, ") : eval()'d code") : NULL, *at = end;

	while (at && at > file->data && isdigit((unsigned char)at[-1]))
		at--;
	if (at && at > file->data && at < end && at[-1] == '(') {
		file->size = (size_t)(at - 1 - file->data);
		file->data[file->size] = '\0';
	}
}

/* The end of "WHERE:LINE}", without the line; NULL: there is no line. */
static const char *end_of_place(const char *place)
{
	for (const char *colon = strchr(place, ':'); colon; colon = strchr(colon + 1, ':')) {
		size_t digits = strspn(colon + 1, "0123456789");

		if (digits > 0 && colon[1 + digits] == '}')
			return colon;
	}
	return NULL;
}

/*
 * Appends a function's name without lines. Since 8.4 a function without a name is {closure:WHERE:LINE}, where WHERE is
 * the function around it, which may be another one, or its file. Before it is {closure} with its namespace.
 */
static void php_code_append_function(struct buffer *out, const char *function, const char *file)
{
	static const char closure[] = "{closure:";
	const char *place = NULL, *end;

	for (const char *at = strstr(function, closure); at; at = strstr(place, closure))
		place = at + sizeof(closure) - 1;
	end = place ? end_of_place(place) : NULL;
	if (end && strncmp(place, file, strlen(file)) != 0) {
		buffer_append_string(out, closure);
		buffer_append(out, place, (size_t)(end - place));
		buffer_append_byte(out, '}');
	} else {
		buffer_append_string(out, place || strstr(function, "{closure}") ? "{closure}" : function);
	}
}

/* Returns whether the name says in which class a function without a name is, as it does since 8.4. */
static bool has_class(const char *function)
{
	return strncmp(function, "{closure:", 9) == 0;
}

static void php_code_append_name(struct php_code_reader *reader, const struct php_marks *marks)
{
	const char *function = php_code_text_of(&reader->function), *file = php_code_text_of(&reader->file);
	struct buffer *name = &reader->name;

	buffer_append_string(name, "php::");
	if (reader->class.size > 0 && !has_class(function)) {
		buffer_append(name, reader->class.data, reader->class.size);
		buffer_append_string(name, "::");
	}
	if (reader->function.size > 0)
		php_code_append_function(name, function, file);
	else
		buffer_append_string(name, (marks->kind & 0xff) == EVAL_CODE ? "{eval}" : "{main}");
	buffer_append_byte(name, ':');
	buffer_append_string(name, PHP_IS_USER_CODE(marks->kind) ? file : PROFILE_PHP_INTERNAL_FILE);
}

static bool php_code_read_texts(struct php_code_reader *reader, const struct php_marks *marks)
{
	struct buffer *const texts[] = { &reader->function, &reader->class, &reader->file, &reader->name };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		texts[i]->size = 0;
	if ((marks->function && !php_code_read_text(reader, marks->function, MOST_NAME_BYTES, &reader->function)) ||
		(marks->class && !read_class(reader, marks->class, &reader->class)) ||
		(PHP_IS_USER_CODE(marks->kind) &&
			!php_code_read_text(reader, marks->file, MOST_FILE_BYTES, &reader->file)))
		return false;
	/* A function of C code has a name, code of the program a file. */
	return PHP_IS_USER_CODE(marks->kind) ? reader->file.size > 0 : reader->function.size > 0;
}

static bool php_code_read_code(void *context, const void *image, int32_t pid, uint64_t address,
	const struct interpreter_marks *told, struct interpreter_code *code, bool *is_gone, struct error *err)
{
	struct php_code_reader *reader = context;
	struct php_marks marks;

	(void)image;
	(void)address;
	memcpy(&marks, told, sizeof(marks));
	reader->source.pid = pid;
	*is_gone = !php_code_read_texts(reader, &marks);
	if (*is_gone)
		return true;
	if (!buffer_ok(&reader->function, err) || !buffer_ok(&reader->class, err) || !buffer_ok(&reader->file, err))
		return false;
	php_code_cut_eval(&reader->file);
	php_code_append_name(reader, &marks);
	if (!buffer_ok(&reader->name, err))
		return false;
	*code = (struct interpreter_code){ .name = reader->name.data,
		.file = php_code_text_of(&reader->file),
		.first_line = marks.first_line <= INT32_MAX ? marks.first_line : 0 };
	return true;
}

const struct interpreter_code_reader php_code_reads = {
	.gone = PROFILE_PHP_GONE,
	.destroy = php_code_destroy_reader,
	.use = php_code_use_copy,
	.read_marks = php_code_read_marks,
	.read = php_code_read_code,
};
