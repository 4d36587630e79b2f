/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"
#include "sampler/interpret/hotspot/memory.h"

/*
 * The layout of what is read of a HotSpot: libjvm exports it for debuggers, as tables of types, fields, addresses of
 * static fields and constants (src/hotspot/share/runtime/vmStructs.cpp). Each process is asked for its own.
 */

/* The file of a HotSpot: where its tables are announced, as image addresses. */
struct hotspot_image;

/* Reads as the functions of struct interpreter_file do: `image` is a struct hotspot_image. */
COMMON_MUST_CHECK
bool hotspot_image_read(struct elf_image *elf, struct buffer *notices, void **image, struct error *err);
void hotspot_image_destroy(void *image);

/* A constant text of the file at an image address, borrowed; NULL: none is there. */
const char *hotspot_image_text(const struct hotspot_image *image, uint64_t address);

/* A field of a type; size 0: this version has none. */
struct hotspot_field {
	uint32_t offset;
	uint8_t size; /* 1, 2, 4 or 8 bytes; of one that is a type itself: 8 */
};

/* The members are named as in HotSpot. Those that may be missing are marked by the versions that have them. */
struct hotspot_layout {
	/* Static fields, as runtime addresses. */
	uint64_t interpreter_code, vm_major_version, call_stub_return_address;
	uint64_t code_cache_heaps, code_cache_low_bound, code_cache_high_bound; /* 9 and later */
	uint64_t code_cache_heap;                                               /* 8 */
	uint64_t flags, flag_count;

	struct hotspot_field array_length, array_data;                         /* Array<T> */
	struct hotspot_field growable_length, growable_data;                   /* GrowableArray<T> */
	struct hotspot_field space_low, space_high_boundary;                   /* VirtualSpace */
	struct hotspot_field heap_memory, heap_segmap, heap_log2_segment_size; /* CodeHeap */
	struct hotspot_field block_used;                                       /* HeapBlock::Header */
	struct hotspot_field blob_name, blob_size;                             /* CodeBlob */
	struct hotspot_field blob_code_begin, blob_code_end;                   /* 22 and before */
	struct hotspot_field blob_code_offset, blob_data_offset; /* 23 and later: of the code's begin and end */
	struct hotspot_field blob_mutable_data, blob_mutable_data_size, blob_relocation_size; /* 25 and later */
	struct hotspot_field blob_frame_size, blob_frame_complete_offset;
	struct hotspot_field nmethod_method, nmethod_compile_id, nmethod_orig_pc_offset;
	struct hotspot_field nmethod_deopt_handler_begin, nmethod_deopt_mh_handler_begin;   /* 22 and before */
	struct hotspot_field nmethod_deopt_handler_offset, nmethod_deopt_mh_handler_offset; /* 23 and later */
	struct hotspot_field nmethod_scopes_pcs_offset;
	struct hotspot_field nmethod_scopes_data_begin, nmethod_dependencies_offset; /* 22 and before */
	struct hotspot_field nmethod_scopes_data_offset;                             /* 23 and later */
	struct hotspot_field nmethod_metadata_offset;                                /* 24 and before */
	struct hotspot_field nmethod_immutable_data, nmethod_immutable_data_size;    /* 24 and later */
	struct hotspot_field pc_desc_pc_offset, pc_desc_scope_decode_offset;         /* PcDesc */
	struct hotspot_field method_const_method;                                    /* Method */
	struct hotspot_field const_method_constants, const_method_flags, const_method_code_size;
	struct hotspot_field const_method_name_index, const_method_signature_index, const_method_size;
	struct hotspot_field pool_tags, pool_holder, pool_length, pool_source_file_name_index; /* ConstantPool */
	struct hotspot_field klass_name;
	struct hotspot_field symbol_length, symbol_body;
	struct hotspot_field queue_buffer, queue_limit; /* StubQueue */
	struct hotspot_field codelet_size, codelet_description;
	struct hotspot_field flag_name, flag_addr; /* JVMFlag; in 10 and before Flag */

	/* sizeof */
	uint64_t heap_block_bytes, blob_bytes, nmethod_bytes, pc_desc_bytes, method_bytes, const_method_bytes;
	uint64_t pool_bytes, codelet_bytes, flag_bytes;

	/* Constants. */
	uint64_t has_line_numbers; /* a bit of const_method_flags */
	uint64_t tag_utf8;         /* of a constant pool */
	/* Offsets of interpreted frames, in words from the frame pointer. */
	uint64_t last_sp_offset, sender_sp_offset;
};

/*
 * Reads the tables of a process. `*layout` is all there, and each offset is small. False: not yet, since the process
 * has only begun, or never. `bias`: image address = runtime address + bias.
 */
COMMON_MUST_CHECK
bool hotspot_layout_read(const struct hotspot_image *image, uint64_t bias, const struct hotspot_memory *memory,
	struct hotspot_layout *layout);

/* Returns whether a flag of the command line that is a bool is set. */
bool hotspot_flag_is_set(const struct hotspot_image *image, uint64_t bias, const struct hotspot_memory *memory,
	const struct hotspot_layout *layout, const char *name);

/* A field of what was read into `bytes`; 0 if there is none, or if it lies outside of them. */
uint64_t hotspot_field(const struct hotspot_field *field, const void *bytes, size_t size);
