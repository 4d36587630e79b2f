/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_fixture.h"

#include "recording/interpret/hotspot/code.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/*
 * A HotSpot in a piece of memory: one code heap with a compiled method and a stub, and the method. Offsets are those of
 * JDK 17, where they matter, and the places of things are chosen here.
 */
enum {
	START = 0x100000,
	BYTES = 0x10000,
	VERSION = 17,

	HEAPS = START + 0x100,      /* the static field */
	HEAP_ARRAY = START + 0x140, /* GrowableArray<CodeHeap*> */
	HEAP_DATA = START + 0x160,
	HEAP = START + 0x200, /* CodeHeap */
	SEGMAP = START + 0x400,
	METHOD = START + 0x600,
	CONST_METHOD = START + 0x700,
	POOL = START + 0x800,
	TAGS = START + 0x900,
	KLASS = START + 0xa00,
	SYMBOLS = START + 0xb00, /* 0x40 each */
	NAMES = START + 0xd00,

	CODE = START + 0x1000, /* of the heap: 64 segments */
	SEGMENT_SHIFT = 7,
	SEGMENTS = 64,
	NMETHOD_SEGMENT = 2,
	STUB_SEGMENT = 40,
	BLOCK_HEAD = 16,
	NMETHOD = CODE + (NMETHOD_SEGMENT << SEGMENT_SHIFT) + BLOCK_HEAD,
	STUB = CODE + (STUB_SEGMENT << SEGMENT_SHIFT) + BLOCK_HEAD,
	NMETHOD_CODE = NMETHOD + 0x180,
	METADATA_AT = 0x300,
	SCOPES_AT = 0x310,
	PCS_AT = 0x320,
	DEPENDENCIES_AT = 0x350,
	NMETHOD_BYTES = 0x360,
};

static const struct hotspot_layout layout = {
	.code_cache_heaps = HEAPS,
	.array_length = { 0, 4 },
	.array_data = { 4, 8 },
	.growable_length = { 0, 4 },
	.growable_data = { 8, 8 },
	.space_low = { 16, 8 },
	.space_high_boundary = { 8, 8 },
	.heap_memory = { 8, 8 },
	.heap_segmap = { 120, 8 },
	.heap_log2_segment_size = { 256, 4 },
	.block_used = { 8, 1 },
	.blob_name = { 96, 8 },
	.blob_size = { 12, 4 },
	.blob_code_begin = { 32, 8 },
	.blob_code_end = { 40, 8 },
	.nmethod_method = { 112, 8 },
	.nmethod_compile_id = { 304, 4 },
	.nmethod_scopes_pcs_offset = { 268, 4 },
	.nmethod_scopes_data_begin = { 120, 8 },
	.nmethod_dependencies_offset = { 272, 4 },
	.nmethod_metadata_offset = { 260, 4 },
	.pc_desc_pc_offset = { 0, 4 },
	.pc_desc_scope_decode_offset = { 4, 4 },
	.method_const_method = { 8, 8 },
	.const_method_constants = { 8, 8 },
	.const_method_flags = { 28, 2 },
	.const_method_code_size = { 32, 2 },
	.const_method_name_index = { 34, 2 },
	.const_method_signature_index = { 36, 2 },
	.const_method_size = { 24, 4 },
	.pool_tags = { 8, 8 },
	.pool_holder = { 24, 8 },
	.pool_length = { 60, 4 },
	.pool_source_file_name_index = { 54, 2 },
	.klass_name = { 24, 8 },
	.symbol_length = { 4, 2 },
	.symbol_body = { 6, 8 },
	.heap_block_bytes = BLOCK_HEAD,
	.blob_bytes = 104,
	.nmethod_bytes = 352,
	.pc_desc_bytes = 16,
	.method_bytes = 88,
	.const_method_bytes = 48,
	.pool_bytes = 72,
	.has_line_numbers = 1,
	.tag_utf8 = 1,
};

struct jvm {
	struct fixture *fixture;
	struct process_host_functions functions;
	struct process_host host;
	struct interpreter_names names;
	struct hotspot_costs costs;
	size_t debug_bytes;
	struct hotspot_target target;
	struct hotspot_codes codes;
	struct hotspot_methods methods;
	bool is_gone;
	size_t reads;
	uint8_t memory[BYTES];
};

static ssize_t read_memory(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	struct jvm *jvm = context;
	size_t done = 0;

	assert_int_equal(pid, PID);
	jvm->reads++;
	for (size_t i = 0; i < from_count; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base - START;
		size_t size = from[i].iov_len;

		assert_true(done + size <= into->iov_len);
		if (jvm->is_gone || at >= BYTES)
			break;
		if (size > BYTES - at) {
			memcpy((char *)into->iov_base + done, jvm->memory + at, BYTES - at);
			return (ssize_t)(done + BYTES - at);
		}
		memcpy((char *)into->iov_base + done, jvm->memory + at, size);
		done += size;
	}
	return done > 0 ? (ssize_t)done : -1;
}

static void put(struct jvm *jvm, uint64_t address, uint64_t value, size_t size)
{
	memcpy(jvm->memory + (address - START), &value, size);
}

static void put_symbol(struct jvm *jvm, size_t number, const char *text)
{
	uint64_t symbol = SYMBOLS + number * 0x40;

	put(jvm, symbol + layout.symbol_length.offset, strlen(text), 2);
	memcpy(jvm->memory + (symbol + layout.symbol_body.offset - START), text, strlen(text));
	put(jvm, POOL + layout.pool_bytes + number * 8, symbol, 8);
	put(jvm, TAGS + layout.array_data.offset + number, layout.tag_utf8, 1);
}

static void put_method(struct jvm *jvm)
{
	static const uint8_t lines[] = { 0xff, 0, 2 * 40, 5 << 3 | 2, 0 };

	put(jvm, METHOD + layout.method_const_method.offset, CONST_METHOD, 8);
	put(jvm, CONST_METHOD + layout.const_method_constants.offset, POOL, 8);
	put(jvm, CONST_METHOD + layout.const_method_flags.offset, layout.has_line_numbers, 2);
	put(jvm, CONST_METHOD + layout.const_method_code_size.offset, 10, 2);
	put(jvm, CONST_METHOD + layout.const_method_name_index.offset, 1, 2);
	put(jvm, CONST_METHOD + layout.const_method_signature_index.offset, 2, 2);
	put(jvm, CONST_METHOD + layout.const_method_size.offset, 16, 4);
	memcpy(jvm->memory + (CONST_METHOD + layout.const_method_bytes + 10 - START), lines, sizeof(lines));
	put(jvm, POOL + layout.pool_tags.offset, TAGS, 8);
	put(jvm, POOL + layout.pool_holder.offset, KLASS, 8);
	put(jvm, POOL + layout.pool_length.offset, 5, 4);
	put(jvm, POOL + layout.pool_source_file_name_index.offset, 3, 2);
	put(jvm, KLASS + layout.klass_name.offset, SYMBOLS + 4 * 0x40, 8);
	put_symbol(jvm, 1, "run");
	put_symbol(jvm, 2, "(I)V");
	put_symbol(jvm, 3, "Work.java");
	put_symbol(jvm, 4, "org/Work");
}

static void put_block(struct jvm *jvm, size_t segment, size_t bytes)
{
	size_t count = (bytes + BLOCK_HEAD + (1 << SEGMENT_SHIFT) - 1) >> SEGMENT_SHIFT;

	for (size_t i = 0; i < count; i++)
		put(jvm, SEGMAP + segment + i, i, 1);
	put(jvm, CODE + (segment << SEGMENT_SHIFT) + layout.block_used.offset, 1, 1);
}

static void put_blob(struct jvm *jvm, uint64_t blob, uint64_t code, uint64_t end, const char *name)
{
	static uint64_t next_name;

	next_name = blob == NMETHOD ? NAMES : NAMES + 0x40;
	strcpy((char *)jvm->memory + (next_name - START), name);
	put(jvm, blob + layout.blob_name.offset, next_name, 8);
	put(jvm, blob + layout.blob_size.offset, end - blob, 4);
	put(jvm, blob + layout.blob_code_begin.offset, code, 8);
	put(jvm, blob + layout.blob_code_end.offset, end, 8);
}

static void put_code(struct jvm *jvm)
{
	/* Scope at 1: of no caller, the first method, bytecode 6. */
	static const uint8_t scopes[] = { 0xff, 0, 1, 7 };
	static const int32_t descs[][4] = { { -1, 0 }, { 0x20, 1 }, { INT32_MAX, 0 } };

	memset(jvm->memory + (SEGMAP - START), 0xff, SEGMENTS);
	put(jvm, HEAPS, HEAP_ARRAY, 8);
	put(jvm, HEAP_ARRAY, 1, 4);
	put(jvm, HEAP_ARRAY + 8, HEAP_DATA, 8);
	put(jvm, HEAP_DATA, HEAP, 8);
	put(jvm, HEAP + 8 + 16, CODE, 8);
	put(jvm, HEAP + 8 + 8, CODE + (SEGMENTS << SEGMENT_SHIFT), 8);
	put(jvm, HEAP + 120 + 16, SEGMAP, 8);
	put(jvm, HEAP + 256, SEGMENT_SHIFT, 4);
	put_block(jvm, NMETHOD_SEGMENT, NMETHOD_BYTES);
	put_blob(jvm, NMETHOD, NMETHOD_CODE, NMETHOD + METADATA_AT, "nmethod");
	put(jvm, NMETHOD + layout.blob_size.offset, NMETHOD_BYTES, 4);
	put(jvm, NMETHOD + layout.nmethod_method.offset, METHOD, 8);
	put(jvm, NMETHOD + layout.nmethod_compile_id.offset, 12, 4);
	put(jvm, NMETHOD + layout.nmethod_metadata_offset.offset, METADATA_AT, 4);
	put(jvm, NMETHOD + layout.nmethod_scopes_data_begin.offset, NMETHOD + SCOPES_AT, 8);
	put(jvm, NMETHOD + layout.nmethod_scopes_pcs_offset.offset, PCS_AT, 4);
	put(jvm, NMETHOD + layout.nmethod_dependencies_offset.offset, DEPENDENCIES_AT, 4);
	put(jvm, NMETHOD + METADATA_AT, METHOD, 8);
	memcpy(jvm->memory + (NMETHOD + SCOPES_AT - START), scopes, sizeof(scopes));
	memcpy(jvm->memory + (NMETHOD + PCS_AT - START), descs, sizeof(descs));
	put_block(jvm, STUB_SEGMENT, 0x200);
	put_blob(jvm, STUB, STUB + 0x80, STUB + 0x200, "StubRoutines (1)");
}

static int setup(void **state)
{
	struct jvm *jvm = calloc(1, sizeof(*jvm));
	void *fixture;

	assert_non_null(jvm);
	fixture_setup(&fixture);
	jvm->fixture = fixture;
	jvm->functions = *jvm->fixture->table.host.functions;
	jvm->functions.read_memory = read_memory;
	jvm->host = (struct process_host){ &jvm->functions, jvm };
	jvm->costs = (struct hotspot_costs){ .reads_left = 1 << 24, .debug_bytes = &jvm->debug_bytes };
	interpreter_names_init(&jvm->names, &jvm->fixture->table);
	jvm->target = (struct hotspot_target){ { &jvm->host, PID, &jvm->costs }, layout, VERSION, &jvm->names, 1 };
	hotspot_codes_init(&jvm->codes, &jvm->target);
	hotspot_methods_init(&jvm->methods, &jvm->target);
	put_method(jvm);
	put_code(jvm);
	*state = jvm;
	return 0;
}

static int teardown(void **state)
{
	struct jvm *jvm = *state;
	void *fixture = jvm->fixture;

	hotspot_codes_deinit(&jvm->codes);
	hotspot_methods_deinit(&jvm->methods);
	interpreter_names_deinit(&jvm->names);
	fixture_teardown(&fixture);
	free(jvm);
	return 0;
}

/* ---- What is asked ---- */

static const struct hotspot_method *method_at(struct jvm *jvm, uint64_t address)
{
	struct hotspot_method *method;
	struct error err;

	assert_true(hotspot_methods_find(&jvm->methods, address, &method, &err));
	return method;
}

static const char *function_name(const struct jvm *jvm, uint32_t function)
{
	const struct profile *profile = jvm->fixture->profile;

	return function == PROFILE_NONE ? NULL : profile_string(profile, profile->functions[function].name);
}

static uint32_t code_at(struct jvm *jvm, uint64_t address)
{
	struct error err;
	uint32_t id;

	hotspot_codes_read_heaps(&jvm->codes);
	assert_true(hotspot_codes_find(&jvm->codes, address, &id, &err));
	return id;
}

static size_t scopes_at(struct jvm *jvm, uint64_t pc, struct hotspot_scopes *scopes)
{
	struct error err;

	assert_true(hotspot_code_scopes(&jvm->codes, code_at(jvm, NMETHOD_CODE), pc, scopes, &err));
	return scopes->count;
}

/* ---- Methods ---- */

static void test_method(void **state)
{
	struct jvm *jvm = *state;
	const struct hotspot_method *method = method_at(jvm, METHOD);
	const struct profile_function *function = &jvm->fixture->profile->functions[method->function];

	assert_string_equal(function_name(jvm, method->function), "void org.Work.run(int)");
	assert_string_equal(profile_string(jvm->fixture->profile, function->file), "Work.java");
	assert_int_equal(function->start_line, 40);
	assert_int_equal(hotspot_method_line(method, &jvm->target, 4), 40);
	assert_int_equal(hotspot_method_line(method, &jvm->target, 5), 42);
	assert_int_equal(hotspot_method_line(method, &jvm->target, -1), 40);
}

static void test_method_is_read_once(void **state)
{
	struct jvm *jvm = *state;
	size_t reads;

	method_at(jvm, METHOD);
	reads = jvm->reads;
	method_at(jvm, METHOD);
	assert_int_equal(jvm->reads, reads);
	jvm->target.round++;
	method_at(jvm, METHOD);
	assert_int_equal(jvm->reads, reads + 1);
}

static void test_method_in_the_place_of_another(void **state)
{
	struct jvm *jvm = *state;

	method_at(jvm, METHOD);
	put(jvm, CONST_METHOD + layout.const_method_name_index.offset, 4, 2);
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.run(int)");
	jvm->target.round++;
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.org/Work(int)");
	jvm->is_gone = true;
	jvm->target.round++;
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.org/Work(int)");
}

static void test_reads_and_names_are_paid_for(void **state)
{
	struct jvm *jvm = *state;

	jvm->costs.reads_left = 0;
	assert_null(function_name(jvm, method_at(jvm, METHOD)->function));
	jvm->costs.reads_left = 100;
	jvm->target.round++;
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.run(int)");
	assert_true(jvm->costs.reads_left < 100);
	assert_int_equal(jvm->names.bytes, strlen("void org.Work.run(int)Work.java"));
	put(jvm, CONST_METHOD + layout.const_method_name_index.offset, 4, 2);
	jvm->names.bytes = 1 << 28;
	jvm->target.round++;
	assert_null(function_name(jvm, method_at(jvm, METHOD)->function));
}

static void test_methods_that_are_none(void **state)
{
	static const struct {
		uint64_t address, value;
		size_t size;
	} damage[] = {
		{ METHOD + 8, 0, 8 },
		{ METHOD + 8, UINT64_MAX - 3, 8 },
		{ METHOD + 8, START + BYTES - 8, 8 },
		{ CONST_METHOD + 8, START - 8, 8 },
		{ CONST_METHOD + 34, 5, 2 }, /* beyond the pool */
		{ CONST_METHOD + 36, 65535, 2 },
		{ POOL + 8, UINT64_MAX, 8 },
		{ POOL + 24, 1, 8 },
		{ TAGS + 4 + 1, 7, 1 },                  /* a class */
		{ POOL + 72 + 8, START + BYTES - 2, 8 }, /* a symbol that ends where memory does */
		{ SYMBOLS + 0x40 + 4, 65535, 2 },
		{ SYMBOLS + 0x40 + 4, 0, 2 },
		{ SYMBOLS + 2 * 0x40 + 6, 'x', 1 }, /* no signature */
		{ KLASS + 24, 0, 8 },
	};

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		struct jvm *jvm;
		void *own = NULL;

		setup(&own);
		jvm = own;
		put(jvm, damage[i].address, damage[i].value, damage[i].size);
		assert_null(function_name(jvm, method_at(jvm, METHOD)->function));
		teardown(&own);
	}
}

static void test_method_without_file(void **state)
{
	struct jvm *jvm = *state;
	uint32_t function;

	put(jvm, POOL + layout.pool_source_file_name_index.offset, 999, 2);
	function = method_at(jvm, METHOD)->function;
	assert_string_equal(function_name(jvm, function), "void org.Work.run(int)");
	assert_string_equal(profile_string(jvm->fixture->profile, jvm->fixture->profile->functions[function].file), "");
}

/* ---- Code ---- */

static void test_code(void **state)
{
	struct jvm *jvm = *state;
	struct hotspot_scopes scopes;
	uint32_t id = code_at(jvm, NMETHOD_CODE);

	assert_int_equal(jvm->codes.items[id].method, METHOD);
	assert_int_equal(code_at(jvm, NMETHOD_CODE + 0x100), id);
	assert_int_equal(code_at(jvm, NMETHOD + 8), PROFILE_NONE);
	assert_int_equal(code_at(jvm, CODE), PROFILE_NONE);
	assert_int_equal(code_at(jvm, START), PROFILE_NONE);
	assert_int_equal(scopes_at(jvm, NMETHOD_CODE + 0x20, &scopes), 1);
	assert_int_equal(scopes.items[0].method, METHOD);
	assert_int_equal(scopes.items[0].bci, 6);
	assert_int_equal(scopes_at(jvm, NMETHOD_CODE + 0x21, &scopes), 0);
	id = code_at(jvm, STUB + 0x80);
	assert_int_equal(jvm->codes.items[id].method, 0);
	assert_string_equal(function_name(jvm, jvm->codes.items[id].function), "StubRoutines (1)");
}

static void test_code_in_the_place_of_another(void **state)
{
	struct jvm *jvm = *state;
	struct hotspot_scopes scopes;
	uint32_t id = code_at(jvm, NMETHOD_CODE);

	assert_int_equal(scopes_at(jvm, NMETHOD_CODE, &scopes), 1);
	put(jvm, NMETHOD + layout.nmethod_method.offset, 0x77777778, 8);
	put(jvm, NMETHOD + layout.nmethod_compile_id.offset, 13, 4);
	put(jvm, NMETHOD + METADATA_AT, 0x77777778, 8);
	assert_int_equal(jvm->codes.items[code_at(jvm, NMETHOD_CODE)].method, METHOD);
	jvm->target.round++;
	assert_int_equal(code_at(jvm, NMETHOD_CODE), id);
	assert_int_equal(jvm->codes.items[id].method, 0x77777778);
	assert_int_equal(scopes_at(jvm, NMETHOD_CODE, &scopes), 1);
	assert_int_equal(scopes.items[0].method, 0x77777778);
	put(jvm, NMETHOD - BLOCK_HEAD + layout.block_used.offset, 0, 1);
	jvm->target.round++;
	assert_int_equal(code_at(jvm, NMETHOD_CODE), PROFILE_NONE);
}

static void test_code_of_a_process_that_is_gone(void **state)
{
	struct jvm *jvm = *state;
	uint32_t id = code_at(jvm, NMETHOD_CODE);

	jvm->is_gone = true;
	jvm->target.round++;
	assert_int_equal(code_at(jvm, NMETHOD_CODE + 4), id);
	assert_int_equal(code_at(jvm, STUB + 0x80), PROFILE_NONE);
}

static void test_segments_that_lead_nowhere(void **state)
{
	struct jvm *jvm = *state;

	/* Before the heap's start; from one to another for ever is not possible, since each leads down. */
	put(jvm, SEGMAP + 3, 200, 1);
	assert_int_equal(code_at(jvm, CODE + (3 << SEGMENT_SHIFT)), PROFILE_NONE);
	put(jvm, HEAP + 120 + 16, START + BYTES - 2, 8);
	assert_int_equal(code_at(jvm, NMETHOD_CODE), PROFILE_NONE);
	put(jvm, HEAP + 256, 63, 4);
	assert_int_equal(code_at(jvm, NMETHOD_CODE), PROFILE_NONE);
	put(jvm, HEAP_ARRAY, UINT32_MAX, 4);
	assert_int_equal(code_at(jvm, NMETHOD_CODE), PROFILE_NONE);
}

static void test_debug_information_that_is_none(void **state)
{
	static const struct {
		uint32_t offset, value;
	} damage[] = { { 268, 0x7fffffff }, { 268, 0x80000000 }, { 272, 0 }, { 272, 0x7fffffff }, { 120, 0 },
		{ 260, 0x80000000 }, { 260, 0x318 }, { 12, 0 } };

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		struct hotspot_scopes scopes;
		struct jvm *jvm;
		void *own = NULL;

		setup(&own);
		jvm = own;
		put(jvm, NMETHOD + damage[i].offset, damage[i].value, 4);
		for (uint64_t at = 0; at < 0x40; at++)
			scopes_at(jvm, NMETHOD_CODE + at, &scopes);
		teardown(&own);
	}
}

/* Memory of words that point at each other: whatever it says, each question has an end. */
static void test_memory_that_means_harm(void **state)
{
	struct jvm *jvm = *state;
	struct hotspot_scopes scopes;
	uint64_t random = 88172645463325252;

	for (int turn = 0; turn < 300; turn++) {
		for (int i = 0; i < 40; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			put(jvm, START + 0x100 + random % 0x1800 / 4 * 4, START + (random >> 20) % BYTES,
				(random >> 50) % 2 ? 8 : 2);
		}
		for (uint64_t address = CODE; address < CODE + (SEGMENTS << SEGMENT_SHIFT); address += 0x70) {
			struct error err;
			uint32_t id = code_at(jvm, address);

			if (id == PROFILE_NONE || jvm->codes.items[id].method == 0)
				continue;
			method_at(jvm, jvm->codes.items[id].method);
			assert_true(hotspot_code_scopes(&jvm->codes, id, address, &scopes, &err));
		}
		method_at(jvm, METHOD);
		jvm->target.round++;
	}
}

#define JVM_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JVM_TEST(test_method),
		JVM_TEST(test_method_is_read_once),
		JVM_TEST(test_method_in_the_place_of_another),
		JVM_TEST(test_reads_and_names_are_paid_for),
		cmocka_unit_test(test_methods_that_are_none),
		JVM_TEST(test_method_without_file),
		JVM_TEST(test_code),
		JVM_TEST(test_code_in_the_place_of_another),
		JVM_TEST(test_code_of_a_process_that_is_gone),
		JVM_TEST(test_segments_that_lead_nowhere),
		cmocka_unit_test(test_debug_information_that_is_none),
		JVM_TEST(test_memory_that_means_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
