/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPython as a kind of interpreter: its frames come with samples, and are joined with walked stacks. */
#include "sampler/interpret/python/python.h"

#include "sampler/interpret/kind.h"
#include "sampler/interpret/python/code.h"
#include "sampler/interpret/sampled.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_TASK_NAMES = 512, MOST_TASK_BYTES = 512 };

/* The files of CPython: the interpreter, and the extension module _asyncio where that is not linked into it. */
enum { INTERPRETER, ASYNCIO };

struct python {
	struct interpreter_sampled sampled;
	struct hash_map task_names; /* hashes of those that were met */
	struct shares given_tasks;  /* of these, by account */
	uint64_t unnamed_tasks;     /* samples in tasks with a name that was one too many */
	uint64_t words[EBPF_MOST_FRAMES];
};

/* ---- Files ---- */

static bool python_read_interpreter(struct elf_image *elf, struct buffer *notices, void **image, struct error *err)
{
	struct python_image *python;
	struct error why = { 0 };

	if (!python_image_read(elf, &python, &why, err))
		return false;
	if (why.code != ERROR_NONE)
		buffer_printf(notices, "%s: its Python frames are not shown: %s\n", elf_image_path(elf), why.message);
	*image = python;
	return true;
}

static void python_destroy_interpreter(void *image)
{
	python_image_destroy(image);
}

static bool read_asyncio(struct elf_image *elf, struct buffer *notices, void **image, struct error *err)
{
	struct python_asyncio asyncio, *made;

	(void)notices;
	if (!python_asyncio_read(elf, &asyncio))
		return true;
	made = malloc(sizeof(*made));
	if (!made)
		return error_set_memory(err);
	*made = asyncio;
	*image = made;
	return true;
}

static const struct python_image *python_image_of(const struct interpreter_process *process)
{
	return process->files[INTERPRETER].image;
}

/* Returns how the frames of a process are read. */
static struct ebpf_python python_layout_of(const struct interpreter_process *process)
{
	const struct python_image *image = python_image_of(process);
	const struct python_asyncio *asyncio = process->files[ASYNCIO].image;
	uint64_t bias = process->files[INTERPRETER].bias;
	struct ebpf_python python = image->read;

	python.runtime = image->runtime - bias;
	if (asyncio && image->text_type) {
		python.text_type = image->text_type - bias;
		python.running_task = asyncio->running_task;
		python.task_name = asyncio->task_name;
		python.task_coroutine = asyncio->task_coroutine;
		python.awaiter = asyncio->awaiter;
		python.has_many_awaiters = asyncio->has_many_awaiters;
		python.is_task = asyncio->is_task;
		python.running_loop = asyncio->running_loop;
		python.tasks = asyncio->tasks;
		python.task_node = asyncio->task_node;
	}
	return python;
}

/* ---- Processes ---- */

static void python_attach(void *state, const struct interpreter_process *process)
{
	const struct ebpf_interpreter interpreter = { .kind = EBPF_PYTHON, .python = python_layout_of(process) };
	struct python *python = state;

	interpreter_sampled_add(&python->sampled, process->pid, &interpreter);
}

static void python_fork(void *state, const struct interpreter_process *parent, const struct interpreter_process *child)
{
	const struct python *python = state;

	interpreter_codes_fork(python->sampled.codes, parent->pid, child->pid);
	python_attach(state, child);
}

static void python_destroy(void *state)
{
	struct python *python = state;

	if (!python)
		return;
	interpreter_sampled_deinit(&python->sampled);
	hash_map_deinit(&python->task_names);
	shares_deinit(&python->given_tasks);
	free(python);
}

static bool python_create(
	struct interpreter_names *names, struct ebpf_frame_reader *frame_reader, void **state, struct error *err)
{
	struct python *made = calloc(1, sizeof(*made));
	struct python_code_reader *reader;

	if (!made)
		return error_set_memory(err);
	hash_map_init(&made->task_names, sizeof(uint64_t));
	shares_init(&made->given_tasks, MOST_TASK_NAMES);
	if (!python_code_reader_create(&names->table->host, &reader, err) ||
		!interpreter_sampled_init(&made->sampled, names, frame_reader, &python_code_reads, reader, err)) {
		python_destroy(made);
		return false;
	}
	*state = made;
	return true;
}

/* ---- Frames ---- */

static bool python_name(
	void *state, struct interpreter_process *process, const struct interpret_sample *sample, struct error *err)
{
	const struct interpreter_stack_image of = { .image = python_image_of(process) };
	struct python *python = state;

	return interpreter_sampled_join(&python->sampled, sample, EBPF_PYTHON, &of, err);
}

static bool python_read_sleeping(
	void *state, const struct interpreter_process *process, int32_t tid, struct ebpf_frames *frames)
{
	const struct ebpf_python layout = python_layout_of(process);
	struct python *python = state;

	return python_read_frames(&python->sampled.stack.names->table->host, &layout, process->pid,
		proc_inner_tid(process->pid, tid), python->words, EBPF_MOST_FRAMES, frames);
}

/* ---- Tasks ---- */

/* Takes a name, unless it is a new one and there are too many. */
static bool take_task_name(
	struct python *python, int32_t pid, const struct buffer *text, uint32_t *name, struct error *err)
{
	const struct process_table *table = python->sampled.stack.names->table;
	uint64_t hash = hash_bytes(text->data, text->size);
	uint32_t *value;
	bool added;

	if (hash_map_get(&python->task_names, &hash) == HASH_MAP_NONE) {
		if (!shares_take(&python->given_tasks, process_table_account(table, pid), 1)) {
			python->unnamed_tasks++;
			return true;
		}
		if (!hash_map_add(&python->task_names, &hash, 0, &value, &added, err))
			return false;
	}
	return profile_intern(table->profile, text->data, name, err);
}

static bool python_name_task(void *state, const struct interpreter_process *process, const struct ebpf_frames *frames,
	uint32_t *name, struct error *err)
{
	struct buffer text;
	bool is_done = true;

	if (!frames->task)
		return true;
	buffer_init(&text, MOST_TASK_BYTES);
	buffer_append_string(&text, "task ");
	if (python_task_name(python_image_of(process), frames->task, &text))
		is_done = take_task_name(state, process->pid, &text, name, err);
	else if (text.failed)
		is_done = buffer_ok(&text, err);
	buffer_deinit(&text);
	return is_done;
}

/* ---- What is told ---- */

static void python_describe(const void *state, struct buffer *notices)
{
	const struct python *python = state;

	interpreter_sampled_describe(&python->sampled, "Python", notices);
	if (python->unnamed_tasks > 0)
		buffer_printf(notices,
			"%" PRIu64
			" samples in asyncio tasks have the name of their thread, because one user has more than %d names of tasks\n",
			python->unnamed_tasks, MOST_TASK_NAMES / 2);
}

const struct interpreter_kind python_interpreter = {
	.files = { [INTERPRETER] = { python_read_interpreter, python_destroy_interpreter },
		[ASYNCIO] = { read_asyncio, free } },
	.frames = EBPF_PYTHON,
	.library = "libpython",
	.create = python_create,
	.destroy = python_destroy,
	.attach = python_attach,
	.fork = python_fork,
	.forget = interpreter_sampled_forget,
	.name = python_name,
	.read_frames = python_read_sleeping,
	.name_task = python_name_task,
	.know = interpreter_sampled_know,
	.learn = interpreter_sampled_learn,
	.describe = python_describe,
};
