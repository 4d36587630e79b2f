/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/naming_cell.h"

#include "tests/fuzz/table_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * What a child process that names functions may send once its reader is taken over. Input: messages, each with the
 * kind (from 1 on), the place of the task, flags (a byte each), the sizes of what follows for the tables of code and of
 * data (16 bits each), then these bytes. The child has half of the tasks; nothing that it sends touches the others.
 */

enum { TASKS = 8, CHOSEN = 4, ADDRESSES = 8, MAX_STREAM_BYTES = 1 << 20 };

enum flag {
	FLAG_BARE = 1,      /* tables without their magic and size */
	FLAG_LIE = 2,       /* the message says that other numbers of bytes follow */
	FLAG_LONG_TEXT = 4, /* its text does not end */
	FLAG_FAR = 8,       /* a number of a task that is far off */
	FLAG_MEMORY = 16,   /* memory ran out */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_table(struct buffer *tables, struct byte_reader *r, size_t size, unsigned int flags)
{
	struct byte_reader bytes = byte_reader_split(r, size < byte_reader_left(r) ? size : byte_reader_left(r));

	if (flags & FLAG_BARE)
		buffer_append(tables, bytes.pos, byte_reader_left(&bytes));
	else
		table_bytes_put(tables, bytes.pos, byte_reader_left(&bytes));
}

static void put_message(struct buffer *stream, struct byte_reader *r)
{
	struct naming_answer answer = { .kind = (uint8_t)(byte_reader_u8(r) + 1), .task = byte_reader_u8(r) };
	unsigned int flags = byte_reader_u8(r);
	size_t code = byte_reader_u16(r), data = byte_reader_u16(r);
	struct buffer tables;

	buffer_init(&tables, MAX_STREAM_BYTES);
	if (answer.kind == NAMING_DONE) {
		put_table(&tables, r, code, flags);
		answer.code_bytes = tables.size;
		while (tables.size % sizeof(uint64_t) != 0 && !tables.failed)
			buffer_append_byte(&tables, 0);
		put_table(&tables, r, data, flags);
	}
	answer.bytes = tables.size;
	if (flags & FLAG_LIE) {
		answer.bytes += code;
		answer.code_bytes -= data;
	}
	if (flags & FLAG_FAR)
		answer.task *= 0x1010101;
	if (flags & FLAG_LONG_TEXT)
		memset(answer.message, 'x', sizeof(answer.message));
	answer.code = flags & FLAG_MEMORY ? ERROR_MEMORY : ERROR_FORMAT;
	answer.is_kallsyms_restricted = flags;
	buffer_append(stream, &answer, sizeof(answer));
	buffer_append(stream, tables.data, tables.size);
	buffer_deinit(&tables);
}

/* Reads the names of all addresses of a task that is named. */
static void use(const struct naming_task *task)
{
	volatile size_t sum = 0;
	struct symbolize_frames frames;
	struct arena arena;
	struct error err;

	arena_init(&arena, 0);
	sum += strlen(named_frames_source_directory(&task->table));
	for (uint32_t i = 0; i < task->table.address_count; i++)
		if (named_frames_find(&task->table, task->table.addresses[i], &arena, &frames, &err))
			for (size_t k = 0; k < frames.count; k++)
				sum += strlen(frames.frames[k].name) + strlen(frames.frames[k].file);
	arena_deinit(&arena);
}

static bool is_chosen(size_t task)
{
	return task % 2 == 1;
}

static void check(const struct naming_job *n, const struct naming_cell *cell)
{
	if (cell->running_count > NAMING_MOST_RUNNING)
		abort();
	for (size_t i = 0; i < n->count; i++) {
		struct naming_task *task = &n->tasks[i];

		if (!is_chosen(i) && (task->bytes || n->progress[i].state != NAMING_WAITING))
			abort();
		if (task->bytes && n->progress[i].state != NAMING_ENDED)
			abort();
		if (task->bytes)
			use(task);
		naming_task_deinit(task);
	}
}

/* A cell without processes: what its child would have sent stands in the file. */
static void follow(struct naming_job *n, int input)
{
	uint32_t *chosen = calloc(CHOSEN, sizeof(*chosen));
	struct naming_cell cell;
	struct error err;
	size_t count = 0;

	if (!chosen)
		abort();
	for (uint32_t i = 0; i < TASKS; i++)
		if (is_chosen(i))
			chosen[count++] = i;
	if (!naming_cell_init(&cell, n, 0, chosen, count, &err))
		return;
	cell.input = input;
	while (!cell.is_over && cell.failure == NAMING_UNHARMED)
		naming_cell_follow(&cell);
	check(n, &cell);
	naming_cell_deinit(&cell);
}

static void take_stream(const struct buffer *stream, int fd)
{
	static const uint64_t addresses[ADDRESSES] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct symbolize_options options = { .threads = 1 };
	struct naming_task tasks[TASKS] = { 0 };
	struct naming_progress progress[TASKS] = { 0 };
	struct naming_owner owner = { .who = { .is_known = true } };
	struct buffer notices;
	struct naming_job n = { .tasks = tasks,
		.progress = progress,
		.count = TASKS,
		.owners = &owner,
		.owner_count = 1,
		.options = &options,
		.notices = &notices };

	buffer_init(&notices, MAX_STREAM_BYTES);
	for (size_t i = 0; i < TASKS; i++)
		tasks[i] = (struct naming_task){
			.label = "task", .addresses = addresses, .count = ADDRESSES, .data = addresses, .data_count = i
		};
	if (write(fd, stream->data, stream->size) == (ssize_t)stream->size && lseek(fd, 0, SEEK_SET) == 0)
		follow(&n, fd);
	buffer_deinit(&notices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(cleanup_close) int fd = memfd_create("naming", MFD_CLOEXEC);
	struct byte_reader r = byte_reader_over(data, size);
	const struct naming_answer confined = { .kind = NAMING_CONFINED };
	struct buffer stream;

	buffer_init(&stream, MAX_STREAM_BYTES);
	buffer_append(&stream, &confined, sizeof(confined));
	while (byte_reader_left(&r) > 0 && byte_reader_ok(&r) && !stream.failed)
		put_message(&stream, &r);
	if (fd >= 0 && !stream.failed)
		take_stream(&stream, fd);
	buffer_deinit(&stream);
	return 0;
}
