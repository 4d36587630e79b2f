/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads which lines instructions have (iseq.c, get_insn_info_succinct()). */
#include "sampler/interpret/ruby/ruby.h"

#include <stdlib.h>
#include <string.h>

/*
 * Entries of lines belong to the instructions whose bits are set; how many are set up to a position tells the entry.
 * The counts of the first positions stand in words of nine numbers with seven bits; then come blocks of 512 bits, each
 * with the count before it, counts within it at each of its words, and the bits.
 */
enum {
	FIRST_POSITIONS = 54,
	NUMBERS = 9, /* of a word */
	NUMBER_BITS = 7,
	FIRST_BYTES = FIRST_POSITIONS / NUMBERS * 8,
	BLOCK_POSITIONS = 512,
	BLOCK_BYTES = 80,
	BLOCK_COUNTS = 8, /* behind the count before the block, at its begin */
	BLOCK_BITS = 16,
	COUNT_BITS = 9,
	WORD_BITS = 64,
	MOST_INSTRUCTIONS = 1 << 15, /* words, as iseq_encoded has them */
	MOST_LINES = 1 << 15,
	MOST_LINE_BYTES = 12,
	BODY_BYTES = 152, /* up to the last member that is read */
};

struct line_table {
	size_t instructions, entries;
	uint8_t counts[FIRST_BYTES + (MOST_INSTRUCTIONS / BLOCK_POSITIONS + 1) * BLOCK_BYTES];
	uint8_t lines[MOST_LINES * MOST_LINE_BYTES];
};

/* Returns how many instructions up to a position have an entry. */
static uint64_t ruby_lines_count_up_to(const struct line_table *table, size_t position)
{
	size_t rest, word;
	const uint8_t *block;
	uint64_t count, bits;
	uint32_t before;

	if (position < FIRST_POSITIONS)
		return interpreter_word(table->counts, position / NUMBERS * 8) >> (position % NUMBERS * NUMBER_BITS) &
		       0x7f;
	position -= FIRST_POSITIONS;
	block = table->counts + FIRST_BYTES + position / BLOCK_POSITIONS * BLOCK_BYTES;
	rest = position % BLOCK_POSITIONS;
	word = rest / WORD_BITS;
	memcpy(&before, block, sizeof(before));
	count = word > 0 ? interpreter_word(block, BLOCK_COUNTS) >> ((word - 1) * COUNT_BITS) & 0x1ff : 0;
	bits = interpreter_word(block, BLOCK_BITS + word * 8) << (WORD_BITS - 1 - rest % WORD_BITS);
	return before + count + (uint64_t)__builtin_popcountll(bits);
}

static bool ruby_lines_read_table(const struct ruby_image *ruby, const struct interpreter_source *source, uint64_t body,
	uint64_t told, struct line_table *table)
{
	uint8_t members[BODY_BYTES];
	uint32_t instructions, entries;
	size_t bytes = FIRST_BYTES;

	if (interpreter_source_read(source, body, members, sizeof(members)) != sizeof(members) ||
		interpreter_word(members, RUBY_BODY_INSTRUCTIONS) != told)
		return false;
	memcpy(&instructions, members + RUBY_BODY_SIZE, sizeof(instructions));
	memcpy(&entries, members + ruby->line_count, sizeof(entries));
	if (instructions > MOST_INSTRUCTIONS || entries == 0 || entries > MOST_LINES)
		return false;
	table->instructions = instructions;
	table->entries = entries;
	if (instructions > FIRST_POSITIONS)
		bytes += ((size_t)(instructions - FIRST_POSITIONS - 1) / BLOCK_POSITIONS + 1) * BLOCK_BYTES;
	if (entries > 1 && interpreter_source_read(
				   source, interpreter_word(members, ruby->line_table), table->counts, bytes) != bytes)
		return false;
	return interpreter_source_read(source, interpreter_word(members, ruby->lines), table->lines,
		       (size_t)entries * ruby->line_bytes) == (size_t)entries * ruby->line_bytes;
}

static uint32_t line_at(const struct ruby_image *ruby, const struct line_table *table, size_t position)
{
	uint64_t entry = table->entries > 1 ? ruby_lines_count_up_to(table, position) : 1;
	uint32_t line;

	if (entry == 0 || entry > table->entries)
		return 0;
	memcpy(&line, table->lines + (entry - 1) * ruby->line_bytes, sizeof(line));
	return line <= INT32_MAX ? line : 0;
}

size_t ruby_lines_read(const struct ruby_image *ruby, const struct interpreter_source *source, uint64_t body,
	uint64_t instructions, struct interpreter_line *lines, size_t most)
{
	struct line_table *table = malloc(sizeof(*table));
	size_t count = 0;

	if (table && ruby_lines_read_table(ruby, source, body, instructions, table))
		for (size_t i = 0; i < table->instructions && count + 1 < most; i++) {
			uint32_t line = line_at(ruby, table, i);

			if (count == 0 || lines[count - 1].line != line)
				lines[count++] = (struct interpreter_line){ (uint32_t)i, line };
		}
	if (count > 0)
		lines[count++] = (struct interpreter_line){ (uint32_t)table->instructions, 0 };
	free(table);
	return count;
}
