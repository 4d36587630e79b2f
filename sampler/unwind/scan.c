/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/scan.h"

#include <string.h>

/* The largest methods of compiled Java have 35 kB of code, and 220 pending paths at once. */
enum { MOST_INSTRUCTIONS = 8192, MARKED_BYTES = 16384, MOST_PENDING = 512, WORD_BYTES = 8 };

static const size_t no_target = SIZE_MAX;

/*
 * A bit for each byte of code. In longer code two bytes share a bit: one path may then be missed, which does no harm.
 */
struct marks {
	uint8_t bits[MARKED_BYTES];
};

/* A path that was not followed yet. */
struct pending {
	size_t bytes; /* length of the result's range, if this path finds it */
	size_t at;
	struct machine_frame frame;
};

struct scan {
	const struct machine *machine;
	struct machine_decoder *decoder;
	const struct machine_code *code;
	struct pending pending[MOST_PENDING];
	size_t pending_count;
	struct marks met, left_for_later;
	bool is_behind_call; /* the last instruction other than padding was a call */
	struct scan_result *result;
	struct scanner *scanner; /* gets the runs */
	bool is_hopeless;        /* so far no path has a return, or an end that is not known */
	bool is_straight;        /* the path had no jump so far, and the frame is unchanged */
	size_t lowest;           /* lowest instruction on the path */
	size_t target;           /* the instruction that is searched for; no_target: a return is */
};

enum outcome { OUTCOME_ON, OUTCOME_DEAD_END, OUTCOME_FOUND };

void scanner_deinit(struct scanner *scanner)
{
	machine_decoder_destroy(scanner->decoder);
	*scanner = (struct scanner){ 0 };
}

/* The machine's decoder; NULL: there is none. Nearly all code that a scanner reads is of one machine. */
static struct machine_decoder *find_decoder(struct scanner *scanner, const struct machine *machine)
{
	if (scanner->machine != machine) {
		machine_decoder_destroy(scanner->decoder);
		scanner->decoder = machine_decoder_create(machine);
		scanner->machine = machine;
	}
	return scanner->decoder;
}

static void marks_clear(struct marks *marks, size_t code_bytes)
{
	memset(marks->bits, 0, code_bytes / 8 < MARKED_BYTES ? code_bytes / 8 + 1 : MARKED_BYTES);
}

/* Marks an instruction. True if it was marked before. */
static bool marks_set(struct marks *marks, size_t at)
{
	uint8_t *byte = &marks->bits[at / 8 % MARKED_BYTES], bit = (uint8_t)(1u << at % 8);
	bool was_marked = *byte & bit;

	*byte |= bit;
	return was_marked;
}

/* Derives the rule from the frame before a return. */
static enum outcome found(struct scan *scan, const struct machine_frame *frame)
{
	const struct machine_stack_address *top = &frame->stack_pointer;
	int32_t pushed_bytes = scan->machine->call_push_bytes;
	struct rules_pushes made = { .cfa_register = top->base, .cfa_offset = top->offset + pushed_bytes };

	if (top->offset < 0 || scan->target != no_target)
		return OUTCOME_DEAD_END;
	for (size_t i = 0; i < MACHINE_SAVED; i++) {
		const struct machine_stack_address *saved = &frame->saved[i];
		int32_t below = made.cfa_offset - saved->offset;

		if (saved->base == made.cfa_register && below % WORD_BYTES == 0 && below > pushed_bytes &&
			below / WORD_BYTES <= UINT8_MAX)
			made.saved[i] = (uint8_t)(below / WORD_BYTES);
	}
	scan->result->pushes = made;
	return OUTCOME_FOUND;
}

/* The target of a jump; an offset beyond the code's end if the target is not readable. */
static size_t target_of(const struct scan *scan, size_t at, const struct machine_step *step)
{
	int64_t target = (int64_t)(at + step->size) + step->distance;

	return target >= 0 && (uint64_t)target < scan->code->size ? (size_t)target : scan->code->size;
}

/* Adds a pending path. An instruction is added once: in long code most branches lead to the same few places. */
static void leave_for_later(struct scan *scan, size_t at, const struct machine_frame *frame)
{
	if (scan->pending_count == MOST_PENDING)
		scan->is_hopeless = false;
	else if (!marks_set(&scan->left_for_later, at))
		scan->pending[scan->pending_count++] = (struct pending){ scan->result->bytes, at, *frame };
}

static enum outcome scan_follow(
	struct scan *scan, const struct machine_step *step, size_t *at, const struct machine_frame *frame)
{
	switch ((enum machine_flow)step->flow) {
	case MACHINE_FLOW_RETURN:
		scan->is_hopeless = false;
		return found(scan, frame);
	case MACHINE_FLOW_UNKNOWN:
		return OUTCOME_DEAD_END;
	case MACHINE_FLOW_JUMP:
		*at = target_of(scan, *at, step);
		scan->is_straight = false;
		return OUTCOME_ON;
	case MACHINE_FLOW_BRANCH:
		leave_for_later(scan, target_of(scan, *at, step), frame);
		break;
	case MACHINE_FLOW_NEXT:
	case MACHINE_FLOW_PADDING:
	case MACHINE_FLOW_CALL:
		/* After a call that never returns, the next function begins. */
		if (scan->is_behind_call && step->begins_function) {
			scan->scanner->runs[scan->scanner->run_count - 1].end = *at;
			return OUTCOME_DEAD_END;
		}
	}
	*at += step->size;
	if (step->flow != MACHINE_FLOW_PADDING)
		scan->is_behind_call = step->flow == MACHINE_FLOW_CALL;
	return OUTCOME_ON;
}

/*
 * Extends the range of the result: while the path has no jump and leaves the frame unchanged, the rule of its first
 * instruction holds.
 */
static void note_straight(struct scan *scan, size_t end)
{
	if (scan->is_straight)
		scan->result->bytes = end - scan->code->at;
}

/* Adds an instruction to the run that it continues, or to a new one. False: there is no room for it. */
static bool add_to_run(struct scanner *scanner, size_t start, size_t end)
{
	struct scan_run *last = scanner->run_count > 0 ? &scanner->runs[scanner->run_count - 1] : NULL;

	if (last && last->end == start)
		last->end = end;
	else if (scanner->run_count == SCAN_MOST_RUNS)
		return false;
	else
		scanner->runs[scanner->run_count++] = (struct scan_run){ start, end };
	return true;
}

static enum outcome scan_take(struct scan *scan, size_t *at, struct machine_frame *frame)
{
	const struct machine_code *code = scan->code;
	struct machine_step step;

	if (*at == scan->target)
		return OUTCOME_FOUND;
	if (*at >= code->size) {
		scan->result->leaves_code = true;
		scan->is_hopeless = false;
		return OUTCOME_DEAD_END;
	}
	scan->lowest = *at < scan->lowest ? *at : scan->lowest;
	scan->is_straight = scan->is_straight && machine_frame_is_none(scan->machine, frame);
	if (marks_set(&scan->met, *at) ||
		!scan->machine->step(scan->decoder, code->bytes + *at, code->size - *at, frame, &step))
		return OUTCOME_DEAD_END;
	scan->is_hopeless &= add_to_run(scan->scanner, *at, *at + step.size);
	note_straight(scan, *at + step.size);
	return scan_follow(scan, &step, at, frame);
}

/* Takes the next pending path. False if there is none. */
static bool go_back(struct scan *scan, size_t *at, struct machine_frame *frame)
{
	const struct pending *pending;

	if (scan->pending_count == 0)
		return false;
	pending = &scan->pending[--scan->pending_count];
	*at = pending->at;
	*frame = pending->frame;
	scan->result->bytes = pending->bytes;
	scan->is_straight = scan->is_behind_call = false;
	return true;
}

/* Follows the paths from `at`. True if the target is found. `frame` is that of `at`, and then that of the target. */
static bool follow_ways(struct scan *scan, size_t at, struct machine_frame *frame)
{
	enum outcome outcome;

	scan->pending_count = 0;
	scan->is_behind_call = false;
	marks_clear(&scan->met, scan->code->size);
	marks_clear(&scan->left_for_later, scan->code->size);
	for (size_t i = 0; i < MOST_INSTRUCTIONS; i++) {
		outcome = scan_take(scan, &at, frame);
		if (outcome == OUTCOME_FOUND)
			return true;
		if (outcome == OUTCOME_DEAD_END && !go_back(scan, &at, frame))
			return false;
	}
	scan->is_hopeless = false;
	return false;
}

/*
 * Finds the frame in code that never returns, such as an endless loop that was compiled while it ran: the frame is the
 * one made on the path from its entry, which lies before all targets of the loop.
 */
static void scan_from_prologue(struct scan *scan)
{
	const struct machine *machine = scan->machine;
	struct machine_code before = *scan->code;
	struct machine_frame frame = machine_frame_none(machine);
	const struct machine_stack_address *reached = &frame.stack_pointer;
	int32_t room_bytes;
	size_t end;

	scan->target = scan->code->at;
	before.at = scan->lowest;
	if (!machine->find_prologue(&before, &end, &room_bytes)) {
		scan->result->leaves_code = true;
		scan->result->is_hopeless = scan->is_hopeless;
		return;
	}
	if (room_bytes < 0 || !follow_ways(scan, end, &frame) || reached->base != machine->stack_pointer ||
		reached->offset > room_bytes)
		return;
	/* The prologue has saved the caller's frame pointer directly below the return address. */
	scan->result->pushes = (struct rules_pushes){
		.cfa_register = machine->stack_pointer,
		.cfa_offset = room_bytes - reached->offset + WORD_BYTES + machine->call_push_bytes,
	};
	scan->result->pushes.saved[machine->saved_index[machine->frame_pointer]] =
		(uint8_t)(1 + machine->call_push_bytes / WORD_BYTES);
	scan->result->bytes = 1;
}

void scan_rule(struct scanner *scanner, const struct machine *machine, const struct machine_code *code,
	struct scan_result *result)
{
	struct machine_decoder *decoder = code->bytes ? find_decoder(scanner, machine) : NULL;
	struct machine_frame frame = machine_frame_none(machine);
	struct scan scan;

	*result = (struct scan_result){ 0 };
	if (!decoder)
		return;
	scan.machine = machine;
	scan.decoder = decoder;
	scan.code = code;
	scan.is_straight = true;
	scan.result = result;
	scan.scanner = scanner;
	scanner->run_count = 0;
	/* In longer code a path may have been missed. */
	scan.is_hopeless = code->size <= (size_t)8 * MARKED_BYTES;
	scan.lowest = code->at;
	scan.target = no_target;
	if (!follow_ways(&scan, code->at, &frame))
		scan_from_prologue(&scan);
}
