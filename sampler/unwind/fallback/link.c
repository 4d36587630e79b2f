/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/fallback/link.h"

enum { MOST_BYTES = 16384 /* of a function that is searched */ };

/* An instruction of an image, and the rule at its address, which also holds the bounds of its function. */
struct link_place {
	struct unwind_code code;
	struct frame_rule rule;
};

static bool find_rule(struct link_place *place)
{
	return place->code.table && frame_table_find_rule(place->code.table, place->code.image_address, &place->rule);
}

static bool link_find_place(const struct unwind_space *space, uint64_t address, struct link_place *place)
{
	return space->find(space->context, address, &place->code) && find_rule(place);
}

static const struct machine *machine_at(const struct link_place *place)
{
	return frame_table_machine(place->code.table);
}

/* Finds the target of a call; false if it is not known. */
static bool find_target(const struct link_place *call, struct link_place *target)
{
	struct machine_code behind = call->code.code;
	int64_t distance;

	behind.at++;
	if (behind.at > behind.size || !machine_at(call)->find_call(&behind, &distance))
		return false;
	distance++;
	*target = (struct link_place){ .code = call->code };
	target->code.image_address += (uint64_t)distance;
	target->code.code.at += (size_t)distance;
	return target->code.code.at < behind.size;
}

/*
 * Returns whether a jump ends the function: the frame is as the caller left it, so the target returns in place of this
 * function.
 */
static bool ends_function(const struct link_place *function, uint64_t image_address)
{
	const struct machine *machine = machine_at(function);
	struct frame_rule rule;

	return !frame_table_find_rule(function->code.table, image_address, &rule) || rule.cfa.kind != FRAME_REGISTER ||
	       (rule.cfa_register == machine->stack_pointer && rule.cfa.offset == machine->call_push_bytes);
}

static bool link_leads_out(const struct frame_rule *function, uint64_t image_address, const struct machine_jump *jump)
{
	uint64_t target = image_address + (uint64_t)jump->distance;

	return jump->is_indirect || target - function->function_start >= function->function_size;
}

/*
 * Returns whether the function may end with a jump to another one. Every byte is tried as a jump's first: bytes that
 * are no instruction can only add possibilities.
 */
static bool may_end_by_jump(const struct link_place *function, bool in_its_frame)
{
	const struct frame_rule *rule = &function->rule;
	const struct machine_code *code = &function->code.code;
	uint64_t first = code->at - (function->code.image_address - rule->function_start),
		 end = first + rule->function_size;
	struct machine_code searched;
	struct machine_jump jump;

	if (rule->function_size > MOST_BYTES || end > code->size || first > end)
		return true;
	searched = (struct machine_code){ code->bytes + first, (size_t)rule->function_size, 0 };
	for (; searched.at < searched.size; searched.at++) {
		uint64_t image_address = rule->function_start + searched.at;

		if (machine_at(function)->find_jump(&searched, &jump) && link_leads_out(rule, image_address, &jump) &&
			(in_its_frame || ends_function(function, image_address)))
			return true;
	}
	return false;
}

/*
 * Returns whether undescribed code is a stub of a few instructions, as linkers make them, that jumps to another
 * function.
 */
static bool jumps_at_once(const struct link_place *stub)
{
	enum { STUB_BYTES = 16 };
	struct machine_code code = stub->code.code;
	struct machine_jump jump;

	for (size_t end = code.at + STUB_BYTES; code.at < end; code.at++)
		if (machine_at(stub)->find_jump(&code, &jump) && !jump.is_conditional)
			return true;
	return false;
}

/*
 * Returns whether call frame tables describe no code between the two addresses. Code that they do not describe has no
 * known bounds of functions, so it may be one function.
 */
static bool is_one_gap(const struct frame_table *table, uint64_t start, uint64_t end)
{
	enum { STEP_BYTES = 32, MOST_GAP_BYTES = 65536 };
	struct frame_rule rule;

	for (uint64_t at = start; at < end && at - start < MOST_GAP_BYTES; at += STEP_BYTES)
		if (frame_table_find_rule(table, at, &rule))
			return false;
	return start <= end;
}

static enum link when(bool is_possible)
{
	return is_possible ? LINK_BY_JUMP : LINK_IMPOSSIBLE;
}

enum link link_between(const struct unwind_space *space, uint64_t return_address, uint64_t callee)
{
	struct link_place call, called = { 0 }, target;
	bool is_in_image, is_described, is_target_described;

	if (!link_find_place(space, return_address - 1, &call) || !find_target(&call, &target))
		return LINK_UNKNOWN;
	is_target_described = find_rule(&target);
	is_described = link_find_place(space, callee, &called);
	is_in_image = target.code.table == called.code.table;
	if (is_described && is_target_described && is_in_image &&
		target.rule.function_start == called.rule.function_start)
		return LINK_BY_CALL;
	if (is_target_described)
		return when(may_end_by_jump(&target, !is_described));
	return when((is_in_image && !is_described &&
			    is_one_gap(called.code.table, target.code.image_address, called.code.image_address)) ||
		    jumps_at_once(&target));
}

/* Returns whether bytes of code belong to one function: traps stand between two. */
static bool is_one_function(const struct machine_code *start, uint64_t bytes)
{
	enum { MOST_SMALL_BYTES = 512, TRAP = 0xcc };

	if (bytes >= MOST_SMALL_BYTES || bytes > start->size - start->at)
		return false;
	for (size_t i = 1; i < bytes; i++)
		if (start->bytes[start->at + i - 1] == TRAP && start->bytes[start->at + i] == TRAP)
			return false;
	return true;
}

/* Goes on to where a function of a few instructions jumps. False: it does not. */
static bool follow_stub(const struct unwind_space *space, struct link_place *target)
{
	enum { STUB_BYTES = 8 };
	struct machine_code code = target->code.code;
	struct machine_jump jump;

	for (size_t end = code.at + STUB_BYTES; code.at < end; code.at++) {
		if (!space->machine->find_jump(&code, &jump) || jump.is_conditional || jump.is_indirect)
			continue;
		target->code.image_address += (uint64_t)jump.distance + (code.at - target->code.code.at);
		target->code.code.at = code.at + (size_t)jump.distance;
		return target->code.code.at < code.size;
	}
	return false;
}

bool link_is_of_small_function(const struct unwind_space *space, uint64_t return_address, uint64_t callee)
{
	struct link_place call, called, target;

	if ((space->is_code && !space->is_code(space->context, return_address - 1)) ||
		!space->find(space->context, return_address - 1, &call.code) ||
		!space->find(space->context, callee, &called.code) || !call.code.table ||
		call.code.table != called.code.table || !find_target(&call, &target))
		return false;
	return is_one_function(&target.code.code, called.code.image_address - target.code.image_address) ||
	       (follow_stub(space, &target) &&
		       is_one_function(&target.code.code, called.code.image_address - target.code.image_address));
}
