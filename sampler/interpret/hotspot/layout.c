/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/layout.h"

#include "sampler/process/reader.h"

#include <stdlib.h>
#include <string.h>

/*
 * The variables that libjvm exports: where the tables are, how far apart their entries are, and where an entry has its
 * members.
 */
enum announced {
	STRUCTS,
	STRUCT_STRIDE,
	STRUCT_TYPE,
	STRUCT_FIELD,
	STRUCT_TYPE_STRING,
	STRUCT_IS_STATIC,
	STRUCT_OFFSET,
	STRUCT_ADDRESS,
	TYPES,
	TYPE_STRIDE,
	TYPE_NAME,
	TYPE_SIZE,
	INTS,
	INT_STRIDE,
	INT_NAME,
	INT_VALUE,
	ANNOUNCED,
};

static const char *const announced_names[ANNOUNCED] = {
	[STRUCTS] = "gHotSpotVMStructs",
	[STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[STRUCT_TYPE_STRING] = "gHotSpotVMStructEntryTypeStringOffset",
	[STRUCT_IS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[TYPES] = "gHotSpotVMTypes",
	[TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[INTS] = "gHotSpotVMIntConstants",
	[INT_STRIDE] = "gHotSpotVMIntConstantEntryArrayStride",
	[INT_NAME] = "gHotSpotVMIntConstantEntryNameOffset",
	[INT_VALUE] = "gHotSpotVMIntConstantEntryValueOffset",
};

struct hotspot_image {
	struct elf_image *elf; /* a reference */
	uint64_t addresses[ANNOUNCED];
};

/* ---- The file ---- */

static bool is_libjvm(const struct elf_image *elf)
{
	const char *path = elf_image_path(elf), *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, "libjvm.so") == 0;
}

/* A name of at most `size` bytes; NULL if its end is not among them. */
static const char *bounded_name(const uint8_t *bytes, size_t size)
{
	return bytes && memchr(bytes, '\0', size) ? (const char *)bytes : NULL;
}

static void hotspot_layout_take_symbol(const Elf64_Sym *symbol, const struct elf_section *strings, uint64_t *addresses)
{
	const char *name = symbol->st_name < strings->size
				   ? bounded_name(strings->bytes + symbol->st_name, strings->size - symbol->st_name)
				   : NULL;

	if (!name || strncmp(name, "gHotSpotVM", strlen("gHotSpotVM")) != 0)
		return;
	for (size_t i = 0; i < ANNOUNCED; i++)
		if (strcmp(name, announced_names[i]) == 0)
			addresses[i] = symbol->st_value;
}

static bool find_announced(struct elf_image *elf, uint64_t *addresses)
{
	struct elf_section symbols, strings;

	if (!elf_image_is_64bit(elf) || !elf_image_section(elf, ".dynsym", &symbols) ||
		!elf_image_section(elf, ".dynstr", &strings))
		return false;
	for (size_t at = 0; symbols.size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		hotspot_layout_take_symbol(&symbol, &strings, addresses);
	}
	for (size_t i = 0; i < ANNOUNCED; i++)
		if (addresses[i] == 0)
			return false;
	return true;
}

bool hotspot_image_read(struct elf_image *elf, struct buffer *notices, void **image, struct error *err)
{
	uint64_t addresses[ANNOUNCED] = { 0 };
	struct hotspot_image *made;

	(void)notices;
	if (!is_libjvm(elf) || !find_announced(elf, addresses))
		return true;
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	made->elf = elf_image_ref(elf);
	memcpy(made->addresses, addresses, sizeof(addresses));
	*image = made;
	return true;
}

void hotspot_image_destroy(void *image)
{
	const struct hotspot_image *destroyed = image;

	elf_image_unref(destroyed->elf);
	free(image);
}

const char *hotspot_image_text(const struct hotspot_image *image, uint64_t address)
{
	size_t size = 0;
	const uint8_t *bytes = elf_image_bytes_at(image->elf, address, &size);

	return bounded_name(bytes, size);
}

/* ---- What is looked for ---- */

/* A row of the table of fields. Rows for the same member are tried in turn. */
struct wanted_field {
	const char *type, *name;
	size_t member; /* of struct hotspot_layout: a struct hotspot_field, or of a static field an address */
	bool is_static, is_needed;
};

#define FIELD(type, name, member)                                                                                      \
	{                                                                                                              \
		type, name, offsetof(struct hotspot_layout, member), false, true                                       \
	}
#define OPTIONAL(type, name, member)                                                                                   \
	{                                                                                                              \
		type, name, offsetof(struct hotspot_layout, member), false, false                                      \
	}
#define STATIC(type, name, member)                                                                                     \
	{                                                                                                              \
		type, name, offsetof(struct hotspot_layout, member), true, true                                        \
	}
#define OPTIONAL_STATIC(type, name, member)                                                                            \
	{                                                                                                              \
		type, name, offsetof(struct hotspot_layout, member), true, false                                       \
	}

static const struct wanted_field wanted_fields[] = {
	OPTIONAL_STATIC("CodeCache", "_heaps", code_cache_heaps),
	OPTIONAL_STATIC("CodeCache", "_low_bound", code_cache_low_bound),
	OPTIONAL_STATIC("CodeCache", "_high_bound", code_cache_high_bound),
	OPTIONAL_STATIC("CodeCache", "_heap", code_cache_heap),
	STATIC("AbstractInterpreter", "_code", interpreter_code),
	STATIC("Abstract_VM_Version", "_vm_major_version", vm_major_version),
	STATIC("StubRoutines", "_call_stub_return_address", call_stub_return_address),
	OPTIONAL_STATIC("Flag", "flags", flags),
	OPTIONAL_STATIC("Flag", "numFlags", flag_count),
	OPTIONAL_STATIC("JVMFlag", "flags", flags),
	OPTIONAL_STATIC("JVMFlag", "numFlags", flag_count),
	FIELD("Array<int>", "_length", array_length),
	FIELD("Array<u1>", "_data", array_data),
	OPTIONAL("GenericGrowableArray", "_len", growable_length),
	OPTIONAL("GrowableArrayBase", "_len", growable_length),
	FIELD("GrowableArray<int>", "_data", growable_data),
	FIELD("VirtualSpace", "_low", space_low),
	FIELD("VirtualSpace", "_high_boundary", space_high_boundary),
	FIELD("CodeHeap", "_memory", heap_memory),
	FIELD("CodeHeap", "_segmap", heap_segmap),
	FIELD("CodeHeap", "_log2_segment_size", heap_log2_segment_size),
	FIELD("HeapBlock::Header", "_used", block_used),
	FIELD("CodeBlob", "_name", blob_name),
	FIELD("CodeBlob", "_size", blob_size),
	OPTIONAL("CodeBlob", "_code_begin", blob_code_begin),
	OPTIONAL("CodeBlob", "_code_end", blob_code_end),
	OPTIONAL("CodeBlob", "_code_offset", blob_code_offset),
	OPTIONAL("CodeBlob", "_data_offset", blob_data_offset),
	OPTIONAL("CodeBlob", "_mutable_data", blob_mutable_data),
	OPTIONAL("CodeBlob", "_mutable_data_size", blob_mutable_data_size),
	OPTIONAL("CodeBlob", "_relocation_size", blob_relocation_size),
	FIELD("CodeBlob", "_frame_size", blob_frame_size),
	FIELD("CodeBlob", "_frame_complete_offset", blob_frame_complete_offset),
	OPTIONAL("CompiledMethod", "_method", nmethod_method),
	OPTIONAL("nmethod", "_method", nmethod_method),
	FIELD("nmethod", "_compile_id", nmethod_compile_id),
	FIELD("nmethod", "_orig_pc_offset", nmethod_orig_pc_offset),
	OPTIONAL("CompiledMethod", "_deopt_handler_begin", nmethod_deopt_handler_begin),
	OPTIONAL("CompiledMethod", "_deopt_mh_handler_begin", nmethod_deopt_mh_handler_begin),
	OPTIONAL("nmethod", "_deopt_handler_offset", nmethod_deopt_handler_offset),
	OPTIONAL("nmethod", "_deopt_mh_handler_offset", nmethod_deopt_mh_handler_offset),
	OPTIONAL("nmethod", "_deoptimize_offset", nmethod_deopt_handler_offset),
	OPTIONAL("nmethod", "_deoptimize_mh_offset", nmethod_deopt_mh_handler_offset),
	FIELD("nmethod", "_scopes_pcs_offset", nmethod_scopes_pcs_offset),
	OPTIONAL("CompiledMethod", "_scopes_data_begin", nmethod_scopes_data_begin),
	OPTIONAL("nmethod", "_dependencies_offset", nmethod_dependencies_offset),
	OPTIONAL("nmethod", "_scopes_data_offset", nmethod_scopes_data_offset),
	OPTIONAL("nmethod", "_metadata_offset", nmethod_metadata_offset),
	OPTIONAL("nmethod", "_immutable_data", nmethod_immutable_data),
	OPTIONAL("nmethod", "_immutable_data_size", nmethod_immutable_data_size),
	FIELD("PcDesc", "_pc_offset", pc_desc_pc_offset),
	FIELD("PcDesc", "_scope_decode_offset", pc_desc_scope_decode_offset),
	FIELD("Method", "_constMethod", method_const_method),
	FIELD("ConstMethod", "_constants", const_method_constants),
	OPTIONAL("ConstMethod", "_flags", const_method_flags),
	OPTIONAL("ConstMethod", "_flags._flags", const_method_flags),
	FIELD("ConstMethod", "_code_size", const_method_code_size),
	FIELD("ConstMethod", "_name_index", const_method_name_index),
	FIELD("ConstMethod", "_signature_index", const_method_signature_index),
	FIELD("ConstMethod", "_constMethod_size", const_method_size),
	FIELD("ConstantPool", "_tags", pool_tags),
	FIELD("ConstantPool", "_pool_holder", pool_holder),
	FIELD("ConstantPool", "_length", pool_length),
	OPTIONAL("ConstantPool", "_source_file_name_index", pool_source_file_name_index),
	FIELD("Klass", "_name", klass_name),
	FIELD("Symbol", "_length", symbol_length),
	FIELD("Symbol", "_body", symbol_body),
	FIELD("StubQueue", "_stub_buffer", queue_buffer),
	FIELD("StubQueue", "_buffer_limit", queue_limit),
	FIELD("InterpreterCodelet", "_size", codelet_size),
	FIELD("InterpreterCodelet", "_description", codelet_description),
	OPTIONAL("Flag", "_name", flag_name),
	OPTIONAL("Flag", "_addr", flag_addr),
	OPTIONAL("JVMFlag", "_name", flag_name),
	OPTIONAL("JVMFlag", "_addr", flag_addr),
};

/* A type's size, or a constant. */
struct wanted_number {
	const char *name;
	size_t member;
};

#define NUMBER(name, member)                                                                                           \
	{                                                                                                              \
		name, offsetof(struct hotspot_layout, member)                                                          \
	}

static const struct wanted_number wanted_sizes[] = {
	NUMBER("HeapBlock", heap_block_bytes),
	NUMBER("CodeBlob", blob_bytes),
	NUMBER("nmethod", nmethod_bytes),
	NUMBER("PcDesc", pc_desc_bytes),
	NUMBER("Method", method_bytes),
	NUMBER("ConstMethod", const_method_bytes),
	NUMBER("ConstantPool", pool_bytes),
	NUMBER("InterpreterCodelet", codelet_bytes),
	NUMBER("Flag", flag_bytes),
	NUMBER("JVMFlag", flag_bytes),
};

static const struct wanted_number wanted_ints[] = {
	NUMBER("ConstMethod::_has_linenumber_table", has_line_numbers),
	NUMBER("ConstMethodFlags::_misc_has_linenumber_table", has_line_numbers),
	NUMBER("JVM_CONSTANT_Utf8", tag_utf8),
	NUMBER("frame::interpreter_frame_last_sp_offset", last_sp_offset),
	NUMBER("frame::interpreter_frame_sender_sp_offset", sender_sp_offset),
};

enum {
	WANTED_FIELDS = sizeof(wanted_fields) / sizeof(wanted_fields[0]),
	WANTED_SIZES = sizeof(wanted_sizes) / sizeof(wanted_sizes[0]),
	WANTED_INTS = sizeof(wanted_ints) / sizeof(wanted_ints[0]),
	MOST_OBJECT_BYTES = 4096, /* of the types that are read */
};

/* ---- The tables ---- */

/* A table of a process while it is read. */
struct hotspot_table {
	const struct hotspot_image *image;
	uint64_t bias;
	const uint64_t *announced; /* values of the variables */
	uint8_t *bytes;
	size_t size, stride;
};

static uint64_t table_word(const struct hotspot_table *table, size_t entry, enum announced member, size_t size)
{
	uint64_t offset = table->announced[member], value = 0;

	if (offset <= table->stride && size <= table->stride - offset)
		memcpy(&value, table->bytes + entry * table->stride + offset, size);
	return value;
}

/* Names are in the file's constants. */
static const char *table_name(const struct hotspot_table *table, size_t entry, enum announced member)
{
	return hotspot_image_text(table->image, table_word(table, entry, member, sizeof(uint64_t)) + table->bias);
}

static bool hotspot_layout_begin_table(struct hotspot_table *table, const struct hotspot_memory *memory,
	enum announced start, enum announced stride, size_t *count)
{
	enum { MOST_STRIDE = 256 };

	table->stride = table->announced[stride];
	if (table->stride < sizeof(uint64_t) || table->stride > MOST_STRIDE)
		return false;
	table->size = hotspot_read_some(memory, table->announced[start], table->bytes, READER_MOST_BYTES);
	*count = table->size / table->stride;
	return *count > 0;
}

/*
 * Returns how many bytes a field of a type has; a type that is not known is 8, of which nothing more than the place is
 * used.
 */
static uint8_t size_of_type(const char *type)
{
	static const struct {
		const char *name;
		uint8_t size;
	} sizes[] = { { "int", 4 }, { "u1", 1 }, { "u2", 2 }, { "u4", 4 }, { "bool", 1 }, { "uint16_t", 2 },
		{ "int16_t", 2 }, { "uint32_t", 4 }, { "jint", 4 }, { "unsigned int", 4 }, { "unsigned short", 2 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (type && strcmp(type, sizes[i].name) == 0)
			return sizes[i].size;
	return sizeof(uint64_t);
}

static void take_field(const struct hotspot_table *table, size_t entry, const struct wanted_field *wanted,
	struct hotspot_layout *layout)
{
	uint64_t offset = table_word(table, entry, STRUCT_OFFSET, sizeof(uint64_t));
	struct hotspot_field field = { (uint32_t)offset, size_of_type(table_name(table, entry, STRUCT_TYPE_STRING)) };
	uint64_t address = table_word(table, entry, STRUCT_ADDRESS, sizeof(uint64_t));
	bool is_static = table_word(table, entry, STRUCT_IS_STATIC, sizeof(uint32_t)) != 0;
	char *member = (char *)layout + wanted->member;

	if (is_static != wanted->is_static)
		return;
	if (is_static)
		memcpy(member, &address, sizeof(address));
	else if (offset < MOST_OBJECT_BYTES)
		memcpy(member, &field, sizeof(field));
}

static void hotspot_layout_read_fields(
	struct hotspot_table *table, const struct hotspot_memory *memory, struct hotspot_layout *layout)
{
	size_t count;

	if (!hotspot_layout_begin_table(table, memory, STRUCTS, STRUCT_STRIDE, &count))
		return;
	for (size_t entry = 0; entry < count; entry++) {
		const char *type = table_name(table, entry, STRUCT_TYPE);
		const char *name = type ? table_name(table, entry, STRUCT_FIELD) : NULL;

		if (!name)
			return;
		for (size_t i = 0; i < WANTED_FIELDS; i++)
			if (strcmp(type, wanted_fields[i].type) == 0 && strcmp(name, wanted_fields[i].name) == 0)
				take_field(table, entry, &wanted_fields[i], layout);
	}
}

static void hotspot_layout_take_number(const char *name, uint64_t value, const struct wanted_number *wanted,
	size_t wanted_count, struct hotspot_layout *layout)
{
	for (size_t i = 0; i < wanted_count; i++)
		if (strcmp(name, wanted[i].name) == 0)
			memcpy((char *)layout + wanted[i].member, &value, sizeof(value));
}

static void read_sizes(struct hotspot_table *table, const struct hotspot_memory *memory, struct hotspot_layout *layout)
{
	size_t count;
	const char *name;

	if (!hotspot_layout_begin_table(table, memory, TYPES, TYPE_STRIDE, &count))
		return;
	for (size_t entry = 0; entry < count && (name = table_name(table, entry, TYPE_NAME)); entry++)
		hotspot_layout_take_number(name, table_word(table, entry, TYPE_SIZE, sizeof(uint64_t)), wanted_sizes,
			WANTED_SIZES, layout);
}

static void read_ints(struct hotspot_table *table, const struct hotspot_memory *memory, struct hotspot_layout *layout)
{
	size_t count;
	const char *name;

	if (!hotspot_layout_begin_table(table, memory, INTS, INT_STRIDE, &count))
		return;
	for (size_t entry = 0; entry < count && (name = table_name(table, entry, INT_NAME)); entry++) {
		int32_t value = (int32_t)table_word(table, entry, INT_VALUE, sizeof(int32_t));

		hotspot_layout_take_number(name, (uint64_t)(int64_t)value, wanted_ints, WANTED_INTS, layout);
	}
}

/* ---- Whether all is there ---- */

static bool has_fields(const struct hotspot_layout *layout)
{
	for (size_t i = 0; i < WANTED_FIELDS; i++) {
		const char *member = (const char *)layout + wanted_fields[i].member;
		struct hotspot_field field;
		uint64_t address;

		memcpy(&address, member, sizeof(address));
		memcpy(&field, member, sizeof(field));
		if (wanted_fields[i].is_needed && (wanted_fields[i].is_static ? address == 0 : field.size == 0))
			return false;
	}
	return (layout->code_cache_heap != 0 || (layout->code_cache_heaps != 0 && layout->code_cache_low_bound != 0 &&
							layout->code_cache_high_bound != 0)) &&
	       layout->growable_length.size > 0 && layout->nmethod_method.size > 0 &&
	       layout->const_method_flags.size > 0 &&
	       (layout->blob_code_begin.size > 0 || layout->blob_code_offset.size > 0) &&
	       (layout->nmethod_scopes_data_begin.size > 0 || layout->nmethod_scopes_data_offset.size > 0);
}

static bool has_sizes(const struct hotspot_layout *layout)
{
	for (size_t i = 0; i < WANTED_SIZES; i++) {
		uint64_t size;

		memcpy(&size, (const char *)layout + wanted_sizes[i].member, sizeof(size));
		if (size < sizeof(uint64_t) || size > MOST_OBJECT_BYTES)
			return false;
	}
	return layout->has_line_numbers != 0 && layout->tag_utf8 != 0;
}

bool hotspot_layout_read(const struct hotspot_image *image, uint64_t bias, const struct hotspot_memory *memory,
	struct hotspot_layout *layout)
{
	uint64_t addresses[ANNOUNCED], announced[ANNOUNCED];
	struct hotspot_table table = { .image = image, .bias = bias, .announced = announced };

	for (size_t i = 0; i < ANNOUNCED; i++)
		addresses[i] = image->addresses[i] - bias;
	hotspot_read_words(memory, addresses, ANNOUNCED, announced);
	/* JDK 8 does not tell what is the same in all versions. Without flags none is set. */
	*layout = (struct hotspot_layout){ .tag_utf8 = 1,
		.flag_bytes = sizeof(uint64_t),
		.last_sp_offset = (uint64_t)-2,
		.sender_sp_offset = (uint64_t)-1 };
	table.bytes = malloc(READER_MOST_BYTES);
	if (!table.bytes)
		return false;
	hotspot_layout_read_fields(&table, memory, layout);
	read_sizes(&table, memory, layout);
	read_ints(&table, memory, layout);
	free(table.bytes);
	return has_fields(layout) && has_sizes(layout);
}

uint64_t hotspot_field(const struct hotspot_field *field, const void *bytes, size_t size)
{
	uint64_t value = 0;

	if (field->size <= sizeof(value) && field->size <= size && field->offset <= size - field->size)
		memcpy(&value, (const char *)bytes + field->offset, field->size);
	return value;
}

bool hotspot_flag_is_set(const struct hotspot_image *image, uint64_t bias, const struct hotspot_memory *memory,
	const struct hotspot_layout *layout, const char *name)
{
	const uint64_t addresses[] = { layout->flags, layout->flag_count };
	const size_t stride = layout->flag_bytes;
	CLEANUP(cleanup_free) uint8_t *bytes = malloc(READER_MOST_BYTES);
	size_t size = 0;
	uint64_t words[2];

	hotspot_read_words(memory, addresses, 2, words);
	if (bytes && words[1] <= READER_MOST_BYTES / stride)
		size = hotspot_read_some(memory, words[0], bytes, words[1] * stride);
	for (size_t at = 0; size - at >= stride; at += stride) {
		const char *flag =
			hotspot_image_text(image, hotspot_field(&layout->flag_name, bytes + at, stride) + bias);
		uint8_t value;

		if (flag && strcmp(flag, name) == 0)
			return hotspot_read(memory, hotspot_field(&layout->flag_addr, bytes + at, stride), &value, 1) &&
			       value != 0;
	}
	return false;
}
