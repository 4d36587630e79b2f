/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hotspot_fixture.h"

#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

const struct hotspot_layout hotspot_fixture_layout = {
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
	.blob_frame_size = { 28, 4 },
	.blob_frame_complete_offset = { 20, 4 },
	.blob_code_begin = { 32, 8 },
	.blob_code_end = { 40, 8 },
	.nmethod_method = { 112, 8 },
	.nmethod_compile_id = { 304, 4 },
	.nmethod_orig_pc_offset = { 300, 4 },
	.nmethod_deopt_handler_begin = { 128, 8 },
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
	.codelet_size = { 8, 4 },
	.codelet_description = { 0, 8 },
	.heap_block_bytes = BLOCK_HEAD,
	.blob_bytes = 104,
	.nmethod_bytes = 352,
	.pc_desc_bytes = 16,
	.method_bytes = 88,
	.const_method_bytes = 48,
	.pool_bytes = 72,
	.has_line_numbers = 1,
	.codelet_bytes = 16,
	.tag_utf8 = 1,
	.last_sp_offset = (uint64_t)-2,
	.sender_sp_offset = (uint64_t)-1,
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

void hotspot_fixture_put(struct jvm *jvm, uint64_t address, uint64_t value, size_t size)
{
	memcpy(jvm->memory + (address - START), &value, size);
}

static void put_symbol(struct jvm *jvm, size_t number, const char *text)
{
	uint64_t symbol = SYMBOLS + number * 0x40;

	hotspot_fixture_put(jvm, symbol + hotspot_fixture_layout.symbol_length.offset, strlen(text), 2);
	memcpy(jvm->memory + (symbol + hotspot_fixture_layout.symbol_body.offset - START), text, strlen(text));
	hotspot_fixture_put(jvm, POOL + hotspot_fixture_layout.pool_bytes + number * 8, symbol, 8);
	hotspot_fixture_put(
		jvm, TAGS + hotspot_fixture_layout.array_data.offset + number, hotspot_fixture_layout.tag_utf8, 1);
}

static void put_method(struct jvm *jvm)
{
	static const uint8_t lines[] = { 0xff, 0, 2 * 40, 5 << 3 | 2, 0 };

	hotspot_fixture_put(jvm, METHOD + hotspot_fixture_layout.method_const_method.offset, CONST_METHOD, 8);
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_constants.offset, POOL, 8);
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_flags.offset,
		hotspot_fixture_layout.has_line_numbers, 2);
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_code_size.offset, 10, 2);
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_name_index.offset, 1, 2);
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_signature_index.offset, 2, 2);
	hotspot_fixture_put(jvm, CONST_METHOD + hotspot_fixture_layout.const_method_size.offset, 16, 4);
	memcpy(jvm->memory + (CONST_METHOD + hotspot_fixture_layout.const_method_bytes + 10 - START), lines,
		sizeof(lines));
	hotspot_fixture_put(jvm, POOL + hotspot_fixture_layout.pool_tags.offset, TAGS, 8);
	hotspot_fixture_put(jvm, POOL + hotspot_fixture_layout.pool_holder.offset, KLASS, 8);
	hotspot_fixture_put(jvm, POOL + hotspot_fixture_layout.pool_length.offset, 5, 4);
	hotspot_fixture_put(jvm, POOL + hotspot_fixture_layout.pool_source_file_name_index.offset, 3, 2);
	hotspot_fixture_put(jvm, KLASS + hotspot_fixture_layout.klass_name.offset, SYMBOLS + 4 * 0x40, 8);
	put_symbol(jvm, 1, "run");
	put_symbol(jvm, 2, "(I)V");
	put_symbol(jvm, 3, "Work.java");
	put_symbol(jvm, 4, "org/Work");
}

void hotspot_fixture_put_block(struct jvm *jvm, size_t segment, size_t bytes)
{
	size_t count = (bytes + BLOCK_HEAD + (1 << SEGMENT_SHIFT) - 1) >> SEGMENT_SHIFT;

	for (size_t i = 0; i < count; i++)
		hotspot_fixture_put(jvm, SEGMAP + segment + i, i, 1);
	hotspot_fixture_put(jvm, CODE + (segment << SEGMENT_SHIFT) + hotspot_fixture_layout.block_used.offset, 1, 1);
}

void hotspot_fixture_put_blob(struct jvm *jvm, uint64_t blob, uint64_t code, uint64_t end, const char *name)
{
	uint64_t at = NAMES + jvm->name_count++ * 0x40;

	assert_true(at < CODE);
	strcpy((char *)jvm->memory + (at - START), name);
	hotspot_fixture_put(jvm, blob + hotspot_fixture_layout.blob_name.offset, at, 8);
	hotspot_fixture_put(jvm, blob + hotspot_fixture_layout.blob_size.offset, end - blob, 4);
	hotspot_fixture_put(jvm, blob + hotspot_fixture_layout.blob_code_begin.offset, code, 8);
	hotspot_fixture_put(jvm, blob + hotspot_fixture_layout.blob_code_end.offset, end, 8);
}

static void put_code(struct jvm *jvm)
{
	/* Scope at 1: of no caller, the first method, bytecode 6. */
	static const uint8_t scopes[] = { 0xff, 0, 1, 7 };
	static const int32_t descs[][4] = { { -1, 0 }, { 0x20, 1 }, { INT32_MAX, 0 } };

	memset(jvm->memory + (SEGMAP - START), 0xff, SEGMENTS);
	hotspot_fixture_put(jvm, HEAPS, HEAP_ARRAY, 8);
	hotspot_fixture_put(jvm, HEAP_ARRAY, 1, 4);
	hotspot_fixture_put(jvm, HEAP_ARRAY + 8, HEAP_DATA, 8);
	hotspot_fixture_put(jvm, HEAP_DATA, HEAP, 8);
	hotspot_fixture_put(jvm, HEAP + 8 + 16, CODE, 8);
	hotspot_fixture_put(jvm, HEAP + 8 + 8, CODE + (SEGMENTS << SEGMENT_SHIFT), 8);
	hotspot_fixture_put(jvm, HEAP + 120 + 16, SEGMAP, 8);
	hotspot_fixture_put(jvm, HEAP + 256, SEGMENT_SHIFT, 4);
	hotspot_fixture_put_block(jvm, NMETHOD_SEGMENT, NMETHOD_BYTES);
	hotspot_fixture_put_blob(jvm, NMETHOD, NMETHOD_CODE, NMETHOD + METADATA_AT, "nmethod");
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.blob_size.offset, NMETHOD_BYTES, 4);
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.nmethod_method.offset, METHOD, 8);
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.nmethod_compile_id.offset, 12, 4);
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.nmethod_metadata_offset.offset, METADATA_AT, 4);
	hotspot_fixture_put(
		jvm, NMETHOD + hotspot_fixture_layout.nmethod_scopes_data_begin.offset, NMETHOD + SCOPES_AT, 8);
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.nmethod_scopes_pcs_offset.offset, PCS_AT, 4);
	hotspot_fixture_put(
		jvm, NMETHOD + hotspot_fixture_layout.nmethod_dependencies_offset.offset, DEPENDENCIES_AT, 4);
	hotspot_fixture_put(jvm, NMETHOD + METADATA_AT, METHOD, 8);
	memcpy(jvm->memory + (NMETHOD + SCOPES_AT - START), scopes, sizeof(scopes));
	memcpy(jvm->memory + (NMETHOD + PCS_AT - START), descs, sizeof(descs));
	hotspot_fixture_put_block(jvm, STUB_SEGMENT, 0x200);
	hotspot_fixture_put_blob(jvm, STUB, STUB + 0x80, STUB + 0x200, "StubRoutines (1)");
}

int hotspot_fixture_setup(void **state)
{
	struct jvm *jvm = calloc(1, sizeof(*jvm));
	void *fixture;

	assert_non_null(jvm);
	fixture_setup(&fixture);
	jvm->fixture = fixture;
	jvm->functions = *jvm->fixture->table.host.functions;
	jvm->functions.read_memory = read_memory;
	jvm->host = (struct process_host){ &jvm->functions, jvm };
	shares_init(&jvm->debug_bytes, (uint64_t)1 << 28);
	jvm->costs = (struct hotspot_costs){ .reads_left = 1 << 24, .debug_bytes = &jvm->debug_bytes };
	interpreter_names_init(&jvm->names, &jvm->fixture->table);
	jvm->target = (struct hotspot_target){ { &jvm->host, PID, &jvm->costs }, hotspot_fixture_layout, VERSION,
		&jvm->names, 1 };
	hotspot_codes_init(&jvm->codes, &jvm->target);
	hotspot_methods_init(&jvm->methods, &jvm->target);
	put_method(jvm);
	put_code(jvm);
	*state = jvm;
	return 0;
}

int hotspot_fixture_teardown(void **state)
{
	struct jvm *jvm = *state;
	void *fixture = jvm->fixture;

	hotspot_codes_deinit(&jvm->codes);
	hotspot_methods_deinit(&jvm->methods);
	interpreter_names_deinit(&jvm->names);
	shares_deinit(&jvm->debug_bytes);
	fixture_teardown(&fixture);
	free(jvm);
	return 0;
}
