/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/walk.h"

/* What lies further above the dump than any stack is deep is another stack. */
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

static bool returns_into_code(struct walk *w, uint64_t pc)
{
	return walk_find_call(w, pc)->kind != CACHED_NOWHERE;
}

void walk_go_to_caller(struct walk *w, uint64_t stack_pointer, uint64_t pc)
{
	w->registers.values[CFI_RSP] = stack_pointer;
	w->registers.values[CFI_RIP] = pc;
	w->is_exact = false;
}

/* Believed only when the return address lies in code and the frame lies above the stack pointer. */
static bool step_by_frame_pointer(struct walk *w, enum profile_stop *stop)
{
	uint64_t rbp = walk_register(w, CFI_RBP), next_rbp = 0, pc = 0;
	bool is_readable = walk_read(w->dump, rbp, &next_rbp) && walk_read(w->dump, rbp + 8, &pc);

	*stop = PROFILE_STOP_NO_RULE;
	/* The ABI marks the deepest frame so (System V x86-64, 3.4.1); Go's goroutines end like this as well. */
	if (rbp == 0 || (is_readable && pc == 0)) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	if (rbp < w->registers.values[CFI_RSP] || (rbp & 7))
		return false;
	if (!is_readable) {
		if (rbp - w->dump->address < w->dump->size + deepest_stack_bytes)
			*stop = walk_stop_of_read(w, rbp);
		return false;
	}
	if (!returns_into_code(w, pc))
		return false;
	walk_go_to_caller(w, rbp + 16, pc);
	w->registers.values[CFI_RBP] = next_rbp;
	w->by_frame_pointer = w->result->count;
	w->result->frame_pointer_frames++;
	return true;
}

/*
 * glibc's clone3 has no rules where the child comes into being: the parent returns from there, the child has nowhere to return to.
 */
static bool step_by_bare_syscall(struct walk *w, enum profile_stop *stop)
{
	uint64_t pc;

	*stop = PROFILE_STOP_ROOT;
	if (!walk_read(w->dump, w->registers.values[CFI_RSP], &pc) || !returns_into_code(w, pc))
		return false;
	walk_go_to_caller(w, w->registers.values[CFI_RSP] + sizeof(pc), pc);
	return true;
}

enum guess { GUESS_HOLDS, GUESS_LIES_BEYOND, GUESS_FAILS };

/* By what the code does until it returns: believed only when that leads behind a call. */
static enum guess step_by_guess(struct walk *w, enum profile_stop *stop)
{
	uint64_t cfa, slot, pc;

	if (w->cached.cfa_offset == 0)
		return GUESS_FAILS;
	cfa = walk_register(w, w->cached.cfa_register) + (uint64_t)(int64_t)w->cached.cfa_offset;
	slot = cfa - sizeof(pc);
	if (!walk_moves_up(w, cfa))
		return GUESS_FAILS;
	if (walk_read(w->dump, slot, &pc)) {
		if (!walk_find_call(w, pc)->may_return)
			return GUESS_FAILS;
		walk_go_to_caller(w, cfa, pc);
		return GUESS_HOLDS;
	}
	*stop = walk_stop_of_read(w, slot);
	w->result->caller_stack_pointer = cfa;
	return *stop == PROFILE_STOP_DUMP_END ? GUESS_LIES_BEYOND : GUESS_FAILS;
}

bool walk_step_without_rule(struct walk *w, enum profile_stop *stop)
{
	enum guess guess;

	/* Go keeps frame pointers. Where it switches stacks, there is none, and what lies above is left over. */
	if (w->cached.kind == CACHED_GO && walk_register(w, CFI_RBP) == 0) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	guess = step_by_guess(w, stop);
	if (guess != GUESS_FAILS)
		return guess == GUESS_HOLDS;
	w->result->caller_stack_pointer = 0;
	w->pushed[w->result->count - 1] = (struct pushed){ 0 };
	if (w->cached.kind == CACHED_SYSCALL && w->result->count == 1)
		return step_by_bare_syscall(w, stop);
	if (step_by_frame_pointer(w, stop))
		return true;
	if (*stop != PROFILE_STOP_NO_RULE && *stop != PROFILE_STOP_ROOT)
		return false;
	/* Where a stack of its own begins, a coroutine's as well, the first function's return address was put there by hand. */
	if (w->cached.kind == CACHED_BY_HAND && w->by_frame_pointer + 1 != w->result->count) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	return walk_look(w);
}

/* The kernel keeps the interrupted registers in a ucontext at the stack pointer (asm/sigcontext.h). */
bool walk_step_from_signal(struct walk *w, enum profile_stop *stop)
{
	enum { SIGCONTEXT_OFFSET = 40 };
	static const uint8_t order[CFI_REGISTERS] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };
	uint64_t context = w->registers.values[CFI_RSP] + SIGCONTEXT_OFFSET;
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
