/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the instructions of lines: by the addresses of samples, in the code that profiles have kept. */
#include "diff/listing/lister.h"

#include "binary/binary.h"

#include <stdlib.h>
#include <string.h>

/* An address with the time of samples there, below a row. */
struct spent {
	uint32_t row; /* over all functions */
	const struct profile_code *code;
	uint64_t address;
	double time;
};

/* The addresses at which the instructions of some code begin. */
struct decoded {
	const struct profile_code *code; /* NULL: none yet */
	uint32_t *offsets;               /* owned: rising */
	size_t count, capacity;
};

struct disassembly {
	struct listing *listing;
	const struct profile *profile;
	enum diff_side side;
	struct listing_row **rows; /* owned: over all functions */
	struct spent *spent;       /* owned: by row, then by address */
	size_t spent_count, spent_capacity, instruction_capacity;
	struct machine_decoder *decoder;
	struct decoded decoded;
	uint32_t *functions; /* owned: [code of the profile] a function in it; PROFILE_NONE: none was sampled */
};

static void disassembly_deinit(struct disassembly *d)
{
	machine_decoder_destroy(d->decoder);
	free(d->rows);
	free(d->spent);
	free(d->decoded.offsets);
	free(d->functions);
}

/* ---- Where the time was ---- */

static void list_rows(struct disassembly *d)
{
	size_t count = 0;

	for (size_t i = 0; i < d->listing->function_count; i++)
		count += d->listing->functions[i].row_count;
	d->rows = memory_zeroed(count + 1, sizeof(*d->rows));
	count = 0;
	for (size_t i = 0; i < d->listing->function_count; i++)
		for (size_t k = 0; k < d->listing->functions[i].row_count; k++)
			d->rows[count++] = &d->listing->functions[i].rows[k];
}

/* Returns whether an address is at a line: that of an interpreter is not at one of the function that it runs. */
static bool assembly_is_at(
	const struct profile *profile, const struct profile_location *location, const struct diff_place *place)
{
	for (uint32_t i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines[location->first_line + i];

		if (line->line == place->line && place->line != 0 &&
			(line->file ? line->file : profile->functions[line->function].file) == place->file)
			return true;
	}
	return false;
}

/* Adds the samples that end at a stack to the rows that they are at, or that their code was inlined at. */
static void listing_assembly_add_stack(struct disassembly *d, uint32_t stack)
{
	const struct diff_lines *lines = d->listing->lines[d->side];
	const struct profile_location *location = &d->profile->locations[d->profile->stacks[stack].location];
	const struct profile_code *code = profile_find_code(d->profile, location->mapping, location->address);

	for (uint32_t i = lines->first_owner[stack]; code && i < lines->first_owner[stack + 1]; i++) {
		uint32_t place = lines->owners[i], row;

		if (place == PROFILE_NONE || !assembly_is_at(d->profile, location, &lines->places[place]))
			continue;
		row = d->listing->place_rows[d->side][place];
		if (row == PROFILE_NONE)
			continue;
		ARRAY_PUSH(&d->spent, &d->spent_capacity, &d->spent_count,
			(struct spent){ row, code, location->address, lines->stack_values[stack] });
	}
}

static int compare_spent(const void *left, const void *right)
{
	const struct spent *a = left, *b = right;

	if (a->row != b->row)
		return ORDER(a->row, b->row);
	return a->code != b->code ? ORDER(a->code, b->code) : ORDER(a->address, b->address);
}

/* Makes one entry for each row and address. */
static void assembly_add_up(struct disassembly *d)
{
	size_t count = 0;

	if (d->spent_count > 0)
		qsort(d->spent, d->spent_count, sizeof(*d->spent), compare_spent);
	for (size_t i = 0; i < d->spent_count; i++) {
		if (count > 0 && compare_spent(&d->spent[count - 1], &d->spent[i]) == 0)
			d->spent[count - 1].time += d->spent[i].time;
		else
			d->spent[count++] = d->spent[i];
	}
	d->spent_count = count;
}

/* ---- What is there ---- */

/* The functions that hold code, by what was sampled in it: the last frame of a location is that which contains it. */
static void assembly_find_functions(struct disassembly *d)
{
	const struct profile *profile = d->profile;

	d->functions = memory_zeroed(profile->code_count + 1, sizeof(*d->functions));
	memset(d->functions, 0xff, (profile->code_count + 1) * sizeof(*d->functions));
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		const struct profile_code *code = profile_find_code(profile, location->mapping, location->address);

		if (code && location->line_count > 0)
			d->functions[code - profile->codes] =
				profile->lines[location->first_line + location->line_count - 1].function;
	}
}

static bool use_decoder(struct disassembly *d, uint16_t machine)
{
	const struct machine *known = machine_of(machine);

	if (!known || (d->decoder && d->decoder->machine == known))
		return known;
	machine_decoder_destroy(d->decoder);
	d->decoder = machine_decoder_create(known);
	return d->decoder;
}

/* Finds where instructions begin. Where bytes are none, one is passed over. */
static void assembly_decode(struct disassembly *d, const struct profile_code *code)
{
	struct decoded *decoded = &d->decoded;
	uint32_t offset = 0;

	if (decoded->code == code)
		return;
	decoded->code = code;
	decoded->count = 0;
	if (!use_decoder(d, code->machine))
		return;
	while (offset < code->size) {
		struct machine_fields fields;

		ARRAY_PUSH(&decoded->offsets, &decoded->capacity, &decoded->count, offset);
		offset +=
			d->decoder->machine->find_fields(d->decoder, code->bytes + offset, code->size - offset, &fields)
				? fields.size
				: 1;
	}
}

/* Returns the instruction that begins at an address; `count`: none does. */
static size_t find_instruction(const struct decoded *decoded, uint64_t address)
{
	uint64_t offset = address - decoded->code->address;
	size_t low = BISECT(decoded->count, i, decoded->offsets[i] < offset);

	return low < decoded->count && decoded->offsets[low] == offset ? low : decoded->count;
}

/* Interns the name of the function that a jump out of the code leads to. */
static bool assembly_name_target(
	struct disassembly *d, const struct profile_code *from, uint64_t target, uint32_t *name, struct error *err)
{
	const struct profile_code *code = profile_find_code(d->profile, from->mapping, target);
	uint32_t function = code && code != from ? d->functions[code - d->profile->codes] : PROFILE_NONE;
	const char *text;

	if (function == PROFILE_NONE)
		return true;
	text = profile_string(d->profile, d->profile->functions[function].name);
	return string_table_add(d->listing->strings, text, strlen(text), name, err);
}

static bool assembly_add_instruction(struct disassembly *d, struct listing_row *row, size_t index, double time,
	bool is_behind_gap, struct error *err)
{
	const struct profile_code *code = d->decoded.code;
	uint32_t offset = d->decoded.offsets[index];
	size_t *count = &d->listing->instruction_counts[d->side];
	struct listing_instruction added = {
		.address = code->address + offset, .time = time, .is_behind_gap = is_behind_gap
	};
	struct machine_text text;

	if (!machine_format_instruction(d->decoder, code->bytes + offset, code->size - offset, added.address, &text))
		strcpy(text.text, "(no instruction)");
	else if (text.has_target && !assembly_name_target(d, code, text.target, &added.target, err))
		return false;
	if (!string_table_add(d->listing->strings, text.text, strlen(text.text), &added.text, err) ||
		!ARRAY_APPEND(&d->listing->instructions[d->side], &d->instruction_capacity, count,
			LISTING_MOST_INSTRUCTIONS, err, added))
		return false;
	row->instruction_count[d->side]++;
	return true;
}

/* ---- Rows ---- */

static int assembly_compare_times(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* The time that an instruction must have so that no more than the most of a line are shown. */
static void find_least(const struct spent *spent, size_t count, double *least)
{
	CLEANUP(cleanup_free) double *times = NULL;

	*least = 0;
	if (count <= LISTING_MOST_OF_LINE)
		return;
	times = memory_zeroed(count, sizeof(*times));
	for (size_t i = 0; i < count; i++)
		times[i] = spent[i].time;
	qsort(times, count, sizeof(*times), assembly_compare_times);
	*least = times[LISTING_MOST_OF_LINE - 1];
}

/* The instructions of a row that are shown so far. */
struct assembly_shown {
	const struct profile_code *code;
	size_t next; /* the instruction behind the last one that is shown */
};

/*
 * Adds a sampled instruction, with the one before it where samples may be late. A few that lie between two take no more
 * room than a mark.
 */
static bool add_sampled(struct disassembly *d, const struct spent *spent, size_t index, struct assembly_shown *shown,
	struct listing_row *row, struct error *err)
{
	enum { MOST_BETWEEN = 2 };
	bool is_first = row->instruction_count[d->side] == 0, is_behind_gap;
	size_t first = !d->listing->is_precise[d->side] && index > 0 ? index - 1 : index;

	if (shown->code == spent->code && index - shown->next <= MOST_BETWEEN)
		first = shown->next;
	is_behind_gap = !is_first && !(shown->code == spent->code && first == shown->next);
	for (; first <= index; first++) {
		if (!assembly_add_instruction(d, row, first, first == index ? spent->time : 0, is_behind_gap, err))
			return false;
		is_behind_gap = false;
	}
	*shown = (struct assembly_shown){ spent->code, index + 1 };
	return true;
}

/* Adds the instructions of one row; `spent` are its addresses, the lower first. */
static bool assembly_add_row(struct disassembly *d, const struct spent *spent, size_t count, struct error *err)
{
	enum { MOST_AT_ONCE = 4 };
	struct listing_row *row = d->rows[spent->row];
	const size_t *all = &d->listing->instruction_counts[d->side];
	struct assembly_shown shown = { 0 };
	size_t sampled = 0;
	double least;

	find_least(spent, count, &least);
	row->first_instruction[d->side] = (uint32_t)*all;
	for (size_t i = 0; i < count; i++) {
		size_t index;

		assembly_decode(d, spent[i].code);
		index = find_instruction(&d->decoded, spent[i].address);
		if (index == d->decoded.count)
			continue;
		/* Of several with the least time, those with lower addresses are shown. */
		if (spent[i].time < least || sampled == LISTING_MOST_OF_LINE ||
			*all + MOST_AT_ONCE > LISTING_MOST_INSTRUCTIONS) {
			row->more_instructions[d->side]++;
			row->more_time[d->side] += spent[i].time;
			continue;
		}
		sampled++;
		if (!add_sampled(d, &spent[i], index, &shown, row, err))
			return false;
	}
	return true;
}

static bool disassemble_side(struct disassembly *d, struct error *err)
{
	const struct diff_lines *lines = d->listing->lines[d->side];

	if (!lines || d->profile->code_count == 0)
		return true;
	list_rows(d);
	assembly_find_functions(d);
	for (uint32_t stack = 1; stack < d->profile->stack_count; stack++)
		if (lines->stack_values[stack] > 0)
			listing_assembly_add_stack(d, stack);
	assembly_add_up(d);
	for (size_t first = 0, end; first < d->spent_count; first = end) {
		end = first + 1;
		while (end < d->spent_count && d->spent[end].row == d->spent[first].row)
			end++;
		if (!assembly_add_row(d, &d->spent[first], end - first, err))
			return false;
	}
	return true;
}

bool listing_disassemble(struct listing *listing, const struct profile *const profiles[DIFF_SIDES], struct error *err)
{
	listing->has_assembly = true;
	for (int side = 0; side < DIFF_SIDES; side++) {
		CLEANUP(disassembly_deinit)
		struct disassembly d = { .listing = listing, .profile = profiles[side], .side = (enum diff_side)side };

		if (!disassemble_side(&d, err))
			return false;
	}
	return true;
}
