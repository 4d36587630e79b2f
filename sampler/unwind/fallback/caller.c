/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The caller of a frame that no rule leads on from.
 *
 * Candidates are places where its return address may stand, in this order: where the instructions of the frame's
 * function leave it (scan.h), at the stack pointer behind a bare system call, above the word that the frame pointer
 * shows, and each word of the stack from the stack pointer upwards. Evidence decides: first what can be told of the
 * place and the return address alone (table `needed`), and of words of the stack, most of which earlier calls left
 * behind, also what the walk meets further up (table `verdict_on_trial`).
 *
 * The model assumes that code which nothing describes either returns as its instructions say, or runs in the frame of
 * what jumped to it (traces of LuaJIT, compiled code of PHP, QEMU and GHC). Then the true caller is the lowest return
 * address that fits: rules lead from there to a root, and each call on the way leads to the function that it is said to
 * have called. What earlier calls left behind contradicts a call that was made later.
 */
#include "sampler/unwind/fallback/link.h"
#include "sampler/unwind/fallback/other_stack.h"
#include "sampler/unwind/walk.h"

enum { WORD_BYTES = 8, WORD_MASK = WORD_BYTES - 1 };

/* ---- Candidates and the evidence of their places ---- */

enum candidate_kind { BY_INSTRUCTIONS, BY_SYSTEM_CALL, BY_FRAME_POINTER, BY_STACK_SCAN };

struct caller_candidate {
	enum candidate_kind kind;
	uint64_t lowest;         /* the lowest word of the stack that it rests on */
	uint64_t slot;           /* where the return address stands */
	uint64_t stack_pointer;  /* the caller's */
	uint64_t return_address; /* 0 where it was not copied */
	unsigned int evidence;   /* what was gathered */
};

enum evidence {
	IS_ABOVE = 1 << 0,   /* it rests on words above the stack pointer */
	IS_ALIGNED = 1 << 1, /* the words are aligned */
	IS_COPIED = 1 << 2,  /* the stack copy holds them */
	IS_CODE = 1 << 3,    /* the return address lies in code */
	IS_CALL = 1 << 4,    /* a call stands before it; or code without an image, whose interpreter may have it return
				anywhere */
	IS_DESCRIBED = 1 << 5, /* a rule leads on from there */
	IS_CONTINUED = 1 << 6, /* a call stands before it, or nothing describes it: it may begin a stack */
};

/* The evidence without which a candidate is refuted. */
static const unsigned int needed[] = {
	[BY_INSTRUCTIONS] = IS_ABOVE | IS_COPIED | IS_CODE | IS_CALL,
	[BY_SYSTEM_CALL] = IS_COPIED | IS_CODE,
	[BY_FRAME_POINTER] = IS_ABOVE | IS_ALIGNED | IS_COPIED | IS_CODE | IS_CONTINUED,
	[BY_STACK_SCAN] = IS_COPIED | IS_CODE | IS_CALL | IS_DESCRIBED,
};

/*
 * Returns whether the candidate rests above the stack pointer. The instructions of the leaf may switch to another
 * stack, whose frame may lie anywhere.
 */
static bool fallback_caller_is_above(const struct walk *w, const struct caller_candidate *c)
{
	return c->kind == BY_INSTRUCTIONS ? walk_moves_up(w, c->stack_pointer) : c->lowest >= walk_stack_pointer(w);
}

static unsigned int evidence_of_return_address(struct walk *w, uint64_t return_address)
{
	const struct unwind_space *space = w->space;
	const struct cached *call;

	if (space->is_code && !space->is_code(space->context, return_address - 1))
		return 0;
	call = walk_find_call(w, return_address);
	if (call->kind == CACHED_NOWHERE)
		return 0;
	return IS_CODE | (call->may_return ? IS_CALL : 0) | (call->kind != CACHED_PLACED ? IS_CONTINUED : 0) |
	       (call->kind == CACHED_PUSHES || call->kind == CACHED_RULE ? IS_DESCRIBED : 0);
}

/* Reads the return address, and stops at the first evidence that refutes the candidate. */
static unsigned int gather_evidence(struct walk *w, struct caller_candidate *c)
{
	unsigned int evidence =
		(fallback_caller_is_above(w, c) ? IS_ABOVE : 0) | (c->lowest % WORD_BYTES == 0 ? IS_ALIGNED : 0);
	uint64_t ignored;

	c->return_address = 0;
	if ((c->lowest != c->slot && !walk_read(w->dump, c->lowest, &ignored)) ||
		!walk_read(w->dump, c->slot, &c->return_address))
		return evidence;
	evidence |= IS_COPIED;
	if (needed[c->kind] & (IS_ABOVE | IS_ALIGNED) & ~evidence)
		return evidence;
	return evidence | evidence_of_return_address(w, c->return_address);
}

enum caller_verdict {
	VERDICT_REFUTED,
	VERDICT_HOLDS,
	VERDICT_NOT_COPIED, /* nothing speaks against the place, but what stands there lies above the stack copy */
};

static enum caller_verdict verdict_on_place(struct walk *w, struct caller_candidate *c)
{
	unsigned int missing;

	c->evidence = gather_evidence(w, c);
	missing = needed[c->kind] & ~c->evidence;
	if (missing == 0)
		return VERDICT_HOLDS;
	return (missing & IS_COPIED) && !(missing & (IS_ABOVE | IS_ALIGNED)) &&
			       walk_stop_of_read(w, c->lowest) == PROFILE_STOP_DUMP_END
		       ? VERDICT_NOT_COPIED
		       : VERDICT_REFUTED;
}

static const struct unwind_frame *last_frame(const struct walk *w)
{
	return &w->result->frames[w->result->count - 1];
}

/* The instructions of a frame's function, up to its return or from its entry, show where the return address is. */
static bool propose_by_instructions(struct walk *w, struct caller_candidate *c)
{
	uint64_t cfa = walk_register(w, w->cached.cfa_register) + (uint64_t)(int64_t)w->cached.cfa_offset,
		 slot = cfa - WORD_BYTES;

	*c = (struct caller_candidate){ BY_INSTRUCTIONS, slot, slot, cfa, 0, 0 };
	return w->cached.cfa_offset != 0;
}

/*
 * glibc's clone3 has no rules where the child comes into being: the parent returns from there, the child has nowhere to
 * return to.
 */
static bool propose_by_system_call(struct walk *w, struct caller_candidate *c)
{
	uint64_t slot = walk_stack_pointer(w);

	*c = (struct caller_candidate){ BY_SYSTEM_CALL, slot, slot, slot + WORD_BYTES, 0, 0 };
	return w->cached.kind == CACHED_SYSCALL && w->result->count == 1;
}

static bool propose_by_frame_pointer(struct walk *w, struct caller_candidate *c)
{
	uint64_t frame = walk_register(w, w->machine->frame_pointer);

	*c = (struct caller_candidate){ BY_FRAME_POINTER, frame, frame + WORD_BYTES, frame + 2 * (uint64_t)WORD_BYTES,
		0, 0 };
	return true;
}

/* Restores the caller's frame pointer from below the return address, where code that has a frame pushes it first. */
static void take_frame_pointer_below(struct walk *w, uint64_t slot)
{
	uint64_t frame = 0, above = 0;

	if (walk_read(w->dump, slot - WORD_BYTES, &frame) && frame > slot && frame % WORD_BYTES == 0 &&
		walk_read(w->dump, frame, &above))
		w->registers.values[w->machine->frame_pointer] = frame;
}

/* The value of an unknown register: no frame lies at this address. */
enum { NO_ADDRESS = 1 };

/* Forgets the registers that a function must preserve: what the skipped code did with them is not known. */
static void forget_registers(struct walk *w)
{
	for (size_t i = 0; i < MACHINE_SAVED; i++) {
		w->registers.values[w->machine->saved_registers[i]] = NO_ADDRESS;
		w->known_at[i] = (uint32_t)w->result->count;
	}
}

/* The first whole word at an address or above it. */
static uint64_t whole_word(uint64_t address)
{
	return (address + WORD_MASK) & ~(uint64_t)WORD_MASK;
}

static uint64_t first_slot(const struct walk *w)
{
	return whole_word(walk_stack_pointer(w));
}

static enum link fallback_caller_link_to(struct walk *w, uint64_t return_address, const struct unwind_frame *callee)
{
	uint64_t generation = w->space->generation, address = unwind_frame_address(callee);
	struct recall_link *known = recall_link_at(w->recall, generation, return_address, address);

	if (known->generation != generation || known->return_address != return_address || known->callee != address)
		*known = (struct recall_link){ generation, return_address, address,
			link_between(w->space, return_address, address) };
	return (enum link)known->link;
}

/*
 * Returns whether the candidate is the caller of the frame, and not one further up. A call that leads to the frame's
 * function proves it. Of code that was made while the program ran, calls do not tell: it is called by a pointer, or
 * jumped to. What makes such code keeps frame pointers in all of it, or has it return as its instructions say, or lets
 * it run in the frame of what called it.
 */
static bool is_next_caller(struct walk *w, const struct caller_candidate *c, bool passes_over_frame)
{
	const struct unwind_frame *frame = last_frame(w);
	const struct code_place place = { w->space, unwind_frame_address(frame), frame->is_exact };
	struct cached code;
	enum link link;

	if (c->kind == BY_INSTRUCTIONS || c->kind == BY_SYSTEM_CALL)
		return true;
	link = fallback_caller_link_to(w, c->return_address, frame);
	if (link != LINK_UNKNOWN)
		return link != LINK_IMPOSSIBLE;
	code = *rule_cache_find(w->cache, &place);
	if (c->kind == BY_FRAME_POINTER)
		return code.is_made || code.keeps_frame_pointer || walk_find_call(w, c->return_address)->is_made;
	return code.is_made && !passes_over_frame;
}

/* `is_next`: it is the caller of the frame, and not one further up. */
static void go_to_candidate(struct walk *w, const struct caller_candidate *c, bool is_next)
{
	if (w->unproven == 0 && !is_next)
		w->unproven = w->result->count;
	/* Only the instructions show where the frame keeps which registers. */
	if (c->kind != BY_INSTRUCTIONS)
		w->pushed[w->result->count - 1] = (struct pushed){ 0 };
	if (c->kind == BY_FRAME_POINTER) {
		if (c->lowest != 0)
			(void)walk_read(w->dump, c->lowest, &w->registers.values[w->machine->frame_pointer]);
		w->by_frame_pointer = w->result->count;
		w->result->frame_pointer_frames++;
	}
	if (c->kind == BY_STACK_SCAN) {
		forget_registers(w);
		take_frame_pointer_below(w, c->slot);
	}
	walk_go_to_caller(w, c->stack_pointer, c->return_address);
}

/* ---- Candidates of the stack scan on trial ---- */

/*
 * A chain of so many links is no coincidence; so many are enough at the end of the stack copy; all trials of a walk
 * together may take so many candidates and links.
 */
enum { PROVEN_LINKS = 32, PROVEN_LINKS_AT_END = 8, MOST_CANDIDATES = 200, MOST_LINKS = 512 };

static struct trial *last_trial(const struct walk *w)
{
	return &w->trials.open[w->trials.count - 1];
}

/*
 * Returns whether a word may be the return address of code that was made at run time and has a frame of its own: its
 * instructions lead to a return.
 */
static bool is_of_made_frame(struct walk *w, const struct caller_candidate *c)
{
	const struct cached *call;

	if ((c->evidence & (IS_CALL | IS_DESCRIBED)) != IS_CALL)
		return false;
	call = walk_find_call(w, c->return_address);
	return call->is_made && call->is_called && call->cfa_offset != 0;
}

/*
 * Finds the next word from `slot` on, below `end`, that may be the return address; `slot` then is its place.
 * `passes_over_frame` is set if one before may be that of another frame.
 */
static bool scan_words(
	struct walk *w, uint64_t *slot, uint64_t end, struct caller_candidate *c, bool *passes_over_frame)
{
	uint64_t word;

	for (; *slot < end && walk_read(w->dump, *slot, &word); *slot += WORD_BYTES) {
		*c = (struct caller_candidate){ BY_STACK_SCAN, *slot, *slot, *slot + WORD_BYTES, 0, 0 };
		if (verdict_on_place(w, c) == VERDICT_HOLDS)
			return true;
		*passes_over_frame |= is_of_made_frame(w, c);
	}
	return false;
}

static uint64_t with_refused(uint64_t refused, uint64_t slot, uint64_t return_address)
{
	return hash_mix(refused ^ slot, return_address);
}

/* Sets the walk back to the frame whose caller is searched for. */
static void rewind_to(struct walk *w, const struct trial *trial)
{
	w->result->count = trial->count;
	w->result->caller_stack_pointer = 0;
	w->result->placed = 0;
	w->result->frame_pointer_frames = trial->frame_pointer_frames;
	w->by_frame_pointer = trial->by_frame_pointer;
	if (w->unproven >= trial->count)
		w->unproven = 0;
}

/* Puts the next candidate on trial; false, with the reason, if there is none. */
static bool try_next_candidate(struct walk *w, struct trial *trial)
{
	struct trials *trials = &w->trials;
	struct caller_candidate c;
	uint64_t refuted;

	rewind_to(w, trial);
	if (trial->slot && walk_read(w->dump, trial->slot, &refuted))
		trial->refused = with_refused(trial->refused, trial->slot, refuted);
	if (trials->candidates < MOST_CANDIDATES && trials->links < MOST_LINKS &&
		scan_words(w, &trial->next_slot, UINT64_MAX, &c, &trial->passes_over_frame)) {
		trials->candidates++;
		trial->slot = c.slot;
		trial->next_slot = c.stack_pointer;
		go_to_candidate(w, &c, is_next_caller(w, &c, trial->passes_over_frame));
		return true;
	}
	w->result->stop = trial->stop;
	return false;
}

/* Tries candidates until one holds. A frame without a candidate that holds refutes the candidate that led to it. */
static bool try_candidates(struct walk *w)
{
	struct trials *trials = &w->trials;

	for (; trials->count > 0; trials->count--)
		if (try_next_candidate(w, last_trial(w)))
			return true;
	recall_found_nothing(w->recall, w->space->generation);
	return false;
}

static void open_trial(struct walk *w)
{
	struct trial *trial = &w->trials.open[w->trials.count++];

	*trial = (struct trial){ .first_slot = first_slot(w),
		.next_slot = first_slot(w),
		.count = w->result->count,
		.stop = w->result->stop,
		.by_frame_pointer = w->by_frame_pointer,
		.frame_pointer_frames = w->result->frame_pointer_frames };
	for (size_t i = 0; i < MACHINE_SAVED; i++)
		trial->kept[i] = walk_saved_register(w, i);
}

static bool is_possible_link(struct walk *w, uint64_t return_address, const struct unwind_frame *callee)
{
	return fallback_caller_link_to(w, return_address, callee) != LINK_IMPOSSIBLE;
}

/*
 * Tries the caller that an earlier scan found, if it is this frame's too: the candidates refuted then would be refuted
 * again.
 */
static bool recall_candidate(struct walk *w, struct caller_candidate *c, bool *is_next)
{
	const struct recall_caller *known = recall_caller_at(w->recall, w->space->generation, walk_stack_pointer(w));
	uint64_t slot = first_slot(w), refused = 0;
	bool passes_over_frame = false;

	if (known->generation != w->space->generation || known->stack_pointer != walk_stack_pointer(w))
		return false;
	for (; scan_words(w, &slot, known->slot, c, &passes_over_frame); slot += WORD_BYTES)
		refused = with_refused(refused, slot, c->return_address);
	*c = (struct caller_candidate){ BY_STACK_SCAN, known->slot, known->slot, known->slot + WORD_BYTES,
		known->return_address, 0 };
	*is_next = is_next_caller(w, c, passes_over_frame);
	return refused == known->refused && walk_read(w->dump, known->slot, &slot) && slot == known->return_address &&
	       is_possible_link(w, known->return_address, last_frame(w));
}

bool walk_scan_for_caller(struct walk *w)
{
	struct caller_candidate c;
	bool is_next;

	if (!w->space->is_code)
		return false;
	if (recall_candidate(w, &c, &is_next)) {
		go_to_candidate(w, &c, is_next);
		return true;
	}
	if (w->trials.count == WALK_TRIALS ||
		(w->trials.count == 0 && !recall_may_scan(w->recall, w->space->generation)))
		return false;
	open_trial(w);
	return try_candidates(w);
}

/* ---- Evidence from the frames further up ---- */

/*
 * Returns whether code without a rule was entered through a return address that was stored explicitly, not by a call,
 * as for the first function of a stack or of a coroutine's stack.
 */
static bool is_put_there_by_hand(const struct walk *w)
{
	return w->cached.kind == CACHED_NO_RULE && !w->is_exact && !w->cached.may_return;
}

bool walk_caller_may_hold(struct walk *w)
{
	struct trial *trial = last_trial(w);
	size_t count = w->result->count;

	if (count == trial->count + PROVEN_LINKS) {
		recall_found(w->recall, w->space->generation);
		w->trials.count = 0;
		return true;
	}
	w->trials.links++;
	if (count == trial->count)
		trial->is_by_frame_pointer =
			w->cached.kind == CACHED_PUSHES && w->cached.cfa_register == w->machine->frame_pointer;
	if (is_put_there_by_hand(w) || w->cached.kind == CACHED_ROOT)
		return true;
	return !w->is_exact && w->cached.is_called && is_possible_link(w, walk_pc(w), last_frame(w));
}

/* Returns whether the walk has ended at a frame whose CFA depends on an unknown register. */
static bool is_at_unknown_frame(struct walk *w)
{
	return w->result->stop == PROFILE_STOP_BAD_STACK && last_frame(w)->stack_pointer == walk_stack_pointer(w) &&
	       w->cached.kind == CACHED_PUSHES && walk_register(w, w->cached.cfa_register) == NO_ADDRESS;
}

/*
 * The frame above the trial's whose CFA depends on a register with an unknown or uncertain value; NULL if there is
 * none.
 */
static const struct unwind_frame *find_hanging_frame(struct walk *w)
{
	const struct trial *trial = last_trial(w);

	if (w->result->count <= trial->count)
		return NULL;
	if (is_at_unknown_frame(w))
		return last_frame(w);
	return trial->is_by_frame_pointer ? &w->result->frames[trial->count] : NULL;
}

/*
 * Returns whether a frame may have this CFA: the return address below it leads to a call that may have called the
 * frame's function.
 */
static bool may_have_cfa(struct walk *w, const struct unwind_frame *frame, uint64_t cfa)
{
	uint64_t slot = cfa - WORD_BYTES, word;

	if (slot < frame->stack_pointer || slot % WORD_BYTES != 0)
		return false;
	if (!walk_read(w->dump, slot, &word))
		return walk_stop_of_read(w, slot) == PROFILE_STOP_DUMP_END;
	return (evidence_of_return_address(w, word) & IS_CALL) && is_possible_link(w, word, frame);
}

/*
 * A frame whose CFA depends on a register can only return if the functions it called have preserved that register, in
 * the register itself or in the stack below. If none of these values leads to a call, the frame is left over from an
 * earlier call. Otherwise nothing speaks against it, nor for it.
 */
static bool may_be_alive(struct walk *w, const struct unwind_frame *frame)
{
	const uint64_t offset = (uint64_t)(int64_t)walk_find_call(w, frame->pc)->cfa_offset;
	uint64_t slot = w->trials.open[0].first_slot, word;

	for (size_t i = 0; i < w->trials.count; i++)
		for (size_t j = 0; j < MACHINE_SAVED; j++)
			if (may_have_cfa(w, frame, w->trials.open[i].kept[j] + offset))
				return true;
	for (; slot < frame->stack_pointer && walk_read(w->dump, slot, &word); slot += WORD_BYTES)
		if (may_have_cfa(w, frame, word + offset))
			return true;
	return false;
}

enum trial_verdict {
	TRIAL_REFUTED,
	TRIAL_PROVEN,
	TRIAL_PROVEN_TO_END, /* to the end of the stack copy */
	TRIAL_UNDECIDED,     /* no evidence for or against it; candidates above it may not replace it */
};

/*
 * Decides by the end of the walk:
 *
 *	at a root                                          for the candidate
 *	at the end of the stack copy, after some links     for it
 *	at a frame whose CFA hangs on an unknown register  against it if no value of the register fits, else neither
 *	anywhere else                                      against it
 */
static enum trial_verdict verdict_on_trial(struct walk *w)
{
	const struct unwind_frame *hanging;

	if (w->result->stop == PROFILE_STOP_ROOT && walk_pc(w) != 0)
		return TRIAL_PROVEN;
	if (w->result->stop == PROFILE_STOP_DUMP_END && w->result->count > last_trial(w)->count + PROVEN_LINKS_AT_END)
		return TRIAL_PROVEN_TO_END;
	hanging = find_hanging_frame(w);
	return hanging && may_be_alive(w, hanging) ? TRIAL_UNDECIDED : TRIAL_REFUTED;
}

static void keep_callers(struct walk *w)
{
	for (; w->trials.count > 0; w->trials.count--) {
		const struct trial *trial = last_trial(w);
		const struct unwind_frame *frame = &w->result->frames[trial->count - 1];

		*recall_caller_at(w->recall, w->space->generation, frame->stack_pointer) =
			(struct recall_caller){ w->space->generation, frame->stack_pointer, trial->slot, frame[1].pc,
				trial->refused };
	}
}

static void fallback_caller_give_up(struct walk *w)
{
	rewind_to(w, &w->trials.open[0]);
	w->result->stop = PROFILE_STOP_NO_RULE;
	w->trials.count = 0;
	recall_found_nothing(w->recall, w->space->generation);
}

bool walk_try_another_caller(struct walk *w)
{
	enum trial_verdict verdict;

	if (w->trials.count == 0)
		return false;
	/* The caller may be above the end of the stack copy. */
	verdict = verdict_on_trial(w);
	if (w->result->stop == PROFILE_STOP_DUMP_END)
		w->trials.open[0].stop = last_trial(w)->stop = PROFILE_STOP_DUMP_END;
	switch (verdict) {
	case TRIAL_REFUTED:
		return try_candidates(w);
	case TRIAL_UNDECIDED:
		fallback_caller_give_up(w);
		return false;
	case TRIAL_PROVEN:
		recall_found(w->recall, w->space->generation);
		keep_callers(w);
		return false;
	case TRIAL_PROVEN_TO_END:
		recall_found(w->recall, w->space->generation);
		return false;
	}
	return false;
}

/* ---- A step without a rule ---- */

/*
 * Go maintains frame pointers, and where it begins or leaves a stack it sets the register to 0: in what starts a
 * thread, in what a goroutine returns to, and in what schedules.
 */
static bool is_first_of_goroutine(struct walk *w)
{
	return w->cached.kind == CACHED_GO && !w->is_exact && walk_register(w, w->machine->frame_pointer) == 0;
}

/*
 * The ABI marks the first frame by a frame pointer of 0 (System V x86-64, 3.4.1); others by a return address of 0 above
 * it. Where the frame below has no frame pointer, the register may have been used for another value.
 */
static bool is_marked_as_first(struct walk *w, const struct caller_candidate *by_frame_pointer)
{
	uint64_t ignored, return_address = 0;

	return w->by_frame_pointer + 1 == w->result->count && w->result->count > 1 &&
	       (by_frame_pointer->lowest == 0 ||
		       (walk_read(w->dump, by_frame_pointer->lowest, &ignored) &&
			       walk_read(w->dump, by_frame_pointer->slot, &return_address) && return_address == 0));
}

/* Ends the walk with the reason for a frame without a caller. */
static bool end_walk(struct walk *w, enum profile_stop reason, uint64_t caller_stack_pointer, enum profile_stop *stop)
{
	*stop = reason;
	w->result->caller_stack_pointer = caller_stack_pointer;
	return false;
}

static bool step_to_other_stack(struct walk *w)
{
	struct other_stack_caller caller;
	struct caller_candidate c;

	if (!other_stack_find(w, &caller))
		return false;
	c = (struct caller_candidate){ BY_FRAME_POINTER, caller.frame_pointer, caller.slot, caller.slot + WORD_BYTES,
		caller.return_address, 0 };
	go_to_candidate(w, &c, true);
	return true;
}

bool walk_step_without_rule(struct walk *w, enum profile_stop *stop)
{
	static bool (*const propose[])(struct walk *, struct caller_candidate *) = {
		[BY_INSTRUCTIONS] = propose_by_instructions,
		[BY_SYSTEM_CALL] = propose_by_system_call,
		[BY_FRAME_POINTER] = propose_by_frame_pointer,
	};
	struct caller_candidate c;

	if (step_to_other_stack(w))
		return true;
	if (is_first_of_goroutine(w))
		return end_walk(w, PROFILE_STOP_ROOT, 0, stop);
	for (size_t kind = BY_INSTRUCTIONS; kind < BY_STACK_SCAN; kind++) {
		if (!propose[kind](w, &c))
			continue;
		switch (verdict_on_place(w, &c)) {
		case VERDICT_HOLDS:
			go_to_candidate(w, &c, is_next_caller(w, &c, false));
			return true;
		case VERDICT_NOT_COPIED:
			return end_walk(w, PROFILE_STOP_DUMP_END, kind == BY_INSTRUCTIONS ? c.stack_pointer : 0, stop);
		case VERDICT_REFUTED:
			if (kind == BY_SYSTEM_CALL)
				return end_walk(w, PROFILE_STOP_ROOT, 0, stop);
			break;
		}
	}
	if (is_put_there_by_hand(w) && w->by_frame_pointer + 1 != w->result->count)
		return end_walk(w, PROFILE_STOP_ROOT, 0, stop);
	/* A frame of Go whose caller its frame pointer does not show has it in another stack. */
	if (w->cached.kind == CACHED_GO)
		return end_walk(w, PROFILE_STOP_OPEN, 0, stop);
	/*
	 * The mark may also be a register that is used for another value: a candidate of the stack scan is better
	 * evidence.
	 */
	(void)end_walk(w, is_marked_as_first(w, &c) ? PROFILE_STOP_ROOT : PROFILE_STOP_NO_RULE, 0, stop);
	return walk_scan_for_caller(w);
}

enum walk_instructions walk_step_by_instructions(struct walk *w, const struct unwind_registers *first)
{
	const uint64_t caller_by_rule = walk_stack_pointer(w);
	const struct code_place place = { w->space, first->values[w->machine->program_counter], true };
	struct cached entry = *rule_cache_find(w->cache, &place);
	struct caller_candidate c;

	if (entry.kind != CACHED_PUSHES && entry.kind != CACHED_RULE)
		return WALK_UNKNOWN;
	entry.cfa_offset = 0;
	rule_cache_guess(w->cache, &place, &entry);
	if (entry.cfa_offset == 0)
		return WALK_UNKNOWN;
	w->cached = entry;
	walk_take_registers(w, first);
	(void)propose_by_instructions(w, &c);
	if (c.stack_pointer == caller_by_rule)
		return WALK_AGREED;
	if (verdict_on_place(w, &c) != VERDICT_HOLDS || !is_possible_link(w, c.return_address, last_frame(w)))
		return WALK_UNKNOWN;
	memcpy(w->pushed[0].words, entry.saved, sizeof(entry.saved));
	go_to_candidate(w, &c, true);
	return WALK_OTHERWISE;
}

/*
 * musl's functions that call main() and threads' first functions have no rules, and never return, so that their
 * instructions do not show the size of their frames: a few words above them stands the return address that leads to
 * where execution began. Without one, the code is a function like any other.
 */
bool walk_step_to_start(struct walk *w, enum profile_stop *stop)
{
	enum { MOST_FRAME_WORDS = 16 };
	uint64_t slot = first_slot(w), end = slot + MOST_FRAME_WORDS * (uint64_t)WORD_BYTES, word;

	for (; slot < end && walk_read(w->dump, slot, &word); slot += WORD_BYTES) {
		if (w->space->is_code && !w->space->is_code(w->space->context, word - 1))
			continue;
		if (walk_find_call(w, word)->kind != CACHED_ROOT)
			continue;
		walk_go_to_caller(w, slot + WORD_BYTES, word);
		return true;
	}
	return walk_step_without_rule(w, stop);
}
