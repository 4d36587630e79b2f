/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/interpret.h"

#include "sampler/interpret/kind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INTERPRETER_KIND_ADDRESS(name) &name##_interpreter,
static const struct interpreter_kind *const kinds[] = { INTERPRETER_KINDS(INTERPRETER_KIND_ADDRESS) };

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), MOST_PROCESSES = 1 << 22, MOST_UNKNOWN_BYTES = 4096 };

/* The meaning that an image of the process table has to each kind. */
struct image {
	bool is_known;
	void *files[KINDS][INTERPRETER_MOST_FILES]; /* owned; NULL: none of its files */
};

/* A process with files of interpreters, of which each kind has its own view. */
struct interpreted {
	struct interpreter_process kinds[KINDS];
	struct interpreters *interpreters;
};

struct interpreters {
	struct process_table *table;
	const struct ebpf_frame_reader *frame_reader; /* NULL: not permitted */
	struct interpreter_names names;
	struct image *images; /* by image of the table */
	size_t image_count, image_capacity;
	struct interpreted **processes; /* owned, and each of them */
	size_t process_count, process_capacity;
	struct hash_map by_pid; /* pid -> process */
	void *states[KINDS];
	uint64_t early;        /* samples of interpreted programs that were taken before their frames could be read */
	struct buffer unknown; /* a line for each interpreter of an unknown version */
	struct error failed;   /* of a listener, which cannot tell; ERROR_NONE: none has */
};

/* ---- What images are ---- */

static bool interpret_read_image(
	struct interpreters *interpreters, struct elf_image *elf, struct image *image, struct error *err)
{
	image->is_known = true;
	for (size_t i = 0; elf && i < KINDS; i++)
		for (size_t file = 0; file < INTERPRETER_MOST_FILES; file++)
			if (kinds[i]->files[file].read &&
				!kinds[i]->files[file].read(elf, &interpreters->unknown, &image->files[i][file], err))
				return false;
	return true;
}

static void destroy_image(struct image *image)
{
	for (size_t i = 0; i < KINDS; i++)
		for (size_t file = 0; file < INTERPRETER_MOST_FILES; file++)
			if (image->files[i][file])
				kinds[i]->files[file].destroy(image->files[i][file]);
}

static bool interpret_find_image(
	struct interpreters *interpreters, uint32_t id, struct image **image, struct error *err)
{
	size_t before = interpreters->image_count;

	if (id >= before) {
		if (!ARRAY_RESERVE(&interpreters->images, &interpreters->image_capacity, id + 1, ARRAY_MAX_IDS, err))
			return false;
		memset(&interpreters->images[before], 0, (id + 1 - before) * sizeof(*interpreters->images));
		interpreters->image_count = id + 1;
	}
	*image = &interpreters->images[id];
	return (*image)->is_known ||
	       interpret_read_image(interpreters, interpreters->table->images[id].elf, *image, err);
}

bool interpreters_may_be_in(struct elf_image *elf)
{
	struct buffer ignored;
	struct elf_section names;
	struct image image = { 0 };
	struct error why;
	bool may_be = !elf || !elf_image_section(elf, ".dynstr", &names);

	buffer_init(&ignored, MOST_UNKNOWN_BYTES);
	for (size_t i = 0; !may_be && i < KINDS; i++)
		may_be = kinds[i]->frames &&
			 (!kinds[i]->files[0].read(elf, &ignored, &image.files[i][0], &why) || image.files[i][0] ||
				 (kinds[i]->library && memmem(names.bytes, names.size, kinds[i]->library,
							       strlen(kinds[i]->library))));
	destroy_image(&image);
	buffer_deinit(&ignored);
	return may_be;
}

/* ---- What processes do ---- */

static struct interpreted *interpret_find_process(const struct interpreters *interpreters, int32_t pid)
{
	uint32_t id = hash_map_get(&interpreters->by_pid, &pid);

	return id == HASH_MAP_NONE ? NULL : interpreters->processes[id];
}

/* The process, as one of a kind; NULL: it has no such interpreter. */
static struct interpreter_process *find_of_kind(const struct interpreters *interpreters, int32_t pid, size_t kind)
{
	struct interpreted *process = interpret_find_process(interpreters, pid);

	return process && process->kinds[kind].files[0].image ? &process->kinds[kind] : NULL;
}

/* The process, as one of the kind that has such frames; NULL: it has no such interpreter. */
static const struct interpreter_process *find_by_frames(
	const struct interpreters *interpreters, int32_t pid, enum ebpf_interpreter_kind frames, size_t *kind)
{
	for (*kind = 0; *kind < KINDS; (*kind)++)
		if (kinds[*kind]->frames == frames)
			return find_of_kind(interpreters, pid, *kind);
	return NULL;
}

static bool interpret_add_process(
	struct interpreters *interpreters, int32_t pid, struct interpreted **process, struct error *err)
{
	struct interpreted *made;
	uint32_t *id;
	bool added;

	*process = interpret_find_process(interpreters, pid);
	if (*process)
		return true;
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	if (!ARRAY_RESERVE(&interpreters->processes, &interpreters->process_capacity, interpreters->process_count + 1,
		    MOST_PROCESSES, err) ||
		!hash_map_add(&interpreters->by_pid, &pid, (uint32_t)interpreters->process_count, &id, &added, err)) {
		free(made);
		return false;
	}
	made->interpreters = interpreters;
	for (size_t i = 0; i < KINDS; i++)
		made->kinds[i].pid = pid;
	interpreters->processes[interpreters->process_count++] = made;
	*process = made;
	return true;
}

/* Returns whether there is a file among the images that the process did not have there. */
static bool take_files(struct interpreter_process *process, void *const *images, uint64_t bias)
{
	bool is_new = false;

	for (size_t i = 0; i < INTERPRETER_MOST_FILES; i++) {
		if (!images[i] || (process->files[i].image == images[i] && process->files[i].bias == bias))
			continue;
		process->files[i].image = images[i];
		process->files[i].bias = bias;
		is_new = true;
	}
	return is_new;
}

static bool interpret_take_place(struct interpreters *interpreters, int32_t pid, uint32_t place, struct error *err)
{
	static const struct image none = { 0 };
	const struct process_place *at = &interpreters->table->places[place];
	struct interpreted *process;
	struct image *image;

	if (!interpret_find_image(interpreters, at->image, &image, err))
		return false;
	if (memcmp(image->files, none.files, sizeof(none.files)) == 0)
		return true;
	if (!interpret_add_process(interpreters, pid, &process, err))
		return false;
	for (size_t i = 0; i < KINDS; i++)
		if (take_files(&process->kinds[i], image->files[i], at->bias) && process->kinds[i].files[0].image &&
			kinds[i]->attach)
			kinds[i]->attach(interpreters->states[i], &process->kinds[i]);
	return true;
}

static void on_map(void *context, const struct process *process, uint32_t place)
{
	struct interpreters *interpreters = context;
	struct error why;

	if (interpreters->failed.code == ERROR_NONE && !interpret_take_place(interpreters, process->pid, place, &why))
		interpreters->failed = why;
}

static void clear_state(const struct interpreters *interpreters, size_t kind, struct interpreter_process *process)
{
	if (process->state)
		kinds[kind]->destroy_process(interpreters->states[kind], process);
}

static bool copy_files(struct interpreters *interpreters, int32_t parent, int32_t child, struct error *err)
{
	const struct interpreted *from = interpret_find_process(interpreters, parent);
	struct interpreted *to;

	if (!from)
		return true;
	if (!interpret_add_process(interpreters, child, &to, err))
		return false;
	for (size_t i = 0; i < KINDS; i++) {
		clear_state(interpreters, i, &to->kinds[i]);
		to->kinds[i] = from->kinds[i];
		to->kinds[i].pid = child;
		to->kinds[i].state = NULL;
		if (to->kinds[i].files[0].image && kinds[i]->fork)
			kinds[i]->fork(interpreters->states[i], &from->kinds[i], &to->kinds[i]);
	}
	return true;
}

static void on_fork(void *context, const struct process *parent, const struct process *child)
{
	struct interpreters *interpreters = context;
	struct error why;

	if (interpreters->failed.code == ERROR_NONE && !copy_files(interpreters, parent->pid, child->pid, &why))
		interpreters->failed = why;
}

static void on_forget(void *context, const struct process *process)
{
	struct interpreters *interpreters = context;
	struct interpreted *forgotten = interpret_find_process(interpreters, process->pid);

	for (size_t i = 0; forgotten && i < KINDS; i++) {
		if (forgotten->kinds[i].files[0].image && kinds[i]->forget)
			kinds[i]->forget(interpreters->states[i], &forgotten->kinds[i]);
		clear_state(interpreters, i, &forgotten->kinds[i]);
		forgotten->kinds[i] = (struct interpreter_process){ .pid = process->pid };
	}
}

/* ---- Creation ---- */

bool interpreters_create(struct process_table *table, struct ebpf_frame_reader *frame_reader,
	struct interpreters **interpreters, struct error *err)
{
	struct interpreters *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->table = table;
	made->frame_reader = frame_reader;
	hash_map_init(&made->by_pid, sizeof(int32_t));
	interpreter_names_init(&made->names, table);
	buffer_init(&made->unknown, MOST_UNKNOWN_BYTES);
	for (size_t i = 0; i < KINDS; i++) {
		if (!kinds[i]->create) {
			made->states[i] = &made->names;
		} else if (!kinds[i]->create(&made->names, frame_reader, &made->states[i], err)) {
			interpreters_destroy(made);
			return false;
		}
	}
	table->listener = (struct process_listener){ on_map, on_fork, on_forget, made };
	*interpreters = made;
	return true;
}

void interpreters_destroy(struct interpreters *interpreters)
{
	if (!interpreters)
		return;
	interpreters->table->listener = (struct process_listener){ 0 };
	for (size_t i = 0; i < interpreters->process_count; i++) {
		for (size_t kind = 0; kind < KINDS; kind++)
			clear_state(interpreters, kind, &interpreters->processes[i]->kinds[kind]);
		free(interpreters->processes[i]);
	}
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->destroy)
			kinds[i]->destroy(interpreters->states[i]);
	for (size_t i = 0; i < interpreters->image_count; i++)
		destroy_image(&interpreters->images[i]);
	free(interpreters->images);
	free(interpreters->processes);
	hash_map_deinit(&interpreters->by_pid);
	interpreter_names_deinit(&interpreters->names);
	buffer_deinit(&interpreters->unknown);
	free(interpreters);
}

/* ---- Stacks ---- */

static bool knows_callers(const struct interpreted *process, size_t kind)
{
	return process->kinds[kind].files[0].image && kinds[kind]->find_caller;
}

static enum unwind_answer ask_kinds(
	void *context, const struct unwind_made_frame *frame, struct unwind_made_caller *caller)
{
	struct interpreted *process = context;
	struct interpreters *interpreters = process->interpreters;
	enum unwind_answer answer = UNWIND_ANSWER_UNKNOWN;
	struct error why;

	for (size_t i = 0; i < KINDS && answer == UNWIND_ANSWER_UNKNOWN; i++)
		if (knows_callers(process, i) && interpreters->failed.code == ERROR_NONE &&
			!kinds[i]->find_caller(
				interpreters->states[i], &process->kinds[i], frame, caller, &answer, &why))
			interpreters->failed = why;
	return answer;
}

struct unwind_maker interpreters_maker(struct interpreters *interpreters, int32_t pid)
{
	struct interpreted *process = interpreters ? interpret_find_process(interpreters, pid) : NULL;

	for (size_t i = 0; process && i < KINDS; i++)
		if (knows_callers(process, i))
			return (struct unwind_maker){ ask_kinds, process };
	return (struct unwind_maker){ 0 };
}

bool interpreters_keep_frame_pointers(const struct interpreters *interpreters, int32_t pid, const struct elf_image *elf)
{
	for (size_t i = 0; i < KINDS; i++) {
		const struct interpreter_process *process = find_of_kind(interpreters, pid, i);

		if (process && kinds[i]->keeps_frame_pointers && kinds[i]->keeps_frame_pointers(process, elf))
			return true;
	}
	return false;
}

/* Returns whether the program in the kernel was not there yet when a sample of an interpreted program was taken. */
static bool is_early(const struct interpreters *interpreters, const struct interpreted *process,
	const struct interpret_sample *sample)
{
	if (!interpreters->frame_reader || sample->time_ns >= ebpf_frame_reader_loaded_ns(interpreters->frame_reader))
		return false;
	for (size_t i = 0; i < KINDS; i++)
		if (process->kinds[i].files[0].image && kinds[i]->learn)
			return true;
	return false;
}

bool interpreters_name(struct interpreters *interpreters, const struct interpret_sample *sample, struct error *err)
{
	struct interpreted *process = interpret_find_process(interpreters, sample->pid);

	if (interpreters->failed.code != ERROR_NONE) {
		*err = interpreters->failed;
		return false;
	}
	if (process)
		interpreters->early += is_early(interpreters, process, sample);
	for (size_t i = 0; process && i < KINDS; i++)
		if (process->kinds[i].files[0].image &&
			!kinds[i]->name(interpreters->states[i], &process->kinds[i], sample, err))
			return false;
	return true;
}

bool interpreters_task(struct interpreters *interpreters, int32_t pid, const struct ebpf_frames *frames, uint32_t *name,
	struct error *err)
{
	size_t kind;
	const struct interpreter_process *process = find_by_frames(interpreters, pid, frames->kind, &kind);

	return !process || !kinds[kind]->name_task ||
	       kinds[kind]->name_task(interpreters->states[kind], process, frames, name, err);
}

bool interpreters_know(const struct interpreters *interpreters, const struct ebpf_code *code)
{
	size_t kind;

	return find_by_frames(interpreters, code->pid, code->kind, &kind) &&
	       kinds[kind]->know(interpreters->states[kind], code);
}

bool interpreters_learn(struct interpreters *interpreters, const struct ebpf_code *code, struct error *err)
{
	size_t kind;
	const struct interpreter_process *process = find_by_frames(interpreters, code->pid, code->kind, &kind);

	return !process || kinds[kind]->learn(interpreters->states[kind], process, code, err);
}

bool interpreters_read_frames(struct interpreters *interpreters, int32_t pid, int32_t tid, struct ebpf_frames *frames)
{
	for (size_t i = 0; i < KINDS; i++) {
		const struct interpreter_process *process = find_of_kind(interpreters, pid, i);

		if (process && kinds[i]->read_frames &&
			kinds[i]->read_frames(interpreters->states[i], process, tid, frames))
			return true;
	}
	return false;
}

/* Returns whether a line is worth telling: one stack in so many is. */
static bool interpret_is_worth_telling(const struct ebpf_frame_reader_counts *counts, uint64_t stacks)
{
	enum { FEW = 200 };

	return stacks > 0 && stacks * FEW > counts->stacks;
}

static void interpret_describe_losses(const struct interpreters *interpreters, struct buffer *notices)
{
	const struct ebpf_frame_reader_counts counts = ebpf_frame_reader_counts(interpreters->frame_reader);
	uint64_t all = interpreters->early + counts.stacks;

	if (interpret_is_worth_telling(&counts, interpreters->early))
		buffer_printf(notices,
			"%" PRIu64
			" samples of interpreted programs (%.1f %% of theirs) show the interpreter's own functions: they were taken before the program in the kernel that reads frames was loaded, which happens when the first interpreter is met; record the interpreter itself as the command, or its process (-p)\n",
			interpreters->early, 100.0 * (double)interpreters->early / (double)all);
	if (interpret_is_worth_telling(&counts, counts.lost))
		buffer_printf(notices,
			"frames of interpreters in %" PRIu64
			" samples were lost, because stacks are deep and the recorder had no time to read them: a lower -F loses fewer\n",
			counts.lost);
	if (interpret_is_worth_telling(&counts, counts.unread))
		buffer_printf(notices,
			"frames of interpreters in %" PRIu64
			" samples are missing in part, because the memory they are in could not be read\n",
			counts.unread);
}

void interpreters_describe(const struct interpreters *interpreters, struct buffer *notices)
{
	if (interpreters->unknown.size > 0)
		buffer_append_string(notices, interpreters->unknown.data);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->describe)
			kinds[i]->describe(interpreters->states[i], notices);
	if (interpreters->frame_reader)
		interpret_describe_losses(interpreters, notices);
	if (interpreters->names.refused > 0)
		buffer_printf(notices,
			"functions of interpreted programs have no name, which were asked for %" PRIu64
			" times, because one user's programs have more names than are kept for one; those of other users have theirs: record fewer programs of that user at once (-p)\n",
			interpreters->names.refused);
}
