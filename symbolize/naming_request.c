/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/naming_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TASKS = 1 << 20, WORD = sizeof(uint64_t) };
static const uint64_t max_request_bytes = (uint64_t)64 << 20, max_answer_bytes = (uint64_t)4 << 30;

/* A file that was handed out; all zero: none. */
struct file_place {
	uint64_t device, inode;
};

/* A task, behind the number of them. Its label follows, filled up with zeros to whole words, then its addresses. */
struct task_request {
	struct file_place image, map, inherited, kallsyms;
	int64_t clock_ns;
	uint64_t label_bytes, count, data_count;
};

/* The answer to a task. The notices follow that of the last one, filled up as labels are, then the bytes of each. */
struct task_answer {
	uint64_t byte_count, code_bytes, is_kallsyms_restricted;
};

static size_t padding_of(uint64_t bytes)
{
	return (size_t)(-bytes % WORD);
}

static void append_padded(struct buffer *bytes, const void *from, size_t size)
{
	static const char zeros[WORD];

	buffer_append(bytes, from, size);
	buffer_append(bytes, zeros, padding_of(size));
}

/* ---- The process without rights ---- */

static struct file_place place_of_descriptor(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 ? (struct file_place){ info.st_dev, info.st_ino } : (struct file_place){ 0 };
}

static struct file_place place_of_file(const struct file_opened *file)
{
	return file && file->name ? place_of_descriptor(file->fd) : (struct file_place){ 0 };
}

static void append_task(struct buffer *bytes, const struct naming_task *task)
{
	const struct task_request request = {
		.image =
			task->image ? place_of_descriptor(elf_image_descriptor(task->image)) : (struct file_place){ 0 },
		.map = place_of_file(task->map),
		.inherited = place_of_file(task->inherited),
		.kallsyms = place_of_file(task->kallsyms),
		.clock_ns = task->clock.start_ns,
		.label_bytes = strlen(task->label) + 1,
		.count = task->count,
		.data_count = task->data_count,
	};

	buffer_append(bytes, &request, sizeof(request));
	append_padded(bytes, task->label, request.label_bytes);
	buffer_append(bytes, task->addresses, task->count * WORD);
	buffer_append(bytes, task->data, task->data_count * WORD);
}

static bool take_bytes_of_task(struct byte_reader *r, const struct task_answer *answer, struct naming_task *task)
{
	const uint8_t *bytes;

	if (answer->byte_count == 0)
		return true;
	if (answer->byte_count > byte_reader_left(r))
		return false;
	bytes = byte_reader_bytes(r, (size_t)answer->byte_count);
	byte_reader_skip(r, padding_of(answer->byte_count));
	task->bytes = malloc((size_t)answer->byte_count);
	if (!task->bytes)
		return false;
	memcpy(task->bytes, bytes, (size_t)answer->byte_count);
	task->is_kallsyms_restricted = answer->is_kallsyms_restricted != 0;
	return naming_task_open_tables(task, task->bytes, (size_t)answer->byte_count, answer->code_bytes);
}

static bool take_answers(struct naming_task *tasks, size_t count, const struct buffer *answer, struct buffer *notices)
{
	struct byte_reader r = byte_reader_over(answer->data, answer->size);
	uint64_t notice_bytes = byte_reader_u64(&r);
	struct byte_reader answers = r;
	const uint8_t *said;

	byte_reader_skip(&r, count * sizeof(struct task_answer));
	if (!byte_reader_ok(&r) || notice_bytes > byte_reader_left(&r))
		return false;
	said = byte_reader_bytes(&r, (size_t)notice_bytes);
	byte_reader_skip(&r, padding_of(notice_bytes));
	if (notices)
		buffer_append(notices, said, (size_t)notice_bytes);
	for (size_t i = 0; i < count; i++) {
		struct task_answer of_task;

		memcpy(&of_task, byte_reader_bytes(&answers, sizeof(of_task)), sizeof(of_task));
		if (!take_bytes_of_task(&r, &of_task, &tasks[i]))
			return false;
	}
	return byte_reader_ok(&r);
}

static bool ask_for_names(struct naming_task *tasks, size_t count, const struct symbolize_options *options,
	struct buffer *notices, struct error *err)
{
	const struct symbolize_namer *namer = options->namer;
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(max_request_bytes);
	CLEANUP(buffer_deinit) struct buffer answer = BUFFER_INIT(max_answer_bytes);
	CLEANUP(cleanup_close) int fd = -1;
	const uint64_t number = count;

	buffer_append(&bytes, &number, sizeof(number));
	for (size_t i = 0; i < count; i++)
		append_task(&bytes, &tasks[i]);
	if (!buffer_ok(&bytes, err))
		return error_prefix(err, "too many addresses");
	fd = namer->ask(namer->context, bytes.data, bytes.size, err);
	if (fd < 0)
		return false;
	return file_read_opened(&(struct file_opened){ (char *)(uintptr_t) "names", fd }, &answer, err) &&
	       (take_answers(tasks, count, &answer, notices) ||
		       error_set(err, ERROR_FORMAT, "the names that came are damaged"));
}

void naming_request(
	struct naming_task *tasks, size_t count, const struct symbolize_options *options, struct buffer *notices)
{
	struct error why = { 0 };

	if (ask_for_names(tasks, count, options, notices, &why))
		return;
	for (size_t i = 0; i < count; i++)
		naming_task_deinit(&tasks[i]);
	if (notices)
		buffer_printf(notices, "%s: functions stay unnamed\n", why.message);
}

/* ---- The process that has opened the files ---- */

/* A request that is run, and the files that it may mean. */
struct request_run {
	const struct file_opened *files;
	struct file_place *places; /* owned, [file] */
	struct elf_image **images; /* owned, [file]; NULL: not read */
	size_t file_count;
	struct naming_task *tasks; /* owned */
	size_t task_count;
};

static bool begin_run(
	struct request_run *run, const struct file_opened *files, size_t file_count, uint64_t tasks, struct error *err)
{
	*run = (struct request_run){ .files = files, .file_count = file_count };
	if (tasks > MOST_TASKS)
		return error_set(err, ERROR_LIMIT, "too many binaries");
	run->places = calloc(file_count + 1, sizeof(*run->places));
	run->images = calloc(file_count + 1, sizeof(struct elf_image *));
	run->tasks = calloc((size_t)tasks + 1, sizeof(*run->tasks));
	for (size_t i = 0; run->places && i < file_count; i++)
		run->places[i] = place_of_file(&files[i]);
	return (run->places && run->images && run->tasks) || error_set_memory(err);
}

static void run_deinit(struct request_run *run)
{
	for (size_t i = 0; run->images && i < run->file_count; i++)
		elf_image_unref(run->images[i]);
	for (size_t i = 0; i < run->task_count; i++)
		naming_task_deinit(&run->tasks[i]);
	free(run->images);
	free(run->places);
	free(run->tasks);
}

/* The number of a file, or run->file_count: it was not handed out. */
static size_t file_at(const struct request_run *run, struct file_place place)
{
	size_t i = 0;

	while (i < run->file_count && (run->places[i].device != place.device || run->places[i].inode != place.inode))
		i++;
	return place.inode == 0 ? run->file_count : i;
}

static const struct file_opened *opened_at(const struct request_run *run, struct file_place place)
{
	size_t file = file_at(run, place);

	return file < run->file_count ? &run->files[file] : NULL;
}

/* A file that is no image leaves its task without names. */
static struct elf_image *image_at(const struct request_run *run, struct file_place place)
{
	size_t file = file_at(run, place);
	struct error ignored;
	int fd;

	if (file == run->file_count || run->images[file])
		return run->images[file];
	fd = dup(run->files[file].fd);
	if (fd >= 0 && !elf_image_open_descriptor(fd, run->files[file].name, &run->images[file], &ignored))
		run->images[file] = NULL;
	return run->images[file];
}

/* Reads a task; its label and addresses are those in the request. */
static bool read_task(struct request_run *run, struct byte_reader *r)
{
	struct naming_task *task = &run->tasks[run->task_count];
	struct task_request request;
	const uint8_t *bytes = byte_reader_bytes(r, sizeof(request));

	if (!bytes)
		return false;
	memcpy(&request, bytes, sizeof(request));
	if (request.label_bytes == 0 || request.label_bytes > byte_reader_left(r))
		return false;
	task->label = (const char *)byte_reader_bytes(r, (size_t)request.label_bytes);
	byte_reader_skip(r, padding_of(request.label_bytes));
	if (request.count > byte_reader_left(r) / WORD || !task->label || task->label[request.label_bytes - 1] != '\0')
		return false;
	task->count = (size_t)request.count;
	task->addresses = (const void *)byte_reader_bytes(r, task->count * WORD);
	if (request.data_count > byte_reader_left(r) / WORD)
		return false;
	task->data_count = (size_t)request.data_count;
	task->data = (const void *)byte_reader_bytes(r, task->data_count * WORD);
	task->image = image_at(run, request.image);
	task->map = opened_at(run, request.map);
	task->inherited = opened_at(run, request.inherited);
	task->kallsyms = opened_at(run, request.kallsyms);
	task->clock.start_ns = request.clock_ns;
	run->task_count++;
	return true;
}

/* A file in memory that is written once, from its start. */
static bool write_answer(const struct request_run *run, const struct buffer *notices, int fd)
{
	static const uint8_t zeros[WORD];
	const uint64_t notice_bytes = notices->size;
	bool ok = file_write_all(fd, &notice_bytes, sizeof(notice_bytes));

	for (size_t i = 0; ok && i < run->task_count; i++) {
		const struct naming_task *task = &run->tasks[i];
		const struct task_answer answer = { task->bytes ? task->byte_count : 0, task->code_bytes,
			task->is_kallsyms_restricted };

		ok = file_write_all(fd, &answer, sizeof(answer));
	}
	ok = ok && file_write_all(fd, notices->data, notices->size) &&
	     file_write_all(fd, zeros, padding_of(notices->size));
	for (size_t i = 0; ok && i < run->task_count; i++)
		if (run->tasks[i].bytes)
			ok = file_write_all(fd, run->tasks[i].bytes, run->tasks[i].byte_count) &&
			     file_write_all(fd, zeros, padding_of(run->tasks[i].byte_count));
	return ok;
}

int symbolize_name_answer(const struct symbolize_options *options, const struct file_opened *files, size_t count,
	const void *bytes, size_t size, struct error *err)
{
	CLEANUP(run_deinit) struct request_run run = { 0 };
	CLEANUP(buffer_deinit) struct buffer notices = BUFFER_INIT(max_request_bytes);
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t tasks = byte_reader_u64(&r);
	int fd;

	if (!begin_run(&run, files, count, tasks, err))
		return -1;
	while (run.task_count < tasks || !byte_reader_ok(&r))
		if (!read_task(&run, &r)) {
			error_set(err, ERROR_FORMAT, "a request for names is damaged");
			return -1;
		}
	naming_run(run.tasks, run.task_count, options, &notices);
	fd = file_in_memory("names", err);
	if (fd >= 0 && !write_answer(&run, &notices, fd)) {
		error_set_errno(err, errno, "cannot hand names over");
		close(fd);
		return -1;
	}
	return fd;
}
