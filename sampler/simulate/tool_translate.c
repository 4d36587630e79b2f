/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulate/tool_translate.h"
#include "sampler/simulate/tool_cache.h"
#include "sampler/simulate/tool_cost.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>

/* A block has at most guest_max_insns (60) instructions; the largest access to memory in them are 8 loads of a gather.
 */
enum { INSTRUCTIONS_MAX = 256, ACCESSES_MAX = 2048, EXITS_MAX = 512, FETCHES_MAX = 2 * INSTRUCTIONS_MAX };
_Static_assert((int)INSTRUCTIONS_MAX <= (int)SIMULATE_BLOCK_MOST && (int)EXITS_MAX <= (int)SIMULATE_BLOCK_MOST,
	"each block has a place in the file");

bool tool_instruments;

/* The translation of one block. */
struct translation {
	struct tool_block made;
	uint8_t lengths[INSTRUCTIONS_MAX], costs[INSTRUCTIONS_MAX];
	struct tool_access accesses[ACCESSES_MAX];
	struct tool_fetch fetches[FETCHES_MAX];
	struct tool_exit exits[EXITS_MAX];
	unsigned access_count, fetch_count;
	const IRExpr *last_address; /* of the last access of this instruction; NULL: none */
	unsigned last_bytes;
	uint64_t last_dst; /* of the last exit */
	const VexGuestLayout *layout;
	const IRTypeEnv *types;
	IRSB *out;
};

static IRExpr *constant(uint64_t value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static int log_offset(const struct translation *translation, unsigned slot)
{
	return translation->layout->total_sizeB + (int)(sizeof(struct tool_log) + slot * sizeof(uint64_t));
}

/* --- instructions --- */

/* The lines that the instruction lies on, but for one that the instruction before it ended on. */
static void add_fetches(struct translation *translation, uint64_t address, unsigned bytes, unsigned instruction)
{
	unsigned bits = tool_cache_instructions.line_bits;
	uint64_t first = address >> bits, last = (address + bytes - 1) >> bits;
	struct tool_fetch *fetch = &translation->fetches[translation->fetch_count];

	if (translation->fetch_count == 0 || fetch[-1].line != first) {
		*fetch++ = (struct tool_fetch){ first, instruction, last == first ? 0 : 1 };
		translation->fetch_count++;
	}
	if (last != first) {
		*fetch = (struct tool_fetch){ last, instruction, -1 };
		translation->fetch_count++;
	}
}

static void tool_translate_add_instruction(struct translation *translation, uint64_t address, unsigned bytes)
{
	struct tool_block *made = &translation->made;
	unsigned instruction = made->instruction_count;

	tl_assert(instruction < INSTRUCTIONS_MAX && address == made->address + made->bytes);
	/* One that cannot be decoded has no bytes. */
	if (bytes == 0)
		bytes = VG_MIN_INSTR_SZB;
	translation->lengths[instruction] = bytes;
	translation->costs[instruction] = SIMULATE_QUARTERS;
	add_fetches(translation, address, bytes, instruction);
	translation->last_address = NULL;
	made->instruction_count++;
	made->bytes += bytes;
}

static void tool_translate_add_cost(struct translation *translation, const IRStmt *statement)
{
	uint8_t *cost = &translation->costs[translation->made.instruction_count - 1];
	unsigned sum = *cost + tool_cost(statement);

	*cost = sum < UINT8_MAX ? sum : UINT8_MAX;
}

/* --- accesses --- */

static bool atoms_equal(const IRExpr *a, const IRExpr *b)
{
	return a && b && eqIRAtom(a, b);
}

/* The address, or 0 where the condition does not hold. */
static IRExpr *guarded(struct translation *translation, IRExpr *address, IRExpr *guard)
{
	IRTemp temp;

	if (!guard || (guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1))
		return address;
	temp = newIRTemp(translation->out->tyenv, Ity_I64);
	addStmtToIRSB(translation->out, IRStmt_WrTmp(temp, IRExpr_ITE(guard, address, constant(0))));
	return IRExpr_RdTmp(temp);
}

/*
 * An access of the instruction, logged before it is done. A write where the instruction has just read is not counted:
 * it finds what the read has fetched. An access that is larger than a line counts as one of a line's size.
 */
static void add_access(struct translation *translation, IRExpr *address, unsigned bytes, IRExpr *guard)
{
	unsigned instruction = translation->made.instruction_count - 1u, slot = translation->access_count;

	if (bytes > 1u << tool_cache_data.line_bits)
		bytes = 1u << tool_cache_data.line_bits;
	if (bytes == translation->last_bytes && atoms_equal(translation->last_address, address))
		return;
	translation->last_address = guard ? NULL : address;
	translation->last_bytes = bytes;
	address = guarded(translation, address, guard);
	if (slot < TOOL_LOG_SLOTS && slot < ACCESSES_MAX) {
		translation->accesses[slot] = (struct tool_access){ bytes - 1, instruction };
		translation->access_count++;
		addStmtToIRSB(translation->out, IRStmt_Put(log_offset(translation, slot), address));
	} else {
		IRExpr **arguments = mkIRExprVec_2(address, constant((uint64_t)instruction << 8 | (bytes - 1)));

		addStmtToIRSB(translation->out, IRStmt_Dirty(unsafeIRDirty_0_N(2, "tool_access",
							VG_(fnptr_to_fnentry)((void *)tool_access), arguments)));
	}
}

static unsigned bytes_of(const struct translation *translation, const IRExpr *data)
{
	return (unsigned)sizeofIRType(typeOfIRExpr(translation->types, data));
}

static void add_accesses(struct translation *translation, const IRStmt *statement)
{
	IRType wide, narrow;

	switch ((int)statement->tag) {
	case Ist_WrTmp:
		if (statement->Ist.WrTmp.data->tag == Iex_Load)
			add_access(translation, statement->Ist.WrTmp.data->Iex.Load.addr,
				(unsigned)sizeofIRType(statement->Ist.WrTmp.data->Iex.Load.ty), NULL);
		break;
	case Ist_Store:
		add_access(
			translation, statement->Ist.Store.addr, bytes_of(translation, statement->Ist.Store.data), NULL);
		break;
	case Ist_StoreG:
		add_access(translation, statement->Ist.StoreG.details->addr,
			bytes_of(translation, statement->Ist.StoreG.details->data),
			statement->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG:
		typeOfIRLoadGOp(statement->Ist.LoadG.details->cvt, &wide, &narrow);
		add_access(translation, statement->Ist.LoadG.details->addr, (unsigned)sizeofIRType(narrow),
			statement->Ist.LoadG.details->guard);
		break;
	case Ist_Dirty:
		if (statement->Ist.Dirty.details->mFx != Ifx_None)
			add_access(translation, statement->Ist.Dirty.details->mAddr,
				(unsigned)statement->Ist.Dirty.details->mSize, statement->Ist.Dirty.details->guard);
		break;
	case Ist_CAS:
		add_access(translation, statement->Ist.CAS.details->addr,
			bytes_of(translation, statement->Ist.CAS.details->dataLo) *
				(statement->Ist.CAS.details->dataHi ? 2 : 1),
			NULL);
		break;
	default:
		break;
	}
}

/* --- exits --- */

static void add_left(struct translation *translation, unsigned number)
{
	addStmtToIRSB(translation->out, IRStmt_Put(translation->layout->total_sizeB, constant(number)));
}

static enum tool_leave leave_of(IRJumpKind kind, bool is_known)
{
	if (kind == Ijk_Call)
		return TOOL_CALL;
	if (kind == Ijk_Ret)
		return TOOL_RETURN;
	return is_known && kind == Ijk_Boring ? TOOL_JUMP : TOOL_INDIRECT;
}

static struct tool_exit *add_exit(struct translation *translation, IRJumpKind kind, bool is_known)
{
	struct tool_exit *exit = &translation->exits[translation->made.exit_count];

	tl_assert(translation->made.exit_count < EXITS_MAX - 1);
	*exit = (struct tool_exit){ translation->made.instruction_count, translation->access_count,
		translation->fetch_count, leave_of(kind, is_known), 0 };
	return exit;
}

static void add_side_exit(struct translation *translation, const IRStmt *statement)
{
	add_exit(translation, statement->Ist.Exit.jk, true);
	translation->last_dst = statement->Ist.Exit.dst->Ico.U64;
	add_left(translation, translation->made.exit_count++);
}

/* An instruction that repeats itself is no branch. */
static void tool_translate_add_end(struct translation *translation, const IRSB *in)
{
	struct tool_block *made = &translation->made;
	bool is_known = in->next->tag == Iex_Const;
	uint64_t next = is_known ? in->next->Iex.Const.con->Ico.U64 : 0, end_address = made->address + made->bytes;
	struct tool_exit *end = add_exit(translation, in->jumpkind, is_known);
	uint64_t last_instruction = end_address - translation->lengths[made->instruction_count - 1];

	/* Code that asks where it is calls what comes next: it never returns from there. */
	if (end->leave == TOOL_CALL && is_known && next == end_address)
		end->leave = TOOL_JUMP;
	if (made->exit_count == 0)
		return;
	if (end->leave == TOOL_JUMP && end[-1].leave == TOOL_JUMP && end[-1].instructions == end->instructions &&
		next != last_instruction && translation->last_dst != last_instruction)
		end[-1].is_branch = end->is_branch = 1;
	add_left(translation, made->exit_count);
}

/* --- the block --- */

/*
 * A repeated string instruction ends its block and begins one of its own, which it then repeats: what it costs to begin
 * is the first one's, if anything comes before it.
 */
static void mark_string(struct translation *translation)
{
	struct tool_block *made = &translation->made;
	unsigned last = made->instruction_count - 1u, length = translation->lengths[last];
	const uint8_t *code = (const uint8_t *)(uintptr_t)(made->address + made->bytes - length);
	unsigned bytes = tool_string_bytes(code, length);

	if (bytes == 0)
		return;
	translation->costs[last] = last == 0 ? TOOL_STRING_COST : TOOL_STRING_BEGIN_COST;
	if (last == 0 && translation->access_count > 0)
		made->string_bytes = (uint8_t)bytes;
}

/* The call of tool_enter(): its statement is made first, and told the block when that is known. */
static IRDirty *add_enter(struct translation *translation, IRExpr **arguments)
{
	const struct simulate_cache *i1 = &tool_options.first_instructions, *d1 = &tool_options.first_data;
	bool is_usual = i1->line_bytes == 64 && i1->ways == 8 && i1->bytes == 32768 && d1->line_bytes == 64 &&
			d1->ways == 8 && d1->bytes == 32768;
	void *enter = is_usual ? (void *)tool_enter_usual : (void *)tool_enter;
	IRDirty *call = unsafeIRDirty_0_N(2, "tool_enter", VG_(fnptr_to_fnentry)(enter), arguments);

	call->nFxState = 1;
	call->fxState[0].fx = Ifx_Read;
	call->fxState[0].offset = translation->layout->offset_SP;
	call->fxState[0].size = sizeof(uint64_t);
	call->fxState[0].nRepeats = call->fxState[0].repeatLen = 0;
	addStmtToIRSB(translation->out, IRStmt_Dirty(call));
	return call;
}

/* The core translates one block at a time, and this one is too large for its stack. */
static struct translation current;

static void translation_begin(const IRSB *in, const VexGuestLayout *layout)
{
	VG_(memset)(&current.made, 0, sizeof(current.made));
	current.access_count = current.fetch_count = 0;
	current.layout = layout;
	current.types = in->tyenv;
	current.out = deepCopyIRSBExceptStmts(in);
	current.made.lengths = current.lengths;
	current.made.costs = current.costs;
	current.made.exits = current.exits;
	current.made.accesses = current.accesses;
	current.made.fetches = current.fetches;
}

IRSB *tool_translate(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
	const VexArchInfo *archinfo, IRType guest_word, IRType host_word)
{
	IRExpr **arguments = mkIRExprVec_2(NULL, IRExpr_GSPTR());
	int i = 0;

	(void)closure, (void)extents, (void)archinfo, (void)guest_word, (void)host_word;
	if (!tool_instruments)
		return in;
	translation_begin(in, layout);

	/* What stands before the first instruction is the core's. */
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		addStmtToIRSB(current.out, in->stmts[i]);
	if (i == in->stmts_used)
		return in;
	current.made.address = in->stmts[i]->Ist.IMark.addr;
	current.made.mapping = tool_mapping_at(current.made.address);
	arguments[0] = constant(0);
	add_enter(&current, arguments);
	for (; i < in->stmts_used; i++) {
		IRStmt *statement = in->stmts[i];

		if (statement->tag == Ist_IMark) {
			tool_translate_add_instruction(&current, statement->Ist.IMark.addr, statement->Ist.IMark.len);
		} else {
			tool_translate_add_cost(&current, statement);
			add_accesses(&current, statement);
		}
		if (statement->tag == Ist_Exit)
			add_side_exit(&current, statement);
		addStmtToIRSB(current.out, statement);
	}
	mark_string(&current);
	tool_translate_add_end(&current, in);
	arguments[0]->Iex.Const.con->Ico.U64 = (uint64_t)(uintptr_t)tool_intern(&current.made);
	return current.out;
}
