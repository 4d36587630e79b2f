/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hotspot_fixture.h"

#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

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
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_name_index.offset, 4, 2);
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.run(int)");
	jvm->target.round++;
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.org/Work(int)");
	jvm->is_gone = true;
	jvm->target.round++;
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.org/Work(int)");
}

static void own(struct jvm *jvm, int32_t pid, uint64_t account)
{
	struct process_table *table = &jvm->fixture->table;
	struct process *process;
	struct error err;

	assert_true(process_table_get(table, pid, &process, &err));
	process->owner = owners_find(&table->owners, account);
}

/* When an account has used up its reads, a JVM of another one is read. */
static void test_an_account_pays_for_all_of_its_reads(void **state)
{
	struct jvm *jvm = *state;
	struct hotspot_costs costs = { .reads_left = UINT32_MAX, .table = &jvm->fixture->table };
	struct hotspot_memory memory = { &jvm->host, PID, &costs };
	const struct iovec piece = interpreter_piece(METHOD, sizeof(uint64_t));
	uint64_t word;
	unsigned int reads = 0;

	own(jvm, PID, 54321);
	while (hotspot_read_together(&memory, &piece, 1, &word) > 0 && ++reads < 4 * OWNER_MOST_READS)
		;
	assert_in_range(reads, OWNER_MOST_READS, 2 * OWNER_MOST_READS);
	own(jvm, PID, 1000);
	jvm->costs.table = &jvm->fixture->table;
	assert_string_equal(function_name(jvm, method_at(jvm, METHOD)->function), "void org.Work.run(int)");
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
	assert_true(jvm->names.bytes.held > strlen("void org.Work.run(int)Work.java"));
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_name_index.offset, 4, 2);
	jvm->names.bytes.most = jvm->names.bytes.held;
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

		hotspot_fixture_setup(&own);
		jvm = own;
		hotspot_fixture_put(jvm, damage[i].address, damage[i].value, damage[i].size);
		assert_null(function_name(jvm, method_at(jvm, METHOD)->function));
		hotspot_fixture_teardown(&own);
	}
}

static void test_method_without_file(void **state)
{
	struct jvm *jvm = *state;
	uint32_t function;

	hotspot_fixture_put(jvm, POOL + hotspot_fixture_layout.pool_source_file_name_index.offset, 999, 2);
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
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.nmethod_method.offset, 0x77777778, 8);
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.nmethod_compile_id.offset, 13, 4);
	hotspot_fixture_put(jvm, NMETHOD + METADATA_AT, 0x77777778, 8);
	assert_int_equal(jvm->codes.items[code_at(jvm, NMETHOD_CODE)].method, METHOD);
	jvm->target.round++;
	assert_int_equal(code_at(jvm, NMETHOD_CODE), id);
	assert_int_equal(jvm->codes.items[id].method, 0x77777778);
	assert_int_equal(scopes_at(jvm, NMETHOD_CODE, &scopes), 1);
	assert_int_equal(scopes.items[0].method, 0x77777778);
	hotspot_fixture_put(jvm, NMETHOD - BLOCK_HEAD + hotspot_fixture_layout.block_used.offset, 0, 1);
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
	hotspot_fixture_put(jvm, SEGMAP + 3, 200, 1);
	assert_int_equal(code_at(jvm, CODE + (3 << SEGMENT_SHIFT)), PROFILE_NONE);
	hotspot_fixture_put(jvm, HEAP + 120 + 16, START + BYTES - 2, 8);
	assert_int_equal(code_at(jvm, NMETHOD_CODE), PROFILE_NONE);
	hotspot_fixture_put(jvm, HEAP + 256, 63, 4);
	assert_int_equal(code_at(jvm, NMETHOD_CODE), PROFILE_NONE);
	hotspot_fixture_put(jvm, HEAP_ARRAY, UINT32_MAX, 4);
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

		hotspot_fixture_setup(&own);
		jvm = own;
		hotspot_fixture_put(jvm, NMETHOD + damage[i].offset, damage[i].value, 4);
		for (uint64_t at = 0; at < 0x40; at++)
			scopes_at(jvm, NMETHOD_CODE + at, &scopes);
		hotspot_fixture_teardown(&own);
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
			hotspot_fixture_put(jvm, START + 0x100 + random % 0x1800 / 4 * 4,
				START + (random >> 20) % BYTES, (random >> 50) % 2 ? 8 : 2);
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

#define JVM_TEST(function) cmocka_unit_test_setup_teardown(function, hotspot_fixture_setup, hotspot_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JVM_TEST(test_method),
		JVM_TEST(test_method_is_read_once),
		JVM_TEST(test_method_in_the_place_of_another),
		JVM_TEST(test_an_account_pays_for_all_of_its_reads),
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
