/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"

#include "sampler/unwind/epilogue.h"
#include "sampler/unwind/rules.h"

#include <stdlib.h>
#include <string.h>

/* Callers return to few places: a cache of this size answers for 99 of 100 frames. */
enum { CACHE_BITS = 14, CACHE_ENTRIES = 1 << CACHE_BITS, CACHED_BYTES = 32, LINE_BYTES = 64, ENTRY_CODE_BYTES = 64 };

/* What lies further above the dump than any stack is deep is another stack. */
static const uint64_t deepest_stack_bytes = 8 << 20;

enum cached_kind {
	CACHED_NOWHERE, /* in no executable mapping */
	CACHED_PUSHES,  /* what nearly every function does */
	CACHED_RULE,
	CACHED_SIGNAL_RETURN, /* no rule, but the code a signal handler returns to */
	CACHED_ENTRY,         /* no rule, but where execution of the image starts */
	CACHED_SYSCALL,       /* no rule, directly behind a system call */
	CACHED_NO_RULE,
};

/* Two to a cache line: most frames touch nothing else of ours. */
struct cached {
	uint64_t generation, address;
	uint32_t location;
	uint8_t kind;                             /* enum cached_kind */
	uint8_t cfa_register, saved[RULES_SAVED]; /* of CACHED_PUSHES, as in struct rules_pushes */
	union {
		int32_t cfa_offset; /* of CACHED_PUSHES */
		uint32_t rule;      /* of CACHED_RULE: its id */
	};
};

_Static_assert(sizeof(struct cached) == CACHED_BYTES, "an entry does not straddle cache lines");

struct unwinder {
	struct cached *cache;
	struct rules rules;
	struct unwind_frame frames[UNWIND_TOGETHER][UNWIND_MAX_FRAMES];
};

/* The stack being walked. */
struct walk {
	struct unwinder *unwinder;
	const struct unwind_space *space;
	const struct unwind_stack_dump *dump;
	struct unwind_registers registers;
	struct unwind_result *result;
	bool is_exact;   /* the pc is an instruction's own address, not one behind a call */
	bool is_located; /* `cached` is of the pc; a copy, since another walk may need its place */
	struct cached cached;
};

bool unwinder_create(struct unwinder **unwinder, struct error *err)
{
	struct unwinder *made = calloc(1, sizeof(*made));

	if (made)
		made->cache = aligned_alloc(LINE_BYTES, CACHE_ENTRIES * sizeof(*made->cache));
	if (!made || !made->cache) {
		free(made);
		return error_set_memory(err);
	}
	memset(made->cache, 0, CACHE_ENTRIES * sizeof(*made->cache));
	rules_init(&made->rules);
	*unwinder = made;
	return true;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	rules_deinit(&unwinder->rules);
	free(unwinder->cache);
	free(unwinder);
}

/* False where the dump does not reach. */
static bool read_stack(const struct unwind_stack_dump *dump, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - dump->address;

	if (address >= dump->address && checked_range(offset, sizeof(*value), dump->size)) {
		memcpy(value, dump->bytes + offset, sizeof(*value));
		return true;
	}
	offset = address - dump->far.address;
	if (address < dump->far.address || !checked_range(offset, sizeof(*value), dump->far.size))
		return false;
	memcpy(value, dump->far.bytes + offset, sizeof(*value));
	return true;
}

static bool read_stack_for_expression(const void *context, uint64_t address, uint64_t *value)
{
	return read_stack(context, address, value);
}

static bool has_code(const struct unwind_code *code, size_t offset, const uint8_t *expected, size_t size)
{
	return code->bytes && checked_range(offset, size, code->byte_count) && memcmp(code->bytes + offset, expected, size) == 0;
}

/* `mov $15, %rax; syscall`: rt_sigreturn, where the C library has no rules for it. A pc at its start is one behind the address. */
static bool is_signal_return(const struct unwind_code *code)
{
	static const uint8_t long_form[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t short_form[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return has_code(code, UNWIND_BYTES_BEFORE + 1, long_form, sizeof(long_form)) ||
	       has_code(code, UNWIND_BYTES_BEFORE + 1, short_form, sizeof(short_form));
}

static enum cached_kind kind_without_rule(const struct unwind_code *code)
{
	static const uint8_t syscall[UNWIND_BYTES_BEFORE] = { 0x0f, 0x05 };

	if (is_signal_return(code))
		return CACHED_SIGNAL_RETURN;
	if (code->entry && code->image_address - code->entry < ENTRY_CODE_BYTES)
		return CACHED_ENTRY;
	return has_code(code, 0, syscall, sizeof(syscall)) ? CACHED_SYSCALL : CACHED_NO_RULE;
}

static void fill_pushes(struct cached *cached, const struct rules_pushes *pushes)
{
	cached->kind = CACHED_PUSHES;
	cached->cfa_register = pushes->cfa_register;
	cached->cfa_offset = pushes->cfa_offset;
	memcpy(cached->saved, pushes->saved, sizeof(pushes->saved));
}

static void fill_rule(struct walk *w, struct cached *cached, const struct cfi_rule *rule, const struct cfi_table *table)
{
	struct rules_pushes pushes;
	struct error ignored;
	uint32_t id;

	if (rules_as_pushes(rule, &pushes)) {
		fill_pushes(cached, &pushes);
	} else if (rules_intern(&w->unwinder->rules, rule, table, &id, &ignored)) {
		cached->kind = CACHED_RULE;
		cached->rule = id;
	}
}

/* A caller was looked up by the byte before the one it returns to. */
static void fill_epilogue(const struct walk *w, struct cached *cached, const struct unwind_code *code)
{
	size_t skipped = UNWIND_BYTES_BEFORE + (w->is_exact ? 0 : 1);
	struct rules_pushes pushes;

	if (code->bytes && code->byte_count > skipped && epilogue_rule(code->bytes + skipped, code->byte_count - skipped, &pushes))
		fill_pushes(cached, &pushes);
}

static void fill_cached(struct walk *w, struct cached *cached, uint64_t address)
{
	struct unwind_code code = { 0 };
	struct cfi_rule rule;

	*cached = (struct cached){ .generation = w->space->generation, .address = address, .kind = CACHED_NOWHERE };
	if (!w->space->find(w->space->context, address, &code))
		return;
	cached->location = code.location;
	if (code.table && cfi_table_find(code.table, code.image_address, &rule)) {
		cached->kind = CACHED_NO_RULE;
		fill_rule(w, cached, &rule, code.table);
	} else {
		cached->kind = kind_without_rule(&code);
		if (cached->kind == CACHED_NO_RULE)
			fill_epilogue(w, cached, &code);
	}
}

static struct cached *cached_place(const struct walk *w, uint64_t address)
{
	uint64_t mixed = address * 0x9e3779b97f4a7c15u ^ w->space->generation * 0xc2b2ae3d27d4eb4fu;

	return &w->unwinder->cache[mixed >> (64 - CACHE_BITS)];
}

static const struct cached *look_up(struct walk *w, uint64_t address)
{
	struct cached *cached = cached_place(w, address);

	if (cached->address != address || cached->generation != w->space->generation)
		fill_cached(w, cached, address);
	return cached;
}

static bool is_in_code(struct walk *w, uint64_t address)
{
	return look_up(w, address)->kind != CACHED_NOWHERE;
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
	uint64_t rbp = w->registers.values[CFI_RBP], next_rbp = 0, pc = 0;
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
	if (!is_in_code(w, pc - 1))
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

static uint64_t cfa_by_pushes(const struct walk *w, const struct cached *cached)
{
	return w->registers.values[cached->cfa_register] + (uint64_t)(int64_t)cached->cfa_offset;
}

/*
 * In both of these a register that cannot be read stays as it is: behind the `pop` of an epilogue its slot lies below the stack
 * pointer, and the register holds the caller's value already.
 */
static bool step_by_pushes(struct walk *w, const struct cached *cached, enum profile_stop *stop)
{
	uint64_t cfa = cfa_by_pushes(w, cached), value;

	*stop = PROFILE_STOP_BAD_STACK;
	if (!moves_up(w, cfa))
		return false;
	w->is_exact = false;
	w->result->caller_stack_pointer = cfa;
	if (!read_stack(w->dump, cfa - sizeof(value), &value)) {
		*stop = stop_of_read(w, cfa - sizeof(value));
		return false;
	}
	w->registers.values[CFI_RIP] = value;
	w->registers.values[CFI_RSP] = cfa;
	for (int i = 0; i < RULES_SAVED; i++)
		if (cached->saved[i] && read_stack(w->dump, cfa - cached->saved[i] * sizeof(value), &value))
			w->registers.values[rules_saved_registers[i]] = value;
	return true;
}

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
	w->result->caller_stack_pointer = rule->is_signal_frame ? 0 : cfa;
	return step_to_caller(w, rule, cfa, stop);
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
	if (!read_stack(w->dump, w->registers.values[CFI_RSP], &pc) || !is_in_code(w, pc - 1))
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
	uint64_t pc = w->registers.values[CFI_RIP], offset;

	if (pc == 0 || result->count == UNWIND_MAX_FRAMES) {
		result->stop = pc == 0 ? PROFILE_STOP_ROOT : PROFILE_STOP_DEPTH;
		return false;
	}
	w->cached = *look_up(w, code_address(w));
	w->is_located = true;
	result->caller_stack_pointer = 0;
	if (w->cached.kind == CACHED_NOWHERE) {
		result->stop = PROFILE_STOP_NO_MAPPING;
		return false;
	}
	result->frames[result->count++] = (struct unwind_frame){ pc, w->registers.values[CFI_RSP], w->cached.location };
	if (w->cached.kind == CACHED_PUSHES) {
		offset = cfa_by_pushes(w, &w->cached) - sizeof(uint64_t) - w->dump->address;
		if (offset < w->dump->size)
			__builtin_prefetch(w->dump->bytes + offset);
	}
	return true;
}

/* From the located frame to its caller, whose rule is fetched. False at the end. */
static bool step(struct walk *w)
{
	enum profile_stop *stop = &w->result->stop;
	bool moved = false;

	switch ((enum cached_kind)w->cached.kind) {
	case CACHED_NOWHERE:
		break;
	case CACHED_PUSHES:
		moved = step_by_pushes(w, &w->cached, stop);
		break;
	case CACHED_RULE:
		moved = step_by_rule(w, &w->unwinder->rules.rules[w->cached.rule], stop);
		break;
	case CACHED_SIGNAL_RETURN:
		moved = step_by_signal_return(w, stop);
		break;
	case CACHED_ENTRY:
		*stop = PROFILE_STOP_ROOT;
		break;
	case CACHED_SYSCALL:
		moved = w->result->count == 1 ? step_by_bare_syscall(w, stop) : step_by_frame_pointer(w, stop);
		break;
	case CACHED_NO_RULE:
		moved = step_by_frame_pointer(w, stop);
		break;
	}
	w->is_located = false;
	if (moved)
		__builtin_prefetch(cached_place(w, code_address(w)));
	return moved;
}

void unwind_stacks(struct unwinder *unwinder, struct unwind_job *jobs, size_t count)
{
	struct walk walks[UNWIND_TOGETHER];

	for (size_t i = 0; i < count; i++) {
		struct unwind_job *job = &jobs[i];

		job->result = (struct unwind_result){ .frames = job->result.frames ? job->result.frames : unwinder->frames[i] };
		walks[i] = (struct walk){ .unwinder = unwinder,
			.space = &job->space,
			.dump = &job->dump,
			.registers = job->registers,
			.result = &job->result,
			.is_exact = true };
		__builtin_prefetch(cached_place(&walks[i], code_address(&walks[i])));
	}
	/* One that has ended gives its place to the last. */
	while (count > 0)
		for (size_t i = 0; i < count; i++)
			if (!(walks[i].is_located ? step(&walks[i]) : locate(&walks[i])))
				walks[i--] = walks[--count];
}
