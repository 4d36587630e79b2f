/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/fallback/link.h"

#include <string.h>

/* Jumps and calls: Intel 64 manual, volume 2. `call` e8, `jmp` e9, conditional ones 0f 80 to 0f 8f; through a register `ff /4`. */
enum {
	CALL = 0xe8,
	JUMP = 0xe9,
	TWO_BYTES = 0x0f,
	CONDITIONAL = 0x80,
	CONDITIONAL_MASK = 0xf0,
	GROUP_5 = 0xff,
	JUMP_OF_GROUP = 4 << 3,
	REG_MASK = 7 << 3,
	CALL_BYTES = 5,
	WORD_BYTES = 8,
	MOST_BYTES = 16384, /* of a function that is searched */
};

/* An instruction, and the rule there, which tells of its function. */
struct place {
	struct unwind_code code;
	struct cfi_rule rule;
};

static bool find_rule(struct place *place)
{
	return place->code.table && cfi_table_find(place->code.table, place->code.image_address, &place->rule);
}

static bool find_place(const struct unwind_space *space, uint64_t address, struct place *place)
{
	return space->find(space->context, address, &place->code) && find_rule(place);
}

/* What stands before `end`, where an operand of four bytes ends. */
static uint64_t displacement(const uint8_t *end)
{
	int32_t bytes;

	memcpy(&bytes, end - sizeof(bytes), sizeof(bytes));
	return (uint64_t)(int64_t)bytes;
}

/* Where the call at a place leads; false where that is not known. */
static bool find_target(const struct place *call, struct place *target)
{
	const struct machine_code *code = &call->code.code;
	size_t end = code->at + 1;
	uint64_t distance;

	if (!code->bytes || end > code->size || end < CALL_BYTES || code->bytes[end - CALL_BYTES] != CALL)
		return false;
	distance = displacement(code->bytes + end) + 1;
	*target = (struct place){ .code = call->code };
	target->code.image_address += distance;
	target->code.code.at += (size_t)distance;
	return target->code.code.at < code->size;
}

/* Where the frame is as the caller left it, a jump leads to a function that returns in place of this one. */
static bool ends_function(const struct place *function, uint64_t image_address)
{
	struct cfi_rule rule;

	return !cfi_table_find(function->code.table, image_address, &rule) || rule.cfa.place != CFI_REGISTER ||
	       (rule.cfa_register == cfi_table_machine(function->code.table)->stack_pointer && rule.cfa.offset == WORD_BYTES);
}

static bool leads_out(const struct cfi_rule *function, uint64_t image_address, const uint8_t *jump)
{
	uint64_t target = image_address + CALL_BYTES + displacement(jump + CALL_BYTES);

	return target - function->function_start >= function->function_size;
}

/* Jumps wherever such bytes stand: those that are no instruction can only make more possible. */
static bool may_end_by_jump(const struct place *function, bool in_its_frame)
{
	const struct cfi_rule *rule = &function->rule;
	const struct machine_code *code = &function->code.code;
	uint64_t first = code->at - (function->code.image_address - rule->function_start), end = first + rule->function_size;

	if (rule->function_size > MOST_BYTES || end > code->size || first > end)
		return true;
	for (uint64_t at = first; at + CALL_BYTES <= end; at++) {
		const uint8_t *bytes = code->bytes + at;
		uint64_t image_address = rule->function_start + (at - first);
		bool is_conditional = at > first && bytes[-1] == TWO_BYTES && (bytes[0] & CONDITIONAL_MASK) == CONDITIONAL;
		bool is_jump = bytes[0] == GROUP_5 ? (bytes[1] & REG_MASK) == JUMP_OF_GROUP
						   : (bytes[0] == JUMP || is_conditional) && leads_out(rule, image_address, bytes);

		if (is_jump && (in_its_frame || ends_function(function, image_address)))
			return true;
	}
	return false;
}

/* Of code that nothing describes: a stub of a few instructions, as linkers make them, leads elsewhere. */
static bool jumps_at_once(const struct place *stub)
{
	enum { STUB_BYTES = 16 };
	const struct machine_code *code = &stub->code.code;

	for (size_t at = code->at; at + 1 < code->size && at < code->at + STUB_BYTES; at++)
		if (code->bytes[at] == JUMP || (code->bytes[at] == GROUP_5 && (code->bytes[at + 1] & REG_MASK) == JUMP_OF_GROUP))
			return true;
	return false;
}

/* Whether all from the one address to the other is not described: a function that is not has no bounds. */
static bool is_one_gap(const struct cfi_table *table, uint64_t start, uint64_t end)
{
	enum { STEP_BYTES = 32, MOST_GAP_BYTES = 65536 };
	struct cfi_rule rule;

	for (uint64_t at = start; at < end && at - start < MOST_GAP_BYTES; at += STEP_BYTES)
		if (cfi_table_find(table, at, &rule))
			return false;
	return start <= end;
}

bool link_is_possible(const struct unwind_space *space, uint64_t return_address, uint64_t callee)
{
	struct place call, called = { 0 }, target;
	bool is_in_image, is_described, is_target_described;

	if (!find_place(space, return_address - 1, &call) || !find_target(&call, &target))
		return true;
	is_target_described = find_rule(&target);
	is_described = find_place(space, callee, &called);
	is_in_image = target.code.table == called.code.table;
	if (is_described && is_target_described)
		return (is_in_image && target.rule.function_start == called.rule.function_start) || may_end_by_jump(&target, false);
	if (is_target_described)
		return may_end_by_jump(&target, true);
	return (is_in_image && !is_described &&
		       is_one_gap(called.code.table, target.code.image_address, called.code.image_address)) ||
	       jumps_at_once(&target);
}
