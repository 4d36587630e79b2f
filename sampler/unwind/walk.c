/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/walk.h"

/* What lies further above the stack copy than any stack is deep is another stack. */
static const uint64_t deepest_stack_bytes = 8 << 20;

enum profile_stop walk_stop_of_read(const struct walk *w, uint64_t address)
{
	uint64_t end = w->dump->address + w->dump->size;

	if (address >= w->dump->address && address - w->dump->address < w->dump->size + deepest_stack_bytes &&
		end > w->dump->address)
		return PROFILE_STOP_DUMP_END;
	return PROFILE_STOP_STACK_SWITCH;
}

const struct cached *walk_find_call(struct walk *w, uint64_t return_address)
{
	const struct code_place place = { w->space, return_address - 1, false };

	return rule_cache_find(w->cache, &place);
}

void walk_go_to_caller(struct walk *w, uint64_t stack_pointer, uint64_t pc)
{
	w->registers.values[CFI_RSP] = stack_pointer;
	w->registers.values[CFI_RIP] = pc;
	w->is_exact = false;
}

/* The kernel keeps the interrupted registers in a ucontext at the stack pointer (asm/sigcontext.h). */
bool walk_step_from_signal(struct walk *w, enum profile_stop *stop)
{
	enum { SIGCONTEXT_OFFSET = 40 };
	static const uint8_t order[CFI_REGISTERS] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };
	uint64_t context = walk_stack_pointer(w) + SIGCONTEXT_OFFSET;
	struct unwind_registers interrupted;

	for (size_t i = 0; i < CFI_REGISTERS; i++) {
		if (walk_read(w->dump, context + 8 * i, &interrupted.values[order[i]]))
			continue;
		*stop = walk_stop_of_read(w, context + 8 * i);
		return false;
	}
	w->registers = interrupted;
	for (size_t i = 0; i < RULES_SAVED; i++)
		w->known_at[i] = (uint32_t)(w->result->count - 1);
	w->is_exact = true;
	return true;
}
