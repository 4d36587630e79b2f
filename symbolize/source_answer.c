/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what the child that reads source files has written: foreign bytes, since whatever it read may have taken it
 * over. */
#include "symbolize/source_answer.h"

#include <stdlib.h>
#include <string.h>

bool source_read_init(struct source_read *read, const struct source_plan *plan, struct error *err)
{
	*read = (struct source_read){ .answers = calloc(plan->file_count + 1, sizeof(*read->answers)),
		.is_answered = calloc(plan->file_count + 1, sizeof(*read->is_answered)) };
	return (read->answers && read->is_answered) || error_set_memory(err);
}

void source_read_deinit(struct source_read *read)
{
	free(read->answers);
	free(read->is_answered);
	free(read->taken);
	*read = (struct source_read){ 0 };
}

/* False if it is malformed: `err` has ERROR_FORMAT, or ERROR_MEMORY. */
static bool source_answer_take_piece(struct source_read *read, const struct source_wanted *wanted, uint32_t file,
	struct byte_reader *answers, struct error *err)
{
	struct source_piece piece = { 0 };
	struct source_taken taken = { .file = file };

	byte_reader_copy(answers, &piece, sizeof(piece));
	taken.text = (const char *)byte_reader_bytes(answers, piece.bytes);
	if (answers->failed || piece.range >= wanted->range_count || piece.first_line == 0 || piece.bytes == 0 ||
		memchr(taken.text, '\0', piece.bytes))
		return error_set(err, ERROR_FORMAT, "a piece of %s is malformed", wanted->name);
	if (!ARRAY_RESERVE(&read->taken, &read->taken_capacity, read->taken_count + 1, ARRAY_MAX_IDS, err))
		return false;
	taken.weight = wanted->ranges[piece.range].weight;
	taken.is_function = !wanted->ranges[piece.range].is_window;
	taken.first_line = piece.first_line;
	taken.bytes = piece.bytes;
	read->taken[read->taken_count++] = taken;
	return true;
}

static bool source_answer_take_answer(struct source_read *read, const struct source_plan *plan, const bool *is_asked,
	struct byte_reader *answers, struct error *err)
{
	struct source_answer answer = { 0 };
	size_t before = read->taken_count;

	byte_reader_copy(answers, &answer, sizeof(answer));
	if (answers->failed || answer.file >= plan->file_count || !is_asked[answer.file] ||
		read->is_answered[answer.file] || answer.piece_count > plan->files[answer.file].range_count)
		return error_set(err, ERROR_FORMAT, "an answer is malformed");
	for (uint32_t i = 0; i < answer.piece_count; i++)
		if (!source_answer_take_piece(read, &plan->files[answer.file], answer.file, answers, err)) {
			read->taken_count = before;
			return false;
		}
	read->answers[answer.file] = answer;
	read->is_answered[answer.file] = true;
	return true;
}

bool source_read_take(struct source_read *read, const struct source_plan *plan, const bool *is_asked,
	struct byte_reader answers, struct error *err)
{
	struct error why;

	while (byte_reader_left(&answers) > 0)
		if (!source_answer_take_answer(read, plan, is_asked, &answers, &why)) {
			if (why.code == ERROR_FORMAT)
				return true;
			*err = why;
			return false;
		}
	return true;
}
