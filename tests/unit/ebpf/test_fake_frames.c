/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program as the kernel runs it: samples of a process that only looks like CPython. */
#include "sampler/ebpf/ebpf.h"
#include "sampling_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct fake_frame {
	uint64_t code, previous, instruction;
	uint8_t mark;
	uint32_t copy;
	uint64_t stack_pointer;
};

struct fake_coroutine {
	uint64_t reserved, type, awaited;
	uint8_t state;
	struct fake_frame frame;
};

struct fake_task {
	uint64_t reserved, name, coroutine, awaiter, node;
	uint8_t has_many_awaiters, is_task;
};

struct fake {
	uint64_t first_interpreter;
	struct {
		uint64_t next, first_thread;
	} interpreters[2];
	struct {
		uint64_t next, id, frame, task, loop, tasks;
	} threads[2];
	struct fake_frame frames[2], shim;
	struct {
		uint64_t reserved, frame, outer;
	} cframes[2];
	struct fake_task task, awaiter;
	struct fake_coroutine coroutines[4];
	struct {
		uint64_t reserved, type;
		char text[EBPF_TASK_BYTES];
	} name;
	uint64_t text_type;
	uint64_t copies, copy[3];
};

/* The child runs in a copy of this memory, at the same addresses. */
static struct fake fake;

/* Samples are of waits. */
static bool is_waiting;

/* What the child has on its stack while it runs. */
static struct {
	struct fake_frame frame;
	uint64_t cframe[3];
} * on_stack;

enum { FAKE_CODE = 0x7f0012345670, FAKE_UNIT = 21, WILD = 0x1234567890, SHIM = 3, AWAITING = 2 };

static uint64_t address_of(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

/* A thread with one frame. */
static void make_fake(void)
{
	fake = (struct fake){ 0 };
	fake.first_interpreter = address_of(&fake.interpreters[0]);
	fake.interpreters[0].first_thread = address_of(&fake.threads[0]);
	fake.threads[0].frame = address_of(&fake.frames[0]);
	fake.frames[0] = (struct fake_frame){ FAKE_CODE, 0, FAKE_CODE + 2 * FAKE_UNIT, 0 };
}

/* `flags`: of clone(2). */
static pid_t start_fake(void (*change)(void), int flags)
{
	pid_t pid;

	make_fake();
	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	assert_true(pid >= 0);
	if (pid == 0) {
		__typeof__(*on_stack) own = { 0 };

		/* A test that is ended for its time leaves no process that works for ever. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		on_stack = &own;
		fake.threads[0].id = (uint64_t)syscall(SYS_gettid);
		if (change)
			change();
		for (;;)
			if (is_waiting)
				usleep(5000);
	}
	return pid;
}

/* What the next fake has as the offset of its list of copies; 0: none. And whether its activations have cframes. */
static uint32_t copies;
static bool has_cframes;

/* Samples such a process, and returns what was counted. `frames` receives the last ones, whose words are copied. */
static struct ebpf_frame_reader_counts sample_fake_of(void (*change)(void), int flags, struct ebpf_frames *frames)
{
	static uint64_t words[EBPF_MOST_FRAMES];
	const struct ebpf_python python = {
		.runtime = address_of(&fake),
		.first_interpreter = offsetof(struct fake, first_interpreter),
		.next_interpreter = 0,
		.first_thread = 8,
		.next_thread = 0,
		.native_thread_id = 8,
		.frame = 16,
		.code = offsetof(struct fake_frame, code),
		.previous = offsetof(struct fake_frame, previous),
		.instruction = offsetof(struct fake_frame, instruction),
		.mark = offsetof(struct fake_frame, mark),
		.shim_mark = SHIM,
		.has_cframe = has_cframes,
		.frame_in_cframe = has_cframes ? 8 : 0,
		.outer_in_cframe = has_cframes ? 16 : 0,
		.copies = copies,
		.copy_index = offsetof(struct fake_frame, copy),
		.text_type = address_of(&fake.text_type),
		.running_task = 24,
		.task_name = 8,
		.type = 8,
		.task_coroutine = offsetof(struct fake_task, coroutine),
		.awaiter = offsetof(struct fake_task, awaiter),
		.has_many_awaiters = offsetof(struct fake_task, has_many_awaiters),
		.is_task = offsetof(struct fake_task, is_task),
		.coroutine_frame = offsetof(struct fake_coroutine, frame),
		.coroutine_state = offsetof(struct fake_coroutine, state),
		.awaiting_state = AWAITING,
		.stack_pointer = offsetof(struct fake_frame, stack_pointer),
		.awaited_below = 8,
		.running_loop = 32,
		.tasks = 40,
		.task_node = offsetof(struct fake_task, node),
	};
	static uint8_t task[EBPF_TASK_BYTES];
	struct ebpf_frame_reader_counts counts;
	pid_t child = start_fake(change, flags);
	struct sampling sampling;
	size_t samples;

	*frames = (struct ebpf_frames){ 0 };
	(is_waiting ? sampling_start_waits : sampling_start)(&sampling, PLENTY_BYTES);
	sampling_add(&sampling, child, &python);
	sampling_wait(&sampling, is_waiting ? 5 : 20);
	counts = ebpf_frame_reader_counts(sampling.frame_reader);
	(void)sampling_count_frames(&sampling, (uint32_t)child, &samples, frames);
	assert_true(frames->count <= EBPF_MOST_FRAMES);
	if (frames->count > 0)
		frames->words = memcpy(words, frames->words, frames->count * sizeof(words[0]));
	if (frames->task)
		frames->task = memcpy(task, frames->task, sizeof(task));
	sampling_stop(&sampling);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return counts;
}

static struct ebpf_frame_reader_counts sample_fake(void (*change)(void), struct ebpf_frames *frames)
{
	return sample_fake_of(change, 0, frames);
}

static void expect_fake_frame(const struct ebpf_frames *frames)
{
	assert_int_equal(frames->kind, EBPF_PYTHON);
	assert_int_equal(frames->count, 1);
	assert_false(frames->is_cut);
	assert_int_equal(ebpf_frame_code(frames->words[0]), FAKE_CODE);
	assert_int_equal(ebpf_frame_position(frames->words[0]), FAKE_UNIT);
	assert_false(ebpf_python_is_activation(frames->words[0]));
}

static void test_a_fake_has_its_frame(void **state)
{
	struct ebpf_frames frames;
	struct ebpf_frame_reader_counts counts = sample_fake(NULL, &frames);

	assert_true(counts.stacks > 0);
	assert_int_equal(counts.unread, 0);
	expect_fake_frame(&frames);
}

/* A thread of a container knows itself by another id. */
static void test_a_namespace_has_ids_of_its_own(void **state)
{
	struct ebpf_frames frames;
	struct ebpf_frame_reader_counts counts = sample_fake_of(NULL, CLONE_NEWPID, &frames);

	assert_true(counts.stacks > 0);
	assert_int_equal(counts.unknown, 0);
	expect_fake_frame(&frames);
}

/* ---- Activations ---- */

static void expect_activation(uint64_t word, const void *structure)
{
	assert_true(ebpf_python_is_activation(word));
	assert_int_equal(ebpf_python_activation_address(word), address_of(structure));
}

/* C code has called the loop, which has no frame yet, from a frame. */
static void make_shims(void)
{
	fake.threads[0].frame = address_of(&fake.frames[1]);
	fake.frames[1] = (struct fake_frame){ 0, address_of(&fake.frames[0]), 0, SHIM + 1 };
}

static void make_cframes(void)
{
	fake.threads[0].frame = address_of(&fake.cframes[0]);
	fake.cframes[0].frame = fake.cframes[1].frame = address_of(&fake.frames[0]);
	fake.cframes[0].outer = address_of(&fake.cframes[1]);
}

static void make_cframe_cycle(void)
{
	make_cframes();
	fake.cframes[1].outer = address_of(&fake.cframes[0]);
}

static void make_wild_cframe(void)
{
	make_cframes();
	fake.cframes[0].outer = WILD;
}

static void test_activations_tell_their_place_on_the_stack(void **state)
{
	struct ebpf_frames frames;

	(void)sample_fake(make_shims, &frames);
	assert_int_equal(frames.count, 2);
	expect_activation(frames.words[0], &fake.frames[1]);
	assert_int_equal(ebpf_frame_code(frames.words[1]), FAKE_CODE);
	has_cframes = true;
	(void)sample_fake(make_cframes, &frames);
	assert_int_equal(frames.count, 3);
	assert_false(frames.is_cut);
	expect_activation(frames.words[0], &fake.cframes[0]);
	assert_int_equal(ebpf_frame_code(frames.words[1]), FAKE_CODE);
	expect_activation(frames.words[2], &fake.cframes[1]);
	(void)sample_fake(make_cframe_cycle, &frames);
	assert_int_equal(frames.count, EBPF_MOST_FRAMES);
	assert_true(frames.is_cut);
	(void)sample_fake(make_wild_cframe, &frames);
	assert_int_equal(frames.count, 0);
	has_cframes = false;
}

/* ---- Copies of instructions ---- */

/* Its code object lies before the fake's list of copies, whose third one the frame runs. */
static void make_copy(void)
{
	uint64_t code = address_of(&fake) / 16 * 16;

	fake.copies = address_of(&fake.copy) - 8;
	fake.copy[2] = WILD;
	fake.frames[0] = (struct fake_frame){ code, 0, WILD + 2 * FAKE_UNIT, 0, 2 };
}

static void make_wild_copy(void)
{
	make_copy();
	fake.copies = WILD;
}

static void make_far_copy(void)
{
	make_copy();
	fake.frames[0].copy = UINT32_MAX;
}

static void test_a_thread_runs_a_copy(void **state)
{
	static void (*const wild[])(void) = { make_wild_copy, make_far_copy };
	struct ebpf_frames frames;

	copies = (uint32_t)(address_of(&fake.copies) - address_of(&fake) / 16 * 16);
	(void)sample_fake(make_copy, &frames);
	assert_int_equal(frames.count, 1);
	assert_int_equal(ebpf_frame_position(frames.words[0]), FAKE_UNIT);
	for (size_t i = 0; i < 2; i++) {
		struct ebpf_frame_reader_counts counts = sample_fake(wild[i], &frames);

		assert_int_equal(counts.unread, 0);
		assert_int_equal(frames.count, 1);
		assert_int_equal(ebpf_frame_position(frames.words[0]), EBPF_FRAME_NO_POSITION);
	}
	copies = 0;
}

/* ---- Names of tasks ---- */

static void make_task(void)
{
	fake.threads[0].task = address_of(&fake.task);
	fake.task.name = address_of(&fake.name);
	fake.name.type = address_of(&fake.text_type);
	memset(fake.name.text, 'n', sizeof(fake.name.text));
}

/* The name ends where nothing is mapped any more. */
static void make_task_at_the_end_of_memory(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	make_task();
	munmap(pages + page, page);
	fake.task.name = address_of(pages + page - 48);
	memcpy(pages + page - 48, &fake.name, 48);
}

static void make_task_of_a_number(void)
{
	make_task();
	fake.name.type = WILD;
}

static void make_wild_task(void)
{
	make_task();
	fake.threads[0].task = WILD;
}

static void make_wild_task_name(void)
{
	make_task();
	fake.task.name = WILD;
}

static void test_a_task_has_its_name(void **state)
{
	static void (*const none[])(void) = { NULL, make_task_of_a_number, make_wild_task, make_wild_task_name };
	static const char name[EBPF_TASK_BYTES] = { 0 };
	struct ebpf_frame_reader_counts counts;
	struct ebpf_frames frames;

	counts = sample_fake(make_task, &frames);
	assert_true(counts.stacks > 0);
	expect_fake_frame(&frames);
	assert_non_null(frames.task);
	for (size_t i = 16; i < EBPF_TASK_BYTES; i++)
		assert_int_equal(frames.task[i], 'n');
	(void)sample_fake(make_task_at_the_end_of_memory, &frames);
	assert_int_equal(frames.count, 1);
	assert_non_null(frames.task);
	assert_int_equal(frames.task[47], 'n');
	assert_memory_equal(frames.task + 48, name, EBPF_TASK_BYTES - 48);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		counts = sample_fake(none[i], &frames);
		assert_true(counts.stacks > 0);
		assert_int_equal(counts.unread, 0);
		expect_fake_frame(&frames);
		assert_null(frames.task);
	}
}

/* ---- Tasks that await others ---- */

/* The awaiter's coroutine 1 awaits 2 and that one 3; the task that runs has coroutine 0, whose frame is the thread's.
 */
static void make_awaiter(void)
{
	for (uint64_t i = 0; i < 4; i++) {
		struct fake_coroutine *coroutine = &fake.coroutines[i];

		coroutine->type = WILD;
		coroutine->state = i == 1 || i == 2 ? AWAITING : 0;
		coroutine->awaited = address_of(coroutine + 1);
		coroutine->frame = (struct fake_frame){ .code = FAKE_CODE + 16 * i,
			.instruction = FAKE_CODE + 16 * i,
			.stack_pointer = address_of(&coroutine->awaited + 1) };
	}
	fake.threads[0].frame = address_of(&fake.coroutines[0].frame);
	fake.coroutines[0].frame.previous = address_of(&fake.frames[0]);
	fake.threads[0].task = address_of(&fake.task);
	fake.task.coroutine = address_of(&fake.coroutines[0]);
	fake.task.awaiter = address_of(&fake.awaiter);
	fake.awaiter.is_task = 1;
	fake.awaiter.coroutine = address_of(&fake.coroutines[1]);
}

static void make_many_awaiters(void)
{
	make_awaiter();
	fake.task.has_many_awaiters = 1;
}

static void make_future_as_awaiter(void)
{
	make_awaiter();
	fake.awaiter.is_task = 0;
}

static void make_wild_awaiter(void)
{
	make_awaiter();
	fake.task.awaiter = WILD;
}

static void make_wild_coroutine(void)
{
	make_awaiter();
	fake.awaiter.coroutine = WILD;
}

static void make_task_cycle(void)
{
	make_awaiter();
	fake.awaiter.awaiter = address_of(&fake.awaiter);
}

static void make_coroutine_cycle(void)
{
	make_awaiter();
	fake.coroutines[2].awaited = address_of(&fake.coroutines[1]);
}

static void make_wild_stack_of_coroutine(void)
{
	make_awaiter();
	fake.coroutines[1].frame.stack_pointer = WILD;
}

/* The codes of frames, each as the number of its coroutine; 0 is the thread's own too. */
static void expect_codes(const struct ebpf_frames *frames, const char *numbers)
{
	assert_int_equal(frames->count, strlen(numbers));
	assert_false(frames->is_cut);
	for (size_t i = 0; numbers[i]; i++)
		assert_int_equal(ebpf_frame_code(frames->words[i]), FAKE_CODE + 16 * (uint64_t)(numbers[i] - '0'));
}

static void test_awaiters_continue_the_stack(void **state)
{
	static void (*const none[])(
		void) = { make_many_awaiters, make_future_as_awaiter, make_wild_awaiter, make_wild_coroutine };
	static void (*const cycles[])(void) = { make_task_cycle, make_coroutine_cycle };
	struct ebpf_frames frames;

	(void)sample_fake(make_awaiter, &frames);
	expect_codes(&frames, "03210");
	(void)sample_fake(make_wild_stack_of_coroutine, &frames);
	expect_codes(&frames, "010");
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		(void)sample_fake(none[i], &frames);
		expect_codes(&frames, "00");
	}
	for (size_t i = 0; i < sizeof(cycles) / sizeof(*cycles); i++) {
		struct ebpf_frame_reader_counts counts = sample_fake(cycles[i], &frames);

		assert_int_equal(counts.unread, 0);
		assert_in_range(frames.count, 32, 66);
		assert_int_equal(ebpf_frame_code(frames.words[frames.count - 1]), FAKE_CODE);
	}
}

/* The loop's tasks are the one of coroutine 0 and that which awaits it. */
static void make_waiting_tasks(void)
{
	make_awaiter();
	fake.threads[0].frame = address_of(&fake.frames[0]);
	fake.threads[0].task = 0;
	fake.threads[0].loop = WILD;
	fake.threads[0].tasks = address_of(&fake.awaiter.node);
	fake.awaiter.node = address_of(&fake.task.node);
	fake.task.node = address_of(&fake.threads[0].tasks);
}

static void make_no_loop(void)
{
	make_waiting_tasks();
	fake.threads[0].loop = 0;
}

static void make_cycle_of_tasks(void)
{
	make_waiting_tasks();
	fake.task.node = address_of(&fake.task.node);
}

static void make_wild_task_of_loop(void)
{
	make_waiting_tasks();
	fake.threads[0].tasks = WILD;
}

static void test_a_loop_waits_for_a_task_that_awaits_none(void **state)
{
	static void (*const chosen[])(void) = { make_waiting_tasks, make_cycle_of_tasks };
	static void (*const none[])(void) = { make_no_loop, make_wild_task_of_loop };
	struct ebpf_frames frames;

	is_waiting = true;
	for (size_t i = 0; i < 2; i++) {
		(void)sample_fake(chosen[i], &frames);
		assert_int_equal(frames.count, 6);
		assert_int_equal(frames.words[4], ebpf_python_activation_word(0));
		assert_int_equal(ebpf_frame_code(frames.words[5]), FAKE_CODE);
		frames.count = 4;
		expect_codes(&frames, "0321");
		(void)sample_fake(none[i], &frames);
		expect_codes(&frames, "0");
	}
	is_waiting = false;
}

/* ---- Several interpreters ---- */

/*
 * The interpreter that was made last has a state of its own, whose only frame is called by a shim on the stack. The
 * shim of the first one's is in memory that is not this thread's stack, as if another thread ran it.
 */
static void make_two_states(void)
{
	fake.first_interpreter = address_of(&fake.interpreters[1]);
	fake.interpreters[1].next = address_of(&fake.interpreters[0]);
	fake.interpreters[1].first_thread = address_of(&fake.threads[1]);
	fake.threads[1].id = fake.threads[0].id;
	fake.threads[1].frame = address_of(&fake.frames[1]);
	fake.frames[1] = (struct fake_frame){ FAKE_CODE + 16, address_of(&on_stack->frame), FAKE_CODE + 16, 0 };
	on_stack->frame.mark = SHIM;
	fake.frames[0].previous = address_of(&fake.shim);
	fake.shim.mark = SHIM;
}

static void make_two_states_of_the_thread(void)
{
	make_two_states();
	fake.frames[0].previous = address_of(&on_stack->frame);
}

/* A state of the thread that runs nothing. */
static void make_idle_state(void)
{
	make_two_states();
	fake.frames[1].previous = 0;
	fake.frames[0].previous = address_of(&on_stack->frame);
}

static void make_cycle_of_interpreters(void)
{
	make_two_states_of_the_thread();
	fake.interpreters[0].next = address_of(&fake.interpreters[1]);
}

/* The state was made for another thread, and its cframe is on this one's stack. */
static void make_cframe_of_another_thread(void)
{
	make_two_states();
	fake.threads[0].id = fake.threads[1].id = fake.threads[0].id + 1;
	fake.threads[1].frame = address_of(on_stack->cframe);
	fake.threads[0].frame = address_of(&fake.cframes[0]);
	on_stack->cframe[1] = address_of(&fake.frames[1]);
	fake.cframes[0].frame = address_of(&fake.frames[0]);
	fake.frames[0].previous = fake.frames[1].previous = 0;
}

static void test_a_thread_has_a_state_for_each_interpreter(void **state)
{
	static void (*const both[])(void) = { make_two_states_of_the_thread, make_cycle_of_interpreters };
	struct ebpf_frames frames;

	for (size_t i = 0; i < 2; i++) {
		(void)sample_fake(both[i], &frames);
		assert_int_equal(frames.count, 4);
		assert_int_not_equal(ebpf_frame_code(frames.words[0]), ebpf_frame_code(frames.words[2]));
		assert_true(ebpf_python_is_activation(frames.words[1]) && ebpf_python_is_activation(frames.words[3]));
	}
	(void)sample_fake(make_two_states, &frames);
	assert_int_equal(frames.count, 2);
	assert_int_equal(ebpf_frame_code(frames.words[0]), FAKE_CODE + 16);
	(void)sample_fake(make_idle_state, &frames);
	assert_int_equal(frames.count, 2);
	assert_int_equal(ebpf_frame_code(frames.words[0]), FAKE_CODE);
	has_cframes = true;
	(void)sample_fake(make_cframe_of_another_thread, &frames);
	assert_int_equal(frames.count, 2);
	assert_int_equal(ebpf_frame_code(frames.words[0]), FAKE_CODE + 16);
	has_cframes = false;
}

/* ---- Frames that mean harm ---- */

static void make_frame_cycle(void)
{
	fake.frames[0].previous = address_of(&fake.frames[1]);
	fake.frames[1] = fake.frames[0];
	fake.frames[1].previous = address_of(&fake.frames[0]);
}

static void make_wild_frame(void)
{
	fake.frames[0].previous = WILD;
}

static void make_wild_first_frame(void)
{
	fake.threads[0].frame = WILD;
}

static void make_no_frame(void)
{
	fake.threads[0].frame = 0;
}

static void test_hostile_frames_are_bounded(void **state)
{
	struct ebpf_frame_reader_counts counts;
	struct ebpf_frames frames;

	counts = sample_fake(make_frame_cycle, &frames);
	assert_true(counts.stacks > 0);
	assert_true(frames.is_cut);
	assert_int_equal(frames.count, EBPF_MOST_FRAMES);
	counts = sample_fake(make_wild_frame, &frames);
	assert_int_equal(counts.unread, counts.stacks);
	assert_true(frames.is_cut);
	assert_int_equal(frames.count, 1);
	counts = sample_fake(make_wild_first_frame, &frames);
	assert_int_equal(counts.unread, counts.stacks);
	assert_true(frames.is_cut);
	assert_int_equal(frames.count, 0);
	counts = sample_fake(make_no_frame, &frames);
	assert_int_equal(counts.stacks + counts.unread + counts.unknown, 0);
}

static void make_thread_cycle(void)
{
	fake.threads[0].id = 0;
	fake.threads[0].next = address_of(&fake.threads[1]);
	fake.threads[1].next = address_of(&fake.threads[0]);
}

static void make_interpreter_cycle(void)
{
	fake.threads[0].id = 0;
	fake.interpreters[0].next = address_of(&fake.interpreters[0]);
}

static void make_wild_thread(void)
{
	fake.threads[0].id = 0;
	fake.threads[0].next = WILD;
}

static void make_no_interpreter(void)
{
	fake.first_interpreter = 0;
}

static void test_hostile_threads_are_bounded(void **state)
{
	void (*const changes[])(
		void) = { make_thread_cycle, make_interpreter_cycle, make_wild_thread, make_no_interpreter };

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct ebpf_frames frames;
		struct ebpf_frame_reader_counts counts = sample_fake(changes[i], &frames);

		assert_int_equal(counts.stacks, 0);
		assert_true(counts.unknown > 0);
	}
}

/* The thread is the last of many: one sample does not look at all of them. */
static void make_many_threads(void)
{
	enum { THREADS = 500 };
	static struct {
		uint64_t next, id, frame;
	} threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		threads[i].next = i + 1 < THREADS ? address_of(&threads[i + 1]) : address_of(&fake.threads[0]);
	fake.interpreters[0].first_thread = 0;
	fake.interpreters[0].next = address_of(&fake.interpreters[1]);
	fake.interpreters[1].first_thread = address_of(threads);
}

static void test_a_search_goes_on_at_the_next_sample(void **state)
{
	struct ebpf_frames frames;
	struct ebpf_frame_reader_counts counts = sample_fake(make_many_threads, &frames);

	assert_true(counts.unknown > 0);
	assert_true(counts.stacks > 0);
	expect_fake_frame(&frames);
}

/* A frame at the end of readable memory, without the bytes behind its members. */
static void make_last_frame(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = offsetof(struct fake_frame, mark) + 1;
	char *pages = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages + page_bytes, page_bytes);
	memcpy(pages + page_bytes - bytes, &fake.frames[0], bytes);
	fake.threads[0].frame = address_of(pages + page_bytes - bytes);
}

static void test_a_frame_at_the_end_of_memory(void **state)
{
	struct ebpf_frames frames;
	struct ebpf_frame_reader_counts counts = sample_fake(make_last_frame, &frames);

	assert_int_equal(counts.unread, 0);
	expect_fake_frame(&frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fake_has_its_frame),
		cmocka_unit_test(test_a_namespace_has_ids_of_its_own),
		cmocka_unit_test(test_activations_tell_their_place_on_the_stack),
		cmocka_unit_test(test_a_thread_runs_a_copy),
		cmocka_unit_test(test_a_task_has_its_name),
		cmocka_unit_test(test_awaiters_continue_the_stack),
		cmocka_unit_test(test_a_loop_waits_for_a_task_that_awaits_none),
		cmocka_unit_test(test_a_thread_has_a_state_for_each_interpreter),
		cmocka_unit_test(test_hostile_frames_are_bounded),
		cmocka_unit_test(test_hostile_threads_are_bounded),
		cmocka_unit_test(test_a_search_goes_on_at_the_next_sample),
		cmocka_unit_test(test_a_frame_at_the_end_of_memory),
	};

	if (!sampling_is_permitted())
		return 77;
	return cmocka_run_group_tests_name("ebpf.fake_frames", tests, NULL, NULL);
}
