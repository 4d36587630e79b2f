/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/process.h"
#include "sampler/process/reader.h"
#include "tests/unit/support/unit_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

/*
 * A child is stepped through, instruction by instruction, and a shadow of its calls is kept: at every single
 * instruction (of prologues and epilogues, PLT stubs, the dynamic linker's trampolines, a signal's handler and its
 * return) the stack unwound from the registers and the copied bytes must be that shadow. With the rules of one of its
 * functions hidden it may end before, with a reason, but hardly ever hold another frame.
 */

enum { MAX_SHADOW = 256, LONGEST_INSTRUCTION = 15, ENOUGH_STEPS = 2000, STACK_ROOM = 32768 };

/* Of walks on which one function's rules are hidden: what came of them. */
struct hidden_counts {
	size_t walks, whole, wrong;
};

struct call {
	uint64_t pc;   /* where it returns to; of a signal the instruction that goes on */
	uint64_t slot; /* on the stack: what lies below the stack pointer has returned */
};

struct stepper {
	pid_t child;
	struct user_regs_struct registers;
	uint8_t stack[STACK_ROOM];
	size_t stack_bytes;
	struct call shadow[MAX_SHADOW];
	size_t depth;
	size_t steps, signals, deepest;
	struct hidden_counts hidden;
};

/* ---- What the child does ---- */

static volatile int handled;

static void handle(int number)
{
	handled += number;
}

__attribute__((noipa)) static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

__attribute__((noipa)) static int descend(int depth)
{
	volatile char room[24];

	room[0] = (char)depth;
	return depth > 0 ? descend(depth - 1) + room[0] : (int)strtol("17", NULL, 10);
}

/* Room whose size is known only as it runs: the frame is then found by the frame pointer. */
__attribute__((noipa)) static int use_room(size_t size)
{
	volatile char *room = __builtin_alloca(size);

	for (size_t i = 0; i < size; i += 16)
		room[i] = (char)descend((int)i / 16);
	return room[0];
}

__attribute__((noipa)) static int work(void)
{
	int numbers[] = { 5, 2, 9, 1, 7 };
	char text[64];

	qsort(numbers, 5, sizeof(*numbers), compare);
	raise(SIGUSR1);
	snprintf(text, sizeof(text), "%d %ld %s", numbers[0], (long)time(NULL), "and more");
	return use_room((size_t)numbers[4] * 8) + text[0];
}

static pid_t start_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		signal(SIGUSR1, handle);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(work() == 0 && handled == 0);
	}
	return child;
}

/* ---- The shadow ---- */

static uint64_t word_at(const struct stepper *s, uint64_t address)
{
	uint64_t offset = address - s->registers.rsp, word = 0;

	if (offset <= s->stack_bytes - sizeof(word) && s->stack_bytes >= sizeof(word))
		memcpy(&word, s->stack + offset, sizeof(word));
	return word;
}

static void look(struct stepper *s)
{
	struct iovec here = { s->stack, sizeof(s->stack) }, there;
	ssize_t copied = -1;

	assert_int_equal(ptrace(PTRACE_GETREGS, s->child, NULL, &s->registers), 0);
	/* Near its start the stack is shorter. */
	for (size_t size = sizeof(s->stack); copied < 0 && size >= 64; size = size > 4096 ? size - 4096 : size / 2) {
		there = (struct iovec){ (void *)(uintptr_t)s->registers.rsp, size };
		copied = process_vm_readv(s->child, &here, 1, &there, 1, 0);
	}
	assert_true(copied > 0);
	s->stack_bytes = (size_t)copied;
}

static void push(struct stepper *s, uint64_t pc, uint64_t slot)
{
	assert_true(s->depth < MAX_SHADOW);
	s->shadow[s->depth++] = (struct call){ pc, slot };
	if (s->depth > s->deepest)
		s->deepest = s->depth;
}

/* `before`: the registers one instruction earlier, which a signal may have interrupted. */
static void follow(struct stepper *s, const struct user_regs_struct *before, bool is_signal)
{
	uint64_t rsp = s->registers.rsp, pushed = word_at(s, rsp);

	while (s->depth > 0 && s->shadow[s->depth - 1].slot < rsp)
		s->depth--;
	if (is_signal) {
		push(s, before->rip, before->rsp - sizeof(uint64_t));
		push(s, pushed, rsp);
		s->signals++;
	} else if (rsp == before->rsp - sizeof(uint64_t) && pushed - before->rip - 1 < LONGEST_INSTRUCTION) {
		push(s, pushed, rsp);
	}
}

static struct unwind_job job_of(const struct stepper *s, const struct process_space *space)
{
	const struct user_regs_struct *r = &s->registers;

	return (struct unwind_job){
		.space = { process_space_find, process_space_read, (void *)space, space->process->generation, NULL,
			machine_host() },
		.registers = { { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8, r->r9, r->r10,
			r->r11, r->r12, r->r13, r->r14, r->r15, r->rip } },
		.dump = { s->stack, s->stack_bytes, r->rsp },
	};
}

/* How many of the frames are those of the shadow. */
static size_t count_agreeing(const struct stepper *s, const struct unwind_result *result)
{
	size_t agreeing = 1;

	while (agreeing <= s->depth && agreeing < result->count &&
		result->frames[agreeing].pc == s->shadow[s->depth - agreeing].pc)
		agreeing++;
	return agreeing;
}

static void expect_shadow(const struct stepper *s, struct unwinder *unwinder, const struct process_space *space)
{
	struct unwind_job job = job_of(s, space);
	unsigned long long pc = s->registers.rip;
	size_t agreeing;

	unwind_stacks(unwinder, &job, 1);
	if (job.result.stop != PROFILE_STOP_ROOT || job.result.count <= s->depth)
		fail_msg("step %zu at %llx: %zu frames of at least %zu, stopped by reason %d", s->steps, pc,
			job.result.count, s->depth + 1, (int)job.result.stop);
	agreeing = count_agreeing(s, &job.result);
	if (agreeing <= s->depth)
		fail_msg("step %zu at %llx: caller %zu is %llx instead of %llx", s->steps, pc, agreeing,
			(unsigned long long)job.result.frames[agreeing].pc,
			(unsigned long long)s->shadow[s->depth - agreeing].pc);
}

/* ---- The same where one function has no rules ---- */

struct hiding_space {
	struct process_space *space;
	const struct frame_table *table;
	uint64_t function_start;
};

static bool find_unless_hidden(void *context, uint64_t address, struct unwind_code *code)
{
	const struct hiding_space *hiding = context;
	struct frame_rule rule;

	if (!process_space_find(hiding->space, address, code))
		return false;
	if (code->table == hiding->table && frame_table_find_rule(code->table, code->image_address, &rule) &&
		rule.function_start == hiding->function_start)
		code->table = NULL;
	return true;
}

static bool is_code_to_be_looked_at(void *context, uint64_t address)
{
	const struct hiding_space *hiding = context;

	return process_space_is_code(hiding->space, address);
}

/* Of the function that runs, or of one that waits for it. */
static bool hide(const struct stepper *s, struct hiding_space *hiding)
{
	size_t level = s->steps % 3;
	uint64_t address = level == 0 ? s->registers.rip : level <= s->depth ? s->shadow[s->depth - level].pc - 1 : 0;
	struct unwind_code code;
	struct frame_rule rule;

	if (!process_space_find(hiding->space, address, &code) || !code.table ||
		!frame_table_find_rule(code.table, code.image_address, &rule) || rule.is_signal_frame)
		return false;
	hiding->table = code.table;
	hiding->function_start = rule.function_start;
	return true;
}

static void compare_hidden(struct stepper *s, struct unwinder *unwinder, struct process_space *space)
{
	struct hiding_space hiding = { .space = space };
	struct unwind_job job = job_of(s, space);
	bool is_whole;

	if (!hide(s, &hiding))
		return;
	/* What is known of the code differs by what is hidden. */
	job.space = (struct unwind_space){ find_unless_hidden, NULL, &hiding,
		hiding.function_start ^ (uintptr_t)hiding.table, is_code_to_be_looked_at, machine_host() };
	unwind_stacks(unwinder, &job, 1);
	/* Frame pointers miss the caller of a function that keeps none, as the dynamic linker's trampoline. */
	if (job.result.frame_pointer_frames > 0)
		return;
	is_whole = job.result.stop == PROFILE_STOP_ROOT;
	s->hidden.walks++;
	s->hidden.whole += is_whole;
	s->hidden.wrong += count_agreeing(s, &job.result) <
			   (is_whole || job.result.count > s->depth ? s->depth + 1 : job.result.count);
}

/* One instruction. False when the child has ended. */
static bool step(struct stepper *s, int *signal_number)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, s->child, NULL, (void *)(intptr_t)*signal_number), 0);
	assert_int_equal(waitpid(s->child, &status, 0), s->child);
	if (!WIFSTOPPED(status)) {
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	*signal_number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

static void every_instruction_has_its_callers(void **state)
{
	struct stepper *s = *state;
	struct process_reader *reader;
	struct process_table table;
	struct process_space space = { .table = &table };
	struct user_regs_struct before;
	struct unwinder *unwinder;
	struct process *process;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;
	int signal_number = 0, delivered = 0, status;

	s->child = start_child();
	assert_true(s->child > 0);
	assert_int_equal(waitpid(s->child, &status, 0), s->child);
	assert_true(WIFSTOPPED(status));
	assert_true(profile_create(&profile, &err) && unwinder_create(&unwinder, &err));
	assert_true(process_reader_create(&reader, &err));
	process_table_init(&table, profile, process_host_live(reader), NULL);
	assert_true(process_table_get(&table, s->child, &process, &err));
	space.process = process;
	look(s);
	for (before = s->registers; step(s, &signal_number); before = s->registers, s->steps++) {
		look(s);
		/* About to be delivered: nothing has run yet. */
		if (signal_number) {
			delivered = signal_number;
			continue;
		}
		follow(s, &before, delivered != 0);
		delivered = 0;
		expect_shadow(s, unwinder, &space);
		compare_hidden(s, unwinder, &space);
	}
	print_message(
		"%zu instructions, up to %zu callers; without a function's rules %zu walks, %zu whole, %zu wrong\n",
		s->steps, s->deepest, s->hidden.walks, s->hidden.whole, s->hidden.wrong);
	assert_true(s->hidden.walks > ENOUGH_STEPS / 2);
	assert_true(s->hidden.whole * 100 > s->hidden.walks * 90);
	assert_true(s->hidden.wrong * 200 <= s->hidden.walks);
	assert_true(s->steps > ENOUGH_STEPS);
	assert_int_equal(s->signals, 1);
	assert_true(s->deepest > 6);
	process_table_deinit(&table);
	process_reader_destroy(reader);
	unwinder_destroy(unwinder);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct stepper));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_instruction_has_its_callers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
