/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/memory.h"

/*
 * V8 as node 18 to 24 have it: what its file tells of its objects, and how these are read from the memory of a process.
 *
 * Sources: the symbols `v8dbg_*`, which V8 exports for debuggers (its tools/gen-postmortem-metadata.py), and V8's
 * src/objects for what they leave out. Pointers are not compressed in node. A tagged word is a pointer + 1, or an
 * integer ("Smi") in its upper half. Everything that is read may be wrong by then, as the garbage collector moves
 * objects: an object is believed only if its map says what it is, and a function only if it leads to the code that
 * runs.
 */

/* ---- What the file tells ---- */

enum v8_number {
	V8_TYPE_CODE, /* instance types, as maps have them */
	V8_TYPE_STREAM,
	V8_TYPE_BYTECODE,
	V8_TYPE_FUNCTION_INFO,
	V8_TYPE_INTERPRETER_DATA,
	V8_TYPE_SCRIPT,
	V8_TYPE_SCOPE_INFO,
	V8_TYPE_FIXED_ARRAY,
	V8_TYPE_BYTES,
	V8_TYPE_TRUSTED_BYTES,
	V8_FRAME_CONTEXT, /* offsets from the frame pointer, in bytes */
	V8_FRAME_FUNCTION,
	V8_FRAME_BYTECODE,
	V8_FRAME_OFFSET,
	V8_REGISTER_BYTECODE, /* of the interpreter, by the processor's numbers */
	V8_REGISTER_OFFSET,
	V8_MAP_TYPE, /* offsets in objects, in bytes */
	V8_FUNCTION_SHARED,
	V8_SHARED_DATA,
	V8_SHARED_NAME,
	V8_SHARED_SCRIPT,
	V8_SCRIPT_SOURCE,
	V8_SCRIPT_NAME,
	V8_SCRIPT_LINE_OFFSET,
	V8_SCRIPT_COLUMN_OFFSET,
	V8_SCRIPT_FUNCTIONS,
	V8_STRING_LENGTH,
	V8_STRING_CHARACTERS,
	V8_CONS_FIRST,
	V8_CONS_SECOND,
	V8_SLICED_PARENT,
	V8_SLICED_OFFSET,
	V8_THIN_ACTUAL,
	V8_EXTERNAL_RESOURCE,
	V8_ARRAY_DATA,
	V8_STREAM_HEADER, /* bytes of the object that come before its instructions */
	V8_CODE_START,
	V8_CODE_STREAM,
	V8_CODE_FLAGS,
	V8_CODE_SIZE,
	V8_CODE_DATA,      /* of an optimized function its deoptimization data, of a baseline function its bytecode */
	V8_CODE_POSITIONS, /* of baseline code the table of its bytecodes, else of positions */
	V8_BYTECODE_DATA,  /* where the bytecodes begin */
	V8_BYTECODE_POSITIONS,
	V8_KIND_MASK, /* of V8_CODE_FLAGS */
	V8_KIND_BASELINE,
	V8_DEOPT_SHARED,    /* indexes in the deoptimization data */
	V8_DEOPT_LITERALS,  /* an array, which begins with the functions that were inlined */
	V8_DEOPT_INLINED,   /* where they were called */
	V8_SCOPE_VARIABLES, /* index of the first variable in a ScopeInfo, in words behind its map */
	V8_NUMBERS,
};

enum { V8_MOST_BYTECODES = 256, V8_OPERAND_SCALES = 3 };

struct v8_layout {
	const struct elf_image *elf; /* borrowed: of the file; to compare with */
	int32_t at[V8_NUMBERS];
	uint16_t bytecode_count; /* 0: their sizes are not known */
	/* [scale * bytecode_count + bytecode]: bytes with operands, which have one, two or four times their size */
	uint8_t bytecode_sizes[V8_OPERAND_SCALES * V8_MOST_BYTECODES];
	bool has_streams; /* instructions are an object of their own, behind the code's */
	bool has_wrapper; /* the deoptimization data has the function in a wrapper */
};

/* Reads as the function of struct interpreter_file does: `layout` is a struct v8_layout, which is freed by free(). */
COMMON_MUST_CHECK
bool v8_layout_read(struct elf_image *elf, struct buffer *notices, void **layout, struct error *err);

/* ---- The heap of a process ---- */

enum { V8_KNOWN_MAPS = 64 };

/* The memory of a process. Maps of the types that are looked at are never moved. */
struct v8_heap {
	const struct v8_layout *layout;  /* borrowed */
	const struct process_host *host; /* borrowed */
	struct process_table *table;     /* borrowed: of the account that pays for reads, too; NULL: none does */
	int32_t pid;
	uint32_t reads_left;          /* what a process has the recorder read is bounded: its owner sets this */
	uint64_t maps[V8_KNOWN_MAPS]; /* tagged, by a hash of the address */
	uint16_t types[V8_KNOWN_MAPS];
};

static inline bool v8_is_pointer(uint64_t word)
{
	return (word & 7) == 1 && word >> 47 == 0 && word > UINT16_MAX;
}

static inline bool v8_is_small(uint64_t word)
{
	return (uint32_t)word == 0;
}

static inline int32_t v8_small(uint64_t word)
{
	return (int32_t)(word >> 32);
}

/* Reads as interpreter_read() does; 0: nothing is there, or too much has been read. */
size_t v8_read_pieces(struct v8_heap *heap, const struct iovec *pieces, size_t count, void *into);

/* Reads memory; false: likewise. */
bool v8_read(struct v8_heap *heap, uint64_t address, void *into, size_t bytes);

/* Returns whether the process's memory can be read now: what is known to be there still is. */
bool v8_is_readable(struct v8_heap *heap);

/* Reads `bytes` of an object of a type; `at`: its first byte. */
bool v8_read_object(struct v8_heap *heap, uint64_t tagged, enum v8_number type, void *into, size_t bytes);

/* Returns whether a tagged word is a map of a type. */
bool v8_is_map_of(struct v8_heap *heap, uint64_t map, enum v8_number type);

/* A word of an object that was read; `offset` is within what was read. */
static inline uint64_t v8_word(const void *object, int32_t offset)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)object + offset, sizeof(word));
	return word;
}

/* ---- Strings ---- */

/* Takes characters of a string, of one or two bytes each; they come in order. False ends the reading. */
struct v8_text {
	bool (*take)(void *context, const void *characters, size_t count, bool is_wide);
	void *context;
};

/*
 * Reads a string of any representation. False: it is none, it is damaged or longer than `most` characters; some may
 * have been taken then.
 */
bool v8_read_text(struct v8_heap *heap, uint64_t tagged, size_t most, const struct v8_text *text);

/* Appends a string as UTF-8, control characters replaced; cut after `most` characters. */
bool v8_append_string(struct v8_heap *heap, uint64_t tagged, size_t most, struct buffer *out);

/* ---- Functions ---- */

enum { V8_MOST_SCRIPTS = 4096, V8_MOST_NAME = 512, V8_MOST_PATH = 4096, V8_MOST_SOURCE = 1 << 26 };

/* The beginnings of lines in a script. */
struct v8_script {
	uint64_t tagged, source, name; /* the script; its words when it was read */
	int32_t line_offset, column_offset;
	uint64_t epoch;  /* of the scripts, when it was looked at */
	char *path;      /* owned; "": without a name */
	uint32_t *lines; /* owned; position of each line's first character */
	size_t line_count;
};

struct v8_scripts {
	uint64_t epoch;          /* its owner changes it when scripts are to be looked at again */
	struct v8_script *items; /* owned */
	size_t count, capacity;
	size_t line_count; /* of all */
	struct hash_map by_address;
};

void v8_scripts_init(struct v8_scripts *scripts);
void v8_scripts_deinit(struct v8_scripts *scripts);

/* A function, as a SharedFunctionInfo describes it. */
struct v8_function {
	char name[V8_MOST_NAME * 4 + V8_MOST_PATH * 4 + 32]; /* "area /srv/shape.js:3:19", as V8 gives it to perf */
	const char *path; /* borrowed of the scripts, valid until the next call; "": without a name */
	uint32_t line;    /* where it begins; 0: not known */
	uint64_t script;  /* tagged */
};

/* `*found` false: it could not be read, or is no function. */
COMMON_MUST_CHECK
bool v8_read_function(struct v8_heap *heap, struct v8_scripts *scripts, uint64_t shared, struct v8_function *function,
	bool *found, struct error *err);

/* Finds the line of a character of a script, both as V8 numbers them: from 1 and from 0; 0: it is not known. */
COMMON_MUST_CHECK
bool v8_find_line(struct v8_heap *heap, struct v8_scripts *scripts, uint64_t script, int32_t position, uint32_t *line,
	struct error *err);

/* The bytecode that an object is or leads to, as code or what the interpreter has of a function; 0: none. */
uint64_t v8_bytecode_in(struct v8_heap *heap, uint64_t tagged);

/* The bytecode of a SharedFunctionInfo; 0: none. `data` (may be NULL): its word that led there. */
uint64_t v8_bytecode_of(struct v8_heap *heap, uint64_t shared, uint64_t *data);

/* A function and its bytecode: tagged. */
struct v8_listed {
	uint64_t shared, bytecode;
};

/*
 * Appends the functions of a script that have bytecode, as the script lists them, up to `most` in the array; what
 * cannot be read is left out.
 */
COMMON_MUST_CHECK
bool v8_list_functions(struct v8_heap *heap, uint64_t script, size_t most, struct v8_listed **functions, size_t *count,
	size_t *capacity, struct error *err);

/* The SharedFunctionInfo of a JSFunction; 0: it is none any more. */
uint64_t v8_shared_of(struct v8_heap *heap, uint64_t function);

/* ---- Code ---- */

enum v8_tier { V8_INTERPRETED, V8_BASELINE, V8_MAGLEV, V8_TURBOFAN, V8_REGEXP, V8_NO_FUNCTION };

/* Code that V8 has made. */
struct v8_code {
	uint64_t start, end; /* of the instructions: runtime addresses, half-open */
	uint64_t stream;     /* the address of the object that has them */
	uint64_t described;  /* the Code object, tagged */
	uint64_t data;       /* of the Code object: what led to the function or the bytecode */
	uint64_t positions;  /* of the Code object: its table of positions, or of bytecodes */
	uint64_t wrapper;    /* what stands for that in other objects; 0: itself */
	enum v8_tier tier;
	uint64_t shared;   /* of an optimized function: its SharedFunctionInfo */
	uint64_t bytecode; /* of a baseline function */
};

/* Finds the code around an address; false: there is none, or it is not V8's. */
bool v8_find_code(struct v8_heap *heap, uint64_t address, struct v8_code *code);

/*
 * Appends the source of the regular expression that code is for. `words`: of the stack, from its frame upwards. False:
 * it is not found.
 */
bool v8_append_regexp(
	struct v8_heap *heap, const struct v8_code *code, const uint64_t *words, size_t count, struct buffer *out);

/* Reads the code whose object is at an address, as code.stream has it. */
bool v8_read_code(struct v8_heap *heap, uint64_t stream, struct v8_code *code);

/* ---- Looking again ---- */

enum { V8_CHECKED_TOGETHER = 64 };

/* A SharedFunctionInfo, and the word that it had as its data: its bytecode, or what leads to that. */
struct v8_checked {
	uint64_t shared, data;
	bool is_same; /* out: it still has that; false: it has not, or could not be read */
};

/* Looks at no more than V8_CHECKED_TOGETHER functions by one read. */
void v8_check_functions(struct v8_heap *heap, struct v8_checked *functions, size_t count);

struct v8_checked_code {
	const struct v8_code *code;
	bool is_same; /* out, likewise */
};

/* Looks at no more than half as many pieces of V8's code by one read. */
void v8_check_code(struct v8_heap *heap, struct v8_checked_code *codes, size_t count);
