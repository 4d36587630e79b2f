/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/interpret/interpret.h"

#include "recording/interpret/kind.h"
#include "recording/interpret/python/stack.h"

#include "recording/process/proc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MACHINES = 2,
	MOST_PROCESSES = 1 << 22,
	MOST_UNKNOWN_BYTES = 4096,
	MOST_TASK_NAMES = 256,
	MOST_TASK_BYTES = 512
};

static const struct interpreter_kind *const kinds[MACHINES] = { &node_interpreter, &hotspot_interpreter };

/* What an image of the process table is. */
struct image {
	bool is_known;
	struct python_image *python; /* owned; NULL: none */
	struct python_asyncio asyncio;
	void *machines[MACHINES]; /* owned; NULL: none */
};

/* Where a process has its interpreters, in the table; PROFILE_NONE: it has none. */
struct process_places {
	int32_t pid;
	uint32_t python, machines[MACHINES];
	uint32_t asyncio; /* image of the table */
};

struct interpreters {
	struct process_table *table;
	struct ebpf_chains *chains;
	struct code_names names;
	struct image *images; /* by image of the table */
	size_t image_count, image_capacity;
	struct process_places *processes;
	size_t process_count, process_capacity;
	struct hash_map by_pid; /* pid -> process */
	struct python_codes *codes;
	struct python_stack *stack;
	void *states[MACHINES];
	struct hash_map task_names; /* hashes of those that were met */
	uint64_t unnamed_tasks;     /* samples in tasks with a name that was one too many */
	struct buffer unknown;      /* a line for each interpreter of an unknown version */
	struct error failed;        /* of a listener, which cannot tell; ERROR_NONE: none has */
	uint64_t words[EBPF_CHAIN_MOST_FRAMES];
};

static const struct process_places no_places = {
	.python = PROFILE_NONE, .machines = { PROFILE_NONE, PROFILE_NONE }, .asyncio = PROFILE_NONE
};

/* ---- What images are ---- */

static bool read_image(struct interpreters *interpreters, struct elf_image *elf, struct image *image, struct error *err)
{
	struct error why = { 0 };

	image->is_known = true;
	if (!elf)
		return true;
	if (!python_image_read(elf, &image->python, &why, err))
		return false;
	(void)python_asyncio_read(elf, &image->asyncio);
	if (why.code != ERROR_NONE)
		buffer_printf(&interpreters->unknown, "%s: its Python frames are not shown: %s\n", elf_image_path(elf),
			why.message);
	for (size_t i = 0; i < MACHINES; i++)
		if (!kinds[i]->read_image(elf, &image->machines[i], err))
			return false;
	return true;
}

static bool find_image(struct interpreters *interpreters, uint32_t id, struct image **image, struct error *err)
{
	size_t before = interpreters->image_count;

	if (id >= before) {
		if (!ARRAY_RESERVE(&interpreters->images, &interpreters->image_capacity, id + 1, ARRAY_MAX_IDS, err))
			return false;
		memset(&interpreters->images[before], 0, (id + 1 - before) * sizeof(*interpreters->images));
		interpreters->image_count = id + 1;
	}
	*image = &interpreters->images[id];
	return (*image)->is_known || read_image(interpreters, interpreters->table->images[id].elf, *image, err);
}

static const struct python_image *python_of(const void *context, uint32_t image)
{
	const struct interpreters *interpreters = context;

	return image < interpreters->image_count ? interpreters->images[image].python : NULL;
}

/* ---- What processes do ---- */

static struct process_places *find_process(const struct interpreters *interpreters, int32_t pid)
{
	uint32_t id = hash_map_get(&interpreters->by_pid, &pid);

	return id == HASH_MAP_NONE ? NULL : &interpreters->processes[id];
}

static bool add_process(
	struct interpreters *interpreters, int32_t pid, struct process_places **process, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&interpreters->processes, &interpreters->process_capacity, interpreters->process_count + 1,
		    MOST_PROCESSES, err) ||
		!hash_map_add(&interpreters->by_pid, &pid, (uint32_t)interpreters->process_count, &value, &added, err))
		return false;
	*process = &interpreters->processes[*value];
	if (added) {
		interpreters->process_count++;
		**process = no_places;
		(*process)->pid = pid;
	}
	return true;
}

/* Has the program in the kernel read the frames of a process. */
static void add_to_kernel(struct interpreters *interpreters, const struct process_places *process)
{
	const struct process_place *place = &interpreters->table->places[process->python];
	struct ebpf_python python = interpreters->images[place->image].python->read;

	python.runtime = interpreters->images[place->image].python->runtime - place->bias;
	if (process->asyncio != PROFILE_NONE && interpreters->images[place->image].python->text_type) {
		python.text_type = interpreters->images[place->image].python->text_type - place->bias;
		python.running_task = interpreters->images[process->asyncio].asyncio.running_task;
		python.task_name = interpreters->images[process->asyncio].asyncio.task_name;
	}
	if (interpreters->chains)
		ebpf_chains_add(interpreters->chains, process->pid, &python);
}

static bool take_place(
	struct interpreters *interpreters, const struct process *mapper, uint32_t place, struct error *err)
{
	uint32_t id = interpreters->table->places[place].image;
	struct process_places *process;
	struct image *image;
	bool is_any = false, is_new;

	if (!find_image(interpreters, id, &image, err))
		return false;
	for (size_t i = 0; i < MACHINES; i++)
		is_any = is_any || image->machines[i];
	if (!image->python && !image->asyncio.running_task && !is_any)
		return true;
	if (!add_process(interpreters, mapper->pid, &process, err))
		return false;
	for (size_t i = 0; i < MACHINES; i++)
		if (image->machines[i])
			process->machines[i] = place;
	is_new = (image->python && process->python != place) || (image->asyncio.running_task && process->asyncio != id);
	if (image->python)
		process->python = place;
	if (image->asyncio.running_task)
		process->asyncio = id;
	if (is_new && process->python != PROFILE_NONE)
		add_to_kernel(interpreters, process);
	return true;
}

static void hear_maps(void *context, const struct process *process, uint32_t place)
{
	struct interpreters *interpreters = context;
	struct error why;

	if (interpreters->failed.code == ERROR_NONE && !take_place(interpreters, process, place, &why))
		interpreters->failed = why;
}

static bool copy_places(
	struct interpreters *interpreters, const struct process *parent, const struct process *child, struct error *err)
{
	const struct process_places *from = find_process(interpreters, parent->pid);
	struct process_places copy, *process;

	if (!from)
		return true;
	copy = *from;
	copy.pid = child->pid;
	if (!add_process(interpreters, child->pid, &process, err))
		return false;
	*process = copy;
	python_codes_fork(interpreters->codes, parent->pid, child->pid);
	if (process->python != PROFILE_NONE)
		add_to_kernel(interpreters, process);
	return true;
}

static void hear_forks(void *context, const struct process *parent, const struct process *child)
{
	struct interpreters *interpreters = context;
	struct error why;

	if (interpreters->failed.code == ERROR_NONE && !copy_places(interpreters, parent, child, &why))
		interpreters->failed = why;
}

static void hear_forgets(void *context, const struct process *process)
{
	struct interpreters *interpreters = context;
	struct process_places *places = find_process(interpreters, process->pid);

	if (interpreters->chains)
		ebpf_chains_remove(interpreters->chains, process->pid);
	if (!places)
		return;
	python_codes_forget(interpreters->codes, process->pid);
	for (size_t i = 0; i < MACHINES; i++)
		if (interpreters->states[i])
			kinds[i]->forget(interpreters->states[i], process->pid);
	*places = no_places;
	places->pid = process->pid;
}

/* ---- Creation ---- */

static bool create_parts(struct interpreters *interpreters, struct error *err)
{
	interpreters->stack = calloc(1, sizeof(*interpreters->stack));
	if (!interpreters->stack)
		return error_set_memory(err);
	if (!python_codes_create(&interpreters->names, &interpreters->codes, err))
		return false;
	for (size_t i = 0; i < MACHINES; i++)
		if (kinds[i]->create && !kinds[i]->create(&interpreters->names, &interpreters->states[i], err))
			return false;
	interpreters->stack->names = &interpreters->names;
	interpreters->stack->codes = interpreters->codes;
	interpreters->stack->table = interpreters->table;
	interpreters->stack->python_of = python_of;
	interpreters->stack->context = interpreters;
	return true;
}

bool interpreters_create(
	const struct interpreters_options *options, struct interpreters **interpreters, struct error *err)
{
	struct interpreters *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->table = options->table;
	made->chains = options->chains;
	hash_map_init(&made->by_pid, sizeof(int32_t));
	hash_map_init(&made->task_names, sizeof(uint64_t));
	code_names_init(&made->names, options->table);
	buffer_init(&made->unknown, MOST_UNKNOWN_BYTES);
	if (!create_parts(made, err)) {
		interpreters_destroy(made);
		return false;
	}
	options->table->listener = (struct process_listener){ hear_maps, hear_forks, hear_forgets, made };
	*interpreters = made;
	return true;
}

void interpreters_destroy(struct interpreters *interpreters)
{
	if (!interpreters)
		return;
	interpreters->table->listener = (struct process_listener){ 0 };
	for (size_t i = 0; i < interpreters->image_count; i++) {
		python_image_destroy(interpreters->images[i].python);
		for (size_t kind = 0; kind < MACHINES; kind++)
			if (interpreters->images[i].machines[kind])
				kinds[kind]->destroy_image(interpreters->images[i].machines[kind]);
	}
	for (size_t i = 0; i < MACHINES; i++)
		if (interpreters->states[i])
			kinds[i]->destroy(interpreters->states[i]);
	python_codes_destroy(interpreters->codes);
	free(interpreters->stack);
	free(interpreters->images);
	free(interpreters->processes);
	hash_map_deinit(&interpreters->by_pid);
	hash_map_deinit(&interpreters->task_names);
	code_names_deinit(&interpreters->names);
	buffer_deinit(&interpreters->unknown);
	free(interpreters);
}

/* ---- Stacks ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool name_machines(struct interpreters *interpreters, const struct process_places *process,
	const struct interpret_sample *sample, struct error *err)
{
	for (size_t i = 0; i < MACHINES; i++) {
		const struct process_place *place;

		if (process->machines[i] == PROFILE_NONE)
			continue;
		place = &interpreters->table->places[process->machines[i]];
		if (!kinds[i]->name(interpreters->states[i], interpreters->images[place->image].machines[i],
			    place->bias, sample, err))
			return false;
	}
	return true;
}

bool interpreters_name(struct interpreters *interpreters, const struct interpret_sample *sample, struct error *err)
{
	const struct process_places *process = find_process(interpreters, sample->pid);

	if (interpreters->failed.code != ERROR_NONE) {
		*err = interpreters->failed;
		return false;
	}
	if (!process)
		return true;
	if (!name_machines(interpreters, process, sample, err))
		return false;
	if (process->python == PROFILE_NONE || !sample->chain)
		return true;
	return python_stack_join(interpreters->stack, sample,
		python_of(interpreters, interpreters->table->places[process->python].image), now_ns(), err);
}

/* Whether it is one of the first names. */
static bool is_met(struct interpreters *interpreters, const struct buffer *name, bool *is_one, struct error *err)
{
	uint64_t hash = hash_bytes(name->data, name->size);
	uint32_t *value;
	bool added;

	*is_one = hash_map_get(&interpreters->task_names, &hash) != HASH_MAP_NONE;
	if (*is_one)
		return true;
	*is_one = interpreters->task_names.count < MOST_TASK_NAMES;
	interpreters->unnamed_tasks += !*is_one;
	return !*is_one || hash_map_add(&interpreters->task_names, &hash, 0, &value, &added, err);
}

static bool take_task_name(
	struct interpreters *interpreters, const struct buffer *text, uint32_t *name, struct error *err)
{
	bool is_one;

	return is_met(interpreters, text, &is_one, err) &&
	       (!is_one || profile_intern(interpreters->table->profile, text->data, name, err));
}

bool interpreters_task(struct interpreters *interpreters, int32_t pid, const struct ebpf_chain *chain, uint32_t *name,
	struct error *err)
{
	const struct process_places *process = find_process(interpreters, pid);
	const struct python_image *python;
	struct buffer text;
	bool is_done = true;

	if (!chain->task || !process || process->python == PROFILE_NONE)
		return true;
	python = python_of(interpreters, interpreters->table->places[process->python].image);
	buffer_init(&text, MOST_TASK_BYTES);
	buffer_append_string(&text, "task ");
	if (python_task_name(python, chain->task, &text))
		is_done = take_task_name(interpreters, &text, name, err);
	else if (text.failed)
		is_done = buffer_ok(&text, err);
	buffer_deinit(&text);
	return is_done;
}

bool interpreters_know(const struct interpreters *interpreters, const struct ebpf_code *code)
{
	return python_codes_know(interpreters->codes, code->pid, code->pieces[0].address);
}

bool interpreters_learn(struct interpreters *interpreters, const struct ebpf_code *code, struct error *err)
{
	const struct process_places *process = find_process(interpreters, code->pid);

	return !process || process->python == PROFILE_NONE ||
	       python_codes_learn(interpreters->codes,
		       python_of(interpreters, interpreters->table->places[process->python].image), code, now_ns(),
		       err);
}

bool interpreters_read_chain(struct interpreters *interpreters, int32_t pid, int32_t tid, struct ebpf_chain *chain)
{
	const struct process_places *process = find_process(interpreters, pid);
	const struct process_place *place;
	struct ebpf_python python;

	if (!process || process->python == PROFILE_NONE)
		return false;
	place = &interpreters->table->places[process->python];
	python = interpreters->images[place->image].python->read;
	python.runtime = interpreters->images[place->image].python->runtime - place->bias;
	return python_read_chain(&interpreters->table->host, &python, pid, proc_inner_tid(pid, tid),
		interpreters->words, EBPF_CHAIN_MOST_FRAMES, chain);
}

/* ---- What is told ---- */

/* What is worth a line: one stack in so many. */
static bool is_worth_telling(const struct interpreters *interpreters, uint64_t stacks)
{
	enum { FEW = 200 };

	return stacks * FEW > interpreters->stack->joined;
}

static void tell_fit(const struct interpreters *interpreters, struct buffer *notices)
{
	const struct python_stack *stack = interpreters->stack;
	uint64_t gone = python_codes_gone(interpreters->codes);

	if (stack->mismatched > 0 && is_worth_telling(interpreters, stack->mismatched))
		buffer_printf(notices,
			"%" PRIu64 " of %" PRIu64
			" stacks with Python frames (%.1f %%) did not fit the native frames exactly: there the order of Python and native frames is uncertain\n",
			stack->mismatched, stack->joined, 100.0 * (double)stack->mismatched / (double)stack->joined);
	if (gone > 0 && is_worth_telling(interpreters, gone))
		buffer_printf(notices,
			"%" PRIu64
			" Python frames have no names, because their code was gone before it could be read: they are called '%s'\n",
			gone, PYTHON_FRAME_GONE);
}

static void tell_tasks(const struct interpreters *interpreters, struct buffer *notices)
{
	if (interpreters->unnamed_tasks > 0)
		buffer_printf(notices,
			"%" PRIu64
			" samples in asyncio tasks have the name of their thread, because there are more than %d names of tasks\n",
			interpreters->unnamed_tasks, MOST_TASK_NAMES);
}

static void tell_losses(const struct interpreters *interpreters, struct buffer *notices)
{
	const struct ebpf_chains_counts counts = ebpf_chains_counts(interpreters->chains);

	if (counts.lost > 0 && is_worth_telling(interpreters, counts.lost))
		buffer_printf(notices,
			"Python frames of %" PRIu64
			" samples were lost, because stacks are deep and the recorder had no time to read them: a lower -F loses fewer\n",
			counts.lost);
	if (counts.unread > 0 && is_worth_telling(interpreters, counts.unread))
		buffer_printf(notices,
			"Python frames of %" PRIu64
			" samples are missing in part, because the memory they are in could not be read\n",
			counts.unread);
}

static bool has_python(const struct interpreters *interpreters)
{
	for (size_t i = 0; i < interpreters->image_count; i++)
		if (interpreters->images[i].python)
			return true;
	return false;
}

void interpreters_tell(const struct interpreters *interpreters, struct buffer *notices)
{
	if (interpreters->unknown.size > 0)
		buffer_append_string(notices, interpreters->unknown.data);
	if (has_python(interpreters) && !interpreters->chains)
		buffer_append_string(notices,
			"Python frames are not shown: reading them needs CAP_BPF and CAP_PERFMON; run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names\n");
	tell_fit(interpreters, notices);
	tell_tasks(interpreters, notices);
	if (interpreters->chains)
		tell_losses(interpreters, notices);
	for (size_t i = 0; i < MACHINES; i++)
		if (interpreters->states[i] && kinds[i]->tell)
			kinds[i]->tell(interpreters->states[i], notices);
}
