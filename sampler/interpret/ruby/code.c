/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what names an instruction sequence of Ruby. */
#include "sampler/interpret/ruby/ruby.h"

#include "profile/profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_NAME_BYTES = 512,
	MOST_FILE_BYTES = 1024,
	TEXT_ROOM = 4 * MOST_FILE_BYTES, /* for text whose characters may be replaced by longer ones */
	NAME_ROOM = 4 * TEXT_ROOM,
	MOST_LENGTH = 1 << 24, /* of text that is believed */
	MOST_LINES = 1 << 15,
	MOST_SEARCHES = 8, /* for the loop of a file: memory may have told an address that is in none */
	OBJECT_BYTES = 40,
	BODY_BYTES = RUBY_BODY_FIRST_LINE + 8,
	IMEMO = 0x1a, /* T_IMEMO, the type of what is no object of the program; imemo_iseq of these: */
	IMEMO_SHIFT = 12,
	IMEMO_MASK = 15,
	IMEMO_CODE = 7,
	TEXTS = 2, /* of a copy, behind the code and its body: the name, and the file */
};

struct ruby_code_reader {
	struct interpreter_source source;
	struct buffer name, file;
	struct interpreter_line lines[MOST_LINES];
};

/* The marks in which two pieces of code at the same address differ. All are addresses but the line. */
struct ruby_marks {
	uint64_t body, instructions, path, label, first_line, reserved;
};
_Static_assert(sizeof(struct ruby_marks) == sizeof(struct interpreter_marks), "marks are compared as bytes");

bool ruby_code_reader_create(const struct process_host *host, struct ruby_code_reader **reader, struct error *err)
{
	struct ruby_code_reader *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->source.host = host;
	buffer_init(&made->name, NAME_ROOM);
	buffer_init(&made->file, TEXT_ROOM);
	*reader = made;
	return true;
}

static void ruby_code_destroy_reader(void *context)
{
	struct ruby_code_reader *reader = context;

	buffer_deinit(&reader->name);
	buffer_deinit(&reader->file);
	free(reader);
}

static void ruby_code_use_copy(void *context, const struct ebpf_code *copy)
{
	struct ruby_code_reader *reader = context;

	reader->source.copy = copy;
}

/* ---- Marks ---- */

static bool ruby_code_is_code(uint64_t flags)
{
	return RUBY_TYPE(flags) == IMEMO && (flags >> IMEMO_SHIFT & IMEMO_MASK) == IMEMO_CODE;
}

/* Code of which bodies are read together: what is no code any more has none. */
struct bodies {
	uint64_t addresses[INTERPRETER_MOST_MARKS];
	size_t owners[INTERPRETER_MOST_MARKS]; /* whose they are */
	size_t count;
	uint8_t bytes[INTERPRETER_MOST_MARKS][BODY_BYTES];
};

static struct ruby_marks ruby_code_marks_of(const struct ruby_image *ruby, uint64_t address, const uint8_t *body)
{
	uint64_t first_line = interpreter_word(body, RUBY_BODY_FIRST_LINE);

	return (struct ruby_marks){
		.body = address,
		.instructions = interpreter_word(body, RUBY_BODY_INSTRUCTIONS),
		.path = interpreter_word(body, RUBY_BODY_PATH),
		.label = interpreter_word(body, RUBY_BODY_LABEL),
		.first_line = ruby->has_tagged_first_line ? first_line >> 1 : (uint32_t)first_line,
	};
}

static size_t read_codes(const struct interpreter_source *source, const struct ruby_image *ruby,
	const uint64_t *addresses, size_t count, struct ruby_marks *marks)
{
	uint8_t objects[INTERPRETER_MOST_MARKS][RUBY_CODE_BODY + 8];
	struct bodies bodies = { .count = 0 };
	size_t read = interpreter_source_read_together(source, addresses, count, objects, sizeof(objects[0])),
	       bodies_read;

	for (size_t i = 0; i < read; i++) {
		marks[i] = (struct ruby_marks){ 0 };
		if (ruby_code_is_code(interpreter_word(objects[i], RUBY_OBJECT_FLAGS))) {
			bodies.addresses[bodies.count] = interpreter_word(objects[i], RUBY_CODE_BODY);
			bodies.owners[bodies.count++] = i;
		}
	}
	bodies_read =
		interpreter_source_read_together(source, bodies.addresses, bodies.count, bodies.bytes, BODY_BYTES);
	for (size_t i = 0; i < bodies_read; i++)
		marks[bodies.owners[i]] = ruby_code_marks_of(ruby, bodies.addresses[i], bodies.bytes[i]);
	return bodies_read < bodies.count ? bodies.owners[bodies_read] : read;
}

static size_t ruby_code_read_marks(void *context, const void *image, int32_t pid, const uint64_t *addresses,
	size_t count, struct interpreter_marks *marks)
{
	struct ruby_code_reader *reader = context;
	struct ruby_marks of[INTERPRETER_MOST_MARKS];
	size_t read;

	reader->source.pid = pid;
	read = read_codes(&reader->source, image, addresses, count, of);
	memcpy(marks, of, read * sizeof(*of));
	return read;
}

/* ---- Texts ---- */

/* Reads a string, or its begin. False: it is none, or nothing of it can be read. */
static bool ruby_code_read_text(const struct interpreter_source *source, const struct ruby_image *ruby,
	uint64_t address, size_t most, struct buffer *text)
{
	enum { EMBEDDED_SHIFT = 14, EMBEDDED_MASK = 31 };
	uint8_t object[OBJECT_BYTES];
	char bytes[MOST_FILE_BYTES];
	uint64_t flags, length, at;

	if (address % sizeof(uint64_t) != 0 ||
		interpreter_source_read(source, address, object, sizeof(object)) != sizeof(object))
		return false;
	flags = interpreter_word(object, RUBY_OBJECT_FLAGS);
	length = interpreter_word(object, RUBY_TEXT_LENGTH);
	at = interpreter_word(object, RUBY_TEXT_POINTER);
	if (!(flags & RUBY_IS_APART)) {
		at = address + ruby->read.text;
		/* Before 3.2 the flags have the length of a string whose text is in it. */
		if (ruby->read.text == RUBY_TEXT_LENGTH)
			length = flags >> EMBEDDED_SHIFT & EMBEDDED_MASK;
	}
	if (RUBY_TYPE(flags) != RUBY_STRING || length > MOST_LENGTH)
		return false;
	length = interpreter_source_read(source, at, bytes, length < most ? (size_t)length : most);
	interpreter_append_text(text, bytes, (size_t)length);
	return length > 0;
}

/* A path is a string, or an array of what the program calls the file and of its absolute path, if it has one. */
static bool ruby_code_read_path(
	const struct interpreter_source *source, const struct ruby_image *ruby, uint64_t address, struct buffer *text)
{
	uint8_t object[OBJECT_BYTES];
	uint64_t flags, paths[2], at = address + RUBY_ARRAY;

	if (address % sizeof(uint64_t) != 0 ||
		interpreter_source_read(source, address, object, sizeof(object)) != sizeof(object))
		return false;
	flags = interpreter_word(object, RUBY_OBJECT_FLAGS);
	if (RUBY_TYPE(flags) != RUBY_ARRAY_TYPE)
		return ruby_code_read_text(source, ruby, address, MOST_FILE_BYTES, text);
	if (!(flags & RUBY_IS_APART))
		at = interpreter_word(object, RUBY_ARRAY_POINTER);
	return interpreter_source_read(source, at, paths, sizeof(paths)) == sizeof(paths) &&
	       (ruby_code_read_text(source, ruby, paths[1], MOST_FILE_BYTES, text) ||
		       ruby_code_read_text(source, ruby, paths[0], MOST_FILE_BYTES, text));
}

/* Takes the texts of a copy, which are pieces up to a NUL. */
static void take_copied(const struct ebpf_code *copy, struct buffer *name, struct buffer *file)
{
	const struct ebpf_piece *texts = &copy->pieces[EBPF_CODE_PIECES - TEXTS];

	interpreter_append_text(name, (const char *)texts[0].bytes, texts[0].size);
	interpreter_append_text(file, (const char *)texts[1].bytes, texts[1].size);
}

/* The file of code that eval() made may be called "(eval at FILE:LINE)": cuts the line. */
static void ruby_code_cut_eval(struct buffer *file)
{
	static const char eval[] = "(eval at ";
	size_t end = file->size;

	if (end < sizeof(eval) || strncmp(file->data, eval, sizeof(eval) - 1) != 0 || file->data[end - 1] != ')')
		return;
	for (end--; end > 0 && isdigit((unsigned char)file->data[end - 1]);)
		end--;
	if (end > sizeof(eval) && file->data[end - 1] == ':') {
		file->size = end - 1;
		buffer_append_byte(file, ')');
	}
}

static bool ruby_code_read_texts(
	struct ruby_code_reader *reader, const struct ruby_image *ruby, const struct ruby_marks *marks)
{
	static const char prefix[] = "rb::";
	const struct interpreter_source *source = &reader->source;

	reader->name.size = 0;
	reader->file.size = 0;
	buffer_append_string(&reader->name, prefix);
	if (!marks->body)
		return false;
	if (source->copy)
		take_copied(source->copy, &reader->name, &reader->file);
	else if (!ruby_code_read_text(source, ruby, marks->label, MOST_NAME_BYTES, &reader->name) ||
		 !ruby_code_read_path(source, ruby, marks->path, &reader->file))
		return false;
	return reader->name.size > sizeof(prefix) - 1 && reader->file.size > 0;
}

/* Lines are in no copy: they are read from the process. Where they cannot be, all are unknown. */
static size_t ruby_code_read_lines(
	struct ruby_code_reader *reader, const struct ruby_image *ruby, const struct ruby_marks *marks)
{
	const struct interpreter_source source = { .host = reader->source.host, .pid = reader->source.pid };
	size_t count = ruby_lines_read(ruby, &source, marks->body, marks->instructions, reader->lines, MOST_LINES);

	if (count == 0)
		reader->lines[count++] = (struct interpreter_line){ 0, 0 };
	return count;
}

static bool ruby_code_read_code(void *context, const void *image, int32_t pid, uint64_t address,
	const struct interpreter_marks *told, struct interpreter_code *code, bool *is_gone, struct error *err)
{
	struct ruby_code_reader *reader = context;
	struct ruby_marks marks;

	(void)address;
	memcpy(&marks, told, sizeof(marks));
	reader->source.pid = pid;
	*is_gone = !ruby_code_read_texts(reader, image, &marks);
	if (*is_gone)
		return true;
	ruby_code_cut_eval(&reader->file);
	if (!buffer_ok(&reader->file, err))
		return false;
	buffer_append_byte(&reader->name, ':');
	buffer_append(&reader->name, reader->file.data, reader->file.size);
	if (!buffer_ok(&reader->name, err))
		return false;
	*code = (struct interpreter_code){ .name = reader->name.data,
		.file = reader->file.data,
		.first_line = marks.first_line <= INT32_MAX ? (uint32_t)marks.first_line : 0,
		.lines = reader->lines,
		.line_count = ruby_code_read_lines(reader, image, &marks) };
	return true;
}

const struct interpreter_code_reader ruby_code_reads = {
	.gone = PROFILE_RUBY_GONE,
	.destroy = ruby_code_destroy_reader,
	.use = ruby_code_use_copy,
	.read_marks = ruby_code_read_marks,
	.read = ruby_code_read_code,
};

/* ---- The loop ---- */

bool ruby_find_loop(const struct ruby_image *ruby, uint64_t bias, const struct process_host *host, int32_t pid,
	uint64_t code, struct error *err)
{
	const struct interpreter_source source = { .host = host, .pid = pid };
	struct ruby_loop *loop = ruby->loop;
	struct ruby_marks marks;
	uint64_t executes;

	if (loop->loop.count > 0 || loop->searches == MOST_SEARCHES ||
		read_codes(&source, ruby, &code, 1, &marks) != 1 || !marks.body ||
		interpreter_source_read(&source, marks.instructions, &executes, sizeof(executes)) != sizeof(executes))
		return true;
	loop->searches++;
	return interpreter_loop_find(ruby->elf, executes + bias, &loop->loop, err);
}
