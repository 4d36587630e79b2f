/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/walk.h"

/* Memory further above the stack copy than any stack is deep belongs to another stack. */
static const uint64_t deepest_stack_bytes = 8 << 20;

static bool unwind_walk_is_above(const struct unwind_piece *piece, uint64_t address)
{
	return address >= piece->address && address - piece->address < piece->size + deepest_stack_bytes &&
	       piece->address + piece->size > piece->address;
}

enum profile_stop walk_stop_of_read(const struct walk *w, uint64_t address)
{
	const struct unwind_piece copied = { w->dump->bytes, w->dump->size, w->dump->address };

	return unwind_walk_is_above(&copied, address) ||
			       (w->dump->other.size > 0 && unwind_walk_is_above(&w->dump->other, address))
		       ? PROFILE_STOP_DUMP_END
		       : PROFILE_STOP_STACK_SWITCH;
}

uint64_t walk_saved_register(struct walk *w, size_t index)
{
	const struct unwind_frame *frames = w->result->frames;
	uint64_t *value = &w->registers.values[w->machine->saved_registers[index]];
	size_t here = w->result->count - 1;

	for (size_t i = here; i-- > w->known_at[index];) {
		uint64_t words = w->pushed[i].words[index];
		uint64_t slot = frames[i + 1].stack_pointer - words * sizeof(*value);

		/*
		 * A word below the stack pointer was popped by an epilogue: the register holds the caller's value
		 * already.
		 */
		if (words && slot >= frames[i].stack_pointer) {
			(void)walk_read(w->dump, slot, value);
			break;
		}
	}
	w->known_at[index] = (uint32_t)here;
	return *value;
}

void walk_take_registers(struct walk *w, const struct unwind_registers *registers)
{
	/* Registers that the machine does not have stay 0. */
	memcpy(w->registers.values, registers->values, w->machine->register_count * sizeof(*registers->values));
	w->pc = registers->values[w->machine->program_counter];
	w->stack_pointer = registers->values[w->machine->stack_pointer];
}

const struct cached *walk_find_call(struct walk *w, uint64_t return_address)
{
	const struct code_place place = { w->space, return_address - 1, false };

	return rule_cache_find(w->cache, &place);
}

void walk_go_to_caller(struct walk *w, uint64_t stack_pointer, uint64_t pc)
{
	w->stack_pointer = stack_pointer;
	w->pc = pc;
	w->is_exact = false;
}

/* The kernel keeps the interrupted registers in a ucontext at the stack pointer (struct machine). */
bool walk_step_from_signal(struct walk *w, enum profile_stop *stop)
{
	const struct machine *machine = w->machine;
	uint64_t context = walk_stack_pointer(w);
	struct unwind_registers interrupted;

	for (size_t i = 0; i < machine->register_count; i++) {
		if (walk_read(w->dump, context + machine->signal_offsets[i], &interrupted.values[i]))
			continue;
		*stop = walk_stop_of_read(w, context + machine->signal_offsets[i]);
		return false;
	}
	walk_take_registers(w, &interrupted);
	for (size_t i = 0; i < MACHINE_SAVED; i++)
		w->known_at[i] = (uint32_t)(w->result->count - 1);
	w->is_exact = true;
	return true;
}
