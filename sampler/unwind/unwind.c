/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"

#include "sampler/unwind/rule_cache.h"

#include <stdlib.h>
#include <string.h>

/* What lies further above the dump than any stack is deep is another stack. */
static const uint64_t deepest_stack_bytes = 8 << 20;

/* Of a frame: rules_saved_registers, in words below its CFA; 0: not changed. */
struct pushed {
	uint8_t words[RULES_SAVED];
};

struct unwinder {
	struct rule_cache cache;
	struct unwind_frame frames[UNWIND_TOGETHER][UNWIND_MAX_FRAMES];
	struct pushed pushed[UNWIND_TOGETHER][UNWIND_MAX_FRAMES];
};

/* The stack being walked. */
struct walk {
	struct unwinder *unwinder;
	const struct unwind_space *space;
	const struct unwind_stack_dump *dump;
	struct unwind_result *result;
	bool is_exact;        /* the pc is an instruction's own address, not one behind a call */
	struct cached cached; /* of the pc; a copy, since another walk may need its place */
	uint64_t cfa;         /* of CACHED_PUSHES */
	struct unwind_registers registers;
	struct pushed *pushed; /* of each frame */
	/* Of rules_saved_registers: the frame for which `registers` has it. What frames behind that pushed is read when it is asked
	 * for, which it hardly ever is. */
	uint32_t known_at[RULES_SAVED];
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

static inline bool read_piece(const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t *value)
{
	if (!checked_range(offset, sizeof(*value), size))
		return false;
	memcpy(value, bytes + offset, sizeof(*value));
	return true;
}

/* False where the dump does not reach; below it, offsets are larger than any size. */
static inline bool read_stack(const struct unwind_stack_dump *dump, uint64_t address, uint64_t *value)
{
	const struct unwind_piece *far = &dump->far;

	return read_piece(dump->bytes, dump->size, address - dump->address, value) ||
	       read_piece(far->bytes, far->size, address - far->address, value);
}

static bool read_stack_for_expression(const void *context, uint64_t address, uint64_t *value)
{
	return read_stack(context, address, value);
}

/* What the frames since have pushed of a register; where it cannot be read, it stays as it was. */
static uint64_t saved_register(struct walk *w, size_t register_index)
{
	const struct unwind_frame *frames = w->result->frames;
	uint64_t *value = &w->registers.values[rules_saved_registers[register_index]];
	size_t here = w->result->count - 1;

	for (size_t i = here; i-- > w->known_at[register_index];) {
		uint64_t words = w->pushed[i].words[register_index];
		uint64_t slot = frames[i + 1].stack_pointer - words * sizeof(*value);

		/* Below the stack pointer it was popped again, in an epilogue: the register holds the caller's value already. */
		if (words && slot >= frames[i].stack_pointer) {
			(void)read_stack(w->dump, slot, value);
			break;
		}
	}
	w->known_at[register_index] = (uint32_t)here;
	return *value;
}

static inline uint64_t register_value(struct walk *w, uint8_t number)
{
	/* Nearly always. */
	if (number == CFI_RSP)
		return w->registers.values[CFI_RSP];
	for (size_t i = 0; i < RULES_SAVED; i++)
		if (rules_saved_registers[i] == number)
			return saved_register(w, i);
	return w->registers.values[number];
}

static void read_saved_registers(struct walk *w)
{
	for (size_t i = 0; i < RULES_SAVED; i++)
		(void)saved_register(w, i);
}

/* The byte before a return address: of the call. */
static bool returns_into_code(struct walk *w, uint64_t pc)
{
	const struct code_place place = { w->space, pc - 1, false };

	return rule_cache_find(&w->unwinder->cache, &place)->kind != CACHED_NOWHERE;
}

/* Why a read beyond the dump failed: what lies above it was not copied; what lies elsewhere is another stack. */
static enum profile_stop stop_of_read(const struct walk *w, uint64_t address)
{
	uint64_t end = w->dump->address + w->dump->size;

	if (address >= w->dump->address && address - w->dump->address < w->dump->size + deepest_stack_bytes &&
		end > w->dump->address)
		return PROFILE_STOP_DUMP_END;
	return PROFILE_STOP_STACK_SWITCH;
}

/* Without unwind information: believed only when the return address lies in code and the frame lies above the stack pointer. */
static bool step_by_frame_pointer(struct walk *w, enum profile_stop *stop)
{
	uint64_t rbp = register_value(w, CFI_RBP), next_rbp = 0, pc = 0;
	bool is_readable = read_stack(w->dump, rbp, &next_rbp) && read_stack(w->dump, rbp + 8, &pc);

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
			*stop = stop_of_read(w, rbp);
		return false;
	}
	if (!returns_into_code(w, pc))
		return false;
	w->registers.values[CFI_RSP] = rbp + 16;
	w->registers.values[CFI_RBP] = next_rbp;
	w->registers.values[CFI_RIP] = pc;
	w->is_exact = false;
	w->result->frame_pointer_frames++;
	return true;
}

static bool find_cfa(struct walk *w, const struct rules_rule *rule, uint64_t *cfa)
{
	const struct cfi_memory memory = { read_stack_for_expression, w->dump };

	if (rule->cfa.place == CFI_REGISTER) {
		*cfa = w->registers.values[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa.offset;
		return true;
	}
	return cfi_evaluate(rule->table, rule->cfa, w->registers.values, &memory, 0, cfa);
}

/* A register's value in the caller; false with the reason when it is out of reach. */
static bool recover(struct walk *w, const struct rules_place *place, const struct cfi_table *table, uint64_t cfa, uint64_t *value,
	enum profile_stop *stop)
{
	const struct cfi_memory memory = { read_stack_for_expression, w->dump };
	const struct cfi_register_rule *rule = &place->rule;
	uint64_t address = 0;

	switch ((enum cfi_place)rule->place) {
	case CFI_SAME:
		*value = w->registers.values[place->number];
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
		*stop = PROFILE_STOP_UNWINDER;
		if (!cfi_evaluate(table, *rule, w->registers.values, &memory, cfa, &address))
			return false;
		if (rule->place == CFI_VAL_EXPRESSION) {
			*value = address;
			return true;
		}
		break;
	}
	*stop = stop_of_read(w, address);
	return read_stack(w->dump, address, value);
}

/* The CFA is the caller's stack pointer: it moves up; where the first frame stands its own rule may know better. */
static bool moves_up(const struct walk *w, uint64_t cfa)
{
	return cfa > w->registers.values[CFI_RSP] || w->result->count == 1;
}

static bool cannot_read_return_address(struct walk *w, uint64_t cfa, enum profile_stop *stop)
{
	*stop = stop_of_read(w, cfa - sizeof(uint64_t));
	w->result->caller_stack_pointer = cfa;
	return false;
}

static bool step_by_pushes(struct walk *w, enum profile_stop *stop)
{
	uint64_t *values = w->registers.values, cfa = w->cfa;

	if (!moves_up(w, cfa)) {
		*stop = PROFILE_STOP_BAD_STACK;
		return false;
	}
	w->is_exact = false;
	if (!read_stack(w->dump, cfa - sizeof(uint64_t), &values[CFI_RIP]))
		return cannot_read_return_address(w, cfa, stop);
	values[CFI_RSP] = cfa;
	return true;
}

/* A register that cannot be read stays as it is. */
static bool step_to_caller(struct walk *w, const struct rules_rule *rule, uint64_t cfa, enum profile_stop *stop)
{
	const struct rules_place return_address = { rule->return_address, CFI_RIP };
	struct unwind_registers caller = w->registers;
	enum profile_stop ignored;
	uint64_t value;

	if (!recover(w, &return_address, rule->table, cfa, &caller.values[CFI_RIP], stop))
		return false;
	caller.values[CFI_RSP] = cfa;
	for (unsigned int i = 0; i < rule->place_count; i++)
		if (recover(w, &rule->places[i], rule->table, cfa, &value, &ignored))
			caller.values[rule->places[i].number] = value;
	w->registers = caller;
	return true;
}

/* From the registers of a frame to those of its caller. */
static bool step_by_rule(struct walk *w, const struct rules_rule *rule, enum profile_stop *stop)
{
	uint64_t cfa = 0;

	if (rule->return_address.place == CFI_UNDEFINED) {
		*stop = PROFILE_STOP_ROOT;
		return false;
	}
	read_saved_registers(w);
	*stop = PROFILE_STOP_UNWINDER;
	/* A return address that is the function's own pc: the rule says nothing about it. */
	if (rule->return_address.place == CFI_SAME || !find_cfa(w, rule, &cfa))
		return false;
	/* A signal handler may have run on a stack of its own. */
	if (!rule->is_signal_frame && !moves_up(w, cfa)) {
		*stop = PROFILE_STOP_BAD_STACK;
		return false;
	}
	w->is_exact = rule->is_signal_frame;
	if (step_to_caller(w, rule, cfa, stop))
		return true;
	w->result->caller_stack_pointer = rule->is_signal_frame ? 0 : cfa;
	return false;
}

/* The kernel keeps the interrupted registers in a ucontext at the stack pointer (asm/sigcontext.h). */
static bool step_by_signal_return(struct walk *w, enum profile_stop *stop)
{
	enum { SIGCONTEXT_OFFSET = 40 };
	static const uint8_t order[CFI_REGISTERS] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };
	uint64_t context = w->registers.values[CFI_RSP] + SIGCONTEXT_OFFSET;
	struct unwind_registers interrupted;

	for (size_t i = 0; i < CFI_REGISTERS; i++) {
		if (read_stack(w->dump, context + 8 * i, &interrupted.values[order[i]]))
			continue;
		*stop = stop_of_read(w, context + 8 * i);
		return false;
	}
	w->registers = interrupted;
	for (size_t i = 0; i < RULES_SAVED; i++)
		w->known_at[i] = (uint32_t)(w->result->count - 1);
	w->is_exact = true;
	return true;
}

/*
 * glibc's clone3 has no rules where the child comes into being: the parent returns from there, the child has nowhere to return to.
 */
static bool step_by_bare_syscall(struct walk *w, enum profile_stop *stop)
{
	uint64_t pc;

	*stop = PROFILE_STOP_ROOT;
	if (!read_stack(w->dump, w->registers.values[CFI_RSP], &pc) || !returns_into_code(w, pc))
		return false;
	w->registers.values[CFI_RSP] += sizeof(pc);
	w->registers.values[CFI_RIP] = pc;
	w->is_exact = false;
	return true;
}

/* What the pc's rule is looked up by. */
static uint64_t code_address(const struct walk *w)
{
	return w->registers.values[CFI_RIP] - !w->is_exact;
}

/* Adds the frame that the registers stand in, and has fetched what the step to its caller will read. False at the end. */
static bool locate(struct walk *w)
{
	struct unwind_result *result = w->result;
	const struct code_place place = { w->space, code_address(w), w->is_exact };
	uint64_t pc = w->registers.values[CFI_RIP], offset;

	if (pc == 0 || result->count == UNWIND_MAX_FRAMES) {
		result->stop = pc == 0 ? PROFILE_STOP_ROOT : PROFILE_STOP_DEPTH;
		return false;
	}
	w->cached = *rule_cache_find(&w->unwinder->cache, &place);
	if (w->cached.kind == CACHED_NOWHERE) {
		result->stop = PROFILE_STOP_NO_MAPPING;
		return false;
	}
	memcpy(w->pushed[result->count].words, w->cached.saved, sizeof(w->cached.saved));
	result->frames[result->count++] = (struct unwind_frame){ pc, w->registers.values[CFI_RSP], w->cached.location };
	if (w->cached.kind == CACHED_PUSHES) {
		w->cfa = register_value(w, w->cached.cfa_register) + (uint64_t)(int64_t)w->cached.cfa_offset;
		offset = w->cfa - sizeof(uint64_t) - w->dump->address;
		if (offset < w->dump->size)
			__builtin_prefetch(w->dump->bytes + offset);
	}
	return true;
}

static bool step_otherwise(struct walk *w, enum profile_stop *stop)
{
	switch ((enum cached_kind)w->cached.kind) {
	case CACHED_RULE:
		return step_by_rule(w, &w->unwinder->cache.rules.rules[w->cached.rule], stop);
	case CACHED_SIGNAL_RETURN:
		return step_by_signal_return(w, stop);
	case CACHED_ROOT:
		*stop = PROFILE_STOP_ROOT;
		return false;
	case CACHED_SYSCALL:
		return w->result->count == 1 ? step_by_bare_syscall(w, stop) : step_by_frame_pointer(w, stop);
	case CACHED_NO_RULE:
		return step_by_frame_pointer(w, stop);
	case CACHED_NOWHERE:
	case CACHED_PUSHES:
		break;
	}
	return false;
}

/* From the located frame to its caller, whose rule is fetched. False at the end. */
static bool step(struct walk *w)
{
	enum profile_stop *stop = &w->result->stop;
	bool moved = w->cached.kind == CACHED_PUSHES ? step_by_pushes(w, stop) : step_otherwise(w, stop);

	if (moved)
		__builtin_prefetch(rule_cache_entry(&w->unwinder->cache, w->space->generation, code_address(w)));
	return moved;
}

static void begin(struct walk *w, struct unwinder *unwinder, struct unwind_job *job, size_t place)
{
	struct unwind_frame *frames = unwinder->frames[place];

	job->result = (struct unwind_result){ .frames = job->result.frames ? job->result.frames : frames };
	*w = (struct walk){ .unwinder = unwinder,
		.space = &job->space,
		.dump = &job->dump,
		.registers = job->registers,
		.pushed = unwinder->pushed[place],
		.result = &job->result,
		.is_exact = true };
	__builtin_prefetch(rule_cache_entry(&unwinder->cache, job->space.generation, code_address(w)));
}

void unwind_stacks(struct unwinder *unwinder, struct unwind_job *jobs, size_t count)
{
	struct walk walks[UNWIND_TOGETHER], *going[UNWIND_TOGETHER];

	for (size_t i = 0; i < count; i++) {
		going[i] = &walks[i];
		begin(going[i], unwinder, &jobs[i], i);
	}
	/* One that has ended gives its place to the last. */
	while (count > 0) {
		for (size_t i = 0; i < count;)
			if (locate(going[i]))
				i++;
			else
				going[i] = going[--count];
		for (size_t i = 0; i < count;)
			if (step(going[i]))
				i++;
			else
				going[i] = going[--count];
	}
}
