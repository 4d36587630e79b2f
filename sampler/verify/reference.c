/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/verify/reference.h"

#include <stdlib.h>
#include <string.h>

/* A walk of UNWIND_MAX_FRAMES frames with long expressions needs fewer reads; so many take less than a second. */
enum { MAX_READS = 1 << 22 };

/* Bytes of an image file, at the runtime address where its process has them. */
struct loaded_piece {
	uint64_t start, size;
	const uint8_t *bytes;
};

struct reference {
	const struct unwind_library *library;
	const struct code_map *map;
	struct loaded_piece *pieces; /* owned */
	size_t piece_count;
	size_t last_piece; /* the piece that was read last */
	unw_addr_space_t space;
	const struct reference_stack *stack; /* the stack that is walked now */
	struct unwind_registers registers;   /* from which libunwind walks; its pc is in the call of a caller */
	size_t reads_left;
	bool met_unknown_code; /* unwind information was not found for some code, since this was last cleared */
};

static bool reference_copy_word(
	const uint8_t *bytes, uint64_t start, uint64_t size, uint64_t address, unw_word_t *value)
{
	if (address < start || size < sizeof(*value) || address - start > size - sizeof(*value))
		return false;
	memcpy(value, bytes + (address - start), sizeof(*value));
	return true;
}

/* Reads a word. libunwind reads aligned words only, so a word may begin before the piece, or end after it. */
static bool read_piece(const struct loaded_piece *piece, uint64_t address, unw_word_t *value)
{
	uint8_t bytes[sizeof(*value)] = { 0 };
	bool any = false;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		if (address + i - piece->start >= piece->size)
			continue;
		bytes[i] = piece->bytes[address + i - piece->start];
		any = true;
	}
	memcpy(value, bytes, sizeof(bytes));
	return any;
}

static int reference_read(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *context)
{
	struct reference *reference = context;
	const struct unwind_piece *copy = &reference->stack->copy, *other = &reference->stack->other;

	(void)space;
	if (write || reference->reads_left == 0)
		return -UNW_EINVAL;
	reference->reads_left--;
	if (reference_copy_word(copy->bytes, copy->address, copy->size, address, value) ||
		reference_copy_word(other->bytes, other->address, other->size, address, value))
		return 0;
	if (reference->piece_count > 0 && read_piece(&reference->pieces[reference->last_piece], address, value))
		return 0;
	for (size_t i = 0; i < reference->piece_count; i++) {
		if (read_piece(&reference->pieces[i], address, value)) {
			reference->last_piece = i;
			return 0;
		}
	}
	return -UNW_EINVAL;
}

static int reference_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write, void *context)
{
	const struct reference *reference = context;

	(void)space;
	/* libunwind numbers the general registers as DWARF does. */
	if (write || number < 0 || number >= MACHINE_MAX_REGISTERS)
		return -UNW_EBADREG;
	*value = reference->registers.values[number];
	return 0;
}

static int no_float_register(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write, void *context)
{
	(void)space;
	(void)number;
	(void)value;
	(void)write;
	(void)context;
	return -UNW_EBADREG;
}

/* Describes the region's search table to libunwind; false where its image has none. */
static bool describe_table(const struct code_region *region, unw_dyn_info_t *table)
{
	struct frame_search search;

	if (!region->frames || !frame_table_search(region->frames, &search))
		return false;
	*table = (unw_dyn_info_t){
		.start_ip = region->start,
		.end_ip = region->end,
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.u.rti = { .segbase = search.base - region->bias,
			.table_data = search.address - region->bias,
			.table_len = search.count * FRAME_SEARCH_ENTRY_BYTES / sizeof(unw_word_t) },
	};
	return true;
}

static int reference_find(
	unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *found, int need_unwind_info, void *context)
{
	struct reference *reference = context;
	const struct code_region *region = code_map_find(reference->map, ip);
	unw_dyn_info_t table;
	int result = -UNW_ENOINFO;

	if (region && describe_table(region, &table))
		result = reference->library->search_unwind_table(space, ip, &table, found, need_unwind_info, context);
	if (result < 0)
		reference->met_unknown_code = true;
	return result;
}

/* Nothing to free: the memory lies in the library's pool, which ends with the process. */
static void reference_put(unw_addr_space_t space, unw_proc_info_t *found, void *context)
{
	(void)space;
	(void)found;
	(void)context;
}

static int no_dynamic_code(unw_addr_space_t space, unw_word_t *list, void *context)
{
	(void)space;
	(void)list;
	(void)context;
	return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context)
{
	(void)space;
	(void)cursor;
	(void)context;
	return -UNW_EINVAL;
}

static int no_name(
	unw_addr_space_t space, unw_word_t address, char *name, size_t size, unw_word_t *offset, void *context)
{
	(void)space;
	(void)address;
	(void)name;
	(void)size;
	(void)offset;
	(void)context;
	return -UNW_ENOINFO;
}

static bool is_first_of_image(const struct code_map *map, size_t index)
{
	const struct code_region *region = &map->regions[index];

	for (size_t i = 0; i < index; i++)
		if (map->regions[i].image == region->image && map->regions[i].bias == region->bias)
			return false;
	return region->image != NULL;
}

/* Adds the image's pieces: unwind information lies in other segments than code. */
static bool reference_add_pieces(
	struct reference *reference, const struct code_region *region, size_t *capacity, struct error *err)
{
	const struct elf_segment *segments;
	size_t count;

	segments = elf_image_segments(region->image, &count);
	if (!ARRAY_RESERVE(&reference->pieces, capacity, reference->piece_count + count, ARRAY_MAX_IDS, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t size;
		const uint8_t *bytes = elf_image_bytes_at(region->image, segments[i].address, &size);

		if (bytes && size > 0)
			reference->pieces[reference->piece_count++] =
				(struct loaded_piece){ segments[i].address - region->bias, size, bytes };
	}
	return true;
}

static bool load_pieces(struct reference *reference, struct error *err)
{
	size_t capacity = 0;

	for (size_t i = 0; i < reference->map->count; i++)
		if (is_first_of_image(reference->map, i) &&
			!reference_add_pieces(reference, &reference->map->regions[i], &capacity, err))
			return false;
	return true;
}

bool reference_create(const struct unwind_library *library, const struct code_map *map, struct reference **reference,
	struct error *err)
{
	unw_accessors_t accessors = {
		.find_proc_info = reference_find,
		.put_unwind_info = reference_put,
		.get_dyn_info_list_addr = no_dynamic_code,
		.access_mem = reference_read,
		.access_reg = reference_register,
		.access_fpreg = no_float_register,
		.resume = no_resume,
		.get_proc_name = no_name,
	};
	struct reference *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->library = library;
	made->map = map;
	made->space = library->create_addr_space(&accessors, 0);
	if (!made->space) {
		error_set_memory(err);
		goto fail;
	}
	library->set_caching_policy(made->space, UNW_CACHE_GLOBAL);
	if (!load_pieces(made, err))
		goto fail;
	*reference = made;
	return true;
fail:
	reference_destroy(made);
	return false;
}

void reference_destroy(struct reference *reference)
{
	if (!reference)
		return;
	if (reference->space)
		reference->library->destroy_addr_space(reference->space);
	free(reference->pieces);
	free(reference);
}

/* Steps to the caller; false at the end, and if the step would be a guess. */
static bool reference_step(struct reference *reference, unw_cursor_t *cursor)
{
	bool is_signal = reference->library->is_signal_frame(cursor) > 0;

	reference->met_unknown_code = false;
	return reference->library->step(cursor) > 0 && (is_signal || !reference->met_unknown_code);
}

/* Returns whether an address lies in the stack of a copied piece, further up. */
static bool reference_is_above(const struct unwind_piece *piece, uint64_t address)
{
	enum { MOST_STACK_BYTES = 8 << 20 };

	return piece->size > 0 && address - piece->address < piece->size + MOST_STACK_BYTES;
}

/* ---- The walk ---- */

/* The code that a frame is named by. */
static const struct code_region *region_of(
	const struct reference *reference, const uint64_t *addresses, const struct reference_end *end)
{
	return code_map_find(reference->map, addresses[end->count - 1] - (end->count > 1));
}

/* Keeps what is needed to go on from a frame. */
static bool reference_take_registers(struct reference *reference, unw_cursor_t *cursor)
{
	unw_word_t frame, stack;

	if (reference->library->get_reg(cursor, UNW_X86_64_RBP, &frame) < 0 ||
		reference->library->get_reg(cursor, UNW_X86_64_RSP, &stack) < 0)
		return false;
	reference->registers.values[UNW_X86_64_RBP] = frame;
	reference->registers.values[UNW_X86_64_RSP] = stack;
	return true;
}

/* Adds the callers of the frame that was added last, as far as there are tables; false if it cannot be gone on from. */
static bool walk_by_tables(struct reference *reference, uint64_t *addresses, size_t room, struct reference_end *end)
{
	unw_cursor_t cursor, last;
	unw_word_t address;

	if (reference->library->init_remote(&cursor, reference->space, reference) < 0)
		return false;
	for (;;) {
		/* A step that would be a guess has changed the registers. */
		last = cursor;
		/* After the first frame of a thread there may be a caller at address 0. */
		if (end->count == room || !reference_step(reference, &cursor) ||
			reference->library->get_reg(&cursor, UNW_REG_IP, &address) < 0 || address == 0)
			return reference_take_registers(reference, &last);
		addresses[end->count++] = address;
	}
}

/*
 * Adds the caller that the frame pointer leads to, in code that keeps it. The first one may be that of the leaf's
 * caller: what compares the walks knows. Go may leave a stack for another one.
 */
static bool step_by_frame_pointer(
	struct reference *reference, uint64_t *addresses, size_t room, struct reference_end *end)
{
	const struct code_region *region = region_of(reference, addresses, end);
	uint64_t *registers = reference->registers.values, frame = registers[UNW_X86_64_RBP];
	unw_word_t saved, address;

	if (end->count == room || frame == 0 || !region ||
		!(region->is_go || (region->keeps_frame_pointers && frame >= registers[UNW_X86_64_RSP])))
		return false;
	if (reference_read(reference->space, frame, &saved, 0, reference) < 0 ||
		reference_read(reference->space, frame + sizeof(frame), &address, 0, reference) < 0) {
		end->is_elsewhere = region->is_go && end->count > 1 &&
				    !reference_is_above(&reference->stack->copy, frame) &&
				    !reference_is_above(&reference->stack->other, frame);
		return false;
	}
	if (address == 0 || !code_map_find(reference->map, address - 1))
		return false;
	if (end->by_frame_pointer == 0)
		end->by_frame_pointer = end->count;
	addresses[end->count++] = address;
	registers[UNW_X86_64_RBP] = saved;
	registers[UNW_X86_64_RSP] = frame + 2 * sizeof(frame);
	registers[UNW_X86_64_RIP] = address - 1;
	return true;
}

struct reference_end reference_walk(
	struct reference *reference, const struct reference_stack *stack, uint64_t *addresses, size_t room)
{
	struct reference_end end = { 0 };

	reference->stack = stack;
	reference->registers = stack->registers;
	reference->reads_left = MAX_READS;
	if (room == 0 || stack->registers.values[UNW_X86_64_RIP] == 0)
		return end;
	addresses[end.count++] = stack->registers.values[UNW_X86_64_RIP];
	while (walk_by_tables(reference, addresses, room, &end) &&
		step_by_frame_pointer(reference, addresses, room, &end))
		;
	if (end.by_frame_pointer == 0)
		end.by_frame_pointer = end.count;
	return end;
}
