/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what the file of V8 tells of its objects. */
#include "sampler/interpret/v8/v8.h"

#include <stdlib.h>

/*
 * A symbol of v8dbg_*, behind that prefix, which has a number. Names end in the field's type, which differs between
 * versions; of several that an image has, the first counts.
 */
struct named_number {
	enum v8_number number;
	const char *name;
};

static const struct named_number named_numbers[] = {
	{ V8_TYPE_CODE, "type_Code__CODE_TYPE" },
	{ V8_TYPE_STREAM, "type_InstructionStream__INSTRUCTION_STREAM_TYPE" },
	{ V8_TYPE_BYTECODE, "type_BytecodeArray__BYTECODE_ARRAY_TYPE" },
	{ V8_TYPE_FUNCTION_INFO, "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE" },
	{ V8_TYPE_INTERPRETER_DATA, "type_InterpreterData__INTERPRETER_DATA_TYPE" },
	{ V8_TYPE_SCRIPT, "type_Script__SCRIPT_TYPE" },
	{ V8_TYPE_SCOPE_INFO, "type_ScopeInfo__SCOPE_INFO_TYPE" },
	{ V8_TYPE_FIXED_ARRAY, "type_FixedArray__FIXED_ARRAY_TYPE" },
	{ V8_TYPE_BYTES, "type_ByteArray__BYTE_ARRAY_TYPE" },
	{ V8_TYPE_TRUSTED_BYTES, "type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE" },
	{ V8_FRAME_CONTEXT, "off_fp_context" },
	{ V8_FRAME_FUNCTION, "off_fp_function" },
	{ V8_FRAME_BYTECODE, "off_fp_bytecode_array" },
	{ V8_FRAME_OFFSET, "off_fp_bytecode_offset" },
	{ V8_REGISTER_BYTECODE, "InterpreterBytecodeArrayRegister" },
	{ V8_REGISTER_OFFSET, "InterpreterBytecodeOffsetRegister" },
	{ V8_MAP_TYPE, "class_Map__instance_type__uint16_t" },
	{ V8_FUNCTION_SHARED, "class_JSFunction__shared__SharedFunctionInfo" },
	{ V8_SHARED_DATA, "class_SharedFunctionInfo__function_data__Object" },
	{ V8_SHARED_NAME, "class_SharedFunctionInfo__name_or_scope_info__Object" },
	{ V8_SHARED_NAME, "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_" },
	{ V8_SHARED_NAME, "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_" },
	{ V8_SHARED_SCRIPT, "class_SharedFunctionInfo__script_or_debug_info__HeapObject" },
	{ V8_SHARED_SCRIPT, "class_SharedFunctionInfo__script__Tagged_HeapObject_" },
	{ V8_SCRIPT_SOURCE, "class_Script__source__Object" },
	{ V8_SCRIPT_NAME, "class_Script__name__Object" },
	{ V8_STRING_LENGTH, "class_String__length__int32_t" },
	{ V8_STRING_CHARACTERS, "class_SeqOneByteString__chars__char" },
	{ V8_CONS_FIRST, "class_ConsString__first__String" },
	{ V8_CONS_SECOND, "class_ConsString__second__String" },
	{ V8_SLICED_PARENT, "class_SlicedString__parent__String" },
	{ V8_SLICED_OFFSET, "class_SlicedString__offset__SMI" },
	{ V8_THIN_ACTUAL, "class_ThinString__actual__String" },
	{ V8_EXTERNAL_RESOURCE, "class_ExternalString__resource__Object" },
	{ V8_ARRAY_DATA, "class_FixedArray__data__uintptr_t" },
	{ V8_STREAM_HEADER, "class_InstructionStream__instruction_start__uintptr_t" },
	{ V8_STREAM_HEADER, "class_Code__instruction_start__uintptr_t" },
	{ V8_CODE_START, "class_Code__instruction_start__Address" },
	{ V8_CODE_STREAM, "class_Code__instruction_stream__Tagged_InstructionStream_" },
	{ V8_CODE_FLAGS, "class_Code__flags__uint32_t" },
	{ V8_CODE_SIZE, "class_Code__instruction_size__int" },
	{ V8_CODE_DATA, "class_Code__deoptimization_data__FixedArray" },
	{ V8_BYTECODE_DATA, "class_BytecodeArray__data__uintptr_t" },
	{ V8_KIND_MASK, "CodeKindFieldMask" },
	{ V8_KIND_BASELINE, "CodeKindBaseline" },
	{ V8_DEOPT_SHARED, "DeoptimizationDataWrappedSharedFunctionInfoIndex" },
	{ V8_DEOPT_SHARED, "DeoptimizationDataSharedFunctionInfoIndex" },
	{ V8_DEOPT_LITERALS, "DeoptimizationDataLiteralArrayIndex" },
	{ V8_DEOPT_INLINED, "DeoptimizationDataInliningPositionsIndex" },
	{ V8_SCOPE_VARIABLES, "scopeinfo_idx_first_vars" },
};

static const char prefix[] = "v8dbg_";

/* Numbers that the symbols leave out: as node 18 and 20 have it, later versions having more symbols. */
struct number_value {
	enum v8_number number;
	int32_t value;
};

static const struct number_value values[] = {
	{ V8_TYPE_STREAM, -1 },
	{ V8_TYPE_TRUSTED_BYTES, -1 },
	{ V8_SHARED_DATA, 8 },
	{ V8_SCRIPT_LINE_OFFSET, 24 },
	{ V8_SCRIPT_COLUMN_OFFSET, 32 },
	{ V8_SCRIPT_FUNCTIONS, 88 },
	{ V8_CODE_START, 40 },
	{ V8_CODE_STREAM, 32 },
	{ V8_CODE_FLAGS, 48 },
	{ V8_CODE_SIZE, 56 },
	{ V8_DEOPT_SHARED, 6 },
	{ V8_REGISTER_BYTECODE, 12 },
	{ V8_REGISTER_OFFSET, 9 },
	{ V8_DEOPT_LITERALS, 2 },
	{ V8_DEOPT_INLINED, 7 },
};

/* Objects are read at most so far, and frames as far from the frame pointer. */
enum { MOST_REGISTER = 15, MOST_NUMBER = 4096, MOST_OFFSET = 120, LEAST_OFFSET = -120 };

struct v8_layout_reading {
	struct elf_image *elf;
	struct v8_layout *layout;
	bool is_found[V8_NUMBERS];
	bool is_compressed; /* pointers take four bytes */
	bool has_bytecode_wrapper;
};

static bool v8_layout_read_number(const struct v8_layout_reading *reading, uint64_t address, int32_t *number)
{
	size_t size;
	const uint8_t *bytes = elf_image_bytes_at(reading->elf, address, &size);

	if (bytes && size >= sizeof(*number)) {
		memcpy(number, bytes, sizeof(*number));
		return true;
	}
	/* A zero has no bytes in the file. */
	*number = 0;
	return !bytes;
}

static void v8_layout_take_symbol(struct v8_layout_reading *reading, const char *name, uint64_t address)
{
	int32_t number;

	if (strncmp(name, prefix, strlen(prefix)) != 0 || !v8_layout_read_number(reading, address, &number))
		return;
	name += strlen(prefix);
	for (size_t i = 0; i < sizeof(named_numbers) / sizeof(named_numbers[0]); i++) {
		enum v8_number id = named_numbers[i].number;

		if (strcmp(name, named_numbers[i].name) != 0 || reading->is_found[id])
			continue;
		reading->is_found[id] = true;
		reading->layout->at[id] = number;
		reading->layout->has_wrapper |= strstr(name, "WrappedShared") != NULL;
	}
	reading->has_bytecode_wrapper |= strncmp(name, "class_BytecodeArray__wrapper__", 30) == 0;
	if (strcmp(name, "TaggedSize") == 0)
		reading->is_compressed = number != sizeof(uint64_t);
}

/* Finds the sizes of bytecodes: a symbol of V8's own, where it is exported or the file is not stripped. */
static void take_sizes(struct v8_layout_reading *reading, const char *name, const Elf64_Sym *symbol)
{
	struct v8_layout *layout = reading->layout;
	size_t size;
	const uint8_t *bytes;

	if (strcmp(name, "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE") != 0 ||
		symbol->st_size > sizeof(layout->bytecode_sizes) || symbol->st_size % V8_OPERAND_SCALES != 0)
		return;
	bytes = elf_image_bytes_at(reading->elf, symbol->st_value, &size);
	if (!bytes || size < symbol->st_size)
		return;
	memcpy(layout->bytecode_sizes, bytes, symbol->st_size);
	layout->bytecode_count = (uint16_t)(symbol->st_size / V8_OPERAND_SCALES);
}

static void take_symbols(
	struct v8_layout_reading *reading, const struct elf_section *symbols, const struct elf_section *strings)
{
	struct byte_reader r = byte_reader_over(symbols->bytes, symbols->size);

	while (byte_reader_left(&r) >= sizeof(Elf64_Sym)) {
		const uint8_t *bytes = byte_reader_bytes(&r, sizeof(Elf64_Sym));
		const char *name;
		Elf64_Sym symbol;

		memcpy(&symbol, bytes, sizeof(symbol));
		if (symbol.st_name >= strings->size ||
			!memchr(strings->bytes + symbol.st_name, 0, strings->size - symbol.st_name))
			continue;
		name = (const char *)strings->bytes + symbol.st_name;
		v8_layout_take_symbol(reading, name, symbol.st_value);
		take_sizes(reading, name, &symbol);
	}
}

static bool is_in_bounds(enum v8_number number, int32_t value)
{
	bool is_type = number <= V8_TYPE_TRUSTED_BYTES;
	bool is_frame = number >= V8_FRAME_CONTEXT && number <= V8_FRAME_OFFSET;

	if (number == V8_REGISTER_BYTECODE || number == V8_REGISTER_OFFSET)
		return value >= 0 && value <= MOST_REGISTER;
	if (is_frame)
		return value < 0 && value >= LEAST_OFFSET;
	if (is_type)
		return value >= -1 && value < MOST_NUMBER;
	return value >= 0 && value <= (number == V8_STREAM_HEADER ? 2 * MOST_OFFSET : MOST_OFFSET);
}

/*
 * The table of positions stands behind what leads to the function. Of bytecode it is the last of three words before
 * version 12, and the first of them from then on, where a wrapper comes before them.
 */
static void complete_positions(struct v8_layout_reading *reading)
{
	struct v8_layout *layout = reading->layout;

	layout->at[V8_CODE_POSITIONS] = layout->at[V8_CODE_DATA] + 8;
	layout->at[V8_BYTECODE_POSITIONS] = reading->has_bytecode_wrapper ? 24 : 32;
	reading->is_found[V8_CODE_POSITIONS] = reading->is_found[V8_BYTECODE_POSITIONS] = true;
}

/* Fills in what the symbols leave out. False: something is missing that is needed. */
static bool v8_layout_complete(struct v8_layout_reading *reading)
{
	struct v8_layout *layout = reading->layout;

	layout->has_streams = reading->is_found[V8_TYPE_STREAM];
	if (!reading->is_found[V8_CODE_DATA]) {
		reading->is_found[V8_CODE_DATA] = true;
		layout->at[V8_CODE_DATA] = reading->is_found[V8_CODE_START] ? 8 : 16;
	}
	complete_positions(reading);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (reading->is_found[values[i].number])
			continue;
		reading->is_found[values[i].number] = true;
		layout->at[values[i].number] = values[i].value;
	}
	for (size_t i = 0; i < V8_NUMBERS; i++)
		if (!reading->is_found[i] || !is_in_bounds((enum v8_number)i, layout->at[i]))
			return false;
	return !reading->is_compressed;
}

bool v8_layout_read(struct elf_image *elf, struct buffer *notices, void **layout, struct error *err)
{
	static const char wanted[] = "v8dbg_class_JSFunction__";
	struct v8_layout_reading reading = { .elf = elf };
	struct elf_section symbols, strings;

	(void)notices;
	if (!elf_image_is_64bit(elf) || !elf_image_section(elf, ".dynstr", &strings) ||
		!memmem(strings.bytes, strings.size, wanted, strlen(wanted)) ||
		!elf_image_section(elf, ".dynsym", &symbols))
		return true;
	reading.layout = calloc(1, sizeof(*reading.layout));
	if (!reading.layout)
		return error_set_memory(err);
	reading.layout->elf = elf;
	take_symbols(&reading, &symbols, &strings);
	if (reading.layout->bytecode_count == 0 && elf_image_section(elf, ".symtab", &symbols) &&
		elf_image_section(elf, ".strtab", &strings))
		take_symbols(&reading, &symbols, &strings);
	if (v8_layout_complete(&reading))
		*layout = reading.layout;
	else
		free(reading.layout);
	return true;
}
