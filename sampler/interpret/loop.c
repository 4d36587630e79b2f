/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/loop.h"

#include "binary/binary.h"

#include <stdlib.h>
#include <string.h>

/*
 * The bytes that are decoded of a file that claims more: a loop that is not optimized has 200 kB. Each jump that leaves
 * the loop costs the reading of rules, which a file may make as long as it is.
 */
enum { MOST_LOOP_BYTES = 1 << 19, MOST_JUMPS = 1 << 14 };

/* A loop whose parts are looked for. */
struct interpreter_loop_search {
	struct elf_image *elf;
	const struct frame_table *table;
	const struct machine *machine;
	struct machine_decoder *decoder;
	struct interpreter_range ranges[INTERPRETER_MOST_RANGES];
	size_t count;
	size_t bytes, jumps; /* that were decoded, and followed */
};

static bool loop_has(const struct interpreter_loop_search *search, uint64_t address)
{
	for (size_t i = 0; i < search->count; i++)
		if (address >= search->ranges[i].start && address < search->ranges[i].end)
			return true;
	return false;
}

static bool is_same_rule(const struct frame_register_rule *a, const struct frame_register_rule *b)
{
	return a->kind == b->kind && a->offset == b->offset;
}

static bool interpret_loop_is_same_frame(
	const struct machine *machine, const struct frame_rule *a, const struct frame_rule *b)
{
	if (a->cfa_register != b->cfa_register || !is_same_rule(&a->cfa, &b->cfa))
		return false;
	for (size_t i = 0; i < machine->register_count; i++)
		if (!is_same_rule(&a->registers[i], &b->registers[i]))
			return false;
	return true;
}

/* Returns whether nothing was done to the frame that the call has made. */
static bool is_entry(const struct machine *machine, const struct frame_rule *rule)
{
	return rule->cfa.kind == FRAME_REGISTER && rule->cfa_register == machine->stack_pointer &&
	       rule->cfa.offset == machine->call_push_bytes;
}

/* Adds what a jump leads to, if it is a part of the loop. */
static void follow_jump(struct interpreter_loop_search *search, uint64_t from, uint64_t to)
{
	struct frame_rule source, target, entry;

	if (loop_has(search, to) || search->count == INTERPRETER_MOST_RANGES || search->jumps++ >= MOST_JUMPS ||
		!frame_table_find_rule(search->table, to, &target) ||
		!frame_table_find_rule(search->table, from, &source) ||
		!frame_table_find_rule(search->table, target.function_start, &entry))
		return;
	if (is_entry(search->machine, &entry) || !interpret_loop_is_same_frame(search->machine, &source, &target))
		return;
	search->ranges[search->count++] =
		(struct interpreter_range){ target.function_start, target.function_start + target.function_size };
}

static void follow_jumps(struct interpreter_loop_search *search, struct interpreter_range range)
{
	struct machine_frame frame = machine_frame_none(search->machine);
	struct machine_step step;
	size_t size, at = 0;
	const uint8_t *bytes = elf_image_bytes_at(search->elf, range.start, &size);

	if (!bytes)
		return;
	if (size > range.end - range.start)
		size = (size_t)(range.end - range.start);
	if (size > MOST_LOOP_BYTES - search->bytes)
		size = MOST_LOOP_BYTES - search->bytes;
	search->bytes += size;
	while (at < size && search->machine->step(search->decoder, bytes + at, size - at, &frame, &step)) {
		uint64_t address = range.start + at;

		at += step.size;
		if (step.flow == MACHINE_FLOW_JUMP || step.flow == MACHINE_FLOW_BRANCH)
			follow_jump(search, address, address + step.size + (uint64_t)step.distance);
	}
}

/* Finds the function that an address is in; false: there is no rule for it. */
static bool interpret_loop_find_function(
	const struct frame_table *table, uint64_t address, struct interpreter_range *function)
{
	struct frame_rule rule;

	if (!frame_table_find_rule(table, address, &rule))
		return false;
	*function = (struct interpreter_range){ rule.function_start, rule.function_start + rule.function_size };
	return true;
}

/*
 * Finds the parts of the function, and searches what is found as well: some compilers make several. Without a decoder
 * there are none. The first range is that of the function that `address` is in, unless that is 0.
 */
static bool find_parts(struct interpreter_loop_search *search, uint64_t address, struct error *err)
{
	struct frame_table *table;
	struct error why;

	if (!frame_table_create(search->elf, FRAME_RULES, &table, &why)) {
		if (why.code == ERROR_MEMORY)
			*err = why;
		return why.code != ERROR_MEMORY;
	}
	search->table = table;
	if (address != 0 && !interpret_loop_find_function(table, address, &search->ranges[0]))
		search->count = 0;
	search->machine = frame_table_machine(table);
	search->decoder = search->machine ? machine_decoder_create(search->machine) : NULL;
	for (size_t i = 0; search->decoder && i < search->count; i++)
		follow_jumps(search, search->ranges[i]);
	machine_decoder_destroy(search->decoder);
	frame_table_destroy(table);
	return true;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct interpreter_range *a = left, *b = right;

	return ORDER(a->start, b->start);
}

static bool take_ranges(const struct interpreter_loop_search *search, struct interpreter_loop *loop, struct error *err)
{
	loop->ranges = calloc(search->count, sizeof(*loop->ranges));
	if (!loop->ranges)
		return error_set_memory(err);
	memcpy(loop->ranges, search->ranges, search->count * sizeof(*loop->ranges));
	qsort(loop->ranges, search->count, sizeof(*loop->ranges), compare_ranges);
	loop->count = search->count;
	return true;
}

bool interpreter_loop_read(struct elf_image *elf, const struct interpreter_loop_symbols *symbols,
	struct interpreter_loop *loop, struct error *err)
{
	struct interpreter_loop_search search = { .elf = elf, .ranges = { symbols->loop }, .count = 1 };

	*loop = (struct interpreter_loop){ 0 };
	if (symbols->loop.start >= symbols->loop.end)
		return true;
	for (size_t i = 0; i < symbols->part_count && search.count < INTERPRETER_MOST_RANGES; i++)
		if (!loop_has(&search, symbols->parts[i].start))
			search.ranges[search.count++] = symbols->parts[i];
	return (symbols->has_all || find_parts(&search, 0, err)) && take_ranges(&search, loop, err);
}

bool interpreter_loop_find(struct elf_image *elf, uint64_t address, struct interpreter_loop *loop, struct error *err)
{
	struct interpreter_loop_search search = { .elf = elf, .count = 1 };

	*loop = (struct interpreter_loop){ 0 };
	if (!find_parts(&search, address, err))
		return false;
	return search.count == 0 || search.ranges[0].start == search.ranges[0].end || take_ranges(&search, loop, err);
}

void interpreter_loop_deinit(struct interpreter_loop *loop)
{
	free(loop->ranges);
}

bool interpreter_loop_has(const struct interpreter_loop *loop, uint64_t address)
{
	size_t below = ARRAY_COUNT_UP_TO(loop->ranges, loop->count, start, address);

	return below > 0 && address < loop->ranges[below - 1].end;
}
