/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/link.h"
#include "sampler/unwind/walk.h"

/* So many links in a row are no chance; so many in all are not worth more time. */
enum { PROVEN_LINKS = 32, PROVEN_BEFORE_END = 8, MOST_LINKS = 512, MOST_TRIES = 200, NO_ADDRESS = 1 };

/* Whether a word of the stack is where a call of described code returns to. */
static bool is_return_address(struct walk *w, uint64_t word)
{
	const struct cached *call;

	if (!w->space->is_code(w->space->context, word - 1))
		return false;
	call = walk_find_call(w, word);
	return call->may_return && (call->kind == CACHED_PUSHES || call->kind == CACHED_RULE);
}

/* What the code in between did with the registers that it must keep is not known. */
static void go_to(struct walk *w, uint64_t slot, uint64_t return_address)
{
	w->result->count = w->look.count;
	for (size_t i = 0; i < RULES_SAVED; i++) {
		w->registers.values[rules_saved_registers[i]] = NO_ADDRESS;
		w->known_at[i] = (uint32_t)w->look.count;
	}
	walk_go_to_caller(w, slot + sizeof(return_address), return_address);
}

static bool try_next(struct walk *w)
{
	struct look *look = &w->look;
	uint64_t word;

	while (look->tries < MOST_TRIES && look->links < MOST_LINKS && walk_read(w->dump, look->slot, &word)) {
		look->slot += sizeof(word);
		if (!is_return_address(w, word))
			continue;
		look->tries++;
		go_to(w, look->slot - sizeof(word), word);
		return true;
	}
	w->result->count = look->count;
	w->result->stop = look->stop;
	w->result->caller_stack_pointer = 0;
	look->is_open = false;
	return false;
}

static struct found_caller *place_of(const struct walk *w, uint64_t stack_pointer)
{
	return &w->cache->callers[hash_mix(stack_pointer, w->space->generation) % RULE_CALLERS];
}

static void keep(struct walk *w)
{
	const struct unwind_frame *frame = &w->result->frames[w->look.count - 1];

	*place_of(w, frame->stack_pointer) = (struct found_caller){ w->space->generation, frame->stack_pointer,
		frame[1].stack_pointer - sizeof(uint64_t), frame[1].pc };
}

static bool try_known(struct walk *w)
{
	uint64_t stack_pointer = w->registers.values[CFI_RSP], word;
	const struct found_caller *known = place_of(w, stack_pointer);

	if (known->generation != w->space->generation || known->stack_pointer != stack_pointer ||
		!walk_read(w->dump, known->slot, &word) || word != known->return_address)
		return false;
	go_to(w, known->slot, word);
	return true;
}

bool walk_look(struct walk *w)
{
	enum { WORD_MASK = 7 };

	if (!w->space->is_code)
		return false;
	w->look = (struct look){
		.slot = (w->registers.values[CFI_RSP] + WORD_MASK) & ~(uint64_t)WORD_MASK,
		.count = w->result->count,
		.stop = w->result->stop,
	};
	if (try_known(w))
		return true;
	w->look.is_open = true;
	return try_next(w);
}

bool walk_look_again(struct walk *w)
{
	enum profile_stop stop = w->result->stop;

	if (!w->look.is_open)
		return false;
	if (stop == PROFILE_STOP_ROOT && w->registers.values[CFI_RIP] != 0) {
		keep(w);
		return false;
	}
	if (stop == PROFILE_STOP_DUMP_END && w->result->count > w->look.count + PROVEN_BEFORE_END)
		return false;
	if (stop == PROFILE_STOP_DUMP_END)
		w->look.stop = stop;
	return try_next(w);
}

/* The same calls are met again and again. */
static bool is_possible(struct walk *w, uint64_t return_address, uint64_t callee)
{
	uint64_t generation = w->space->generation;
	struct checked_link *link = &w->cache->links[hash_mix(return_address ^ generation, callee) % RULE_LINKS];

	if (link->generation != generation || link->return_address != return_address || link->callee != callee)
		*link = (struct checked_link){ generation, return_address, callee,
			link_is_possible(w->space, return_address, callee) };
	return link->is_possible;
}

bool walk_holds(struct walk *w)
{
	size_t last = w->result->count;

	if (last == w->look.count + PROVEN_LINKS) {
		w->look.is_open = false;
		return true;
	}
	w->look.links++;
	if (w->cached.kind == CACHED_BY_HAND || w->cached.kind == CACHED_ROOT)
		return true;
	if (w->is_exact || !w->cached.is_called)
		return false;
	return last == w->look.count || is_possible(w, w->registers.values[CFI_RIP], w->result->frames[last - 1].pc - 1);
}
