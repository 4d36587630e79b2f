/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heap of a process with V8, built by hand. */
#include "v8_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

const struct v8_layout v8_fixture_layout = {
	.at = {
		[V8_TYPE_CODE] = TYPE_CODE,
		[V8_TYPE_STREAM] = TYPE_STREAM,
		[V8_TYPE_BYTECODE] = TYPE_BYTECODE,
		[V8_TYPE_FUNCTION_INFO] = TYPE_FUNCTION_INFO,
		[V8_TYPE_INTERPRETER_DATA] = TYPE_INTERPRETER_DATA,
		[V8_TYPE_SCRIPT] = TYPE_SCRIPT,
		[V8_TYPE_SCOPE_INFO] = TYPE_SCOPE_INFO,
		[V8_TYPE_FIXED_ARRAY] = TYPE_ARRAY,
		[V8_TYPE_BYTES] = TYPE_BYTES,
		[V8_TYPE_TRUSTED_BYTES] = -1,
		[V8_MAP_TYPE] = 12,
		[V8_FUNCTION_SHARED] = 24,
		[V8_SHARED_DATA] = 8,
		[V8_SHARED_NAME] = 16,
		[V8_SHARED_SCRIPT] = 32,
		[V8_SCRIPT_SOURCE] = 8,
		[V8_SCRIPT_NAME] = 16,
		[V8_SCRIPT_LINE_OFFSET] = 24,
		[V8_SCRIPT_COLUMN_OFFSET] = 32,
		[V8_SCRIPT_FUNCTIONS] = 88,
		[V8_STRING_LENGTH] = 12,
		[V8_STRING_CHARACTERS] = 16,
		[V8_CONS_FIRST] = 16,
		[V8_CONS_SECOND] = 24,
		[V8_SLICED_PARENT] = 16,
		[V8_SLICED_OFFSET] = 24,
		[V8_THIN_ACTUAL] = 16,
		[V8_EXTERNAL_RESOURCE] = 16,
		[V8_ARRAY_DATA] = 16,
		[V8_STREAM_HEADER] = 16,
		[V8_CODE_START] = 40,
		[V8_CODE_STREAM] = 32,
		[V8_CODE_FLAGS] = 48,
		[V8_CODE_SIZE] = 56,
		[V8_CODE_DATA] = 16,
		[V8_CODE_POSITIONS] = 24,
		[V8_BYTECODE_DATA] = 54,
		[V8_BYTECODE_POSITIONS] = 32,
		[V8_KIND_MASK] = 15,
		[V8_KIND_BASELINE] = 11,
		[V8_DEOPT_SHARED] = 6,
		[V8_DEOPT_LITERALS] = 2,
		[V8_DEOPT_INLINED] = 7,
		[V8_SCOPE_VARIABLES] = 3,
	},
	.bytecode_count = V8_FIXTURE_BYTECODES,
	.bytecode_sizes = { 1, 1, 1, 3, 1, 1, 1, 5, 1, 1, 1, 9 },
	.has_streams = true,
};

static ssize_t fake_read(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	const struct v8_fixture *fixture = context;
	size_t done = 0;

	if (fixture->is_gone)
		return -1;
	for (size_t i = 0; i < from_count; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base - BASE;

		if (at >= HEAP_BYTES || from[i].iov_len > HEAP_BYTES - at)
			break;
		assert_true(done + from[i].iov_len <= into->iov_len);
		memcpy((uint8_t *)into->iov_base + done, fixture->bytes + at, from[i].iov_len);
		done += from[i].iov_len;
	}
	return done == 0 ? -1 : (ssize_t)done;
}

int v8_fixture_setup(void **state)
{
	struct v8_fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->used = 8;
	fixture->functions.read_memory = fake_read;
	fixture->host = (struct process_host){ &fixture->functions, fixture };
	fixture->heap = (struct v8_heap){
		.layout = &v8_fixture_layout, .host = &fixture->host, .pid = 1, .reads_left = 100000
	};
	v8_scripts_init(&fixture->scripts);
	*state = fixture;
	return 0;
}

int v8_fixture_teardown(void **state)
{
	struct v8_fixture *fixture = *state;

	v8_scripts_deinit(&fixture->scripts);
	free(fixture);
	return 0;
}

void v8_fixture_put(struct v8_fixture *fixture, uint64_t tagged, size_t offset, uint64_t word)
{
	memcpy(fixture->bytes + (tagged - 1 - BASE) + offset, &word, sizeof(word));
}

uint64_t v8_fixture_make_room(struct v8_fixture *fixture, size_t bytes)
{
	uint64_t at = fixture->used;

	fixture->used += (bytes + 7) / 8 * 8;
	assert_true(fixture->used < HEAP_BYTES / 2);
	return BASE + at + 1;
}

uint64_t v8_fixture_map_of(struct v8_fixture *fixture, enum type type)
{
	if (fixture->maps[type] == 0) {
		fixture->maps[type] = v8_fixture_make_room(fixture, 40);
		v8_fixture_put(fixture, fixture->maps[type], 8, (uint64_t)type << 32);
	}
	return fixture->maps[type];
}

uint64_t v8_fixture_make(struct v8_fixture *fixture, enum type type, size_t words)
{
	uint64_t map = v8_fixture_map_of(fixture, type), made = v8_fixture_make_room(fixture, (1 + words) * 8);

	v8_fixture_put(fixture, made, 0, map);
	return made;
}

uint64_t v8_fixture_small(int32_t value)
{
	return (uint64_t)(uint32_t)value << 32;
}

uint64_t v8_fixture_make_string(struct v8_fixture *fixture, const char *text)
{
	size_t size = strlen(text);
	uint64_t made = v8_fixture_make(fixture, TYPE_ONE_BYTE, 1 + size / 8 + 3);

	v8_fixture_put(fixture, made, 8, v8_fixture_small((int32_t)size));
	memcpy(fixture->bytes + (made - 1 - BASE) + 16, text, size);
	return made;
}

uint64_t v8_fixture_make_parts(
	struct v8_fixture *fixture, enum type type, int32_t length, uint64_t first, uint64_t second)
{
	uint64_t made = v8_fixture_make(fixture, type, 3);

	v8_fixture_put(fixture, made, 8, v8_fixture_small(length));
	v8_fixture_put(fixture, made, 16, first);
	v8_fixture_put(fixture, made, 24, second);
	return made;
}

uint64_t v8_fixture_make_script(struct v8_fixture *fixture, uint64_t source, uint64_t name)
{
	uint64_t script = v8_fixture_make(fixture, TYPE_SCRIPT, 15);

	v8_fixture_put(fixture, script, 8, source);
	v8_fixture_put(fixture, script, 16, name);
	return script;
}

uint64_t v8_fixture_make_scope(
	struct v8_fixture *fixture, uint32_t flags, int32_t variables, const uint64_t *words, size_t count)
{
	size_t named = variables < 75 ? (size_t)variables : 1;
	size_t at = 3 + ((flags & 15) == MODULE_SCOPE) + named + (size_t)variables;
	uint64_t scope = v8_fixture_make(fixture, TYPE_SCOPE_INFO, at + count + 4);

	v8_fixture_put(fixture, scope, 8, v8_fixture_small((int32_t)flags));
	v8_fixture_put(fixture, scope, 24, v8_fixture_small(variables));
	for (size_t i = 0; i < count; i++)
		v8_fixture_put(fixture, scope, 8 + 8 * (at + i), words[i]);
	return scope;
}

uint64_t v8_fixture_make_function(struct v8_fixture *fixture, uint64_t scope, uint64_t script)
{
	uint64_t shared = v8_fixture_make(fixture, TYPE_FUNCTION_INFO, 8);

	v8_fixture_put(fixture, shared, 16, scope);
	v8_fixture_put(fixture, shared, 32, script);
	return shared;
}

uint64_t v8_fixture_make_code(struct v8_fixture *fixture, uint64_t start, uint32_t size, uint32_t kind, uint64_t data)
{
	uint64_t code = v8_fixture_make(fixture, TYPE_CODE, 9), stream = start - 16 + 1;

	v8_fixture_put(fixture, stream, 0, v8_fixture_map_of(fixture, TYPE_STREAM));
	v8_fixture_put(fixture, stream, 8, code);
	v8_fixture_put(fixture, code, 16, data);
	v8_fixture_put(fixture, code, 32, stream);
	v8_fixture_put(fixture, code, 40, start);
	v8_fixture_put(fixture, code, 48, kind);
	v8_fixture_put(fixture, code, 56, size);
	return code;
}

uint64_t v8_fixture_make_deoptimization(struct v8_fixture *fixture, uint64_t shared)
{
	uint64_t data = v8_fixture_make(fixture, TYPE_ARRAY, 10);

	v8_fixture_put(fixture, data, 16 + 6 * 8, shared);
	return data;
}
