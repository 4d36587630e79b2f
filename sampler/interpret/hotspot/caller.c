/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/caller.h"

#include "sampler/unwind/walk.h"

enum step_kind {
	STEP_NOT_LOOKED_FOR,
	STEP_UNKNOWN,
	STEP_BY_SIZE,          /* the CFA is so many bytes above the stack pointer */
	STEP_BY_SIZE_OR_FRAME, /* likewise, else the frame pointer leads to it */
	STEP_TO_NATIVE,        /* by size, to code that need not be Java's */
	STEP_BY_CALL,          /* where a return address is that a call of this code has left */
	STEP_BY_SEARCH,        /* in the few places where code without a frame has the return address */
	STEP_OVER_FROZEN,      /* the caller is not on the stack; its thread's is found */
};

enum {
	WORD_BYTES = sizeof(uint64_t),
	/* DWARF's numbers of x86-64. */
	RAX = 0,
	RBP = 6,
	SENDER_SP = 13,
	/*
	 * The most that interpreted frames have above the stack pointer that they return to: arguments and variables.
	 */
	MOST_VARIABLES_BYTES = (255 + 65535) * 16,
	MOST_ARGUMENT_BYTES = 256 * 16,
};

/* A question about a frame, and what answers it. */
struct hotspot_question {
	struct hotspot_process *process;
	const struct machine *machine;
	const struct unwind_made_frame *frame;
	struct unwind_made_caller *caller;
	enum unwind_answer *answer;
};

/* ---- Steps from places in code ---- */

/*
 * Finds what a method has pushed between its start and an instruction of its prologue; false: the instructions are not
 * readable.
 */
static bool find_pushed(
	struct machine_decoder *decoder, const struct machine_code *code, size_t offset, uint32_t *pushed)
{
	struct machine_frame frame = machine_frame_none(decoder->machine);
	struct machine_step step;

	for (size_t at = 0; at < offset; at += step.size)
		if (!decoder->machine->step(decoder, code->bytes + at, code->size - at, &frame, &step))
			return false;
	*pushed = (uint32_t)-frame.stack_pointer.offset;
	return frame.stack_pointer.base == decoder->machine->stack_pointer && frame.stack_pointer.offset <= 0;
}

/*
 * Finds the bytes up to the CFA at an instruction from which the code goes on to a return without a jump or a call, as
 * in an epilogue, whose branches lead to where a safepoint is waited for. False: it does not.
 */
static bool find_left(struct machine_decoder *decoder, const struct machine_code *code, size_t offset, uint32_t *left)
{
	enum { MOST_INSTRUCTIONS = 32 };
	struct machine_frame frame = machine_frame_none(decoder->machine);
	struct machine_step step;
	size_t at = offset;

	for (size_t i = 0; i < MOST_INSTRUCTIONS; i++, at += step.size) {
		if (at >= code->size ||
			!decoder->machine->step(decoder, code->bytes + at, code->size - at, &frame, &step) ||
			step.flow == MACHINE_FLOW_CALL || step.flow == MACHINE_FLOW_JUMP ||
			step.flow == MACHINE_FLOW_UNKNOWN)
			return false;
		if (step.flow == MACHINE_FLOW_RETURN) {
			*left = (uint32_t)frame.stack_pointer.offset + WORD_BYTES;
			return frame.stack_pointer.base == decoder->machine->stack_pointer &&
			       frame.stack_pointer.offset >= 0;
		}
	}
	return false;
}

/* Finds the step from an instruction of a method that runs, or that a signal interrupted. */
static bool find_exact_step(struct hotspot_process *process, uint32_t id, struct machine_decoder *decoder, uint64_t pc,
	struct hotspot_step *step, struct error *err)
{
	const struct hotspot_code *code = &process->codes.items[id];
	size_t offset = (size_t)(pc - code->start);
	struct machine_code instructions;
	uint32_t bytes;

	if (!hotspot_code_instructions(&process->codes, id, &instructions, err))
		return false;
	if (!decoder || offset >= instructions.size)
		return true;
	if (offset < code->complete_at) {
		if (find_pushed(decoder, &instructions, offset, &bytes)) {
			step->bytes = bytes + WORD_BYTES;
			step->keeps_frame_pointer = false;
			step->may_be_frame_pointer = true;
		}
	} else if (find_left(decoder, &instructions, offset, &bytes)) {
		step->bytes = bytes;
		step->keeps_frame_pointer = bytes > WORD_BYTES;
	}
	return true;
}

/*
 * The outermost frame of a virtual thread that is on the stack returns to a stub, which then brings its caller back
 * from the heap. Nothing has called the stub, so no call stands before that address.
 */
static bool find_thawing_step(struct hotspot_process *process, uint32_t id, const struct unwind_made_frame *frame,
	struct hotspot_step *step, struct error *err)
{
	const struct hotspot_code *code = &process->codes.items[id];
	struct machine_code instructions;

	if (!hotspot_code_instructions(&process->codes, id, &instructions, err))
		return false;
	instructions.at = (size_t)(frame->pc - code->start);
	if (!frame->is_exact && instructions.at <= instructions.size &&
		!process->target.names->table->machine->is_behind_call(&instructions))
		*step = (struct hotspot_step){ .kind = STEP_OVER_FROZEN, .leaves_out_frozen = true };
	return true;
}

static bool is_deopt_handler(const struct hotspot_code *code, uint64_t pc)
{
	return pc != 0 && (pc == code->deopt_handlers[0] || pc == code->deopt_handlers[1]);
}

static bool find_step(struct hotspot_process *process, uint32_t id, struct machine_decoder *decoder,
	const struct unwind_made_frame *frame, struct hotspot_step *step, struct error *err)
{
	const struct hotspot_code *code = &process->codes.items[id];
	bool has_size = code->frame_bytes >= WORD_BYTES;

	*step = (struct hotspot_step){ .kind = STEP_UNKNOWN, .bytes = code->frame_bytes, .keeps_frame_pointer = true };
	switch (code->kind) {
	case HOTSPOT_BLOB_METHOD:
		step->kind = has_size || frame->is_exact ? STEP_BY_SIZE : STEP_UNKNOWN;
		step->is_deoptimised = !frame->is_exact && is_deopt_handler(code, frame->pc);
		return !frame->is_exact || find_exact_step(process, id, decoder, frame->pc, step, err);
	case HOTSPOT_BLOB_FRAMED:
		step->kind = frame->is_exact ? STEP_UNKNOWN : STEP_BY_SIZE_OR_FRAME;
		return true;
	case HOTSPOT_BLOB_UPCALL:
		step->kind = has_size && !frame->is_exact ? STEP_TO_NATIVE : STEP_UNKNOWN;
		return true;
	case HOTSPOT_BLOB_THAWING:
		return find_thawing_step(process, id, frame, step, err);
	case HOTSPOT_BLOB_DISPATCH:
		*step = (struct hotspot_step){ .kind = STEP_BY_SIZE, .bytes = WORD_BYTES };
		return true;
	case HOTSPOT_BLOB_FRAMELESS:
		step->kind = frame->is_exact ? STEP_UNKNOWN : STEP_BY_SEARCH;
		return true;
	case HOTSPOT_BLOB_ADAPTER:
		step->kind = STEP_BY_SEARCH;
		return true;
	case HOTSPOT_BLOB_OTHER:
		step->kind = STEP_BY_CALL;
		break;
	}
	return true;
}

/* ---- Answers ---- */

static bool is_in_code_cache(const struct hotspot_process *process, uint64_t address)
{
	return address >= process->low && address < process->high;
}

/* Finds whether there is code in use before an address. */
static bool is_behind_code(const struct hotspot_question *question, uint64_t pc, bool *is, struct error *err)
{
	struct hotspot_frame *place;

	*is = false;
	if (!is_in_code_cache(question->process, pc - 1))
		return true;
	if (!hotspot_process_find_place(question->process, pc, false, &place, err))
		return false;
	*is = place->owner != PROFILE_NONE;
	return true;
}

static void keep_frame_pointer(const struct hotspot_question *question)
{
	question->caller->saved[question->machine->saved_index[RBP]] = 2;
}

/* Answers with the CFA, below which the return address is. False: it cannot be there. */
static bool answer_with(const struct hotspot_question *question, uint64_t cfa, bool is_to_java)
{
	struct unwind_made_caller *caller = question->caller;

	if (cfa - WORD_BYTES < question->frame->stack_pointer)
		return false;
	caller->stack_pointer = cfa;
	if (!walk_read(question->frame->dump, cfa - WORD_BYTES, &caller->pc))
		*question->answer = UNWIND_ANSWER_NOT_COPIED;
	else if (!is_to_java || is_in_code_cache(question->process, caller->pc - 1))
		*question->answer = UNWIND_ANSWER_CALLER;
	return *question->answer != UNWIND_ANSWER_UNKNOWN;
}

static uint64_t hotspot_caller_frame_pointer_of(const struct hotspot_question *question)
{
	return question->frame->registers->values[RBP];
}

/*
 * The frame by which native code calls Java; its frame pointer leads on, and it keeps the registers of its caller
 * (src/hotspot/cpu/x86/stubGenerator_x86_64.cpp: generate_call_stub()).
 */
static void answer_entry(const struct hotspot_question *question)
{
	static const struct {
		uint8_t number, words;
	} kept[] = { { 3, 9 }, { RBP, 2 }, { 12, 10 }, { 13, 11 }, { 14, 12 }, { 15, 13 } };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		question->caller->saved[question->machine->saved_index[kept[i].number]] = kept[i].words;
	(void)answer_with(question, hotspot_caller_frame_pointer_of(question) + 2 * (uint64_t)WORD_BYTES, false);
}

/*
 * An interpreted method's frame; a caller that is compiled has its own frame above the stack pointer that it had
 * when it called, not above the arguments that were put between them.
 */
static bool answer_interpreted(const struct hotspot_question *question)
{
	const struct hotspot_layout *layout = &question->process->target.layout;
	uint64_t frame_pointer = hotspot_caller_frame_pointer_of(question),
		 end = frame_pointer + 2 * (uint64_t)WORD_BYTES, sender;

	if (frame_pointer < question->frame->stack_pointer || frame_pointer % WORD_BYTES != 0)
		return false;
	keep_frame_pointer(question);
	if (walk_read(question->frame->dump, frame_pointer + layout->sender_sp_offset * WORD_BYTES, &sender) &&
		sender - end + WORD_BYTES <= MOST_VARIABLES_BYTES)
		question->caller->carried = sender;
	return answer_with(question, end, true);
}

/*
 * Code that moves arguments has the return address where its caller put it, or holds it in a register meanwhile;
 * what it calls may have had the stack pointer aligned.
 */
static bool answer_by_search(const struct hotspot_question *question, struct error *err)
{
	const struct unwind_made_frame *frame = question->frame;
	const uint64_t *registers = frame->registers->values, at = frame->stack_pointer;
	uint64_t words[3] = { 0, 0, frame->is_exact ? registers[RAX] : 0 };
	bool is_found = false;

	(void)walk_read(frame->dump, at, &words[0]);
	(void)walk_read(frame->dump, at + WORD_BYTES, &words[1]);
	for (size_t i = 0; i < 3 && !is_found; i++) {
		if (!is_behind_code(question, words[i], &is_found, err))
			return false;
		question->caller->pc = words[i];
		question->caller->stack_pointer = i < 2 ? at + (i + 1) * WORD_BYTES : at;
	}
	if (!is_found)
		return true;
	if (registers[SENDER_SP] - at <= MOST_ARGUMENT_BYTES)
		question->caller->carried = registers[SENDER_SP];
	*question->answer = UNWIND_ANSWER_CALLER;
	return true;
}

/* Returns whether the call before a return address in a compiled method leads to a block. */
static bool is_call_of(const struct hotspot_question *question, uint64_t pc, const struct hotspot_code *called,
	bool *is, struct error *err)
{
	struct hotspot_codes *codes = &question->process->codes;
	uint64_t start = called->start, size = called->end - called->start;
	struct machine_code instructions;
	struct hotspot_frame *place;
	int64_t distance;

	*is = false;
	if (!is_in_code_cache(question->process, pc - 1))
		return true;
	if (!hotspot_process_find_place(question->process, pc, false, &place, err))
		return false;
	if (place->owner == PROFILE_NONE || codes->items[place->owner].kind != HOTSPOT_BLOB_METHOD)
		return true;
	if (!hotspot_code_instructions(codes, place->owner, &instructions, err))
		return false;
	instructions.at = (size_t)(pc - codes->items[place->owner].start);
	*is = instructions.at <= instructions.size && question->machine->find_call(&instructions, &distance) &&
	      pc + (uint64_t)distance - start < size;
	return true;
}

/*
 * Stubs of one block differ in their frames: many begin with the frame pointer, that of a method's entry barrier with a
 * word before it (MacroAssembler::enter(), generate_method_entry_barrier()), others have none. A compiled method calls
 * them directly, so the true return address is known by its call.
 */
static bool answer_by_call(const struct hotspot_question *question, uint32_t owner, struct error *err)
{
	const uint64_t frame_pointer = hotspot_caller_frame_pointer_of(question),
		       stack_pointer = question->frame->stack_pointer;
	const struct {
		uint64_t at;
		uint8_t saved;
	} places[] = { { frame_pointer + WORD_BYTES, 2 }, { frame_pointer + 2 * (uint64_t)WORD_BYTES, 3 },
		{ stack_pointer, 0 } };
	uint64_t word;
	bool is;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (places[i].at < stack_pointer || !walk_read(question->frame->dump, places[i].at, &word))
			continue;
		if (!is_call_of(question, word, &question->process->codes.items[owner], &is, err))
			return false;
		if (!is)
			continue;
		question->caller->pc = word;
		question->caller->stack_pointer = places[i].at + WORD_BYTES;
		question->caller->saved[question->machine->saved_index[RBP]] = places[i].saved;
		*question->answer = UNWIND_ANSWER_CALLER;
		return true;
	}
	return true;
}

/*
 * The frame from which a virtual thread was entered has no address of code but its return address, behind the frame
 * pointer (ContinuationEntry in src/hotspot/share/runtime/continuationEntry.hpp). There may be room for arguments
 * before it.
 */
static bool answer_over_frozen(const struct hotspot_question *question, struct error *err)
{
	enum { MOST_WORDS = 32 };
	uint64_t at = question->frame->stack_pointer, word;
	bool is_found = false;

	for (size_t i = 0; i < MOST_WORDS && walk_read(question->frame->dump, at, &word); i++, at += WORD_BYTES) {
		if (!is_behind_code(question, word, &is_found, err))
			return false;
		if (!is_found)
			continue;
		question->caller->pc = word;
		question->caller->stack_pointer = at + WORD_BYTES;
		keep_frame_pointer(question);
		*question->answer = UNWIND_ANSWER_CALLER;
		return true;
	}
	return true;
}

/* Takes the place where a deoptimised frame goes on, which HotSpot has put into it. */
static void take_original_pc(
	const struct hotspot_question *question, const struct hotspot_code *code, uint64_t stack_pointer)
{
	uint64_t pc;

	if (walk_read(question->frame->dump, stack_pointer + code->original_pc_offset, &pc) && pc > code->start &&
		pc <= code->end)
		question->caller->frame_pc = pc;
}

static void answer_by_size(const struct hotspot_question *question, const struct hotspot_step *step, uint32_t owner)
{
	const struct unwind_made_frame *frame = question->frame;
	uint64_t base = frame->carried != 0 && !frame->is_exact ? frame->carried : frame->stack_pointer,
		 cfa = base + step->bytes;

	if (step->keeps_frame_pointer || (step->may_be_frame_pointer && hotspot_caller_frame_pointer_of(question) ==
										cfa - 2 * (uint64_t)WORD_BYTES))
		keep_frame_pointer(question);
	if (step->is_deoptimised)
		take_original_pc(question, &question->process->codes.items[owner], base);
	if (!answer_with(question, cfa, step->kind != STEP_TO_NATIVE) && step->kind == STEP_BY_SIZE_OR_FRAME)
		(void)answer_with(question, hotspot_caller_frame_pointer_of(question) + 2 * (uint64_t)WORD_BYTES, true);
}

static bool answer_in_code(const struct hotspot_question *question, struct machine_decoder *decoder, struct error *err)
{
	struct hotspot_frame *place;
	struct hotspot_step step;

	if (!hotspot_process_find_place(question->process, question->frame->pc, question->frame->is_exact, &place, err))
		return false;
	if (place->owner == PROFILE_NONE) {
		*question->answer = UNWIND_ANSWER_UNREADABLE;
		return true;
	}
	step = place->step;
	if (step.kind == STEP_NOT_LOOKED_FOR) {
		uint32_t late = question->process->costs.late;

		if (!find_step(question->process, place->owner, decoder, question->frame, &step, err))
			return false;
		if (question->process->costs.late == late)
			place->step = step;
	}
	switch ((enum step_kind)step.kind) {
	case STEP_BY_SIZE:
	case STEP_BY_SIZE_OR_FRAME:
	case STEP_TO_NATIVE:
		answer_by_size(question, &step, place->owner);
		break;
	case STEP_BY_CALL:
		return answer_by_call(question, place->owner, err);
	case STEP_BY_SEARCH:
		return answer_by_search(question, err);
	case STEP_OVER_FROZEN:
		return answer_over_frozen(question, err);
	case STEP_NOT_LOOKED_FOR:
	case STEP_UNKNOWN:
		break;
	}
	return true;
}

bool hotspot_find_caller(struct hotspot_process *process, struct machine_decoder *decoder,
	const struct unwind_made_frame *frame, struct unwind_made_caller *caller, enum unwind_answer *answer,
	struct error *err)
{
	const struct hotspot_question question = { process, process->target.names->table->machine, frame, caller,
		answer };
	uint64_t address = frame->pc - !frame->is_exact;

	*answer = UNWIND_ANSWER_UNKNOWN;
	if (!is_in_code_cache(process, address))
		return true;
	if (hotspot_process_is_entry(process, frame->pc, frame->is_exact)) {
		answer_entry(&question);
		return true;
	}
	if (!hotspot_loop_has(&process->loop, address))
		return answer_in_code(&question, decoder, err);
	return (hotspot_loop_is_framed(&process->loop, address) && answer_interpreted(&question)) ||
	       answer_by_search(&question, err);
}
