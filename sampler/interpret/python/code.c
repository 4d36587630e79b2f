/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/python/code.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_NAME_BYTES = 512,
	MOST_FILE_BYTES = 1024,
	MOST_TABLE_BYTES = 1 << 17,
	MOST_LENGTH = 1 << 24,   /* of text that is believed, in characters */
	MOST_HEADER_BYTES = 256, /* of an object, up to the last member that is read */
	SHORT_TEXT_BYTES = 256,  /* what is read at first */
	SHORT_TABLE_BYTES = 1024,
	PAGE_BYTES = 4096, /* what is mapped at an address is mapped from there to the next multiple */
};

/* The objects that a code object leads to. */
enum { QUALNAME, FILENAME, LINE_TABLE, OBJECTS };

struct object {
	uint64_t address;
	size_t size;          /* that is read */
	const uint8_t *bytes; /* in the room */
};

struct python_code_reader {
	const struct process_host *host;
	const struct ebpf_code *copy; /* that is read in place of the process; NULL: none */
	struct object objects[OBJECTS];
	struct buffer name, file;
	struct interpreter_line lines[MOST_TABLE_BYTES + 1];
	uint8_t room[INTERPRETER_MOST_MARKS * MOST_HEADER_BYTES + 4 * (MOST_NAME_BYTES + MOST_FILE_BYTES) +
		     MOST_TABLE_BYTES];
};

/* The marks in which two code objects at the same address differ. */
struct python_marks {
	uint64_t type, qualname, filename, line_table;
	uint32_t first_line, argument_count, flags, reserved;
};
_Static_assert(sizeof(struct python_marks) == sizeof(struct interpreter_marks), "marks are compared as bytes");

bool python_code_reader_create(const struct process_host *host, struct python_code_reader **reader, struct error *err)
{
	struct python_code_reader *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->host = host;
	buffer_init(&made->name, MOST_NAME_BYTES + MOST_FILE_BYTES + 16);
	buffer_init(&made->file, MOST_FILE_BYTES + 16);
	*reader = made;
	return true;
}

static void python_code_destroy_reader(void *context)
{
	struct python_code_reader *reader = context;

	buffer_deinit(&reader->name);
	buffer_deinit(&reader->file);
	free(reader);
}

static uint32_t code_half(const uint8_t *bytes, uint32_t offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, sizeof(half));
	return half;
}

/* ---- Memory ---- */

static void python_code_use_copy(void *context, const struct ebpf_code *copy)
{
	struct python_code_reader *reader = context;

	reader->copy = copy;
}

static const struct ebpf_piece *python_code_find_piece(const struct ebpf_code *copy, const struct iovec *from)
{
	for (size_t i = 0; i < EBPF_CODE_PIECES; i++)
		if ((uintptr_t)from->iov_base == copy->pieces[i].address)
			return &copy->pieces[i];
	return NULL;
}

/* Reads a piece that the copy has, or has the begin of: what follows in the process belongs to it if that is the same.
 */
static void read_copied(const struct python_code_reader *reader, int32_t pid, const struct iovec *from,
	const struct ebpf_piece *piece, uint8_t *into)
{
	size_t size = from->iov_len < piece->size ? from->iov_len : piece->size;

	if (from->iov_len > size && interpreter_read(reader->host, pid, from, 1, into) == from->iov_len &&
		memcmp(into, piece->bytes, size) == 0)
		return;
	memset(into, 0, from->iov_len);
	memcpy(into, piece->bytes, size);
}

/* Reads pieces one behind the other into the room. Returns how many bytes could be read. */
static size_t python_code_read_pieces(
	struct python_code_reader *reader, int32_t pid, const struct iovec *from, size_t count)
{
	size_t size = 0;

	if (!reader->copy)
		return interpreter_read(reader->host, pid, from, count, reader->room);
	for (size_t i = 0; i < count; size += from[i++].iov_len) {
		const struct ebpf_piece *piece = python_code_find_piece(reader->copy, &from[i]);

		if (!piece)
			break;
		read_copied(reader, pid, &from[i], piece, reader->room + size);
	}
	return size;
}

/* ---- Marks ---- */

/* Returns how much of an object is read, up to the last of its members; 0: more than any version has. */
static size_t bytes_up_to(const uint32_t *offsets, size_t count)
{
	size_t end = 0;

	for (size_t i = 0; i < count; i++)
		if (offsets[i] + sizeof(uint64_t) > end)
			end = offsets[i] + sizeof(uint64_t);
	return end <= MOST_HEADER_BYTES ? end : 0;
}

static struct interpreter_marks python_code_marks_of(const struct python_image *python, const uint8_t *bytes)
{
	const struct python_marks marks = {
		.type = interpreter_word(bytes, python->type),
		.qualname = interpreter_word(bytes, python->qualname),
		.filename = interpreter_word(bytes, python->filename),
		.line_table = interpreter_word(bytes, python->line_table),
		.first_line = code_half(bytes, python->first_line),
		.argument_count = code_half(bytes, python->argument_count),
		.flags = code_half(bytes, python->flags),
	};
	struct interpreter_marks same;

	memcpy(&same, &marks, sizeof(same));
	return same;
}

static size_t python_code_read_marks(void *context, const void *image, int32_t pid, const uint64_t *addresses,
	size_t count, struct interpreter_marks *marks)
{
	struct python_code_reader *reader = context;
	const struct python_image *python = image;
	const uint32_t offsets[] = { python->type, python->qualname, python->filename, python->line_table,
		python->first_line, python->argument_count, python->flags };
	size_t size = bytes_up_to(offsets, sizeof(offsets) / sizeof(*offsets)), read;
	struct iovec from[INTERPRETER_MOST_MARKS];

	if (size == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		from[i] = interpreter_piece(addresses[i], size);
	read = python_code_read_pieces(reader, pid, from, count) / size;
	for (size_t i = 0; i < read; i++)
		marks[i] = python_code_marks_of(python, reader->room + i * size);
	return read;
}

/* ---- Objects ---- */

/* Reads the objects into the room, with one system call. */
static bool read_objects(struct python_code_reader *reader, int32_t pid)
{
	struct iovec from[OBJECTS];
	size_t size = 0;

	for (size_t i = 0; i < OBJECTS; i++) {
		struct object *object = &reader->objects[i];

		from[i] = interpreter_piece(object->address, object->size);
		object->bytes = reader->room + size;
		size += object->size;
	}
	return python_code_read_pieces(reader, pid, from, OBJECTS) == size;
}

/* Returns what can be read of an object without knowing its size: its header, and what follows on the same page. */
static struct object object_at(uint64_t address, size_t header, size_t wish)
{
	size_t on_page = PAGE_BYTES - address % PAGE_BYTES, size = on_page < wish ? on_page : wish;

	return (struct object){ .address = address, .size = size > header ? size : header };
}

/* Text, as a string object has it. */
struct python_text {
	size_t kind;   /* bytes of a character */
	size_t data;   /* offset in bytes */
	size_t length; /* characters that are read */
};

/* False: it is no string. */
static bool python_code_find_text(
	const struct python_image *python, const struct object *object, size_t most, struct python_text *text)
{
	uint32_t state = code_half(object->bytes, python->unicode_state) >> python->unicode_kind_bit;
	uint64_t length = interpreter_word(object->bytes, python->unicode_length);
	bool is_compact = state >> 3 & 1, is_ascii = state >> 4 & 1;

	*text = (struct python_text){ .kind = state & 7,
		.data = is_ascii ? python->unicode_ascii : python->unicode_compact,
		.length = length < most ? (size_t)length : most };
	return is_compact && length <= MOST_LENGTH &&
	       (text->kind == 1 || (!is_ascii && (text->kind == 2 || text->kind == 4)));
}

static uint32_t character_at(const uint8_t *bytes, size_t kind)
{
	uint32_t character = 0;

	memcpy(&character, bytes, kind);
	return character;
}

/*
 * Appends a text up to a NUL, where perf's names end as well. What UTF-8 cannot say, and what ends a line, becomes
 * U+FFFD.
 */
static void python_code_append_text(
	const struct object *object, const struct python_text *text, size_t most, struct buffer *out)
{
	size_t end = out->size + most;

	for (size_t i = 0; i < text->length; i++) {
		uint32_t character = character_at(object->bytes + text->data + i * text->kind, text->kind);

		if (character == 0 || out->size + 4 > end)
			return;
		if (character < 0x20 || character == 0x7f || character > 0x10ffff ||
			(character >= 0xd800 && character <= 0xdfff))
			character = 0xfffd;
		unicode_append(out, character);
	}
}

/* The parts of the three objects that are read, by what their headers tell. */
struct content {
	struct python_text qualname, filename;
	size_t table_bytes;
};

/* False: they are not what a code object leads to. */
static bool find_content(
	const struct python_code_reader *reader, const struct python_image *python, struct content *content)
{
	const struct object *objects = reader->objects;
	uint64_t size = interpreter_word(objects[LINE_TABLE].bytes, python->bytes_size);

	content->table_bytes = size < MOST_TABLE_BYTES ? (size_t)size : MOST_TABLE_BYTES;
	return size <= MOST_LENGTH &&
	       interpreter_word(objects[QUALNAME].bytes, python->type) ==
		       interpreter_word(objects[FILENAME].bytes, python->type) &&
	       python_code_find_text(python, &objects[QUALNAME], MOST_NAME_BYTES, &content->qualname) &&
	       python_code_find_text(python, &objects[FILENAME], MOST_FILE_BYTES, &content->filename);
}

/* Returns whether the objects have more than was read; their sizes are then those that they have. */
static bool want_more(
	struct python_code_reader *reader, const struct python_image *python, const struct content *content)
{
	const size_t sizes[OBJECTS] = {
		[QUALNAME] = content->qualname.data + content->qualname.length * content->qualname.kind,
		[FILENAME] = content->filename.data + content->filename.length * content->filename.kind,
		[LINE_TABLE] = python->bytes_data + content->table_bytes,
	};
	bool is_more = false;

	for (size_t i = 0; i < OBJECTS; i++) {
		is_more = is_more || sizes[i] > reader->objects[i].size;
		if (sizes[i] > reader->objects[i].size)
			reader->objects[i].size = sizes[i];
	}
	return is_more;
}

/* Returns how much the longest header has of what a code object leads to, with a word that follows. */
static size_t object_header_bytes(const struct python_image *python)
{
	const uint32_t offsets[] = { python->type, python->unicode_state, python->unicode_length, python->unicode_ascii,
		python->unicode_compact, python->bytes_size, python->bytes_data };

	return bytes_up_to(offsets, sizeof(offsets) / sizeof(*offsets));
}

bool python_text_append(const struct python_image *python, const uint8_t *bytes, size_t size, struct buffer *text)
{
	const struct object object = { .size = size, .bytes = bytes };
	size_t header = object_header_bytes(python);
	struct python_text found;

	if (header == 0 || header > size || !python_code_find_text(python, &object, size, &found) || found.data > size)
		return false;
	if (found.length > (size - found.data) / found.kind)
		found.length = (size - found.data) / found.kind;
	python_code_append_text(&object, &found, MOST_NAME_BYTES, text);
	return true;
}

static bool read_content(struct python_code_reader *reader, const struct python_image *python, int32_t pid,
	const struct python_marks *marks, struct content *content)
{
	size_t header = object_header_bytes(python);
	struct content again;

	if (header == 0)
		return false;
	reader->objects[QUALNAME] = object_at(marks->qualname, header, SHORT_TEXT_BYTES);
	reader->objects[FILENAME] = object_at(marks->filename, header, SHORT_TEXT_BYTES);
	reader->objects[LINE_TABLE] = object_at(marks->line_table, header, SHORT_TABLE_BYTES);
	if (!read_objects(reader, pid) || !find_content(reader, python, content))
		return false;
	if (!want_more(reader, python, content))
		return true;
	/* What they tell now has to fit what was read by what they told before. */
	if (!read_objects(reader, pid) || !find_content(reader, python, &again) || want_more(reader, python, &again))
		return false;
	*content = again;
	return true;
}

static bool python_code_read_code(void *context, const void *image, int32_t pid, uint64_t address,
	const struct interpreter_marks *told, struct interpreter_code *code, bool *is_gone, struct error *err)
{
	struct python_code_reader *reader = context;
	const struct python_image *python = image;
	const struct object *objects = reader->objects;
	struct python_marks marks;
	struct content content;

	(void)address;
	memcpy(&marks, told, sizeof(marks));
	*is_gone = !read_content(reader, python, pid, &marks, &content);
	if (*is_gone)
		return true;
	reader->name.size = 0;
	reader->file.size = 0;
	python_code_append_text(&objects[FILENAME], &content.filename, MOST_FILE_BYTES, &reader->file);
	buffer_append_byte(&reader->file, '\0');
	buffer_append_string(&reader->name, "py::");
	python_code_append_text(&objects[QUALNAME], &content.qualname, MOST_NAME_BYTES, &reader->name);
	buffer_append_byte(&reader->name, ':');
	if (!buffer_ok(&reader->file, err))
		return false;
	buffer_append_string(&reader->name, reader->file.data);
	if (!buffer_ok(&reader->name, err))
		return false;
	*code = (struct interpreter_code){ .name = reader->name.data,
		.file = reader->file.data,
		.first_line = marks.first_line <= INT32_MAX ? marks.first_line : 0,
		.lines = reader->lines };
	code->line_count = python_lines_decode(
		objects[LINE_TABLE].bytes + python->bytes_data, content.table_bytes, code->first_line, reader->lines);
	return true;
}

const struct interpreter_code_reader python_code_reads = {
	.gone = PROFILE_PYTHON_GONE,
	.destroy = python_code_destroy_reader,
	.use = python_code_use_copy,
	.read_marks = python_code_read_marks,
	.read = python_code_read_code,
};
