/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/fallback/link.h"
#include "sampler/unwind/walk.h"

/* So many links in a row are no chance; so many in all are not worth more time. */
enum { PROVEN_LINKS = 32, PROVEN_BEFORE_END = 8, MOST_LINKS = 512, MOST_TRIES = 200, NO_ADDRESS = 1 };

/* Of looks in vain: some runtimes (SBCL, Erlang) keep nothing in the stack that could be found. One found is worth many. */
enum { MOST_CREDIT = 256, CREDIT_OF_FOUND = 16, ONE_WITHOUT_CREDIT_IN = 64 };

/* Whether a word of the stack is where a call of described code returns to. */
static bool is_return_address(struct walk *w, uint64_t word)
{
	const struct cached *call;

	if (!w->space->is_code(w->space->context, word - 1))
		return false;
	call = walk_find_call(w, word);
	return call->may_return && (call->kind == CACHED_PUSHES || call->kind == CACHED_RULE);
}

/* Code that has a frame pushes the caller's frame pointer first: below the return address. */
static void take_frame_pointer(struct walk *w, uint64_t slot)
{
	uint64_t frame_pointer, above;

	if (walk_read(w->dump, slot - sizeof(slot), &frame_pointer) && frame_pointer > slot && frame_pointer % sizeof(slot) == 0 &&
		walk_read(w->dump, frame_pointer, &above))
		w->registers.values[CFI_RBP] = frame_pointer;
}

/* What the code in between did with the other registers that it must keep is not known. */
static void go_to(struct walk *w, uint64_t slot, uint64_t return_address)
{
	for (size_t i = 0; i < RULES_SAVED; i++) {
		w->registers.values[rules_saved_registers[i]] = NO_ADDRESS;
		w->known_at[i] = (uint32_t)w->result->count;
	}
	take_frame_pointer(w, slot);
	walk_go_to_caller(w, slot + sizeof(return_address), return_address);
}

static struct look_credit *credit_of(const struct walk *w)
{
	struct look_credit *credit = &w->cache->credits[w->space->generation % RULE_CREDITS];

	if (credit->generation != w->space->generation)
		*credit = (struct look_credit){ w->space->generation, MOST_CREDIT, 0 };
	return credit;
}

static bool is_worth_a_look(const struct walk *w)
{
	struct look_credit *credit = credit_of(w);

	return credit->left > 0 || ++credit->left_out % ONE_WITHOUT_CREDIT_IN == 0;
}

static void note_found(const struct walk *w)
{
	struct look_credit *credit = credit_of(w);

	credit->left += CREDIT_OF_FOUND;
	if (credit->left > MOST_CREDIT)
		credit->left = MOST_CREDIT;
}

static void note_vain(const struct walk *w)
{
	struct look_credit *credit = credit_of(w);

	credit->left -= credit->left > 0;
}

/* The next word from `slot` on, below `end`, that may be the caller's. */
static bool find_next(struct walk *w, uint64_t *slot, uint64_t end, uint64_t *word)
{
	for (; *slot < end && walk_read(w->dump, *slot, word); *slot += sizeof(*word))
		if (is_return_address(w, *word))
			return true;
	return false;
}

static uint64_t with_refused(uint64_t refused, uint64_t slot, uint64_t word)
{
	return hash_mix(refused ^ slot, word);
}

/* The next word that may be the caller's; false when there is none. */
static bool try_next(struct walk *w, struct look *look)
{
	struct looks *looks = &w->looks;
	uint64_t word;

	w->result->count = look->count;
	if (look->tried && walk_read(w->dump, look->tried, &word))
		look->refused = with_refused(look->refused, look->tried, word);
	if (looks->tries < MOST_TRIES && looks->links < MOST_LINKS && find_next(w, &look->slot, UINT64_MAX, &word)) {
		looks->tries++;
		look->tried = look->slot;
		look->slot += sizeof(word);
		go_to(w, look->tried, word);
		return true;
	}
	w->result->stop = look->stop;
	w->result->caller_stack_pointer = 0;
	return false;
}

/* Where nothing leads on, what was found before was none either. */
static bool try_others(struct walk *w)
{
	struct looks *looks = &w->looks;

	for (; looks->count > 0; looks->count--)
		if (try_next(w, &looks->open[looks->count - 1]))
			return true;
	note_vain(w);
	return false;
}

static struct found_caller *place_of(const struct walk *w, uint64_t stack_pointer)
{
	return &w->cache->callers[hash_mix(stack_pointer, w->space->generation) % RULE_CALLERS];
}

static void keep_open(struct walk *w)
{
	note_found(w);
	for (; w->looks.count > 0; w->looks.count--) {
		const struct look *look = &w->looks.open[w->looks.count - 1];
		const struct unwind_frame *frame = &w->result->frames[look->count - 1];

		*place_of(w, frame->stack_pointer) = (struct found_caller){ w->space->generation, frame->stack_pointer, look->tried,
			frame[1].pc, look->refused };
	}
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

/* Of the last frame, as it is asked about by its caller. */
static uint64_t callee_address(const struct walk *w)
{
	return unwind_frame_address(&w->result->frames[w->result->count - 1]);
}

static uint64_t first_slot(const struct walk *w)
{
	enum { WORD_MASK = 7 };

	return (w->registers.values[CFI_RSP] + WORD_MASK) & ~(uint64_t)WORD_MASK;
}

/* What was refused then is so again. */
static bool is_known(struct walk *w, const struct found_caller *known)
{
	uint64_t slot = first_slot(w), refused = 0, word;

	if (known->generation != w->space->generation || known->stack_pointer != w->registers.values[CFI_RSP])
		return false;
	for (; find_next(w, &slot, known->slot, &word); slot += sizeof(word))
		refused = with_refused(refused, slot, word);
	return refused == known->refused && walk_read(w->dump, known->slot, &word) && word == known->return_address &&
	       is_possible(w, word, callee_address(w));
}

static void open_look(struct walk *w)
{
	struct looks *looks = &w->looks;
	struct look *look = &looks->open[looks->count++];

	*look = (struct look){
		.first_slot = first_slot(w), .slot = first_slot(w), .count = w->result->count, .stop = w->result->stop
	};
	for (size_t i = 0; i < RULES_SAVED; i++)
		look->kept[i] = walk_saved_register(w, i);
}

bool walk_look(struct walk *w)
{
	struct looks *looks = &w->looks;
	const struct found_caller *known = place_of(w, w->registers.values[CFI_RSP]);

	if (!w->space->is_code)
		return false;
	if (is_known(w, known)) {
		go_to(w, known->slot, known->return_address);
		return true;
	}
	if (looks->count == WALK_LOOKS || (looks->count == 0 && !is_worth_a_look(w)))
		return false;
	open_look(w);
	return try_others(w);
}

/* Whether the walk has ended at a frame that hangs on a register that is not known. */
static bool is_unknown_frame(struct walk *w)
{
	const struct unwind_result *result = w->result;
	bool is_located = result->frames[result->count - 1].stack_pointer == w->registers.values[CFI_RSP];

	return result->stop == PROFILE_STOP_BAD_STACK && is_located && w->cached.kind == CACHED_PUSHES &&
	       walk_register(w, w->cached.cfa_register) == NO_ADDRESS;
}

/* Whether a frame whose CFA is this may have been called: what stands below it is where a call returns to that may lead there. */
static bool was_called(struct walk *w, const struct unwind_frame *frame, uint64_t cfa)
{
	uint64_t slot = cfa - sizeof(slot), word;

	if (slot < frame->stack_pointer || slot % sizeof(word) != 0)
		return false;
	if (!walk_read(w->dump, slot, &word))
		return walk_stop_of_read(w, slot) == PROFILE_STOP_DUMP_END;
	return w->space->is_code(w->space->context, word - 1) && walk_find_call(w, word)->may_return &&
	       is_possible(w, word, frame->pc - 1);
}

/*
 * Of a frame that hangs on a register. It can be left again only if what it called has kept the register: where it was, or in the
 * stack below. Where none of these values leads to a call, the frame is left over from an earlier one. Otherwise nothing speaks
 * against it, and nothing for it.
 */
static bool is_undecided(struct walk *w, const struct unwind_frame *frame)
{
	const struct looks *looks = &w->looks;
	const uint64_t offset = (uint64_t)(int64_t)walk_find_call(w, frame->pc)->cfa_offset;
	uint64_t slot = looks->open[0].first_slot, word;

	for (size_t i = 0; i < looks->count; i++)
		for (size_t j = 0; j < RULES_SAVED; j++)
			if (was_called(w, frame, looks->open[i].kept[j] + offset))
				return true;
	for (; slot < frame->stack_pointer && walk_read(w->dump, slot, &word); slot += sizeof(word))
		if (was_called(w, frame, word + offset))
			return true;
	return false;
}

/* The frame of what was tried last that hangs on a register whose value is not known, or may be another; NULL where none does. */
static const struct unwind_frame *find_unproven(struct walk *w)
{
	const struct look *last = &w->looks.open[w->looks.count - 1];
	const struct unwind_result *result = w->result;

	if (result->count <= last->count)
		return NULL;
	if (is_unknown_frame(w))
		return &result->frames[result->count - 1];
	return last->is_by_frame_pointer ? &result->frames[last->count] : NULL;
}

static bool give_up(struct walk *w)
{
	w->result->count = w->looks.open[0].count;
	w->result->stop = PROFILE_STOP_NO_RULE;
	w->result->caller_stack_pointer = 0;
	w->looks.count = 0;
	note_vain(w);
	return false;
}

bool walk_look_again(struct walk *w)
{
	struct looks *looks = &w->looks;
	enum profile_stop stop = w->result->stop;
	const struct unwind_frame *unproven;
	struct look *last;

	if (looks->count == 0)
		return false;
	last = &looks->open[looks->count - 1];
	if (stop == PROFILE_STOP_ROOT && w->registers.values[CFI_RIP] != 0) {
		keep_open(w);
		return false;
	}
	if (stop == PROFILE_STOP_DUMP_END && w->result->count > last->count + PROVEN_BEFORE_END) {
		note_found(w);
		return false;
	}
	if (stop == PROFILE_STOP_DUMP_END)
		looks->open[0].stop = last->stop = stop;
	unproven = find_unproven(w);
	return unproven && is_undecided(w, unproven) ? give_up(w) : try_others(w);
}

bool walk_holds(struct walk *w)
{
	struct looks *looks = &w->looks;
	size_t last = w->result->count;

	if (last == looks->open[looks->count - 1].count + PROVEN_LINKS) {
		note_found(w);
		looks->count = 0;
		return true;
	}
	looks->links++;
	if (last == looks->open[looks->count - 1].count)
		looks->open[looks->count - 1].is_by_frame_pointer =
			w->cached.kind == CACHED_PUSHES && w->cached.cfa_register == CFI_RBP;
	if (w->cached.kind == CACHED_BY_HAND || w->cached.kind == CACHED_ROOT)
		return true;
	if (w->is_exact || !w->cached.is_called)
		return false;
	return is_possible(w, w->registers.values[CFI_RIP], callee_address(w));
}
