/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/otel_context.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* OpenTelemetry's process contexts, made by hand: in bytes, and in our own memory as a service publishes them. */

enum { VERSION = 2, HEADER_AT = 0x1000, MESSAGE_AT = 0x5000, RESOURCE = 1, ATTRIBUTE = 1 };

static void append_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t size)
{
	buffer_append_varint(out, (uint64_t)field << 3 | 2);
	buffer_append_varint(out, size);
	buffer_append(out, bytes, size);
}

/* A KeyValue with a text, as field 1 of a Resource. */
static void append_attribute(struct buffer *out, const char *key, const char *text, size_t size)
{
	CLEANUP(buffer_deinit) struct buffer value = { 0 }, attribute = { 0 };

	buffer_init(&value, 1 << 20);
	buffer_init(&attribute, 1 << 20);
	append_bytes(&value, 1, text, size);
	append_bytes(&attribute, 1, key, strlen(key));
	append_bytes(&attribute, 2, value.data, value.size);
	append_bytes(out, ATTRIBUTE, attribute.data, attribute.size);
}

static void append_text(struct buffer *out, const char *key, const char *text)
{
	append_attribute(out, key, text, strlen(text));
}

/* An attribute whose value is a number. */
static void append_number(struct buffer *out, const char *key)
{
	CLEANUP(buffer_deinit) struct buffer attribute = { 0 };

	buffer_init(&attribute, 1 << 20);
	append_bytes(&attribute, 1, key, strlen(key));
	append_bytes(&attribute, 2, (const uint8_t[]){ 3 << 3, 7 }, 2);
	append_bytes(out, ATTRIBUTE, attribute.data, attribute.size);
}

/* dropped_attributes_count of the Resource. */
static void append_dropped(struct buffer *out)
{
	buffer_append_varint(out, 2 << 3);
	buffer_append_varint(out, 300);
}

static struct buffer resource(void)
{
	struct buffer made;

	buffer_init(&made, 1 << 20);
	append_text(&made, "telemetry.sdk.name", "opentelemetry");
	append_text(&made, "service.name", "checkout");
	append_number(&made, "process.pid");
	append_text(&made, "service.version", "4.2.1");
	append_dropped(&made);
	append_text(&made, "deployment.environment.name", "production");
	return made;
}

/* A process of two pieces of memory. `change` is called before each read of the header. */
struct fake_memory {
	uint8_t header[32];
	const uint8_t *message;
	size_t message_bytes;
	int reads; /* of the header or a part of it */
	void (*change)(struct fake_memory *memory);
};

static bool read_fake(void *context, uint64_t address, void *into, size_t size)
{
	struct fake_memory *memory = context;

	if (address >= HEADER_AT && address - HEADER_AT < sizeof(memory->header)) {
		memory->reads++;
		if (memory->change)
			memory->change(memory);
		if (size > sizeof(memory->header) - (address - HEADER_AT))
			return false;
		memcpy(into, memory->header + (address - HEADER_AT), size);
		return true;
	}
	if (address != MESSAGE_AT || size > memory->message_bytes)
		return false;
	memcpy(into, memory->message, size);
	return true;
}

struct header_values {
	uint32_t version, message_bytes;
	uint64_t published_ns, message;
};

static void set_header(struct fake_memory *memory, const struct header_values *values)
{
	memcpy(memory->header, "OTEL_CTX", 8);
	memcpy(memory->header + 8, &values->version, 4);
	memcpy(memory->header + 12, &values->message_bytes, 4);
	memcpy(memory->header + 16, &values->published_ns, 8);
	memcpy(memory->header + 24, &values->message, 8);
}

static struct fake_memory fake_with(const struct buffer *message)
{
	struct fake_memory memory = { .message = (const uint8_t *)message->data, .message_bytes = message->size };

	set_header(&memory, &(struct header_values){ VERSION, (uint32_t)message->size, 1, MESSAGE_AT });
	return memory;
}

static bool read_context(struct fake_memory *memory, struct otel_context *context)
{
	const struct otel_context_memory reads = { read_fake, memory };

	return otel_context_at(&reads, HEADER_AT, context);
}

static void expect_context(struct fake_memory *memory)
{
	struct otel_context context;

	assert_true(read_context(memory, &context));
	assert_string_equal(context.values[OTEL_CONTEXT_SERVICE], "checkout");
	assert_string_equal(context.values[OTEL_CONTEXT_VERSION], "4.2.1");
	assert_string_equal(context.values[OTEL_CONTEXT_ENVIRONMENT], "production");
}

static void a_resource_is_read(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = resource();
	struct fake_memory memory = fake_with(&message);

	expect_context(&memory);
}

static void a_resource_in_a_process_context_is_read(void **state)
{
	CLEANUP(buffer_deinit) struct buffer inner = resource(), message = { 0 };
	struct fake_memory memory;

	buffer_init(&message, 1 << 20);
	append_bytes(&message, RESOURCE, inner.data, inner.size);
	append_bytes(&message, 2, "extra", 5);
	memory = fake_with(&message);
	expect_context(&memory);
}

static void every_truncation_is_harmless(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = resource();

	for (size_t size = 1; size < message.size; size++) {
		/* Memory of its own, so that a read past the end is found. */
		CLEANUP(cleanup_free) char *cut = malloc(size);
		struct buffer part = { .data = cut, .size = size };
		struct fake_memory memory;
		struct otel_context context;

		assert_non_null(cut);
		memcpy(cut, message.data, size);
		memory = fake_with(&part);
		assert_true(read_context(&memory, &context));
		assert_string_equal(context.values[OTEL_CONTEXT_ENVIRONMENT], "");
	}
}

static void every_changed_byte_is_harmless(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = resource();

	for (size_t at = 0; at < message.size; at++)
		for (int value = 0; value < 256; value++) {
			char before = message.data[at];
			struct fake_memory memory;
			struct otel_context context;

			message.data[at] = (char)value;
			memory = fake_with(&message);
			assert_true(read_context(&memory, &context));
			message.data[at] = before;
		}
}

static void what_is_no_context_is_passed_over(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = resource();
	uint32_t size = (uint32_t)message.size;
	const struct header_values wrong[] = { { 1, size, 1, MESSAGE_AT }, { 3, size, 1, MESSAGE_AT },
		{ VERSION, 0, 1, MESSAGE_AT }, { VERSION, UINT32_MAX, 1, MESSAGE_AT },
		{ VERSION, (1 << 16) + 1, 1, MESSAGE_AT }, { VERSION, size + 1, 1, MESSAGE_AT },
		{ VERSION, size, 0, MESSAGE_AT }, { VERSION, size, 1, 0 }, { VERSION, size, 1, UINT64_MAX } };
	struct fake_memory memory = fake_with(&message);
	struct otel_context context;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		set_header(&memory, &wrong[i]);
		assert_false(read_context(&memory, &context));
	}
	memory = fake_with(&message);
	memory.header[7] = 'x';
	assert_false(read_context(&memory, &context));
}

/* The message is the header, which is no message: nothing is said. */
static void a_header_may_point_to_itself(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = resource();
	struct fake_memory memory = fake_with(&message);
	struct otel_context context;

	set_header(&memory, &(struct header_values){ VERSION, sizeof(memory.header), 1, HEADER_AT });
	assert_true(read_context(&memory, &context));
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		assert_string_equal(context.values[i], "");
}

/* A second publication while the first one is read. */
static void change_once(struct fake_memory *memory)
{
	if (memory->reads == 2)
		memory->header[16]++;
}

static void change_always(struct fake_memory *memory)
{
	memory->header[16]++;
	memory->header[17] = 1;
}

static void be_busy_once(struct fake_memory *memory)
{
	memory->header[16] = memory->reads > 1;
}

static void a_context_that_changes_is_read_again(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = resource();
	struct fake_memory memory = fake_with(&message);
	struct otel_context context;

	memory.change = change_once;
	expect_context(&memory);
	assert_int_equal(memory.reads, 4);
	memory = fake_with(&message);
	memory.change = be_busy_once;
	expect_context(&memory);
	memory = fake_with(&message);
	memory.change = change_always;
	assert_false(read_context(&memory, &context));
	assert_int_equal(memory.reads, 6);
}

static void values_that_are_no_labels_are_left_out(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = { 0 };
	char longest[PROFILE_LABEL_VALUE_BYTES + 1];
	struct fake_memory memory;
	struct otel_context context;

	memset(longest, 'v', sizeof(longest));
	buffer_init(&message, 1 << 20);
	append_attribute(&message, "service.name", longest, sizeof(longest));
	append_attribute(&message, "service.version", "4\0002", 3);
	append_text(&message, "deployment.environment.name", "\x1b[2J");
	append_text(&message, "service.names", "checkout");
	append_number(&message, "service.name");
	memory = fake_with(&message);
	assert_true(read_context(&memory, &context));
	for (size_t i = 0; i < OTEL_CONTEXT_VALUES; i++)
		assert_string_equal(context.values[i], "");
	append_attribute(&message, "service.name", longest, sizeof(longest) - 1);
	memory = fake_with(&message);
	assert_true(read_context(&memory, &context));
	assert_int_equal(strlen(context.values[OTEL_CONTEXT_SERVICE]), PROFILE_LABEL_VALUE_BYTES);
}

static void mappings_are_known_by_their_names(void **state)
{
	assert_true(otel_context_is_name("/memfd:OTEL_CTX (deleted)"));
	assert_true(otel_context_is_name("/memfd:OTEL_CTX"));
	assert_true(otel_context_is_name("[anon_shmem:OTEL_CTX]"));
	assert_true(otel_context_is_name("[anon:OTEL_CTX]"));
	assert_false(otel_context_is_name("/memfd:OTEL_CTX2 (deleted)"));
	assert_false(otel_context_is_name("/tmp/memfd:OTEL_CTX"));
	assert_false(otel_context_is_name("[heap]"));
	assert_false(otel_context_is_name(""));
}

static void our_own_context_is_found(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message = resource();
	CLEANUP(cleanup_close) int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct fake_memory made = fake_with(&message);
	struct process_reader *reader;
	struct otel_context context;
	struct error err;
	char *page;

	assert_true(process_reader_create(&reader, &err));
	assert_false(otel_context_of(reader, getpid(), &context));
	assert_int_equal(ftruncate(fd, 4096), 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	set_header(&made,
		&(struct header_values){ VERSION, (uint32_t)message.size, 1, (uint64_t)(uintptr_t)message.data });
	memcpy(page, made.header, sizeof(made.header));
	assert_true(otel_context_of(reader, getpid(), &context));
	assert_string_equal(context.values[OTEL_CONTEXT_SERVICE], "checkout");
	assert_string_equal(context.values[OTEL_CONTEXT_ENVIRONMENT], "production");
	munmap(page, 4096);
	assert_false(otel_context_of(reader, getpid(), &context));
	process_reader_destroy(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_resource_is_read),
		cmocka_unit_test(a_resource_in_a_process_context_is_read),
		cmocka_unit_test(every_truncation_is_harmless),
		cmocka_unit_test(every_changed_byte_is_harmless),
		cmocka_unit_test(what_is_no_context_is_passed_over),
		cmocka_unit_test(a_header_may_point_to_itself),
		cmocka_unit_test(a_context_that_changes_is_read_again),
		cmocka_unit_test(values_that_are_no_labels_are_left_out),
		cmocka_unit_test(mappings_are_known_by_their_names),
		cmocka_unit_test(our_own_context_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
