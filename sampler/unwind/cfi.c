/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 1 << 24, MAX_REMEMBERED = 8 };

/* A frame description entry by where its code starts. */
struct fde_start {
	uint64_t address;
	uint64_t offset; /* of the FDE in .eh_frame */
};

struct cfi_table {
	struct elf_image *image; /* a reference: expressions are read from its bytes */
	struct elf_section eh_frame;
	struct fde_start *starts; /* by address */
	size_t count, capacity;
};

/* Common information entry. */
struct cie {
	uint64_t code_alignment;
	int64_t data_alignment;
	uint8_t return_register;
	uint8_t pointer_encoding; /* DW_EH_PE_* of addresses in its FDEs */
	bool is_signal_frame;
	bool has_augmentation_data;
	struct byte_reader instructions;
};

struct fde {
	struct cie cie;
	uint64_t start, size;
	struct byte_reader instructions;
};

static uint64_t section_address(const struct elf_section *section, const struct byte_reader *r)
{
	return section->address + byte_reader_offset(r);
}

/* A pointer in one of the encodings of the LSB, "DWARF Exception Header Encoding"; fails on those that need a process. */
static uint64_t read_encoded(struct byte_reader *r, uint8_t encoding, uint64_t here, uint64_t data_base)
{
	uint64_t value = 0;

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = byte_reader_u64(r);
		break;
	case DW_EH_PE_uleb128:
		value = byte_reader_uleb128(r);
		break;
	case DW_EH_PE_udata2:
		value = byte_reader_u16(r);
		break;
	case DW_EH_PE_udata4:
		value = byte_reader_u32(r);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)byte_reader_sleb128(r);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)byte_reader_u16(r);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)byte_reader_u32(r);
		break;
	default:
		r->failed = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	case DW_EH_PE_datarel:
		return value + data_base;
	default:
		r->failed = true;
		return 0;
	}
}

/* One entry of .eh_frame: its body behind the length, and where the next one starts. */
static bool read_entry(const struct elf_section *section, uint64_t offset, struct byte_reader *body, uint64_t *next)
{
	struct byte_reader r = byte_reader_over(section->bytes, section->size);
	uint64_t length;

	byte_reader_seek(&r, offset);
	length = byte_reader_u32(&r);
	if (length == 0xffffffff)
		length = byte_reader_u64(&r);
	if (!byte_reader_ok(&r) || length == 0 || length > byte_reader_left(&r))
		return false;
	*body = r;
	body->end = r.pos + length;
	*next = byte_reader_offset(&r) + length;
	return true;
}

static bool read_augmentation(struct byte_reader *r, const char *augmentation, struct cie *cie, const struct elf_section *section)
{
	struct byte_reader data;

	if (augmentation[0] != 'z')
		return augmentation[0] == '\0';
	cie->has_augmentation_data = true;
	data = *r;
	byte_reader_skip(r, byte_reader_uleb128(r));
	byte_reader_uleb128(&data);
	for (const char *c = augmentation + 1; *c; c++) {
		switch (*c) {
		case 'R':
			cie->pointer_encoding = byte_reader_u8(&data);
			break;
		case 'P': {
			uint8_t encoding = byte_reader_u8(&data);

			read_encoded(&data, encoding & 0x0f, section_address(section, &data), 0);
			break;
		}
		case 'L':
			byte_reader_u8(&data);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B':
			break;
		default:
			return false;
		}
	}
	return byte_reader_ok(&data) && byte_reader_ok(r);
}

static bool read_cie(const struct elf_section *section, uint64_t offset, struct cie *cie)
{
	struct byte_reader r;
	const char *augmentation;
	uint64_t next;
	uint8_t version;

	*cie = (struct cie){ .pointer_encoding = DW_EH_PE_absptr };
	if (!read_entry(section, offset, &r, &next) || byte_reader_u32(&r) != 0)
		return false;
	version = byte_reader_u8(&r);
	augmentation = byte_reader_string(&r, NULL);
	if (!augmentation || (version != 1 && version != 3))
		return false;
	cie->code_alignment = byte_reader_uleb128(&r);
	cie->data_alignment = byte_reader_sleb128(&r);
	cie->return_register = version == 1 ? byte_reader_u8(&r) : (uint8_t)byte_reader_uleb128(&r);
	if (!read_augmentation(&r, augmentation, cie, section))
		return false;
	cie->instructions = r;
	return byte_reader_ok(&r) && cie->return_register == CFI_RIP;
}

/* False for a CIE, and for what is damaged; `next` is set whenever the entry's length is believable. */
static bool read_fde(const struct elf_section *section, uint64_t offset, struct fde *fde, uint64_t *next)
{
	struct byte_reader r;
	uint64_t pointer_offset;
	uint32_t pointer;

	*next = 0;
	if (!read_entry(section, offset, &r, next))
		return false;
	pointer_offset = byte_reader_offset(&r);
	pointer = byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || pointer == 0 || pointer > pointer_offset ||
		!read_cie(section, pointer_offset - pointer, &fde->cie))
		return false;
	fde->start = read_encoded(&r, fde->cie.pointer_encoding, section_address(section, &r), 0);
	fde->size = read_encoded(&r, fde->cie.pointer_encoding & 0x0f, 0, 0);
	if (fde->cie.has_augmentation_data)
		byte_reader_skip(&r, byte_reader_uleb128(&r));
	fde->instructions = r;
	return byte_reader_ok(&r);
}

static bool add_start(struct cfi_table *table, uint64_t address, uint64_t offset, struct error *err)
{
	if (!ARRAY_RESERVE(&table->starts, &table->capacity, table->count + 1, MAX_ENTRIES, err))
		return false;
	table->starts[table->count++] = (struct fde_start){ address, offset };
	return true;
}

/* The binary search table of .eh_frame_hdr: 4-byte pairs relative to the header, as every linker writes it. */
static bool read_search_table(struct cfi_table *table, const struct elf_section *hdr, struct error *err)
{
	struct byte_reader r = byte_reader_over(hdr->bytes, hdr->size);
	uint8_t version = byte_reader_u8(&r), pointer = byte_reader_u8(&r), counting = byte_reader_u8(&r),
		encoding = byte_reader_u8(&r);
	uint64_t count;

	if (version != 1 || encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return true;
	read_encoded(&r, pointer, section_address(hdr, &r), hdr->address);
	count = read_encoded(&r, counting, section_address(hdr, &r), hdr->address);
	if (!byte_reader_ok(&r) || count > byte_reader_left(&r) / 8 || count > MAX_ENTRIES)
		return true;
	if (!ARRAY_RESERVE(&table->starts, &table->capacity, count, MAX_ENTRIES, err))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address = hdr->address + (uint64_t)(int64_t)(int32_t)byte_reader_u32(&r);
		uint64_t entry = hdr->address + (uint64_t)(int64_t)(int32_t)byte_reader_u32(&r);

		if (entry >= table->eh_frame.address && !add_start(table, address, entry - table->eh_frame.address, err))
			return false;
	}
	return true;
}

static bool scan(struct cfi_table *table, struct error *err)
{
	uint64_t offset = 0, next;
	struct fde fde;

	while (offset < table->eh_frame.size) {
		bool found = read_fde(&table->eh_frame, offset, &fde, &next);

		if (found && fde.size > 0 && !add_start(table, fde.start, offset, err))
			return false;
		if (next <= offset)
			return true;
		offset = next;
	}
	return true;
}

static int compare_starts(const void *left, const void *right)
{
	const struct fde_start *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

bool cfi_table_create(struct elf_image *image, struct cfi_table **table, struct error *err)
{
	struct cfi_table *made = calloc(1, sizeof(*made));
	struct elf_section hdr;

	if (!made)
		return error_set_memory(err);
	made->image = elf_image_ref(image);
	elf_image_eh_frame(image, &made->eh_frame, &hdr);
	if (hdr.size > 0 && !read_search_table(made, &hdr, err))
		goto fail;
	if (made->count == 0 && !scan(made, err))
		goto fail;
	qsort(made->starts, made->count, sizeof(*made->starts), compare_starts);
	*table = made;
	return true;
fail:
	cfi_table_destroy(made);
	return false;
}

void cfi_table_destroy(struct cfi_table *table)
{
	if (!table)
		return;
	elf_image_unref(table->image);
	free(table->starts);
	free(table);
}

static const struct fde_start *find_start(const struct cfi_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->starts[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &table->starts[low - 1] : NULL;
}

/* The machine of DWARF 5, 6.4.2. */
struct machine {
	const struct elf_section *section;
	const struct cie *cie;
	struct cfi_rule rule, initial;
	struct cfi_rule remembered[MAX_REMEMBERED];
	size_t remembered_count;
	uint64_t location, wanted;
	bool failed;
};

static void set_register(struct machine *m, uint64_t number, enum cfi_place place, int64_t offset)
{
	/* Vector and other registers lead to no caller. */
	if (number >= CFI_REGISTERS)
		return;
	if (offset != (int32_t)offset)
		m->failed = true;
	m->rule.registers[number] = (struct cfi_register_rule){ .offset = (int32_t)offset, .place = (uint16_t)place };
}

static struct cfi_register_rule read_expression(struct machine *m, struct byte_reader *r, enum cfi_place place)
{
	uint64_t size = byte_reader_uleb128(r);
	const uint8_t *bytes = byte_reader_bytes(r, size);

	if (!bytes || size > UINT16_MAX || bytes - m->section->bytes > INT32_MAX) {
		m->failed = true;
		return (struct cfi_register_rule){ 0 };
	}
	return (struct cfi_register_rule){ (int32_t)(bytes - m->section->bytes), (uint16_t)place, (uint16_t)size };
}

static void set_expression(struct machine *m, struct byte_reader *r, enum cfi_place place)
{
	uint64_t number = byte_reader_uleb128(r);
	struct cfi_register_rule rule = read_expression(m, r, place);

	if (number < CFI_REGISTERS)
		m->rule.registers[number] = rule;
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	if (number >= CFI_REGISTERS || offset != (int32_t)offset) {
		m->failed = true;
		return;
	}
	m->rule.cfa = (struct cfi_register_rule){ .offset = (int32_t)offset, .place = CFI_REGISTER };
	m->rule.cfa_register = (uint8_t)number;
}

static void remember(struct machine *m)
{
	if (m->remembered_count == MAX_REMEMBERED)
		m->failed = true;
	else
		m->remembered[m->remembered_count++] = m->rule;
}

static void restore_remembered(struct machine *m)
{
	if (m->remembered_count == 0)
		m->failed = true;
	else
		m->rule = m->remembered[--m->remembered_count];
}

static void restore_register(struct machine *m, uint64_t number)
{
	if (number < CFI_REGISTERS)
		m->rule.registers[number] = m->initial.registers[number];
}

static void execute_cfa(struct machine *m, struct byte_reader *r, uint8_t op)
{
	int64_t align = m->cie->data_alignment;
	uint64_t number;

	switch (op) {
	case DW_CFA_def_cfa:
		number = byte_reader_uleb128(r);
		set_cfa(m, number, (int64_t)byte_reader_uleb128(r));
		break;
	case DW_CFA_def_cfa_sf:
		number = byte_reader_uleb128(r);
		set_cfa(m, number, byte_reader_sleb128(r) * align);
		break;
	case DW_CFA_def_cfa_register:
		set_cfa(m, byte_reader_uleb128(r), m->rule.cfa.offset);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa(m, m->rule.cfa_register, (int64_t)byte_reader_uleb128(r));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(m, m->rule.cfa_register, byte_reader_sleb128(r) * align);
		break;
	case DW_CFA_def_cfa_expression:
		m->rule.cfa = read_expression(m, r, CFI_VAL_EXPRESSION);
		break;
	default:
		m->failed = true;
	}
}

static void execute_register(struct machine *m, struct byte_reader *r, uint8_t op)
{
	int64_t align = m->cie->data_alignment;
	uint64_t number = op == DW_CFA_expression || op == DW_CFA_val_expression ? 0 : byte_reader_uleb128(r);

	switch (op) {
	case DW_CFA_offset_extended:
		set_register(m, number, CFI_AT_CFA, (int64_t)byte_reader_uleb128(r) * align);
		break;
	case DW_CFA_offset_extended_sf:
		set_register(m, number, CFI_AT_CFA, byte_reader_sleb128(r) * align);
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_register(m, number, CFI_AT_CFA, -(int64_t)byte_reader_uleb128(r) * align);
		break;
	case DW_CFA_val_offset:
		set_register(m, number, CFI_VAL_OFFSET, (int64_t)byte_reader_uleb128(r) * align);
		break;
	case DW_CFA_val_offset_sf:
		set_register(m, number, CFI_VAL_OFFSET, byte_reader_sleb128(r) * align);
		break;
	case DW_CFA_restore_extended:
		restore_register(m, number);
		break;
	case DW_CFA_undefined:
		set_register(m, number, CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set_register(m, number, CFI_SAME, 0);
		break;
	case DW_CFA_register: {
		uint64_t other = byte_reader_uleb128(r);

		if (other < CFI_REGISTERS)
			set_register(m, number, CFI_REGISTER, (int64_t)other);
		else
			m->failed = true;
		break;
	}
	case DW_CFA_expression:
		set_expression(m, r, CFI_EXPRESSION);
		break;
	case DW_CFA_val_expression:
		set_expression(m, r, CFI_VAL_EXPRESSION);
		break;
	default:
		m->failed = true;
	}
}

/* True while the wanted address lies further on. */
static bool advance(struct machine *m, uint64_t delta)
{
	uint64_t location = m->location + delta * m->cie->code_alignment;

	if (location > m->wanted || location < m->location)
		return false;
	m->location = location;
	return true;
}

/* Runs one instruction; false when the wanted row is complete. */
static bool execute(struct machine *m, struct byte_reader *r)
{
	uint8_t op = byte_reader_u8(r);
	uint8_t low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, low);
	case DW_CFA_offset:
		set_register(m, low, CFI_AT_CFA, (int64_t)byte_reader_uleb128(r) * m->cie->data_alignment);
		return true;
	case DW_CFA_restore:
		restore_register(m, low);
		return true;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		m->failed = true;
		return false;
	case DW_CFA_advance_loc1:
		return advance(m, byte_reader_u8(r));
	case DW_CFA_advance_loc2:
		return advance(m, byte_reader_u16(r));
	case DW_CFA_advance_loc4:
		return advance(m, byte_reader_u32(r));
	case DW_CFA_remember_state:
		remember(m);
		return true;
	case DW_CFA_restore_state:
		restore_remembered(m);
		return true;
	case DW_CFA_GNU_args_size:
		byte_reader_uleb128(r);
		return true;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		execute_cfa(m, r, op);
		return true;
	default:
		execute_register(m, r, op);
		return true;
	}
}

static bool run(struct machine *m, struct byte_reader r)
{
	while (byte_reader_left(&r) > 0 && !m->failed && byte_reader_ok(&r))
		if (!execute(m, &r))
			break;
	return !m->failed && byte_reader_ok(&r);
}

bool cfi_table_find(const struct cfi_table *table, uint64_t address, struct cfi_rule *rule)
{
	const struct fde_start *start = find_start(table, address);
	struct machine m = { .section = &table->eh_frame, .wanted = address };
	struct fde fde;
	uint64_t next;

	if (!start || !read_fde(&table->eh_frame, start->offset, &fde, &next) || address < fde.start ||
		address - fde.start >= fde.size)
		return false;
	m.cie = &fde.cie;
	m.location = 0;
	if (!run(&m, fde.cie.instructions))
		return false;
	m.initial = m.rule;
	m.location = fde.start;
	if (!run(&m, fde.instructions))
		return false;
	*rule = m.rule;
	rule->is_signal_frame = fde.cie.is_signal_frame;
	return rule->cfa.place == CFI_REGISTER || rule->cfa.place == CFI_VAL_EXPRESSION;
}

enum { STACK_DEPTH = 32, MAX_STEPS = 256 };

struct evaluator {
	const uint64_t *registers;
	const struct cfi_memory *memory;
	uint64_t stack[STACK_DEPTH];
	size_t depth;
	bool failed;
};

static void push(struct evaluator *e, uint64_t value)
{
	if (e->depth == STACK_DEPTH)
		e->failed = true;
	else
		e->stack[e->depth++] = value;
}

static uint64_t pop(struct evaluator *e)
{
	if (e->depth == 0) {
		e->failed = true;
		return 0;
	}
	return e->stack[--e->depth];
}

static void binary(struct evaluator *e, uint8_t op)
{
	uint64_t b = pop(e), a = pop(e);

	switch (op) {
	case DW_OP_and:
		return push(e, a & b);
	case DW_OP_or:
		return push(e, a | b);
	case DW_OP_xor:
		return push(e, a ^ b);
	case DW_OP_plus:
		return push(e, a + b);
	case DW_OP_minus:
		return push(e, a - b);
	case DW_OP_mul:
		return push(e, a * b);
	case DW_OP_shl:
		return push(e, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(e, b < 64 ? a >> b : 0);
	case DW_OP_eq:
		return push(e, a == b);
	case DW_OP_ne:
		return push(e, a != b);
	case DW_OP_ge:
		return push(e, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return push(e, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return push(e, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return push(e, (int64_t)a < (int64_t)b);
	default:
		e->failed = true;
	}
}

static void dereference(struct evaluator *e)
{
	uint64_t value = 0;

	if (!e->memory->read(e->memory->context, pop(e), &value))
		e->failed = true;
	push(e, value);
}

static void step(struct evaluator *e, struct byte_reader *r)
{
	uint8_t op = byte_reader_u8(r);

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push(e, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op < DW_OP_breg0 + CFI_REGISTERS)
		return push(e, e->registers[op - DW_OP_breg0] + (uint64_t)byte_reader_sleb128(r));
	switch (op) {
	case DW_OP_const1u:
		return push(e, byte_reader_u8(r));
	case DW_OP_const1s:
		return push(e, (uint64_t)(int64_t)(int8_t)byte_reader_u8(r));
	case DW_OP_const2u:
		return push(e, byte_reader_u16(r));
	case DW_OP_const2s:
		return push(e, (uint64_t)(int64_t)(int16_t)byte_reader_u16(r));
	case DW_OP_const4u:
		return push(e, byte_reader_u32(r));
	case DW_OP_const4s:
		return push(e, (uint64_t)(int64_t)(int32_t)byte_reader_u32(r));
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push(e, byte_reader_u64(r));
	case DW_OP_constu:
		return push(e, byte_reader_uleb128(r));
	case DW_OP_consts:
		return push(e, (uint64_t)byte_reader_sleb128(r));
	case DW_OP_plus_uconst:
		return push(e, pop(e) + byte_reader_uleb128(r));
	case DW_OP_dup: {
		uint64_t top = pop(e);

		push(e, top);
		return push(e, top);
	}
	case DW_OP_drop:
		pop(e);
		return;
	case DW_OP_deref:
		return dereference(e);
	case DW_OP_nop:
		return;
	default:
		return binary(e, op);
	}
}

bool cfi_evaluate(const struct cfi_table *table, struct cfi_register_rule expression, const uint64_t *registers,
	const struct cfi_memory *memory, uint64_t initial, uint64_t *value)
{
	struct evaluator e = { .registers = registers, .memory = memory };
	struct byte_reader r = byte_reader_over(table->eh_frame.bytes, table->eh_frame.size);

	byte_reader_seek(&r, (size_t)expression.offset);
	r = byte_reader_split(&r, expression.size);
	push(&e, initial);
	for (unsigned int steps = 0; byte_reader_left(&r) > 0 && byte_reader_ok(&r) && !e.failed; steps++) {
		if (steps == MAX_STEPS)
			return false;
		step(&e, &r);
	}
	*value = pop(&e);
	return !e.failed && byte_reader_ok(&r);
}
