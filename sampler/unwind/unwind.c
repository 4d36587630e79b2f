/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

/* Callers return to few places: a cache of this size answers for 99 of 100 frames. */
enum { CACHE_ENTRIES = 1 << 14, ENTRY_CODE_BYTES = 64 };

struct cached {
	uint64_t generation, address;
	struct unwind_code code;
	bool in_code, has_rule;
	struct cfi_rule rule;
};

struct unwinder {
	struct cached *cache;
	struct unwind_frame frames[UNWIND_MAX_FRAMES];
};

/* The stack being walked. */
struct walk {
	struct unwinder *unwinder;
	const struct unwind_space *space;
	const struct unwind_stack_dump *dump;
	struct unwind_registers registers;
	struct unwind_result *result;
	bool is_exact; /* the pc is an instruction's own address, not one behind a call */
};

bool unwinder_create(struct unwinder **unwinder, struct error *err)
{
	struct unwinder *made = calloc(1, sizeof(*made));

	if (made)
		made->cache = calloc(CACHE_ENTRIES, sizeof(*made->cache));
	if (!made || !made->cache) {
		free(made);
		return error_set_memory(err);
	}
	*unwinder = made;
	return true;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	free(unwinder->cache);
	free(unwinder);
}

/* False where the dump does not reach. */
static bool read_stack(const struct unwind_stack_dump *dump, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - dump->address;

	if (address < dump->address || !checked_range(offset, sizeof(*value), dump->size))
		return false;
	memcpy(value, dump->bytes + offset, sizeof(*value));
	return true;
}

static bool read_stack_for_expression(const void *context, uint64_t address, uint64_t *value)
{
	return read_stack(context, address, value);
}

static const struct cached *look_up(struct walk *w, uint64_t address)
{
	uint64_t slot = (address * 0x9e3779b97f4a7c15u ^ w->space->generation * 0xc2b2ae3d27d4eb4fu) >> (64 - 14);
	struct cached *cached = &w->unwinder->cache[slot];

	if (cached->address == address && cached->generation == w->space->generation)
		return cached;
	*cached = (struct cached){ .generation = w->space->generation, .address = address };
	cached->in_code = w->space->find(w->space->context, address, &cached->code);
	if (cached->in_code && cached->code.table)
		cached->has_rule = cfi_table_find(cached->code.table, cached->code.image_address, &cached->rule);
	return cached;
}

static bool is_in_code(struct walk *w, uint64_t address)
{
	return look_up(w, address)->in_code;
}

/* Why a read beyond the dump failed: what lies above it was not copied; what lies elsewhere is another stack. */
static enum profile_stop stop_of_read(const struct walk *w, uint64_t address)
{
	uint64_t end = w->dump->address + w->dump->size;

	if (address >= w->dump->address && address < end + (8 << 20))
		return PROFILE_STOP_DUMP_END;
	return PROFILE_STOP_STACK_SWITCH;
}

/* Without unwind information: believed only when the return address lies in code and the frame lies above the stack pointer. */
static bool step_by_frame_pointer(struct walk *w, enum profile_stop *stop)
{
	uint64_t rbp = w->registers.values[CFI_RBP], next_rbp, pc;

	/* The ABI marks the deepest frame so (System V x86-64, 3.4.1); Go's goroutines end like this as well. */
	if (rbp == 0) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	if (rbp < w->registers.values[CFI_RSP] || (rbp & 7) || !read_stack(w->dump, rbp, &next_rbp) ||
		!read_stack(w->dump, rbp + 8, &pc)) {
		bool above = !(rbp & 7) && rbp >= w->dump->address + w->dump->size && stop_of_read(w, rbp) == PROFILE_STOP_DUMP_END;

		*stop = above ? PROFILE_STOP_DUMP_END : PROFILE_STOP_NO_RULE;
		return false;
	}
	if (pc == 0) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	if (!is_in_code(w, pc - 1)) {
		*stop = PROFILE_STOP_NO_RULE;
		return false;
	}
	w->registers.values[CFI_RSP] = rbp + 16;
	w->registers.values[CFI_RBP] = next_rbp;
	w->registers.values[CFI_RIP] = pc;
	w->is_exact = false;
	w->result->frame_pointer_frames++;
	return true;
}

static bool find_cfa(struct walk *w, const struct cached *cached, uint64_t *cfa)
{
	const struct cfi_memory memory = { read_stack_for_expression, w->dump };
	const struct cfi_rule *rule = &cached->rule;

	if (rule->cfa.place == CFI_REGISTER) {
		*cfa = w->registers.values[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa.offset;
		return true;
	}
	return cfi_evaluate(cached->code.table, rule->cfa, w->registers.values, &memory, 0, cfa);
}

/* A caller's register; false with the reason when it is out of reach. */
static bool recover(
	struct walk *w, const struct cached *cached, unsigned int number, uint64_t cfa, uint64_t *value, enum profile_stop *stop)
{
	const struct cfi_memory memory = { read_stack_for_expression, w->dump };
	const struct cfi_register_rule *rule = &cached->rule.registers[number];
	uint64_t address;

	switch ((enum cfi_place)rule->place) {
	case CFI_SAME:
		*value = w->registers.values[number];
		return true;
	case CFI_VAL_OFFSET:
		*value = cfa + (uint64_t)(int64_t)rule->offset;
		return true;
	case CFI_REGISTER:
		*value = w->registers.values[rule->offset];
		return true;
	case CFI_UNDEFINED:
		*value = 0;
		return true;
	case CFI_AT_CFA:
		address = cfa + (uint64_t)(int64_t)rule->offset;
		break;
	case CFI_EXPRESSION:
	case CFI_VAL_EXPRESSION:
	default:
		if (!cfi_evaluate(cached->code.table, *rule, w->registers.values, &memory, cfa, &address)) {
			*stop = PROFILE_STOP_UNWINDER;
			return false;
		}
		if (rule->place == CFI_VAL_EXPRESSION) {
			*value = address;
			return true;
		}
		break;
	}
	if (read_stack(w->dump, address, value))
		return true;
	*stop = stop_of_read(w, address);
	return false;
}

/* From the registers of a frame to those of its caller. */
static bool step_by_rule(struct walk *w, const struct cached *cached, enum profile_stop *stop)
{
	struct unwind_registers caller = w->registers;
	uint64_t cfa = 0;

	if (cached->rule.registers[CFI_RIP].place == CFI_UNDEFINED) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	*stop = PROFILE_STOP_UNWINDER;
	if (!find_cfa(w, cached, &cfa))
		return false;
	/* The CFA is the caller's stack pointer: it moves up, unless a signal handler ran on a stack of its own. */
	if (cfa <= w->registers.values[CFI_RSP] && !cached->rule.is_signal_frame && w->result->count > 1) {
		*stop = PROFILE_STOP_BAD_STACK;
		return false;
	}
	caller.values[CFI_RSP] = cfa;
	for (unsigned int i = 0; i < CFI_REGISTERS; i++) {
		enum profile_stop ignored;

		if (cached->rule.registers[i].place == CFI_SAME)
			continue;
		if (!recover(w, cached, i, cfa, &caller.values[i], i == CFI_RIP ? stop : &ignored) && i == CFI_RIP)
			return false;
	}
	/* A return address that is the function's own pc: the rule says nothing about it. */
	if (cached->rule.registers[CFI_RIP].place == CFI_SAME) {
		*stop = PROFILE_STOP_UNWINDER;
		return false;
	}
	w->registers = caller;
	w->is_exact = cached->rule.is_signal_frame;
	return true;
}

static bool is_entry(const struct unwind_code *code)
{
	return code->entry && code->image_address >= code->entry && code->image_address - code->entry < ENTRY_CODE_BYTES;
}

/* Adds the frame that the registers stand in, then moves to its caller; false at the end, with the reason. */
static bool step(struct walk *w, enum profile_stop *stop)
{
	uint64_t pc = w->registers.values[CFI_RIP];
	struct unwind_result *result = w->result;
	const struct cached *cached;

	if (pc == 0) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	cached = look_up(w, w->is_exact ? pc : pc - 1);
	if (!cached->in_code) {
		*stop = PROFILE_STOP_NO_MAPPING;
		return false;
	}
	if (result->count == UNWIND_MAX_FRAMES) {
		*stop = PROFILE_STOP_DEPTH;
		return false;
	}
	result->frames[result->count++] = (struct unwind_frame){ cached->code.image_address, cached->code.mapping_id };
	if (cached->has_rule)
		return step_by_rule(w, cached, stop);
	if (is_entry(&cached->code)) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	return step_by_frame_pointer(w, stop);
}

void unwind_stack(struct unwinder *unwinder, const struct unwind_space *space, const struct unwind_registers *registers,
	const struct unwind_stack_dump *dump, struct unwind_result *result)
{
	struct walk w = {
		.unwinder = unwinder, .space = space, .dump = dump, .registers = *registers, .result = result, .is_exact = true
	};

	*result = (struct unwind_result){ .frames = unwinder->frames };
	while (step(&w, &result->stop))
		;
}
