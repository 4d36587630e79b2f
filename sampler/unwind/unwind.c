/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"

#include "sampler/unwind/walk.h"

#include <stdlib.h>

struct unwinder {
	struct rule_cache cache;
	struct unwind_frame frames[UNWIND_TOGETHER][UNWIND_MAX_FRAMES];
	struct pushed pushed[UNWIND_TOGETHER][UNWIND_MAX_FRAMES];
	struct trial trials[UNWIND_TOGETHER][WALK_TRIALS];
	struct recall recall;
};

bool unwinder_create(struct unwinder **unwinder, struct error *err)
{
	struct unwinder *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	if (!rule_cache_init(&made->cache, err)) {
		free(made);
		return false;
	}
	*unwinder = made;
	return true;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	rule_cache_deinit(&unwinder->cache);
	free(unwinder);
}

static bool read_stack_for_expression(const void *context, uint64_t address, uint64_t *value)
{
	return walk_read(context, address, value);
}

static void read_saved_registers(struct walk *w)
{
	for (size_t i = 0; i < MACHINE_SAVED; i++)
		(void)walk_saved_register(w, i);
}

static bool find_cfa(struct walk *w, const struct rules_rule *rule, uint64_t *cfa)
{
	const struct frame_memory memory = { read_stack_for_expression, w->dump };

	if (rule->cfa.kind == FRAME_REGISTER) {
		*cfa = w->registers.values[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa.offset;
		return true;
	}
	return frame_evaluate(rule->table, rule->cfa, w->registers.values, &memory, 0, cfa);
}

/* Recovers a register's value in the caller; false with the reason when it is out of reach. */
static bool unwind_recover(struct walk *w, const struct rules_place *place, const struct frame_table *table,
	uint64_t cfa, uint64_t *value, enum profile_stop *stop)
{
	const struct frame_memory memory = { read_stack_for_expression, w->dump };
	const struct frame_register_rule *rule = &place->rule;
	uint64_t address = 0;

	switch ((enum frame_rule_kind)rule->kind) {
	case FRAME_SAME:
		*value = w->registers.values[place->number];
		return true;
	case FRAME_VAL_OFFSET:
		*value = cfa + (uint64_t)(int64_t)rule->offset;
		return true;
	case FRAME_REGISTER:
		*value = w->registers.values[rule->offset];
		return true;
	case FRAME_UNDEFINED:
		*value = 0;
		return true;
	case FRAME_AT_CFA:
		address = cfa + (uint64_t)(int64_t)rule->offset;
		break;
	case FRAME_EXPRESSION:
	case FRAME_VAL_EXPRESSION:
		*stop = PROFILE_STOP_UNWINDER;
		if (!frame_evaluate(table, *rule, w->registers.values, &memory, cfa, &address))
			return false;
		if (rule->kind == FRAME_VAL_EXPRESSION) {
			*value = address;
			return true;
		}
		break;
	}
	*stop = walk_stop_of_read(w, address);
	return walk_read(w->dump, address, value);
}

static bool cannot_read_return_address(struct walk *w, uint64_t cfa, enum profile_stop *stop)
{
	*stop = walk_stop_of_read(w, cfa - sizeof(uint64_t));
	w->result->caller_stack_pointer = cfa;
	return false;
}

static bool step_by_pushes(struct walk *w, enum profile_stop *stop)
{
	uint64_t cfa = w->cfa;

	if (!walk_moves_up(w, cfa)) {
		*stop = PROFILE_STOP_BAD_STACK;
		return false;
	}
	w->is_exact = false;
	if (!walk_read(w->dump, cfa - sizeof(uint64_t), &w->pc))
		return cannot_read_return_address(w, cfa, stop);
	w->stack_pointer = cfa;
	return true;
}

/* Restores the caller's registers. A register that cannot be read keeps its value. */
static bool step_to_caller(struct walk *w, const struct rules_rule *rule, uint64_t cfa, enum profile_stop *stop)
{
	const struct machine *machine = w->machine;
	const struct rules_place return_address = { rule->return_address, machine->return_column };
	struct unwind_registers caller = w->registers;
	enum profile_stop ignored;
	uint64_t value;

	if (!unwind_recover(w, &return_address, rule->table, cfa, &caller.values[machine->program_counter], stop))
		return false;
	caller.values[machine->stack_pointer] = cfa;
	for (unsigned int i = 0; i < rule->place_count; i++)
		if (unwind_recover(w, &rule->places[i], rule->table, cfa, &value, &ignored))
			caller.values[rule->places[i].number] = value;
	walk_take_registers(w, &caller);
	return true;
}

/* Changes the registers of a frame to those of its caller. */
static bool step_by_rule(struct walk *w, const struct rules_rule *rule, enum profile_stop *stop)
{
	uint64_t cfa = 0;

	if (rule->return_address.kind == FRAME_UNDEFINED) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	read_saved_registers(w);
	w->registers.values[w->machine->program_counter] = w->pc;
	w->registers.values[w->machine->stack_pointer] = w->stack_pointer;
	*stop = PROFILE_STOP_UNWINDER;
	/* A return address that is the function's own pc: the rule says nothing about it. */
	if (rule->return_address.kind == FRAME_SAME || !find_cfa(w, rule, &cfa))
		return false;
	/* A signal handler may run on another stack. */
	if (!rule->is_signal_frame && !walk_moves_up(w, cfa)) {
		*stop = PROFILE_STOP_BAD_STACK;
		return false;
	}
	w->is_exact = rule->is_signal_frame;
	if (step_to_caller(w, rule, cfa, stop))
		return true;
	w->result->caller_stack_pointer = rule->is_signal_frame ? 0 : cfa;
	return false;
}

/* The address by which the pc's rule is looked up. */
static uint64_t code_address(const struct walk *w)
{
	return w->pc - !w->is_exact;
}

/* The return address that stood at a place of the stack or above it, if a return probe has replaced it. */
static const struct unwind_return *find_return(const struct walk *w, uint64_t lowest, uint64_t highest)
{
	const struct unwind_probes *probes = &w->dump->probes;

	for (size_t i = 0; i < probes->return_count; i++)
		if (probes->returns[i].slot >= lowest && probes->returns[i].slot <= highest)
			return &probes->returns[i];
	return NULL;
}

/* Finds what the kernel's own code for probes stands for. False: a return address, which is not known. */
static bool read_through_probe(struct walk *w)
{
	enum { MOST_INSTRUCTION_BYTES = 16 };
	const struct unwind_probes *probes = &w->dump->probes;
	const uint64_t slot = w->stack_pointer - sizeof(uint64_t);
	const struct unwind_return *found;

	if (w->is_exact) {
		if (probes->runs_at && w->pc - probes->runs_at < MOST_INSTRUCTION_BYTES)
			w->pc += probes->stands_at - probes->runs_at;
		return true;
	}
	found = find_return(w, slot, slot);
	if (found)
		w->pc = found->address;
	return found;
}

static void look_up_code(struct walk *w)
{
	const struct code_place place = { w->space, code_address(w), w->is_exact };

	w->cached = *rule_cache_find(w->cache, &place);
}

/* Finds what is known of the code that the walk has come to. False, with the reason: no frame can be there. */
static bool unwind_find_code(struct walk *w)
{
	if (w->pc == 0) {
		w->result->stop = PROFILE_STOP_ROOT;
		return false;
	}
	look_up_code(w);
	if (w->cached.kind == CACHED_PROBE) {
		w->result->stop = PROFILE_STOP_RETURN_PROBE;
		if (!read_through_probe(w))
			return false;
		look_up_code(w);
		if (w->cached.kind == CACHED_PROBE && !w->is_exact)
			return false;
	}
	if (w->cached.kind == CACHED_NOWHERE || w->cached.kind == CACHED_PLACED) {
		w->result->placed = w->cached.kind == CACHED_PLACED ? w->pc : 0;
		w->result->stop = w->cached.kind == CACHED_PLACED ? PROFILE_STOP_OPEN : PROFILE_STOP_NO_MAPPING;
		return false;
	}
	return true;
}

/*
 * Decides on a walk that has come to where no frame can be. Calls keep to their rules, which exceptions use too. Those
 * of other instructions only serve profilers and debuggers, and are wrong where a compiler has moved a part of an
 * epilogue: of the first frame its instructions are asked too. A return address of 0 is the end of a stack where both
 * agree. Of a frame that a signal has interrupted the registers are gone by now, and the end is not proven.
 */
static bool mend_first_step(struct walk *w)
{
	struct unwind_result *result = w->result;
	bool is_from_exact =
		!w->is_exact && w->trials.count == 0 && result->count > 0 && result->frames[result->count - 1].is_exact;

	if (!is_from_exact)
		return false;
	if (result->count == 1)
		switch (walk_step_by_instructions(w, w->first)) {
		case WALK_AGREED:
			return false;
		case WALK_OTHERWISE:
			result->placed = 0;
			return unwind_find_code(w);
		case WALK_UNKNOWN:
			break;
		}
	if (result->stop == PROFILE_STOP_ROOT)
		result->stop = PROFILE_STOP_OPEN;
	return false;
}

/* Adds the frame of the present registers, and prefetches the data for the step to its caller. False at the end. */
static bool locate(struct walk *w)
{
	struct unwind_result *result = w->result;
	uint64_t offset;

	if (result->count == UNWIND_MAX_FRAMES) {
		result->stop = PROFILE_STOP_DEPTH;
		return false;
	}
	if (!unwind_find_code(w) && !mend_first_step(w))
		return false;
	if (w->trials.count > 0 && !walk_caller_may_hold(w)) {
		result->stop = PROFILE_STOP_BAD_STACK;
		return false;
	}
	w->carried = w->left;
	w->left = 0;
	memcpy(w->pushed[result->count].words, w->cached.saved, sizeof(w->cached.saved));
	/*
	 * Where no call has left its return address, execution goes on at the first instruction of a signal's frame,
	 * or where a function was interrupted.
	 */
	result->frames[result->count++] = (struct unwind_frame){ w->pc, w->stack_pointer, w->cached.image,
		w->is_exact || !w->cached.may_return || w->cached.kind == CACHED_SIGNAL_RETURN };
	if (w->cached.kind == CACHED_PUSHES) {
		w->cfa = walk_register(w, w->cached.cfa_register) + (uint64_t)(int64_t)w->cached.cfa_offset;
		offset = w->cfa - sizeof(uint64_t) - w->dump->address;
		if (offset < w->dump->size)
			__builtin_prefetch(w->dump->bytes + offset);
	}
	return true;
}

/* The code's maker (the interpreter that is asked) need not know the frame; then the walk goes on as in any code that
 * nothing describes. */
static bool step_from_made(struct walk *w, enum profile_stop *stop)
{
	const struct code_place place = { w->space, code_address(w), w->is_exact };
	struct unwind_frame *frame = &w->result->frames[w->result->count - 1];
	const struct unwind_made_frame made = { w->pc, w->stack_pointer, w->is_exact, &w->registers, w->dump,
		w->carried };
	struct unwind_made_caller caller = { .frame_pc = w->pc };
	struct cached *entry;

	read_saved_registers(w);
	switch (w->space->maker.find_caller(w->space->maker.context, &made, &caller)) {
	case UNWIND_ANSWER_CALLER:
		frame->pc = caller.frame_pc;
		memcpy(w->pushed[w->result->count - 1].words, caller.saved, sizeof(caller.saved));
		w->left = caller.carried;
		walk_go_to_caller(w, caller.stack_pointer, caller.pc);
		return true;
	case UNWIND_ANSWER_NOT_COPIED:
		return cannot_read_return_address(w, caller.stack_pointer, stop);
	case UNWIND_ANSWER_UNREADABLE:
		*stop = PROFILE_STOP_NO_RULE;
		return false;
	case UNWIND_ANSWER_UNKNOWN:
		break;
	}
	entry = rule_cache_find(w->cache, &place);
	rule_cache_guess(w->cache, &place, entry);
	w->cached = *entry;
	memcpy(w->pushed[w->result->count - 1].words, entry->saved, sizeof(entry->saved));
	return walk_step_without_rule(w, stop);
}

/*
 * Steps from the kernel's code for return probes, to which the innermost of the functions that are probed has returned.
 * It keeps a few registers above the stack pointer while it asks the kernel.
 */
static bool step_from_probe(struct walk *w, enum profile_stop *stop)
{
	enum { KEPT_WORDS = 8 };
	const struct unwind_return *found =
		find_return(w, w->stack_pointer - sizeof(uint64_t), w->stack_pointer + KEPT_WORDS * sizeof(uint64_t));

	*stop = PROFILE_STOP_RETURN_PROBE;
	if (found)
		walk_go_to_caller(w, found->slot + sizeof(uint64_t), found->address);
	return found;
}

static bool step_otherwise(struct walk *w, enum profile_stop *stop)
{
	switch ((enum cached_kind)w->cached.kind) {
	case CACHED_RULE:
		return step_by_rule(w, &w->cache->rules.rules[w->cached.rule], stop) ||
		       (*stop == PROFILE_STOP_UNWINDER && walk_scan_for_caller(w));
	case CACHED_MADE:
		return step_from_made(w, stop);
	case CACHED_SIGNAL_RETURN:
		return walk_step_from_signal(w, stop);
	case CACHED_PROBE:
		return step_from_probe(w, stop);
	case CACHED_ROOT:
		*stop = PROFILE_STOP_ROOT;
		return false;
	case CACHED_LAST_RETURN:
		return walk_step_to_start(w, stop);
	case CACHED_SYSCALL:
	case CACHED_GO:
	case CACHED_NO_RULE:
		return walk_step_without_rule(w, stop);
	case CACHED_NOWHERE:
	case CACHED_PLACED:
	case CACHED_PUSHES:
		break;
	}
	return false;
}

/* Steps from the located frame to its caller, whose rule is prefetched. False at the end. */
static bool unwind_step(struct walk *w)
{
	enum profile_stop *stop = &w->result->stop;
	bool moved = w->cached.kind == CACHED_PUSHES ? step_by_pushes(w, stop) : step_otherwise(w, stop);

	if (moved)
		__builtin_prefetch(rule_cache_entry(w->cache, w->space->generation, code_address(w)));
	return moved;
}

static bool locate_or_try_another(struct walk *w)
{
	while (!locate(w))
		if (!walk_try_another_caller(w))
			return false;
	return true;
}

/* A stack is not known to be whole where a step on its way may have passed over frames. */
static void unwind_end(struct walk *w)
{
	if (w->result->stop != PROFILE_STOP_OPEN)
		w->result->placed = 0;
	if (w->result->stop == PROFILE_STOP_ROOT && w->unproven > 0)
		w->result->stop = PROFILE_STOP_OPEN;
}

static void unwind_begin(struct walk *w, struct unwinder *unwinder, struct unwind_job *job, size_t place)
{
	const struct machine *machine = job->space.machine;
	struct unwind_frame *frames = unwinder->frames[place];

	job->result = (struct unwind_result){ .frames = job->result.frames ? job->result.frames : frames };
	*w = (struct walk){ .cache = &unwinder->cache,
		.space = &job->space,
		.machine = machine,
		.stack_pointer_number = machine->stack_pointer,
		.dump = &job->dump,
		.first = &job->registers,
		.pushed = unwinder->pushed[place],
		.result = &job->result,
		.is_exact = true,
		.trials.open = unwinder->trials[place],
		.recall = &unwinder->recall };
	walk_take_registers(w, &job->registers);
	__builtin_prefetch(rule_cache_entry(&unwinder->cache, job->space.generation, code_address(w)));
}

/* A walk that has ended is replaced by the last one. */
static void leave(struct walk **going, size_t *count, size_t index)
{
	unwind_end(going[index]);
	going[index] = going[--*count];
}

void unwind_stacks(struct unwinder *unwinder, struct unwind_job *jobs, size_t count)
{
	struct walk walks[UNWIND_TOGETHER], *going[UNWIND_TOGETHER];
	size_t going_count = 0;

	for (size_t i = 0; i < count; i++) {
		if (!jobs[i].space.machine) {
			jobs[i].result = (struct unwind_result){ .stop = PROFILE_STOP_UNWINDER };
			continue;
		}
		unwind_begin(&walks[i], unwinder, &jobs[i], i);
		going[going_count++] = &walks[i];
	}
	while (going_count > 0) {
		for (size_t i = 0; i < going_count;)
			if (locate_or_try_another(going[i]))
				i++;
			else
				leave(going, &going_count, i);
		for (size_t i = 0; i < going_count;)
			if (unwind_step(going[i]) || walk_try_another_caller(going[i]))
				i++;
			else
				leave(going, &going_count, i);
	}
}
