/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPython as a kind of interpreter: its frames come with samples, and are joined with walked stacks. */
#include "recording/interpret/python/python.h"

#include "recording/interpret/kind.h"
#include "recording/interpret/python/code.h"
#include "recording/interpret/stack.h"
#include "recording/process/proc.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_TASK_NAMES = 256, MOST_TASK_BYTES = 512 };

/* The files of CPython: the interpreter, and the extension module _asyncio where that is not linked into it. */
enum { INTERPRETER, ASYNCIO };

struct python {
	struct ebpf_frame_reader *frame_reader; /* borrowed; NULL: not permitted */
	struct interpreter_codes *codes;
	struct interpreter_stack stack;
	struct hash_map task_names; /* hashes of those that were met */
	uint64_t unnamed_tasks;     /* samples in tasks with a name that was one too many */
	bool is_met;                /* a process had CPython */
	uint64_t words[EBPF_MOST_FRAMES];
};

/* ---- Files ---- */

static bool read_interpreter(struct elf_image *elf, struct buffer *notices, void **image, struct error *err)
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

static void destroy_interpreter(void *image)
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

static const struct python_image *image_of(const struct interpreter_process *process)
{
	return process->files[INTERPRETER].image;
}

/* How the frames of a process are read. */
static struct ebpf_python layout_of(const struct interpreter_process *process)
{
	const struct python_image *image = image_of(process);
	const struct python_asyncio *asyncio = process->files[ASYNCIO].image;
	uint64_t bias = process->files[INTERPRETER].bias;
	struct ebpf_python python = image->read;

	python.runtime = image->runtime - bias;
	if (asyncio && image->text_type) {
		python.text_type = image->text_type - bias;
		python.running_task = asyncio->running_task;
		python.task_name = asyncio->task_name;
	}
	return python;
}

/* ---- Processes ---- */

/* Has the program in the kernel read the frames of a process. */
static void python_attach(void *state, const struct interpreter_process *process)
{
	const struct ebpf_interpreter interpreter = { .kind = EBPF_PYTHON, .python = layout_of(process) };
	struct python *python = state;

	python->is_met = true;
	if (python->frame_reader)
		ebpf_frame_reader_add(python->frame_reader, process->pid, &interpreter);
}

static void python_fork(void *state, const struct interpreter_process *parent, const struct interpreter_process *child)
{
	const struct python *python = state;

	interpreter_codes_fork(python->codes, parent->pid, child->pid);
	python_attach(state, child);
}

static void python_forget(void *state, const struct interpreter_process *process)
{
	const struct python *python = state;

	if (python->frame_reader)
		ebpf_frame_reader_remove(python->frame_reader, process->pid);
	interpreter_codes_forget(python->codes, process->pid);
}

static void python_destroy(void *state)
{
	struct python *python = state;

	if (!python)
		return;
	interpreter_codes_destroy(python->codes);
	hash_map_deinit(&python->task_names);
	free(python);
}

static bool python_create(
	struct interpreter_names *names, struct ebpf_frame_reader *frame_reader, void **state, struct error *err)
{
	struct python *made = calloc(1, sizeof(*made));
	struct python_code_reader *reader;

	if (!made)
		return error_set_memory(err);
	made->frame_reader = frame_reader;
	hash_map_init(&made->task_names, sizeof(uint64_t));
	if (!python_code_reader_create(&names->table->host, &reader, err) ||
		!interpreter_codes_create(names, &python_code_reads, reader, &made->codes, err)) {
		python_destroy(made);
		return false;
	}
	made->stack.names = names;
	made->stack.codes = made->codes;
	*state = made;
	return true;
}

/* ---- Frames ---- */

static bool python_name(
	void *state, struct interpreter_process *process, const struct interpret_sample *sample, struct error *err)
{
	const struct python_image *image = image_of(process);
	const struct interpreter_stack_image of = {
		.elf = image->elf, .loop = &image->loop, .image = image, .has_trampolines = true
	};
	struct python *python = state;

	return !sample->interpreter_frames || sample->interpreter_frames->kind != EBPF_PYTHON ||
	       interpreter_stack_join(
		       &python->stack, sample, &of, (uint64_t)clock_read_ns(CLOCK_MONOTONIC_COARSE), err);
}

static bool python_read_sleeping(
	void *state, const struct interpreter_process *process, int32_t tid, struct ebpf_frames *frames)
{
	const struct ebpf_python layout = layout_of(process);
	struct python *python = state;

	return python_read_frames(&python->stack.names->table->host, &layout, process->pid,
		proc_inner_tid(process->pid, tid), python->words, EBPF_MOST_FRAMES, frames);
}

static bool python_know(const void *state, const struct ebpf_code *code)
{
	const struct python *python = state;

	return interpreter_codes_know(python->codes, code->pid, code->pieces[0].address);
}

static bool python_learn(
	void *state, const struct interpreter_process *process, const struct ebpf_code *code, struct error *err)
{
	const struct python *python = state;

	return interpreter_codes_learn(
		python->codes, image_of(process), code, (uint64_t)clock_read_ns(CLOCK_MONOTONIC_COARSE), err);
}

/* ---- Tasks ---- */

/* Takes a name, unless it is a new one and there are too many. */
static bool take_task_name(struct python *python, const struct buffer *text, uint32_t *name, struct error *err)
{
	uint64_t hash = hash_bytes(text->data, text->size);
	uint32_t *value;
	bool added;

	if (hash_map_get(&python->task_names, &hash) == HASH_MAP_NONE) {
		if (python->task_names.count >= MOST_TASK_NAMES) {
			python->unnamed_tasks++;
			return true;
		}
		if (!hash_map_add(&python->task_names, &hash, 0, &value, &added, err))
			return false;
	}
	return profile_intern(python->stack.names->table->profile, text->data, name, err);
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
	if (python_task_name(image_of(process), frames->task, &text))
		is_done = take_task_name(state, &text, name, err);
	else if (text.failed)
		is_done = buffer_ok(&text, err);
	buffer_deinit(&text);
	return is_done;
}

/* ---- What is told ---- */

/* What is worth a line: one stack in so many. */
static bool is_worth_telling(const struct python *python, uint64_t stacks)
{
	enum { FEW = 200 };

	return stacks * FEW > python->stack.joined;
}

static void describe_fit(const struct python *python, struct buffer *notices)
{
	const struct interpreter_stack *stack = &python->stack;
	uint64_t gone = interpreter_codes_gone(python->codes);

	if (stack->mismatched > 0 && is_worth_telling(python, stack->mismatched))
		buffer_printf(notices,
			"%" PRIu64 " of %" PRIu64
			" stacks with Python frames (%.1f %%) did not fit the native frames exactly: there the order of Python and native frames is uncertain\n",
			stack->mismatched, stack->joined, 100.0 * (double)stack->mismatched / (double)stack->joined);
	if (gone > 0 && is_worth_telling(python, gone))
		buffer_printf(notices,
			"%" PRIu64
			" Python frames have no names, because their code was gone before it could be read: they are called '%s'\n",
			gone, PROFILE_PYTHON_GONE);
}

static void describe_losses(const struct python *python, struct buffer *notices)
{
	const struct ebpf_frame_reader_counts counts = ebpf_frame_reader_counts(python->frame_reader);

	if (counts.lost > 0 && is_worth_telling(python, counts.lost))
		buffer_printf(notices,
			"Python frames of %" PRIu64
			" samples were lost, because stacks are deep and the recorder had no time to read them: a lower -F loses fewer\n",
			counts.lost);
	if (counts.unread > 0 && is_worth_telling(python, counts.unread))
		buffer_printf(notices,
			"Python frames of %" PRIu64
			" samples are missing in part, because the memory they are in could not be read\n",
			counts.unread);
}

static void python_describe(const void *state, struct buffer *notices)
{
	const struct python *python = state;

	if (python->is_met && !python->frame_reader)
		buffer_append_string(notices,
			"Python frames are not shown: reading them needs CAP_BPF and CAP_PERFMON; run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names\n");
	describe_fit(python, notices);
	if (python->unnamed_tasks > 0)
		buffer_printf(notices,
			"%" PRIu64
			" samples in asyncio tasks have the name of their thread, because there are more than %d names of tasks\n",
			python->unnamed_tasks, MOST_TASK_NAMES);
	if (python->frame_reader)
		describe_losses(python, notices);
}

const struct interpreter_kind python_interpreter = {
	.files = { [INTERPRETER] = { read_interpreter, destroy_interpreter }, [ASYNCIO] = { read_asyncio, free } },
	.frames = EBPF_PYTHON,
	.create = python_create,
	.destroy = python_destroy,
	.attach = python_attach,
	.fork = python_fork,
	.forget = python_forget,
	.name = python_name,
	.read_frames = python_read_sleeping,
	.name_task = python_name_task,
	.know = python_know,
	.learn = python_learn,
	.describe = python_describe,
};
