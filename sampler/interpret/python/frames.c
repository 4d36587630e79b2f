/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the frames of a thread from outside. */
#include "sampler/interpret/python/python.h"

enum {
	MOST_INTERPRETERS = 64,
	MOST_THREADS = 1024,    /* states of threads that are looked at for one stack */
	MOST_STATES = 4,        /* of one thread, which runs an interpreter from within another one */
	PAGE_BYTES = 4096,      /* what is mapped at an address is mapped from there to the next multiple */
	MOST_FRAME_BYTES = 256, /* of _PyInterpreterFrame, up to the last member that is read */
	MOST_AWAITERS = 64,     /* coroutines and tasks that await a task */
};

/* A process whose frames are read, and memory of it around the last one: frames that call each other lie side by side.
 */
struct python_frame_reading {
	const struct process_host *host;
	const struct ebpf_python *python;
	int32_t pid;
	size_t frame_bytes;
	uint64_t start; /* address of `bytes` */
	size_t size;
	uint8_t bytes[PAGE_BYTES + MOST_FRAME_BYTES];
	uint64_t *words; /* of frames; borrowed */
	size_t room, count;
};

struct python_frame {
	uint64_t code, previous, instruction, stack_pointer;
	uint32_t copy;
	uint8_t mark;
};

static bool python_frames_read_at(const struct python_frame_reading *reading, uint64_t address, void *into, size_t size)
{
	const struct iovec piece = interpreter_piece(address, size);

	return interpreter_read(reading->host, reading->pid, &piece, 1, into) == size;
}

/* Two words of one structure. */
static bool python_frames_read_pair(const struct python_frame_reading *reading, uint64_t address, uint32_t first,
	uint32_t second, uint64_t *a, uint64_t *b)
{
	const struct iovec pieces[] = { interpreter_piece(address + first, sizeof(*a)),
		interpreter_piece(address + second, sizeof(*b)) };
	uint64_t words[2];

	if (interpreter_read(reading->host, reading->pid, pieces, 2, words) != sizeof(words))
		return false;
	*a = words[0];
	*b = words[1];
	return true;
}

/* ---- The thread's states ---- */

/* Its states that have frames. */
struct thread_states {
	uint64_t states[MOST_STATES];
	size_t count;
	uint32_t looked_at;
};

static bool python_frames_has_frames(const struct python_frame_reading *reading, uint64_t state)
{
	const struct ebpf_python *python = reading->python;
	uint64_t frame, next;

	return python_frames_read_at(reading, state + python->frame, &frame, sizeof(frame)) && frame &&
	       python_frames_read_at(reading, frame + (python->has_cframe ? python->frame_in_cframe : python->previous),
		       &next, sizeof(next)) &&
	       next;
}

/* Looks through the states of one interpreter. */
static void find_in_list(const struct python_frame_reading *reading, uint64_t state, uint32_t native_thread_id,
	struct thread_states *found)
{
	const struct ebpf_python *python = reading->python;

	while (state && found->count < MOST_STATES && found->looked_at++ < MOST_THREADS) {
		uint64_t next, id;

		if (!python_frames_read_pair(reading, state, python->next_thread, python->native_thread_id, &next, &id))
			return;
		if (id == native_thread_id && python_frames_has_frames(reading, state))
			found->states[found->count++] = state;
		state = next;
	}
}

static void find_states(
	const struct python_frame_reading *reading, uint32_t native_thread_id, struct thread_states *found)
{
	const struct ebpf_python *python = reading->python;
	uint64_t interpreter, first, next;

	if (!python_frames_read_at(
		    reading, python->runtime + python->first_interpreter, &interpreter, sizeof(interpreter)))
		return;
	for (size_t i = 0; interpreter && i < MOST_INTERPRETERS; i++) {
		if (!python_frames_read_pair(
			    reading, interpreter, python->next_interpreter, python->first_thread, &next, &first))
			return;
		find_in_list(reading, first, native_thread_id, found);
		interpreter = next;
	}
}

/* ---- Activations that are told by cframes ---- */

/* A frame whose caller is the frame of the next cframe outwards is the first of its activation. */
struct activation {
	uint64_t cframe, outer_cframe, outer_frame;
};

static bool enter_cframe(const struct python_frame_reading *reading, uint64_t cframe, struct activation *activation)
{
	const struct ebpf_python *python = reading->python;

	*activation = (struct activation){ .cframe = cframe };
	return python_frames_read_at(
		       reading, cframe + python->outer_in_cframe, &activation->outer_cframe, sizeof(uint64_t)) &&
	       (!activation->outer_cframe ||
		       python_frames_read_at(reading, activation->outer_cframe + python->frame_in_cframe,
			       &activation->outer_frame, sizeof(uint64_t)));
}

/* ---- Frames ---- */

static bool find_first_frame(
	const struct python_frame_reading *reading, uint64_t thread, struct activation *activation, uint64_t *frame)
{
	const struct ebpf_python *python = reading->python;
	uint64_t cframe;

	if (!python->has_cframe)
		return python_frames_read_at(reading, thread + python->frame, frame, sizeof(*frame));
	return python_frames_read_at(reading, thread + python->frame, &cframe, sizeof(cframe)) &&
	       python_frames_read_at(reading, cframe + python->frame_in_cframe, frame, sizeof(*frame)) &&
	       (!python->outer_in_cframe || enter_cframe(reading, cframe, activation));
}

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Returns how much of a frame is read; 0: more than any version has. */
static size_t frame_bytes_of(const struct ebpf_python *python)
{
	size_t members = max_size(max_size(python->code, python->previous), python->instruction);
	size_t words = max_size(members, python->stack_pointer) + sizeof(uint64_t);
	size_t bytes = max_size(max_size(words, (size_t)python->mark + 1), python->copy_index + sizeof(uint32_t));

	return bytes <= MOST_FRAME_BYTES ? bytes : 0;
}

/* Reads from the start of the frame's page to its end. */
static bool read_around(struct python_frame_reading *reading, uint64_t frame)
{
	reading->start = frame / PAGE_BYTES * PAGE_BYTES;
	reading->size = (size_t)(frame - reading->start) + reading->frame_bytes;
	if (python_frames_read_at(reading, reading->start, reading->bytes, reading->size))
		return true;
	reading->size = 0;
	return false;
}

static bool python_frames_read_frame(struct python_frame_reading *reading, uint64_t address, struct python_frame *frame)
{
	const struct ebpf_python *python = reading->python;
	const uint8_t *bytes;

	if ((address < reading->start ||
		    !checked_range(address - reading->start, reading->frame_bytes, reading->size)) &&
		!read_around(reading, address))
		return false;
	bytes = reading->bytes + (address - reading->start);
	*frame = (struct python_frame){ interpreter_word(bytes, python->code),
		interpreter_word(bytes, python->previous), interpreter_word(bytes, python->instruction),
		interpreter_word(bytes, python->stack_pointer), 0, bytes[python->mark] };
	memcpy(&frame->copy, bytes + python->copy_index, sizeof(frame->copy));
	return true;
}

/* The address of the first instruction of what the frame runs. */
static uint64_t find_instructions(const struct python_frame_reading *reading, const struct python_frame *frame)
{
	uint64_t code = frame->code / 16 * 16, copies, copy;

	if (reading->python->copies && frame->copy > 0 &&
		python_frames_read_at(reading, code + reading->python->copies, &copies, sizeof(copies)) &&
		python_frames_read_at(reading, copies + (frame->copy + 1ULL) * sizeof(copy), &copy, sizeof(copy)))
		return copy;
	return code + reading->python->instructions;
}

static uint32_t position_of(const struct python_frame_reading *reading, const struct python_frame *frame)
{
	uint64_t unit = (frame->instruction - find_instructions(reading, frame)) / 2;

	return unit < EBPF_FRAME_NO_POSITION ? (uint32_t)unit : EBPF_FRAME_NO_POSITION;
}

/*
 * Makes the next word, of a frame or of the activation that ends, and goes to the caller. `*has_more`: there is another
 * word. False: memory is missing.
 */
static bool python_frames_read_word(struct python_frame_reading *reading, struct activation *activation,
	uint64_t *address, uint64_t *word, bool *has_more)
{
	const struct ebpf_python *python = reading->python;
	struct python_frame frame;

	if (python->outer_in_cframe && *address == activation->outer_frame) {
		*word = ebpf_python_activation_word(activation->cframe);
		*has_more = *address != 0;
		return !*has_more || enter_cframe(reading, activation->outer_cframe, activation);
	}
	if (!python_frames_read_frame(reading, *address, &frame))
		return false;
	*word = !python->outer_in_cframe && frame.mark >= python->shim_mark
			? ebpf_python_activation_word(*address)
			: ebpf_frame_word(frame.code, position_of(reading, &frame), false);
	*address = frame.previous;
	*has_more = *address != 0 || python->outer_in_cframe;
	return true;
}

/* ---- Tasks ---- */

static bool read_byte(const struct python_frame_reading *reading, uint64_t address, uint8_t *byte)
{
	return python_frames_read_at(reading, address, byte, sizeof(*byte));
}

/* The coroutine that a coroutine awaits, whose frame was read; 0: it awaits something else. */
static uint64_t find_awaited(
	const struct python_frame_reading *reading, uint64_t coroutine, const struct python_frame *frame)
{
	const struct ebpf_python *python = reading->python;
	uint64_t awaited, type, awaited_type;
	uint8_t state;

	if (!read_byte(reading, coroutine + python->coroutine_state, &state) || state != python->awaiting_state ||
		!python_frames_read_at(
			reading, frame->stack_pointer - python->awaited_below, &awaited, sizeof(awaited)))
		return 0;
	awaited &= ~UINT64_C(3);
	return python_frames_read_at(reading, coroutine + python->type, &type, sizeof(type)) &&
			       python_frames_read_at(reading, awaited + python->type, &awaited_type, sizeof(type)) &&
			       type == awaited_type
		       ? awaited
		       : 0;
}

/* Adds the coroutines of a task, the innermost first, from the outermost one on. Returns how many are left to add. */
static size_t add_coroutines(struct python_frame_reading *reading, uint64_t coroutine, size_t most)
{
	size_t begin = reading->count;
	struct python_frame frame;

	for (; coroutine && most > 0 && reading->count < reading->room &&
		python_frames_read_frame(reading, coroutine + reading->python->coroutine_frame, &frame);
		most--) {
		reading->words[reading->count++] = ebpf_frame_word(frame.code, position_of(reading, &frame), false);
		coroutine = find_awaited(reading, coroutine, &frame);
	}
	for (size_t i = begin, k = reading->count; i + 1 < k; i++) {
		uint64_t word = reading->words[--k];

		reading->words[k] = reading->words[i];
		reading->words[i] = word;
	}
	return most;
}

/* The task that awaits a task, if it is the only one; 0: there is none. */
static uint64_t find_awaiter(const struct python_frame_reading *reading, uint64_t task)
{
	const struct ebpf_python *python = reading->python;
	uint8_t has_many, is_task;
	uint64_t awaiter;

	return read_byte(reading, task + python->has_many_awaiters, &has_many) && !has_many &&
			       python_frames_read_at(reading, task + python->awaiter, &awaiter, sizeof(awaiter)) &&
			       awaiter && read_byte(reading, awaiter + python->is_task, &is_task) && is_task == 1
		       ? awaiter
		       : 0;
}

static uint64_t find_coroutine(const struct python_frame_reading *reading, uint64_t task)
{
	uint64_t coroutine;

	return task && python_frames_read_at(
			       reading, task + reading->python->task_coroutine, &coroutine, sizeof(coroutine))
		       ? coroutine
		       : 0;
}

static void add_awaiters(struct python_frame_reading *reading, uint64_t task)
{
	for (size_t left = MOST_AWAITERS; left > 0 && (task = find_awaiter(reading, task)) != 0; left--)
		left = add_coroutines(reading, find_coroutine(reading, task), left - 1) + 1;
}

/* The tasks of a thread. */
struct task_list {
	uint64_t tasks[EBPF_PYTHON_MOST_TASKS];
	size_t count;
	uint64_t awaiters[EBPF_PYTHON_TASK_BITS / 64];
};

static void read_tasks(const struct python_frame_reading *reading, uint64_t thread, struct task_list *list)
{
	uint64_t end = thread + reading->python->tasks, node = end;

	while (list->count < EBPF_PYTHON_MOST_TASKS && python_frames_read_at(reading, node, &node, sizeof(node)) &&
		node != end) {
		uint64_t task = node - reading->python->task_node, awaiter = find_awaiter(reading, task);

		list->tasks[list->count++] = task;
		list->awaiters[ebpf_python_task_bit(awaiter) / 64] |= UINT64_C(1) << ebpf_python_task_bit(awaiter) % 64;
	}
}

/* One of the tasks of an event loop that waits, by chance, of those that await no other one; 0: there is none. */
static uint64_t choose_task(const struct python_frame_reading *reading, uint64_t thread)
{
	uint64_t chance = (uint64_t)clock_read_ns(CLOCK_MONOTONIC), loop;
	struct task_list list = { 0 };
	size_t count = 0;

	if (!python_frames_read_at(reading, thread + reading->python->running_loop, &loop, sizeof(loop)) || !loop)
		return 0;
	read_tasks(reading, thread, &list);
	for (size_t i = 0; i < list.count; i++) {
		uint32_t bit = ebpf_python_task_bit(list.tasks[i]);

		if (!(list.awaiters[bit / 64] >> bit % 64 & 1))
			list.tasks[count++] = list.tasks[i];
	}
	return count > 0 ? list.tasks[hash_mix(chance, thread) % count] : 0;
}

static void python_frames_add_waiting_task(struct python_frame_reading *reading, uint64_t thread)
{
	uint64_t task = choose_task(reading, thread);

	if (!task)
		return;
	(void)add_coroutines(reading, find_coroutine(reading, task), MOST_AWAITERS);
	add_awaiters(reading, task);
	if (reading->count > 0 && reading->count < reading->room)
		reading->words[reading->count++] = ebpf_python_activation_word(0);
}

/* ---- All frames ---- */

/* Adds the frames of one state. Returns whether there are more than there is room for, or that could be read. */
static bool add_frames_of_state(struct python_frame_reading *reading, uint64_t state, uint64_t task)
{
	struct activation activation = { 0 };
	uint64_t address, task_frame;
	bool has_more;

	if (!find_first_frame(reading, state, &activation, &address))
		return false;
	has_more = address != 0;
	task_frame = task ? find_coroutine(reading, task) + reading->python->coroutine_frame : 0;
	while (has_more && reading->count < reading->room) {
		uint64_t frame = address;

		if (!python_frames_read_word(
			    reading, &activation, &address, &reading->words[reading->count], &has_more))
			break;
		reading->count++;
		if (task && frame == task_frame)
			add_awaiters(reading, task);
	}
	return has_more;
}

/* The task that a state runs; 0: none. `*is_idle`: it has tasks, and runs none of them. */
static uint64_t find_task(const struct python_frame_reading *reading, uint64_t state, bool *is_idle)
{
	uint32_t offset = reading->python->running_task;
	uint64_t task = 0;

	*is_idle = offset && python_frames_read_at(reading, state + offset, &task, sizeof(task)) && !task;
	return task;
}

bool python_read_frames(const struct process_host *host, const struct ebpf_python *python, int32_t pid,
	uint32_t native_thread_id, uint64_t *words, size_t room, struct ebpf_frames *frames)
{
	struct python_frame_reading reading = { .host = host,
		.python = python,
		.pid = pid,
		.frame_bytes = frame_bytes_of(python),
		.words = words,
		.room = room };
	struct thread_states found = { 0 };
	bool has_more = false, is_idle;

	if (reading.frame_bytes > 0)
		find_states(&reading, native_thread_id, &found);
	for (size_t i = 0; i < found.count && reading.count == 0; i++)
		if (!find_task(&reading, found.states[i], &is_idle) && is_idle)
			python_frames_add_waiting_task(&reading, found.states[i]);
	for (size_t i = 0; i < found.count && !has_more; i++)
		has_more =
			add_frames_of_state(&reading, found.states[i], find_task(&reading, found.states[i], &is_idle));
	*frames =
		(struct ebpf_frames){ .words = words, .count = reading.count, .kind = EBPF_PYTHON, .is_cut = has_more };
	return reading.count > 0;
}
