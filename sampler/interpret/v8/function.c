/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads functions and the scripts that they are of. */
#include "sampler/interpret/v8/v8.h"

#include <stdlib.h>

/* ---- Scripts ---- */

void v8_scripts_init(struct v8_scripts *scripts)
{
	*scripts = (struct v8_scripts){ 0 };
	hash_map_init(&scripts->by_address, sizeof(uint64_t));
}

void v8_scripts_deinit(struct v8_scripts *scripts)
{
	for (size_t i = 0; i < scripts->count; i++) {
		free(scripts->items[i].path);
		free(scripts->items[i].lines);
	}
	free(scripts->items);
	hash_map_deinit(&scripts->by_address);
}

/* The lines of a source as its characters come: as V8 counts them (String::CalculateLineEnds()). */
struct line_reader {
	struct v8_script *script;
	size_t capacity;
	uint32_t position;
	bool after_return; /* the last character was a carriage return, which a line feed may follow */
	struct error err;
};

enum { MOST_LINES = 1 << 22, MOST_LINES_OF_ALL = 1 << 24, LINE_SEPARATOR = 0x2028, PARAGRAPH_SEPARATOR = 0x2029 };

static bool function_add_line(struct line_reader *reader, uint32_t position)
{
	struct v8_script *script = reader->script;

	if (!ARRAY_RESERVE(&script->lines, &reader->capacity, script->line_count + 1, MOST_LINES, &reader->err))
		return false;
	script->lines[script->line_count++] = position;
	return true;
}

static bool take_unit(struct line_reader *reader, uint16_t unit)
{
	bool after_return = reader->after_return;

	reader->after_return = unit == '\r';
	if (after_return && unit != '\n' && !function_add_line(reader, reader->position))
		return false;
	reader->position++;
	return (unit != '\n' && unit != LINE_SEPARATOR && unit != PARAGRAPH_SEPARATOR) ||
	       function_add_line(reader, reader->position);
}

static bool function_take_source(void *context, const void *characters, size_t count, bool is_wide)
{
	struct line_reader *reader = context;

	for (size_t i = 0; i < count; i++) {
		uint16_t unit = is_wide ? 0 : ((const uint8_t *)characters)[i];

		if (is_wide)
			memcpy(&unit, (const uint8_t *)characters + 2 * i, sizeof(unit));
		if (!take_unit(reader, unit))
			return false;
	}
	return true;
}

/* A source that cannot be read has no lines. */
static bool function_read_lines(struct v8_heap *heap, struct v8_script *script, struct error *err)
{
	struct line_reader reader = { .script = script };
	const struct v8_text text = { function_take_source, &reader };
	bool is_read = function_add_line(&reader, 0) && v8_read_text(heap, script->source, V8_MOST_SOURCE, &text);

	if (reader.err.code == ERROR_MEMORY) {
		*err = reader.err;
		return false;
	}
	if (!is_read)
		script->line_count = 0;
	return true;
}

static bool function_read_path(struct v8_heap *heap, struct v8_script *script, struct error *err)
{
	struct buffer path;

	buffer_init(&path, (size_t)V8_MOST_PATH * 4);
	/* A script without a name has another object there. */
	if (!v8_append_string(heap, script->name, V8_MOST_PATH, &path))
		path.size = 0;
	buffer_append_byte(&path, 0);
	if (!buffer_ok(&path, err)) {
		buffer_deinit(&path);
		return false;
	}
	script->path = path.data;
	return true;
}

/* Gives up all scripts when there are too many: those that still run are read again. */
static bool add_script(struct v8_scripts *scripts, uint64_t tagged, struct v8_script **script, struct error *err)
{
	uint32_t *id;
	bool added;

	if (scripts->count >= V8_MOST_SCRIPTS || scripts->line_count >= MOST_LINES_OF_ALL) {
		uint64_t epoch = scripts->epoch;

		v8_scripts_deinit(scripts);
		v8_scripts_init(scripts);
		scripts->epoch = epoch;
	}
	if (!ARRAY_RESERVE(&scripts->items, &scripts->capacity, scripts->count + 1, V8_MOST_SCRIPTS, err) ||
		!hash_map_add(&scripts->by_address, &tagged, (uint32_t)scripts->count, &id, &added, err))
		return false;
	*script = &scripts->items[*id];
	if (added) {
		scripts->count++;
		**script = (struct v8_script){ .tagged = tagged };
	}
	return true;
}

enum { SCRIPT_BYTES = 128 };

/* `*script` NULL: it is none. */
static bool find_script(
	struct v8_heap *heap, struct v8_scripts *scripts, uint64_t tagged, struct v8_script **script, struct error *err)
{
	const int32_t *at = heap->layout->at;
	uint32_t known = hash_map_get(&scripts->by_address, &tagged);
	uint8_t object[SCRIPT_BYTES];
	struct v8_script *found;

	*script = known != HASH_MAP_NONE && scripts->items[known].path ? &scripts->items[known] : NULL;
	if (*script && (*script)->epoch == scripts->epoch)
		return true;
	*script = NULL;
	if (!v8_read_object(heap, tagged, V8_TYPE_SCRIPT, object, sizeof(object)))
		return true;
	if (!add_script(scripts, tagged, &found, err))
		return false;
	if (!found->path || found->source != v8_word(object, at[V8_SCRIPT_SOURCE]) ||
		found->name != v8_word(object, at[V8_SCRIPT_NAME])) {
		scripts->line_count -= found->line_count;
		free(found->path);
		free(found->lines);
		*found = (struct v8_script){
			.tagged = tagged,
			.source = v8_word(object, at[V8_SCRIPT_SOURCE]),
			.name = v8_word(object, at[V8_SCRIPT_NAME]),
			.line_offset = v8_small(v8_word(object, at[V8_SCRIPT_LINE_OFFSET])),
			.column_offset = v8_small(v8_word(object, at[V8_SCRIPT_COLUMN_OFFSET])),
		};
		if (!function_read_path(heap, found, err) || !function_read_lines(heap, found, err))
			return false;
		scripts->line_count += found->line_count;
		if (!v8_is_readable(heap)) {
			/* Perhaps not all was read: it is read anew when more can be read. */
			free(TAKE(found->path));
			return true;
		}
	}
	found->epoch = scripts->epoch;
	*script = found;
	return true;
}

/* Finds a position in a script, as V8 numbers lines and columns, from 1. False: the lines are not known. */
static bool function_find_position(const struct v8_script *script, uint32_t position, uint32_t *line, uint32_t *column)
{
	size_t low = 0, high = script->line_count;

	if (high == 0)
		return false;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (script->lines[middle] <= position)
			low = middle;
		else
			high = middle;
	}
	*line = (uint32_t)low + 1 + (uint32_t)script->line_offset;
	*column = position - script->lines[low] + 1 + (low == 0 ? (uint32_t)script->column_offset : 0);
	return true;
}

bool v8_find_line(struct v8_heap *heap, struct v8_scripts *scripts, uint64_t script, int32_t position, uint32_t *line,
	struct error *err)
{
	struct v8_script *found;
	uint32_t column;

	*line = 0;
	if (position < 0)
		return true;
	if (!find_script(heap, scripts, script, &found, err))
		return false;
	if (found && !function_find_position(found, (uint32_t)position, line, &column))
		*line = 0;
	return true;
}

/* ---- What a function has of its scope ---- */

/*
 * A ScopeInfo (V8's src/objects/scope-info.tq), in words behind its map: flags, count of parameters, count of
 * variables, [start and end], [count of the module's variables], names of the variables, or a table of many, what they
 * are, [a variable of the class], [the function's name and its variable], [a name from where it stands], [start and
 * end], ...
 */
enum {
	SCOPE_WORDS = 40, /* that are read at first */
	SCOPE_TAIL = 5,   /* from the function's name on */
	FLAGS = 0,
	VARIABLES = 2,
	KIND_MASK = 15,
	HAS_CLASS_VARIABLE = 1 << 10,
	HAS_FUNCTION_NAME = 3 << 12,
	HAS_INFERRED_NAME = 1 << 14,
	MOST_NAMED_VARIABLES = 75, /* more have their names in a table */
	MOST_VARIABLES = 1 << 16,
	FIXED_POSITIONS = 5, /* index of the first variable where start and end stand before it */
};

struct scope {
	uint64_t name, inferred; /* tagged; 0: none */
	uint32_t start;
};

/* Reads words of a ScopeInfo from an index on. */
static bool function_read_words(struct v8_heap *heap, uint64_t tagged, size_t index, uint64_t *words, size_t count)
{
	return v8_read(heap, tagged - 1 + (1 + index) * sizeof(*words), words, count * sizeof(*words));
}

static bool function_read_scope(struct v8_heap *heap, uint64_t tagged, struct scope *scope)
{
	uint32_t first = (uint32_t)heap->layout->at[V8_SCOPE_VARIABLES], flags, kind;
	bool is_fixed = first == FIXED_POSITIONS;
	uint32_t function_kind = is_fixed ? 4 : 2; /* a module's is the next one */
	uint64_t head[SCOPE_WORDS], rest[SCOPE_TAIL];
	const uint64_t *words = rest;
	size_t variables, next, at = 0, size = SCOPE_WORDS;

	if (first < 3 || first > FIXED_POSITIONS)
		return false;
	/* The words before the first variable are there in each, and one behind them; mostly there is much more. */
	if (!v8_read_object(heap, tagged, V8_TYPE_SCOPE_INFO, head, sizeof(head))) {
		size = 2 + first;
		if (!v8_read_object(heap, tagged, V8_TYPE_SCOPE_INFO, head, size * sizeof(*head)))
			return false;
	}
	flags = is_fixed ? (uint32_t)head[1 + FLAGS] : (uint32_t)v8_small(head[1 + FLAGS]);
	kind = flags & KIND_MASK;
	variables = (uint32_t)v8_small(head[1 + VARIABLES]);
	if (variables > MOST_VARIABLES)
		return false;
	/* Versions before 12 have the count of the module's variables further behind; names are pointers. */
	next = first + (kind == function_kind + 1 && v8_is_small(head[1 + first])) +
	       (variables < MOST_NAMED_VARIABLES ? variables : 1) + variables + (flags & HAS_CLASS_VARIABLE ? 1 : 0);
	if (1 + next + SCOPE_TAIL <= size)
		words = head + 1 + next;
	else if (!function_read_words(heap, tagged, next, rest, is_fixed ? SCOPE_TAIL - 2 : SCOPE_TAIL))
		return false;
	scope->name = flags & HAS_FUNCTION_NAME ? words[at] : 0;
	at += flags & HAS_FUNCTION_NAME ? 2 : 0;
	scope->inferred = flags & HAS_INFERRED_NAME ? words[at++] : 0;
	scope->start = (uint32_t)v8_small(is_fixed ? head[1 + 3] : words[at]);
	return true;
}

/* ---- Functions ---- */

enum { SHARED_BYTES = 64 };

/* Appends the function's own name, else that of what it was assigned to. */
static bool function_append_name(struct v8_heap *heap, const struct scope *scope, struct buffer *out)
{
	size_t before = out->size;

	if (v8_is_pointer(scope->name) && !v8_append_string(heap, scope->name, V8_MOST_NAME, out))
		return false;
	if (out->size > before || !v8_is_pointer(scope->inferred) ||
		v8_append_string(heap, scope->inferred, V8_MOST_NAME, out))
		return true;
	/* Another object, undefined, is no name. */
	out->size = before;
	return v8_is_readable(heap);
}

static bool function_describe(struct v8_heap *heap, const struct scope *scope, const struct v8_script *script,
	struct v8_function *function, bool *found, struct error *err)
{
	struct buffer name;
	uint32_t column;
	bool is_kept;

	buffer_init(&name, sizeof(function->name) - 1);
	*found = function_append_name(heap, scope, &name);
	buffer_append_byte(&name, ' ');
	buffer_append_string(&name, script->path);
	function->path = script->path;
	function->script = script->tagged;
	function->line = 0;
	if (function_find_position(script, scope->start, &function->line, &column))
		buffer_printf(&name, ":%u:%u", function->line, column);
	is_kept = buffer_ok(&name, err);
	if (is_kept)
		memcpy(function->name, name.data, name.size + 1);
	buffer_deinit(&name);
	return is_kept;
}

bool v8_read_function(struct v8_heap *heap, struct v8_scripts *scripts, uint64_t shared, struct v8_function *function,
	bool *found, struct error *err)
{
	const int32_t *at = heap->layout->at;
	uint8_t object[SHARED_BYTES];
	struct v8_script *script;
	struct scope scope;

	*found = false;
	if (!v8_read_object(heap, shared, V8_TYPE_FUNCTION_INFO, object, sizeof(object)) ||
		!function_read_scope(heap, v8_word(object, at[V8_SHARED_NAME]), &scope))
		return true;
	if (!find_script(heap, scripts, v8_word(object, at[V8_SHARED_SCRIPT]), &script, err))
		return false;
	return !script || function_describe(heap, &scope, script, function, found, err);
}

/* ---- From functions to their bytecode ---- */

/* The bytecode that an object is, or that it leads to: code, or what the interpreter has of a function. */
static uint64_t bytecode_in(struct v8_heap *heap, uint64_t tagged, int depth)
{
	uint64_t object[3], found;

	if (depth == 0 || !v8_is_pointer(tagged) || !v8_read(heap, tagged - 1, object, sizeof(object)))
		return 0;
	if (v8_is_map_of(heap, object[0], V8_TYPE_BYTECODE))
		return tagged;
	if (v8_is_map_of(heap, object[0], V8_TYPE_CODE))
		return bytecode_in(heap, v8_word(object, heap->layout->at[V8_CODE_DATA]), depth - 1);
	if (!v8_is_map_of(heap, object[0], V8_TYPE_INTERPRETER_DATA))
		return 0;
	found = bytecode_in(heap, object[1], depth - 1);
	return found ? found : bytecode_in(heap, object[2], depth - 1);
}

uint64_t v8_bytecode_in(struct v8_heap *heap, uint64_t tagged)
{
	return bytecode_in(heap, tagged, 3);
}

uint64_t v8_bytecode_of(struct v8_heap *heap, uint64_t shared, uint64_t *data)
{
	uint8_t object[SHARED_BYTES];
	uint64_t word;

	if (!v8_read_object(heap, shared, V8_TYPE_FUNCTION_INFO, object, sizeof(object)))
		return 0;
	word = v8_word(object, heap->layout->at[V8_SHARED_DATA]);
	if (data)
		*data = word;
	return v8_bytecode_in(heap, word);
}

uint64_t v8_shared_of(struct v8_heap *heap, uint64_t function)
{
	uint64_t words[8], shared;

	if (!v8_is_pointer(function) || !v8_read(heap, function - 1, words, sizeof(words)))
		return 0;
	/* The collector leaves the address of its new place in an object that it has moved. */
	if ((words[0] & 7) == 0 && (!v8_is_pointer(words[0] + 1) || !v8_read(heap, words[0], words, sizeof(words))))
		return 0;
	shared = v8_word(words, heap->layout->at[V8_FUNCTION_SHARED]);
	return v8_is_pointer(shared) ? shared : 0;
}
