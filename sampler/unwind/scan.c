/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/scan.h"

#include "sampler/unwind/effect.h"

#include <stdlib.h>

enum { MOST_INSTRUCTIONS = 4096, MARK_BITS = 13, MOST_PENDING = 64, WORD_BYTES = 8 };

_Static_assert(MOST_INSTRUCTIONS < 1 << MARK_BITS, "there is always a free mark");

/* An instruction that a scan has met. */
struct scan_mark {
	uint32_t scan; /* its number; of another than the one at hand: free */
	uint32_t at;
};

/* A way not gone yet. */
struct pending {
	size_t at;
	struct effect_frame frame;
};

struct scan {
	struct scanner *scanner;
	const struct code *code;
	struct pending pending[MOST_PENDING];
	size_t pending_count;
	bool is_behind_call; /* but for padding */
	struct rules_pushes *pushes;
};

enum outcome { OUTCOME_ON, OUTCOME_DEAD_END, OUTCOME_FOUND };

void scanner_deinit(struct scanner *scanner)
{
	if (scanner->marks)
		zydis_deinit(&scanner->zydis);
	free(scanner->marks);
	*scanner = (struct scanner){ 0 };
}

static bool load(struct scanner *scanner)
{
	if (!scanner->is_tried && zydis_init(&scanner->zydis)) {
		scanner->marks = calloc((size_t)1 << MARK_BITS, sizeof(*scanner->marks));
		if (!scanner->marks)
			zydis_deinit(&scanner->zydis);
	}
	scanner->is_tried = true;
	return scanner->marks;
}

/* Whether the scan has met an instruction before; from now on it has. */
static bool was_met(struct scanner *scanner, uint32_t at)
{
	struct scan_mark *marks = scanner->marks, *mark;
	size_t slot = (at * 2654435769u) >> (32 - MARK_BITS);

	for (mark = &marks[slot]; mark->scan == scanner->scan; mark = &marks[slot]) {
		if (mark->at == at)
			return true;
		slot = (slot + 1) & ((1u << MARK_BITS) - 1);
	}
	*mark = (struct scan_mark){ scanner->scan, at };
	return false;
}

/* The frame before a return is the rule. */
static enum outcome found(struct scan *scan, const struct effect_frame *frame)
{
	struct rules_pushes made = { .cfa_register = frame->rsp.base, .cfa_offset = frame->rsp.offset + WORD_BYTES };

	if (made.cfa_offset < WORD_BYTES)
		return OUTCOME_DEAD_END;
	for (size_t i = 0; i < RULES_SAVED; i++) {
		const struct effect_place *saved = &frame->saved[i];
		int32_t below = made.cfa_offset - saved->offset;

		if (saved->base == made.cfa_register && below % WORD_BYTES == 0 && below > WORD_BYTES &&
			below / WORD_BYTES <= UINT8_MAX)
			made.saved[i] = (uint8_t)(below / WORD_BYTES);
	}
	*scan->pushes = made;
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
	return OUTCOME_ON;
}

static void leave_for_later(struct scan *scan, size_t at, const struct effect_frame *frame)
{
	if (scan->pending_count < MOST_PENDING)
		scan->pending[scan->pending_count++] = (struct pending){ at, *frame };
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

static enum outcome take(struct scan *scan, size_t *at, struct effect_frame *frame)
{
	const struct code *code = scan->code;
	ZydisDecodedInstruction in;

	if (*at >= code->size || was_met(scan->scanner, (uint32_t)*at) ||
		!zydis_decode(&scan->scanner->zydis, code->bytes + *at, code->size - *at, &in))
		return OUTCOME_DEAD_END;
	return follow(scan, &in, at, frame);
}

bool scan_rule(struct scanner *scanner, const struct code *code, struct rules_pushes *pushes)
{
	struct effect_frame frame = effect_none();
	enum outcome outcome = OUTCOME_ON;
	size_t at = code->at;
	struct scan scan;

	if (!code->bytes || code->size > UINT32_MAX || !load(scanner))
		return false;
	scan.scanner = scanner;
	scan.code = code;
	scan.pending_count = 0;
	scan.is_behind_call = false;
	scan.pushes = pushes;
	scanner->scan++;
	for (size_t i = 0; i < MOST_INSTRUCTIONS && outcome != OUTCOME_FOUND; i++) {
		outcome = take(&scan, &at, &frame);
		if (outcome != OUTCOME_DEAD_END)
			continue;
		if (scan.pending_count == 0)
			return false;
		scan.pending_count--;
		scan.is_behind_call = false;
		at = scan.pending[scan.pending_count].at;
		frame = scan.pending[scan.pending_count].frame;
	}
	return outcome == OUTCOME_FOUND;
}
