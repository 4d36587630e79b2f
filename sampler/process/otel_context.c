/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/otel_context.h"

#include <string.h>
#include <sys/uio.h>

enum { HEADER_BYTES = 32, PUBLISHED_OFFSET = 16, VERSION = 2, MAX_MESSAGE_BYTES = 1 << 16, TRIES = 3, MAX_HEADERS = 8 };
enum { MAX_MAPS_BYTES = 1 << 24 };

const char *const otel_context_labels[OTEL_CONTEXT_VALUES] = {
	[OTEL_CONTEXT_SERVICE] = PROFILE_LABEL_SERVICE,
	[OTEL_CONTEXT_VERSION] = PROFILE_LABEL_VERSION,
	[OTEL_CONTEXT_ENVIRONMENT] = PROFILE_LABEL_ENVIRONMENT,
};

static const char *const attribute_names[OTEL_CONTEXT_VALUES] = {
	[OTEL_CONTEXT_SERVICE] = "service.name",
	[OTEL_CONTEXT_VERSION] = "service.version",
	[OTEL_CONTEXT_ENVIRONMENT] = "deployment.environment.name",
};

/* ---- The message ---- */

/* A field of a protobuf message (protobuf.dev, "Encoding"). */
struct otel_field {
	uint64_t id;
	bool has_bytes;
	struct byte_reader bytes;
};

/* Reads the next field; false at the end, and where the message is malformed. */
static bool next_field(struct byte_reader *message, struct otel_field *field)
{
	uint64_t tag, size;

	if (byte_reader_left(message) == 0)
		return false;
	tag = byte_reader_uleb128(message);
	*field = (struct otel_field){ .id = tag >> 3, .has_bytes = (tag & 7) == 2 };
	switch (tag & 7) {
	case 0:
		byte_reader_uleb128(message);
		break;
	case 1:
		byte_reader_skip(message, sizeof(uint64_t));
		break;
	case 2:
		size = byte_reader_uleb128(message);
		field->bytes = byte_reader_split(message, size);
		break;
	case 5:
		byte_reader_skip(message, sizeof(uint32_t));
		break;
	default:
		return false;
	}
	return byte_reader_ok(message);
}

/* Finds the content of the first field with this number that has bytes; false if there is none. */
static bool find_bytes(struct byte_reader message, uint64_t id, struct byte_reader *bytes)
{
	struct otel_field field;

	while (next_field(&message, &field)) {
		*bytes = field.bytes;
		if (field.id == id && field.has_bytes)
			return true;
	}
	return false;
}

static bool otel_context_is_text(const struct byte_reader *bytes, const char *text)
{
	return byte_reader_left(bytes) == strlen(text) && memcmp(bytes->start, text, strlen(text)) == 0;
}

/* An attribute is a KeyValue: 1 the key, 2 an AnyValue, of which 1 is a text. */
static void take_attribute(struct byte_reader attribute, struct otel_context *context)
{
	enum { KEY = 1, VALUE = 2, TEXT = 1 };
	struct byte_reader key, value, text;
	char taken[PROFILE_LABEL_VALUE_BYTES + 1] = "";
	struct error ignored;

	if (!find_bytes(attribute, KEY, &key) || !find_bytes(attribute, VALUE, &value) ||
		!find_bytes(value, TEXT, &text) || byte_reader_left(&text) >= sizeof(taken))
		return;
	memcpy(taken, text.start, byte_reader_left(&text));
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		if (otel_context_is_text(&key, attribute_names[i]) && strlen(taken) == byte_reader_left(&text) &&
			profile_label_check(otel_context_labels[i], taken, &ignored))
			memcpy(context->values[i], taken, sizeof(taken));
}

/*
 * Takes field 1 of each message. In a Resource it is an attribute, which has a value in field 2; in a ProcessContext it
 * is a Resource, whose field 2 is a number.
 */
static void take_message(struct byte_reader message, struct otel_context *context)
{
	enum { FIRST = 1, VALUE = 2 };
	struct otel_field outer, inner;
	struct byte_reader value;

	while (next_field(&message, &outer)) {
		if (outer.id != FIRST || !outer.has_bytes)
			continue;
		if (find_bytes(outer.bytes, VALUE, &value)) {
			take_attribute(outer.bytes, context);
			continue;
		}
		while (next_field(&outer.bytes, &inner))
			if (inner.id == FIRST && inner.has_bytes)
				take_attribute(inner.bytes, context);
	}
}

/* ---- The header ---- */

struct otel_header {
	uint32_t message_bytes;
	uint64_t published_ns, message;
};

static bool otel_context_read_header(
	const struct otel_context_memory *memory, uint64_t address, struct otel_header *header)
{
	static const char signature[] = "OTEL_CTX";
	uint8_t bytes[HEADER_BYTES];
	struct byte_reader reader = byte_reader_over(bytes, sizeof(bytes));
	const uint8_t *begin;
	uint32_t version;

	if (!memory->read(memory->context, address, bytes, sizeof(bytes)))
		return false;
	begin = byte_reader_bytes(&reader, sizeof(signature) - 1);
	version = byte_reader_u32(&reader);
	header->message_bytes = byte_reader_u32(&reader);
	header->published_ns = byte_reader_u64(&reader);
	header->message = byte_reader_u64(&reader);
	return memcmp(begin, signature, sizeof(signature) - 1) == 0 && version == VERSION &&
	       header->message_bytes > 0 && header->message_bytes <= MAX_MESSAGE_BYTES;
}

static bool otel_context_is_unchanged(
	const struct otel_context_memory *memory, uint64_t address, const struct otel_header *header)
{
	uint64_t published_ns;

	return memory->read(memory->context, address + PUBLISHED_OFFSET, &published_ns, sizeof(published_ns)) &&
	       published_ns == header->published_ns;
}

bool otel_context_at(const struct otel_context_memory *memory, uint64_t address, struct otel_context *context)
{
	CLEANUP(cleanup_free) uint8_t *message = malloc(MAX_MESSAGE_BYTES);
	struct otel_header header;

	for (int i = 0; message && i < TRIES; i++) {
		if (!otel_context_read_header(memory, address, &header))
			return false;
		if (header.published_ns == 0 ||
			!memory->read(memory->context, header.message, message, header.message_bytes) ||
			!otel_context_is_unchanged(memory, address, &header))
			continue;
		*context = (struct otel_context){ 0 };
		take_message(byte_reader_over(message, header.message_bytes), context);
		return true;
	}
	return false;
}

/* ---- A running process ---- */

bool otel_context_is_name(const char *path)
{
	/* As the kernel shows a memfd, one that was named by prctl(2), and memory without a file that was named so. */
	static const char *const names[] = { "/memfd:OTEL_CTX", "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = strlen(names[i]);

		/* A memfd has no name in a file system, so that " (deleted)" follows. */
		if (strncmp(path, names[i], size) == 0 && (path[size] == '\0' || path[size] == ' '))
			return true;
	}
	return false;
}

struct headers {
	uint64_t addresses[MAX_HEADERS];
	size_t count;
};

static bool otel_context_take_entry(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	struct headers *headers = context;

	(void)err;
	if (headers->count < MAX_HEADERS && otel_context_is_name(entry->mapping.path))
		headers->addresses[headers->count++] = entry->mapping.start;
	return true;
}

static void find_headers(struct process_reader *reader, int32_t pid, struct headers *headers)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct error ignored;
	bool is_denied;

	*headers = (struct headers){ 0 };
	buffer_init(&text, MAX_MAPS_BYTES);
	(void)process_reader_maps(reader, pid, &text, &is_denied);
	/* What is behind the last whole line did not arrive. */
	while (text.size > 0 && text.data[text.size - 1] != '\n')
		text.data[--text.size] = '\0';
	if (text.size > 0)
		(void)!elf_maps_parse(text.data, pid, otel_context_take_entry, headers, &ignored);
}

struct process_memory {
	struct process_reader *reader;
	int32_t pid;
};

static bool read_process_memory(void *context, uint64_t address, void *into, size_t size)
{
	const struct process_memory *memory = context;
	struct iovec here = { into, size }, there = { (void *)(uintptr_t)address, size };

	return process_reader_memory(memory->reader, memory->pid, &here, &there, 1) == (ssize_t)size;
}

bool otel_context_of(struct process_reader *reader, int32_t pid, struct otel_context *context)
{
	struct process_memory process = { reader, pid };
	const struct otel_context_memory memory = { read_process_memory, &process };
	struct headers headers;

	find_headers(reader, pid, &headers);
	for (size_t i = 0; i < headers.count; i++)
		if (otel_context_at(&memory, headers.addresses[i], context))
			return true;
	return false;
}
