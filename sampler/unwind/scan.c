/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/scan.h"

#include "sampler/unwind/effect.h"

#include <string.h>

/* The largest methods of compiled Java have 35 kB of code, and 220 ways open at once. */
enum { MOST_INSTRUCTIONS = 8192, MARKED_BYTES = 16384, MOST_PENDING = 512, WORD_BYTES = 8 };

static const size_t no_target = SIZE_MAX;

/* A bit for a byte of code. Where code is longer, two of its bytes share one: a way is lost then, and no harm is done. */
struct marks {
	uint8_t bits[MARKED_BYTES];
};

/* A way not gone yet. */
struct pending {
	size_t bytes; /* of the result, if it lies this way */
	size_t at;
	struct effect_frame frame;
};

struct scan {
	struct scanner *scanner;
	const struct code *code;
	struct pending pending[MOST_PENDING];
	size_t pending_count;
	struct marks met, left_for_later;
	bool is_behind_call; /* but for padding */
	struct scan_result *result;
	bool is_straight; /* the way has not jumped so far, and the frame is as it was */
	size_t lowest;    /* instruction that was met */
	size_t target;    /* the instruction that is looked for; no_target: a return is */
};

enum outcome { OUTCOME_ON, OUTCOME_DEAD_END, OUTCOME_FOUND };

void scanner_deinit(struct scanner *scanner)
{
	decoder_deinit(&scanner->decoder);
	*scanner = (struct scanner){ 0 };
}

static bool load(struct scanner *scanner)
{
	if (!scanner->is_tried)
		(void)decoder_init(&scanner->decoder);
	scanner->is_tried = true;
	return scanner->decoder.library;
}

static void marks_clear(struct marks *marks, size_t code_bytes)
{
	memset(marks->bits, 0, code_bytes / 8 < MARKED_BYTES ? code_bytes / 8 + 1 : MARKED_BYTES);
}

/* Whether an instruction was marked before; from now on it is. */
static bool marks_set(struct marks *marks, size_t at)
{
	uint8_t *byte = &marks->bits[at / 8 % MARKED_BYTES], bit = (uint8_t)(1u << at % 8);
	bool was_marked = *byte & bit;

	*byte |= bit;
	return was_marked;
}

/* The frame before a return is the rule. */
static enum outcome found(struct scan *scan, const struct effect_frame *frame)
{
	struct rules_pushes made = { .cfa_register = frame->rsp.base, .cfa_offset = frame->rsp.offset + WORD_BYTES };

	if (made.cfa_offset < WORD_BYTES || scan->target != no_target)
		return OUTCOME_DEAD_END;
	for (size_t i = 0; i < RULES_SAVED; i++) {
		const struct effect_place *saved = &frame->saved[i];
		int32_t below = made.cfa_offset - saved->offset;

		if (saved->base == made.cfa_register && below % WORD_BYTES == 0 && below > WORD_BYTES &&
			below / WORD_BYTES <= UINT8_MAX)
			made.saved[i] = (uint8_t)(below / WORD_BYTES);
	}
	scan->result->pushes = made;
	return OUTCOME_FOUND;
}

/* Where a jump leads; behind the code's end when that is not at hand. */
static size_t target_of(const struct scan *scan, size_t at, const ZydisDecodedInstruction *in)
{
	int64_t target = (int64_t)(at + in->length) + in->raw.imm[0].value.s;

	return target >= 0 && (uint64_t)target < scan->code->size ? (size_t)target : scan->code->size;
}

static bool leads_anywhere(const ZydisDecodedInstruction *in)
{
	return in->raw.imm[0].size == 0;
}

/* By way of a table of addresses of other images (a PLT): the callee returns for the function that jumps. */
static bool leads_to_import(const ZydisDecodedInstruction *in)
{
	return (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && in->raw.modrm.mod == 0 && in->raw.modrm.rm == 5;
}

static enum outcome jump(struct scan *scan, const ZydisDecodedInstruction *in, size_t *at, const struct effect_frame *frame)
{
	if (leads_anywhere(in))
		return leads_to_import(in) ? found(scan, frame) : OUTCOME_DEAD_END;
	*at = target_of(scan, *at, in);
	scan->is_straight = false;
	return OUTCOME_ON;
}

/* An instruction is left for later once: in long code most branches lead to the same few places. */
static void leave_for_later(struct scan *scan, size_t at, const struct effect_frame *frame)
{
	if (scan->pending_count < MOST_PENDING && !marks_set(&scan->left_for_later, at))
		scan->pending[scan->pending_count++] = (struct pending){ scan->result->bytes, at, *frame };
}

static bool is_padding(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_NOP || in->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static enum outcome follow(struct scan *scan, const ZydisDecodedInstruction *in, size_t *at, struct effect_frame *frame)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_RET:
		return in->mnemonic == ZYDIS_MNEMONIC_RET && in->raw.imm[0].size == 0 ? found(scan, frame) : OUTCOME_DEAD_END;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return jump(scan, in, at, frame);
	case ZYDIS_CATEGORY_COND_BR:
		leave_for_later(scan, target_of(scan, *at, in), frame);
		break;
	default:
		/* Behind a call that never returns the next function begins. */
		if ((scan->is_behind_call && effect_begins_function(in)) || !effect_apply(frame, in))
			return OUTCOME_DEAD_END;
	}
	*at += in->length;
	if (!is_padding(in))
		scan->is_behind_call = in->meta.category == ZYDIS_CATEGORY_CALL;
	return OUTCOME_ON;
}

/* Where the way goes straight on and does nothing to the frame, the rule of the first instruction holds. */
static void note_straight(struct scan *scan, size_t end, const struct effect_frame *frame)
{
	scan->is_straight = scan->is_straight && effect_is_none(frame);
	if (scan->is_straight)
		scan->result->bytes = end - scan->code->at;
}

static enum outcome take(struct scan *scan, size_t *at, struct effect_frame *frame)
{
	const struct code *code = scan->code;
	ZydisDecodedInstruction in;

	if (*at == scan->target)
		return OUTCOME_FOUND;
	if (*at >= code->size) {
		scan->result->leaves_code = true;
		return OUTCOME_DEAD_END;
	}
	scan->lowest = *at < scan->lowest ? *at : scan->lowest;
	if (marks_set(&scan->met, *at) || !decoder_decode(&scan->scanner->decoder, code->bytes + *at, code->size - *at, &in))
		return OUTCOME_DEAD_END;
	note_straight(scan, *at + in.length, frame);
	return follow(scan, &in, at, frame);
}

/* False when there is no other way left. */
static bool go_back(struct scan *scan, size_t *at, struct effect_frame *frame)
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

/* Whether the target is found on a way from `at` on. `frame` is of there, and then of the target. */
static bool follow_ways(struct scan *scan, size_t at, struct effect_frame *frame)
{
	enum outcome outcome;

	scan->pending_count = 0;
	scan->is_behind_call = false;
	marks_clear(&scan->met, scan->code->size);
	marks_clear(&scan->left_for_later, scan->code->size);
	for (size_t i = 0; i < MOST_INSTRUCTIONS; i++) {
		outcome = take(scan, &at, frame);
		if (outcome == OUTCOME_FOUND)
			return true;
		if (outcome == OUTCOME_DEAD_END && !go_back(scan, &at, frame))
			return false;
	}
	return false;
}

/* What a function does first: it pushes the caller's frame pointer and makes room for its variables. */
struct prologue {
	size_t end;
	int32_t room; /* bytes */
};

/* `push %rbp; sub $room, %rsp`, with a room of one byte or of four (Intel 64 manual, volume 2). */
static bool read_prologue(const uint8_t *bytes, size_t at, struct prologue *prologue)
{
	enum { SHORT_BYTES = 5, LONG_BYTES = 8 };
	static const uint8_t with_byte[] = { 0x55, 0x48, 0x83, 0xec }, with_word[] = { 0x55, 0x48, 0x81, 0xec };

	if (memcmp(bytes + at, with_byte, sizeof(with_byte)) == 0) {
		*prologue = (struct prologue){ at + SHORT_BYTES, (int8_t)bytes[at + sizeof(with_byte)] };
		return true;
	}
	if (memcmp(bytes + at, with_word, sizeof(with_word)) != 0)
		return false;
	prologue->end = at + LONG_BYTES;
	memcpy(&prologue->room, bytes + at + sizeof(with_word), sizeof(prologue->room));
	return true;
}

/* The nearest one that ends at `end` or before. */
static bool find_prologue(struct scan *scan, size_t end, struct prologue *prologue)
{
	enum { MOST_BYTES = 8 };
	const struct code *code = scan->code;

	if (code->size < MOST_BYTES)
		return false;
	for (size_t at = end < code->size - MOST_BYTES ? end : code->size - MOST_BYTES; at > 0; at--)
		if (read_prologue(code->bytes, at - 1, prologue) && prologue->end <= end)
			return true;
	scan->result->leaves_code = true;
	return false;
}

/*
 * Code that never returns, as an endless loop that was compiled while it ran: the frame is what was made on the way from its entry,
 * which stands before all that the loop leads to.
 */
static void scan_from_prologue(struct scan *scan)
{
	struct effect_frame frame = effect_none();
	struct prologue prologue;

	scan->target = scan->code->at;
	if (!find_prologue(scan, scan->lowest, &prologue) || prologue.room < 0 || !follow_ways(scan, prologue.end, &frame) ||
		frame.rsp.base != CFI_RSP || frame.rsp.offset > prologue.room)
		return;
	scan->result->pushes = (struct rules_pushes){
		.cfa_register = CFI_RSP,
		.cfa_offset = prologue.room - frame.rsp.offset + 2 * WORD_BYTES,
		.saved = { [RULES_SAVED_RBP] = 2 },
	};
	scan->result->bytes = 1;
}

void scan_rule(struct scanner *scanner, const struct code *code, struct scan_result *result)
{
	struct effect_frame frame = effect_none();
	struct scan scan;

	*result = (struct scan_result){ 0 };
	if (!code->bytes || !load(scanner))
		return;
	scan.scanner = scanner;
	scan.code = code;
	scan.is_straight = true;
	scan.result = result;
	scan.lowest = code->at;
	scan.target = no_target;
	if (!follow_ways(&scan, code->at, &frame))
		scan_from_prologue(&scan);
}
