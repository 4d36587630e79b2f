/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/methods.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_SYMBOL = 16384,
	MOST_START = 192,
	MOST_OBJECT = 4096,
	MOST_HEAD = 4096 + 1024,
	PAGE = 4096,
	SYMBOLS = 4, /* of a method: its name and signature, its class and its file */
};

void hotspot_methods_init(struct hotspot_methods *methods, const struct hotspot_target *target)
{
	*methods = (struct hotspot_methods){ .target = target };
	hash_map_init(&methods->by_address, sizeof(uint64_t));
}

void hotspot_methods_deinit(struct hotspot_methods *methods)
{
	for (size_t i = 0; i < methods->count; i++)
		free(methods->items[i].lines);
	free(methods->items);
	hash_map_deinit(&methods->by_address);
}

/* ---- What is read ---- */

/* The first bytes of a symbol, which are all of most, and never lead over the end of a page. */
struct symbol_start {
	uint64_t address;
	size_t size;
	uint8_t bytes[MOST_START];
};

/* The parts of a method that are read. */
struct method_parts {
	uint64_t const_method, pool;
	uint8_t head[MOST_HEAD]; /* the ConstMethod, and what follows it as far as it was read */
	size_t head_bytes;
	uint8_t pool_head[MOST_OBJECT]; /* the ConstantPool */
	char texts[4 * MOST_SYMBOL];    /* of its symbols */
	size_t texts_bytes;
	struct hotspot_text name, signature, class_name, file;
};

static uint64_t head_field(
	const struct hotspot_target *target, const struct method_parts *parts, const struct hotspot_field *field)
{
	return hotspot_field(field, parts->head, target->layout.const_method_bytes);
}

static uint64_t pool_field(
	const struct hotspot_target *target, const struct method_parts *parts, const struct hotspot_field *field)
{
	return hotspot_field(field, parts->pool_head, target->layout.pool_bytes);
}

/* ---- Symbols ---- */

static void expect_symbol(struct symbol_start *start, uint64_t address)
{
	uint64_t left = PAGE - address % PAGE;

	*start = (struct symbol_start){ .address = address, .size = left < MOST_START ? left : MOST_START };
}

static bool methods_take_symbol(const struct hotspot_target *target, const struct symbol_start *start,
	struct method_parts *parts, struct hotspot_text *text)
{
	const struct hotspot_layout *layout = &target->layout;
	size_t head = layout->symbol_body.offset,
	       size = hotspot_field(&layout->symbol_length, start->bytes, start->size);
	char *into = parts->texts + parts->texts_bytes;

	if (start->size < head || size == 0 || size > MOST_SYMBOL)
		return false;
	if (start->size - head >= size)
		memcpy(into, start->bytes + head, size);
	else if (!hotspot_read(&target->memory, start->address + head, into, size))
		return false;
	parts->texts_bytes += size;
	*text = (struct hotspot_text){ into, size };
	return true;
}

/* ---- Methods ---- */

static bool methods_read_head(const struct hotspot_target *target, uint64_t method, struct method_parts *parts)
{
	const struct hotspot_layout *layout = &target->layout;

	if (!hotspot_read(&target->memory, method + layout->method_const_method.offset, &parts->const_method,
		    sizeof(parts->const_method)))
		return false;
	parts->head_bytes = hotspot_read_some(&target->memory, parts->const_method, parts->head, sizeof(parts->head));
	parts->pool = head_field(target, parts, &layout->const_method_constants);
	return parts->head_bytes >= layout->const_method_bytes;
}

/* The place of an entry of the pool, and of the word that has its tag. */
static uint64_t entry_place(const struct hotspot_target *target, const struct method_parts *parts, uint64_t index)
{
	return parts->pool + target->layout.pool_bytes + index * sizeof(uint64_t);
}

static uint64_t tag_place(const struct hotspot_target *target, const struct method_parts *parts, uint64_t index)
{
	const struct hotspot_layout *layout = &target->layout;

	return pool_field(target, parts, &layout->pool_tags) + layout->array_data.offset + index;
}

static bool methods_is_string(
	const struct hotspot_target *target, const struct method_parts *parts, uint64_t index, uint64_t word)
{
	return (uint8_t)(word >> tag_place(target, parts, index) % sizeof(word) * 8) == target->layout.tag_utf8 &&
	       index < pool_field(target, parts, &target->layout.pool_length);
}

/* The second look at a pool's entries. */
struct pool_look {
	uint64_t class_symbol, file_symbol;
	uint64_t tags[3]; /* words with the tags of the name, the signature and the file */
};

/* Reads the pool, and the symbols of the name and the signature. `symbols`: of the class and of the file, 0: none. */
static bool read_pool(const struct hotspot_target *target, struct method_parts *parts, uint64_t *symbols)
{
	enum { WORD = sizeof(uint64_t) };
	const struct hotspot_layout *layout = &target->layout;
	const uint64_t name = head_field(target, parts, &layout->const_method_name_index);
	const uint64_t signature = head_field(target, parts, &layout->const_method_signature_index);
	uint8_t first[MOST_OBJECT + 2 * WORD];
	uint64_t entries[2], file;
	struct pool_look look;
	struct iovec pieces[5] = { interpreter_piece(parts->pool, layout->pool_bytes),
		interpreter_piece(entry_place(target, parts, name), WORD),
		interpreter_piece(entry_place(target, parts, signature), WORD) };

	if (hotspot_read_together(&target->memory, pieces, 3, first) != layout->pool_bytes + sizeof(entries))
		return false;
	memcpy(parts->pool_head, first, layout->pool_bytes);
	memcpy(entries, first + layout->pool_bytes, sizeof(entries));
	file = pool_field(target, parts, &layout->pool_source_file_name_index);
	/* Methods that HotSpot makes have no file, and an index that means nothing. */
	if (file >= pool_field(target, parts, &layout->pool_length))
		file = 0;
	pieces[0] =
		interpreter_piece(pool_field(target, parts, &layout->pool_holder) + layout->klass_name.offset, WORD);
	pieces[1] = interpreter_piece(entry_place(target, parts, file), WORD);
	pieces[2] = interpreter_piece(tag_place(target, parts, name) / WORD * WORD, WORD);
	pieces[3] = interpreter_piece(tag_place(target, parts, signature) / WORD * WORD, WORD);
	pieces[4] = interpreter_piece(tag_place(target, parts, file) / WORD * WORD, WORD);
	if (hotspot_read_together(&target->memory, pieces, 5, &look) != sizeof(look) ||
		!methods_is_string(target, parts, name, look.tags[0]) ||
		!methods_is_string(target, parts, signature, look.tags[1]))
		return false;
	symbols[0] = entries[0];
	symbols[1] = entries[1];
	symbols[2] = look.class_symbol;
	symbols[3] = file != 0 && methods_is_string(target, parts, file, look.tags[2]) ? look.file_symbol : 0;
	return true;
}

static bool methods_read_texts(const struct hotspot_target *target, struct method_parts *parts)
{
	struct hotspot_text *const texts[SYMBOLS] = { &parts->name, &parts->signature, &parts->class_name,
		&parts->file };
	struct symbol_start starts[SYMBOLS];
	struct iovec pieces[SYMBOLS];
	uint8_t bytes[SYMBOLS * MOST_START];
	uint64_t symbols[SYMBOLS];
	size_t got, at = 0;

	if (!read_pool(target, parts, symbols))
		return false;
	for (size_t i = 0; i < SYMBOLS; i++) {
		expect_symbol(&starts[i], symbols[i]);
		pieces[i] = interpreter_piece(starts[i].address, starts[i].size);
	}
	got = hotspot_read_together(&target->memory, pieces, symbols[3] != 0 ? SYMBOLS : SYMBOLS - 1, bytes);
	parts->file = (struct hotspot_text){ "", 0 };
	for (size_t i = 0; i < SYMBOLS && got - at >= starts[i].size; i++) {
		memcpy(starts[i].bytes, bytes + at, starts[i].size);
		at += starts[i].size;
		if (!methods_take_symbol(target, &starts[i], parts, texts[i]))
			return false;
	}
	return parts->class_name.size > 0;
}

/* The table of lines is behind the bytecodes, and ends somewhere before the ConstMethod's end. */
static bool methods_read_lines(const struct hotspot_target *target, const struct method_parts *parts,
	struct hotspot_method *method, struct error *err)
{
	enum { MOST_LINES_BYTES = 1 << 16 };
	const struct hotspot_layout *layout = &target->layout;
	uint64_t size = head_field(target, parts, &layout->const_method_size) * sizeof(uint64_t);
	uint64_t before = layout->const_method_bytes + method->code_bytes;

	if (!(head_field(target, parts, &layout->const_method_flags) & layout->has_line_numbers) || size <= before)
		return true;
	size = size - before < MOST_LINES_BYTES ? size - before : MOST_LINES_BYTES;
	method->lines = malloc(size);
	if (!method->lines)
		return error_set_memory(err);
	method->lines_bytes = size;
	if (checked_range(before, size, parts->head_bytes))
		memcpy(method->lines, parts->head + before, size);
	else
		method->lines_bytes = hotspot_read_some(
			&target->memory, method->code_start + method->code_bytes, method->lines, size);
	return true;
}

static bool methods_add_function(const struct hotspot_target *target, const struct method_parts *parts,
	struct hotspot_method *method, struct error *err)
{
	struct buffer name, file;
	bool ok = true;

	buffer_init(&name, 2 * sizeof(parts->texts));
	buffer_init(&file, MOST_SYMBOL + 1);
	buffer_append(&file, parts->file.bytes, parts->file.size);
	if (hotspot_append_name(&name, parts->class_name, parts->name, parts->signature) && !name.over_limit) {
		const struct interpreter_function function = { name.data, file.data ? file.data : "",
			hotspot_method_line(method, target, 0) };

		ok = buffer_ok(&name, err) && buffer_ok(&file, err) &&
		     interpreter_names_give(
			     target->names, &target->memory.costs->giver, &function, &method->function, err);
	}
	buffer_deinit(&name);
	buffer_deinit(&file);
	return ok;
}

/* Notes what was read, so that another method at its place is known. */
static void watch_method(
	const struct hotspot_target *target, const struct method_parts *parts, struct hotspot_method *method)
{
	const struct hotspot_layout *layout = &target->layout;
	const uint64_t indexes = parts->const_method + layout->const_method_name_index.offset;
	struct hotspot_watch *watch = &method->watch;

	watch->addresses[0] = method->address + layout->method_const_method.offset;
	watch->addresses[1] = parts->const_method + layout->const_method_constants.offset;
	watch->addresses[2] = indexes - indexes % sizeof(uint64_t);
	watch->addresses[3] = parts->pool + layout->pool_holder.offset;
	watch->words[0] = parts->const_method;
	watch->words[1] = parts->pool;
	watch->words[2] = hotspot_word(parts->head, parts->head_bytes, watch->addresses[2] - parts->const_method);
	watch->words[3] = pool_field(target, parts, &layout->pool_holder);
	watch->checked = target->round;
}

static bool read_method(const struct hotspot_target *target, struct hotspot_method *method, struct error *err)
{
	const struct hotspot_layout *layout = &target->layout;
	uint32_t late = target->memory.costs->late;
	struct method_parts *parts;
	bool ok = true;

	free(method->lines);
	method->lines = NULL;
	method->lines_bytes = 0;
	method->function = PROFILE_NONE;
	parts = calloc(1, sizeof(*parts));
	if (!parts)
		return error_set_memory(err);
	if (methods_read_head(target, method->address, parts) && methods_read_texts(target, parts)) {
		method->code_start = parts->const_method + layout->const_method_bytes;
		method->code_bytes = (uint32_t)head_field(target, parts, &layout->const_method_code_size);
		ok = methods_read_lines(target, parts, method, err) && methods_add_function(target, parts, method, err);
	}
	watch_method(target, parts, method);
	/* What could not be read is read again. */
	method->read_version = method->watch.version - (target->memory.costs->late != late);
	free(parts);
	return ok;
}

static bool add_method(struct hotspot_methods *methods, uint64_t address, uint32_t *id, bool *added, struct error *err)
{
	uint32_t *value;

	if (!ARRAY_RESERVE(&methods->items, &methods->capacity, methods->count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&methods->by_address, &address, (uint32_t)methods->count, &value, added, err))
		return false;
	*id = *value;
	if (*added)
		methods->items[methods->count++] = (struct hotspot_method){ .address = address };
	return true;
}

bool hotspot_methods_find(
	struct hotspot_methods *methods, uint64_t address, struct hotspot_method **method, struct error *err)
{
	const struct hotspot_target *target = methods->target;
	struct hotspot_watch *watch;
	uint32_t id;
	bool added;

	if (!add_method(methods, address, &id, &added, err))
		return false;
	*method = &methods->items[id];
	watch = &(*method)->watch;
	watch->used = target->round;
	if (!added)
		hotspot_watch_check(&target->memory, &watch, 1, target->round);
	return (!added && (*method)->read_version == watch->version) || read_method(target, *method, err);
}

uint32_t hotspot_method_line(const struct hotspot_method *method, const struct hotspot_target *target, int64_t bci)
{
	const struct hotspot_stream table =
		hotspot_stream_over(method->lines, method->lines_bytes, target->vm_major_version);

	return bci > INT32_MAX ? 0 : hotspot_find_line(table, bci > 0 ? (uint32_t)bci : 0);
}
