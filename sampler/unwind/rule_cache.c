/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/rule_cache.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, ENTRY_CODE_BYTES = 64 };

bool rule_cache_init(struct rule_cache *cache, struct error *err)
{
	size_t bytes = sizeof(*cache->entries) << RULE_CACHE_BITS;

	*cache = (struct rule_cache){ .entries = aligned_alloc(LINE_BYTES, bytes),
		.rows = calloc((size_t)1 << RULE_ROW_BITS, sizeof(*cache->rows)) };
	if (!cache->entries || !cache->rows || !negative_cache_init(&cache->negative, err)) {
		rule_cache_deinit(cache);
		return error_set_memory(err);
	}
	memset(cache->entries, 0, bytes);
	rules_init(&cache->rules);
	return true;
}

void rule_cache_deinit(struct rule_cache *cache)
{
	if (cache->entries && cache->rows)
		rules_deinit(&cache->rules);
	scanner_deinit(&cache->scanner);
	negative_cache_deinit(&cache->negative);
	free(cache->entries);
	free(cache->rows);
	*cache = (struct rule_cache){ 0 };
}

static enum cached_kind kind_without_rule(const struct machine *machine, const struct unwind_code *code, bool is_exact)
{
	if (machine->is_signal_return(&code->code))
		return CACHED_SIGNAL_RETURN;
	if (code->entry && code->image_address - code->entry < ENTRY_CODE_BYTES)
		return CACHED_ROOT;
	if (!is_exact && (machine->is_thread_start(&code->code) || machine->is_context_start(&code->code)))
		return CACHED_ROOT;
	if (!is_exact && machine->is_last_return(&code->code))
		return CACHED_LAST_RETURN;
	if (machine->is_behind_system_call(&code->code))
		return CACHED_SYSCALL;
	return code->is_go ? CACHED_GO : CACHED_NO_RULE;
}

static void keep_places(struct cached *entry, const struct rules_pushes *pushes)
{
	entry->cfa_register = pushes->cfa_register;
	entry->cfa_offset = pushes->cfa_offset;
	memcpy(entry->saved, pushes->saved, sizeof(pushes->saved));
}

static void keep_pushes(struct cached *entry, const struct rules_pushes *pushes)
{
	entry->kind = CACHED_PUSHES;
	keep_places(entry, pushes);
}

enum { ROW_BLOCK_BYTES = 64 };

/*
 * The owner of a row's addresses. Rules of a table and rules read from its instructions have different owners, as have
 * rules of memory that is mapped only for a while; tables lie at multiples of 4, which leaves bits for this.
 */
static uint64_t rules_owner(const struct frame_table *table)
{
	return (uintptr_t)table;
}

static uint64_t guesses_owner(const struct unwind_code *code, const struct unwind_space *space)
{
	return code->table ? rules_owner(code->table) + 1 : space->generation * 4 + 2;
}

/*
 * The row of an address. It depends on the address of the code alone, not on that of its table, which is random: a rule
 * read from instructions depends on the order of lookups, and must be the same in every run.
 */
static struct rule_row *row_of(const struct rule_cache *cache, uint64_t address)
{
	uint64_t mixed = hash_mix(address / ROW_BLOCK_BYTES, 0x9e3779b97f4a7c15u);

	return &cache->rows[mixed >> (64 - RULE_ROW_BITS)];
}

static bool rule_cache_holds(const struct rule_row *row, uint64_t owner, uint64_t address)
{
	return row->owner == owner && address - row->start < row->size;
}

static void keep_rule(
	struct rule_cache *cache, const struct unwind_code *code, const struct frame_rule *rule, struct cached *entry)
{
	uint64_t owner = rules_owner(code->table);
	struct rules_pushes pushes;
	struct error ignored;
	uint32_t id;

	if (rules_as_pushes(frame_table_machine(code->table), rule, &pushes)) {
		*row_of(cache, code->image_address) = (struct rule_row){ owner, rule->start, rule->size, pushes };
		keep_pushes(entry, &pushes);
	} else if (rules_intern(&cache->rules, rule, code->table, &id, &ignored)) {
		entry->kind = CACHED_RULE;
		entry->rule = id;
	}
}

/*
 * Stores a described rule. False if nothing describes the code. An image of another processor describes registers that
 * the thread does not have.
 */
static bool keep_described(
	struct rule_cache *cache, const struct machine *machine, const struct unwind_code *code, struct cached *entry)
{
	uint64_t owner = rules_owner(code->table);
	const struct rule_row *row = row_of(cache, code->image_address);
	struct frame_rule rule;

	if (!code->table || frame_table_machine(code->table) != machine)
		return false;
	if (rule_cache_holds(row, owner, code->image_address)) {
		keep_pushes(entry, &row->pushes);
		return true;
	}
	if (!frame_table_find_rule(code->table, code->image_address, &rule))
		return false;
	entry->kind = CACHED_NO_RULE;
	keep_rule(cache, code, &rule, entry);
	return true;
}

static bool may_be_guessed(enum cached_kind kind)
{
	return kind == CACHED_NO_RULE || kind == CACHED_GO || kind == CACHED_SYSCALL || kind == CACHED_LAST_RETURN;
}

static bool rule_cache_read_code(const struct code_place *place, size_t bytes, struct unwind_code *code)
{
	const struct unwind_space *space = place->space;

	if (!space->read || !space->read(space->context, place->address, bytes, &code->code))
		return false;
	code->code.at += !place->is_exact;
	return true;
}

/* Nothing has a rule of all that the last scan met. */
static void keep_hopeless(struct rule_cache *cache, uint64_t owner, uint64_t code_start)
{
	const struct scanner *scanner = &cache->scanner;

	for (size_t i = 0; i < scanner->run_count; i++)
		negative_cache_add(&cache->negative, owner, code_start + scanner->runs[i].start,
			code_start + scanner->runs[i].end);
}

/* Stores the rule that the instructions give, and reads the code if its rule is not stored yet. */
static void keep_guess(
	struct rule_cache *cache, const struct code_place *place, struct unwind_code *code, struct cached *entry)
{
	const struct unwind_space *space = place->space;
	uint64_t owner = guesses_owner(code, space), pc = code->image_address + !place->is_exact;
	const struct rule_row *row = row_of(cache, pc);
	bool is_image = code->code.bytes;
	struct scan_result scanned;

	if (rule_cache_holds(row, owner, pc)) {
		keep_places(entry, &row->pushes);
		return;
	}
	if (negative_cache_has(&cache->negative, owner, pc))
		return;
	if (!code->code.bytes && !rule_cache_read_code(place, UNWIND_CODE_BYTES, code))
		return;
	scan_rule(&cache->scanner, space->machine, &code->code, &scanned);
	if (scanned.pushes.cfa_offset == 0 && scanned.leaves_code && !is_image &&
		rule_cache_read_code(place, UNWIND_MOST_CODE_BYTES, code))
		scan_rule(&cache->scanner, space->machine, &code->code, &scanned);
	if (scanned.is_hopeless)
		keep_hopeless(cache, owner, pc - code->code.at);
	for (uint64_t at = pc; at < pc + scanned.bytes; at = (at / ROW_BLOCK_BYTES + 1) * ROW_BLOCK_BYTES)
		*row_of(cache, at) = (struct rule_row){ owner, pc, scanned.bytes, scanned.pushes };
	keep_places(entry, &scanned.pushes);
}

/* The code of a maker (an interpreter) that does not know a frame is read when that is met: most are never read. */
static bool rule_cache_is_made(const struct unwind_space *space, const struct unwind_code *code)
{
	return space->maker.find_caller && !code->table && !code->code.bytes;
}

void rule_cache_guess(struct rule_cache *cache, const struct code_place *place, struct cached *entry)
{
	const struct unwind_space *space = place->space;
	struct unwind_code code = { 0 };

	if (entry->is_guessed || !space->find(space->context, place->address, &code))
		return;
	code.code.at += !place->is_exact;
	keep_guess(cache, place, &code, entry);
	/* Else it was known for its neighbours, or could not be read, as it may be later. */
	entry->is_guessed = code.code.bytes != NULL;
	if (entry->is_guessed)
		entry->is_called = !place->is_exact && space->machine->is_behind_call(&code.code);
}

/*
 * Returns whether a call stands before the code. The memory of the process decides: code is patched while a program
 * runs, and the call that a file has not got stands there then (XRay, the kernel's optimized probes, uftrace). Where
 * neither can be read, a call may stand there.
 */
static bool is_called(const struct code_place *place, const struct unwind_code *code)
{
	enum { PATCHED_BYTES = 64 };
	const struct machine *machine = place->space->machine;
	struct unwind_code patched = *code;

	return !code->code.bytes || machine->is_behind_call(&code->code) ||
	       (rule_cache_read_code(place, PATCHED_BYTES, &patched) && machine->is_behind_call(&patched.code));
}

/*
 * Describes code that an address leads back to which no call has left. Execution goes on at the address itself, so it
 * is looked up by that: the byte before may belong to the function before. False: nothing describes it.
 *
 * The kernel leads a signal's handler so to what restores the registers, and Go a function that it interrupts to where
 * it was. Otherwise no function has called from there, and the rule for it tells nothing of a caller: it is the first
 * word of a coroutine's stack, a trampoline that some tool has put in place of a return address, or no return address
 * at all.
 */
static bool keep_placed(
	struct rule_cache *cache, const struct machine *machine, struct unwind_code *code, struct cached *entry)
{
	const struct frame_register_rule *return_address;
	struct frame_rule rule;

	code->image_address++;
	entry->kind = machine->is_signal_return(&code->code)   ? CACHED_SIGNAL_RETURN
		      : machine->is_context_start(&code->code) ? CACHED_ROOT
							       : CACHED_PLACED;
	if (entry->kind != CACHED_PLACED)
		return true;
	if (frame_table_machine(code->table) != machine ||
		!frame_table_find_rule(code->table, code->image_address, &rule)) {
		code->image_address--;
		return false;
	}
	return_address = &rule.registers[machine->return_column];
	if (rule.is_signal_frame || return_address->kind == FRAME_UNDEFINED || code->is_go)
		keep_rule(cache, code, &rule, entry);
	return true;
}

/*
 * Finds the code of an address. Return probes have functions return to the first byte of what the kernel has mapped for
 * them, which none calls: the byte before it, by which callers are looked up, is not mapped.
 */
static bool find_code_at(const struct code_place *place, struct unwind_code *code)
{
	const struct unwind_space *space = place->space;

	return space->find(space->context, place->address, code) ||
	       (!place->is_exact && space->find(space->context, place->address + 1, code) && code->is_return_probe);
}

void rule_cache_fill(struct rule_cache *cache, const struct code_place *place, struct cached *entry)
{
	const struct unwind_space *space = place->space;
	const struct machine *machine = space->machine;
	struct unwind_code code = { 0 };

	*entry = (struct cached){
		.generation = space->generation, .address = cached_address(place), .kind = CACHED_NOWHERE
	};
	if (!find_code_at(place, &code))
		return;
	entry->image = code.image;
	if (code.is_return_probe) {
		entry->kind = CACHED_PROBE;
		return;
	}
	/* A caller is looked up by the byte before its return address. */
	code.code.at += !place->is_exact;
	/* For code made at run time, the interpreter may also return to places without a call before them. */
	entry->may_return = !place->is_exact && (!code.table || is_called(place, &code));
	entry->is_called = entry->may_return;
	if (place->is_exact || entry->may_return ? keep_described(cache, machine, &code, entry)
						 : keep_placed(cache, machine, &code, entry))
		return;
	if (rule_cache_is_made(space, &code)) {
		entry->kind = CACHED_MADE;
		entry->is_made = true;
		return;
	}
	entry->kind = kind_without_rule(machine, &code, place->is_exact);
	entry->is_made = !code.code.bytes;
	entry->keeps_frame_pointer = code.is_go || machine->keeps_frame_pointer(&code.code);
	if (may_be_guessed(entry->kind))
		keep_guess(cache, place, &code, entry);
	if (code.code.bytes)
		entry->is_called = !place->is_exact && machine->is_behind_call(&code.code);
}
