/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program as the kernel runs it: samples of processes that only look like PHP and Ruby. */
#include "sampler/ebpf/ebpf.h"
#include "sampling_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WILD = 0x1234567890, LINE = 21, MANY = 4096 };

/* A function and two frames of PHP; one frame of Ruby, and stack behind it. Members are words. */
static struct {
	struct {
		uint64_t innermost;
		uint64_t function[32], instruction[4];
		uint64_t frames[2][10];
	} php;
	struct {
		uint64_t context[8], thread[8];
		uint64_t stack[MANY];
		uint64_t flags, code[5], body[24], instructions[8];
	} ruby;
} fake;
static _Thread_local uint64_t ruby_context;

static uint64_t address_of(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

static void make_php(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.php.innermost = address_of(fake.php.frames[0]);
	fake.php.function[PHP_FUNCTION_TYPE / 8] = 2;
	fake.php.instruction[PHP_INSTRUCTION_LINE / 8] = LINE;
	fake.php.frames[0][PHP_FRAME_INSTRUCTION / 8] = address_of(fake.php.instruction);
	fake.php.frames[0][PHP_FRAME_FUNCTION / 8] = address_of(fake.php.function);
	fake.php.frames[0][PHP_FRAME_FLAGS / 8] = PHP_IS_TOP;
}

static uint64_t *ruby_frame(size_t i)
{
	return &fake.ruby.stack[MANY - (i + 1) * 7];
}

static void make_ruby_frame(size_t i)
{
	ruby_frame(i)[RUBY_FRAME_INSTRUCTION / 8] = address_of(&fake.ruby.instructions[LINE % 8 + 1]);
	ruby_frame(i)[RUBY_FRAME_CODE / 8] = address_of(fake.ruby.code);
	ruby_frame(i)[RUBY_FRAME_ENVIRONMENT / 8] = address_of(&fake.ruby.flags);
}

static void make_ruby(void)
{
	memset(&fake, 0, sizeof(fake));
	ruby_context = address_of(fake.ruby.context);
	fake.ruby.context[RUBY_CONTEXT_STACK / 8] = address_of(fake.ruby.stack);
	fake.ruby.context[RUBY_CONTEXT_STACK_SIZE / 8] = MANY;
	fake.ruby.context[RUBY_CONTEXT_FRAME / 8] = address_of(ruby_frame(0));
	fake.ruby.context[6] = address_of(fake.ruby.thread);
	fake.ruby.thread[6] = address_of(fake.ruby.context);
	fake.ruby.flags = RUBY_IS_LAST;
	fake.ruby.code[RUBY_CODE_BODY / 8] = address_of(fake.ruby.body);
	fake.ruby.body[0] = 8ULL << 32;
	fake.ruby.body[RUBY_BODY_INSTRUCTIONS / 8] = address_of(fake.ruby.instructions);
	make_ruby_frame(0);
}

static const struct ebpf_interpreter *php_interpreter(void)
{
	static struct ebpf_interpreter interpreter = { .kind = EBPF_PHP };

	interpreter.php = (struct ebpf_php){ address_of(&fake.php.innermost), 144 };
	return &interpreter;
}

static const struct ebpf_interpreter *ruby_interpreter(void)
{
	static struct ebpf_interpreter interpreter = { .kind = EBPF_RUBY };

	interpreter.ruby = (struct ebpf_ruby){
		.first_variable = (uint32_t)(address_of(__builtin_thread_pointer()) - address_of(&ruby_context)),
		.variables = 1,
		.context_thread = 48,
		.thread_context = 48,
		.frame_bytes = 56,
		.text = 24,
	};
	return &interpreter;
}

/* Samples a child that is such a process. `frames` receives the last ones, whose words are copied. */
static struct ebpf_frame_reader_counts sample(const struct ebpf_interpreter *interpreter, void (*make)(void),
	void (*change)(void), struct ebpf_frames *frames)
{
	static uint64_t words[EBPF_MOST_FRAMES];
	struct ebpf_frame_reader_counts counts;
	struct sampling sampling;
	size_t samples;
	pid_t child;

	make();
	if (change)
		change();
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	assert_true(child >= 0);
	if (child == 0)
		for (;;)
			;
	*frames = (struct ebpf_frames){ 0 };
	sampling_start(&sampling, PLENTY_BYTES);
	sampling_add_interpreter(&sampling, child, interpreter);
	sampling_wait(&sampling, 20);
	counts = ebpf_frame_reader_counts(sampling.frame_reader);
	(void)sampling_count_frames(&sampling, (uint32_t)child, &samples, frames);
	assert_true(frames->count <= EBPF_MOST_FRAMES);
	if (frames->count > 0)
		frames->words = memcpy(words, frames->words, frames->count * sizeof(words[0]));
	sampling_stop(&sampling);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return counts;
}

static void expect_frame(
	const struct ebpf_frames *frames, enum ebpf_interpreter_kind kind, const void *code, uint32_t position)
{
	assert_int_equal(frames->kind, kind);
	assert_int_equal(frames->count, 1);
	assert_false(frames->is_cut);
	assert_int_equal(ebpf_frame_code(frames->words[0]), address_of(code));
	assert_int_equal(ebpf_frame_position(frames->words[0]), position);
	assert_true(ebpf_frame_is_first(frames->words[0]));
}

/* ---- PHP ---- */

static void make_php_cycle(void)
{
	fake.php.frames[0][PHP_FRAME_PREVIOUS / 8] = address_of(fake.php.frames[0]);
}

static void make_php_wild_frame(void)
{
	fake.php.frames[0][PHP_FRAME_PREVIOUS / 8] = WILD;
}

static void make_php_wild_function(void)
{
	fake.php.frames[0][PHP_FRAME_FUNCTION / 8] = WILD;
}

static void make_php_wild_instruction(void)
{
	fake.php.frames[0][PHP_FRAME_INSTRUCTION / 8] = WILD;
}

static void make_php_placeholders(void)
{
	fake.php.frames[0][PHP_FRAME_FUNCTION / 8] = 0;
	make_php_cycle();
}

static void test_php(void **state)
{
	struct ebpf_frame_reader_counts counts;
	struct ebpf_frames frames;

	counts = sample(php_interpreter(), make_php, NULL, &frames);
	assert_true(counts.stacks > 0);
	expect_frame(&frames, EBPF_PHP, fake.php.function, LINE);
	(void)sample(php_interpreter(), make_php, make_php_wild_instruction, &frames);
	expect_frame(&frames, EBPF_PHP, fake.php.function, EBPF_FRAME_NO_POSITION);
	(void)sample(php_interpreter(), make_php, make_php_cycle, &frames);
	assert_true(frames.is_cut);
	assert_int_equal(frames.count, EBPF_MOST_FRAMES);
	counts = sample(php_interpreter(), make_php, make_php_placeholders, &frames);
	assert_true(counts.stacks > 0 && frames.is_cut);
	assert_int_equal(frames.count, 0);
	counts = sample(php_interpreter(), make_php, make_php_wild_frame, &frames);
	assert_int_equal(counts.unread, counts.stacks);
	assert_int_equal(frames.count, 1);
	counts = sample(php_interpreter(), make_php, make_php_wild_function, &frames);
	assert_int_equal(counts.unread, counts.stacks);
	assert_int_equal(frames.count, 0);
}

/* ---- Ruby ---- */

static void make_ruby_deep(void)
{
	for (size_t i = 0; i < MANY / 7; i++)
		make_ruby_frame(i);
	fake.ruby.context[RUBY_CONTEXT_FRAME / 8] = address_of(ruby_frame(MANY / 7 - 1));
}

static void make_ruby_endless(void)
{
	fake.ruby.context[RUBY_CONTEXT_STACK_SIZE / 8] = 1 << 27;
}

static void make_ruby_wild_thread(void)
{
	fake.ruby.context[6] = WILD;
}

static void make_ruby_wild_stack(void)
{
	fake.ruby.context[RUBY_CONTEXT_FRAME / 8] = WILD;
}

static void make_ruby_wild_code(void)
{
	ruby_frame(0)[RUBY_FRAME_CODE / 8] = WILD;
}

static void make_ruby_wild_environment(void)
{
	ruby_frame(0)[RUBY_FRAME_ENVIRONMENT / 8] = WILD;
}

static void test_ruby(void **state)
{
	static void (*const none[])(void) = { make_ruby_wild_thread, make_ruby_wild_stack };
	struct ebpf_frame_reader_counts counts;
	struct ebpf_frames frames;

	counts = sample(ruby_interpreter(), make_ruby, NULL, &frames);
	assert_true(counts.stacks > 0);
	expect_frame(&frames, EBPF_RUBY, fake.ruby.code, LINE % 8);
	(void)sample(ruby_interpreter(), make_ruby, make_ruby_deep, &frames);
	assert_int_equal(frames.count, MANY / 7);
	assert_false(frames.is_cut);
	counts = sample(ruby_interpreter(), make_ruby, make_ruby_endless, &frames);
	assert_true(counts.stacks > 0);
	(void)sample(ruby_interpreter(), make_ruby, make_ruby_wild_code, &frames);
	assert_int_equal(frames.count, 1);
	assert_int_equal(ebpf_frame_position(frames.words[0]), EBPF_FRAME_NO_POSITION);
	counts = sample(ruby_interpreter(), make_ruby, make_ruby_wild_environment, &frames);
	assert_int_equal(counts.unread, counts.stacks);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		counts = sample(ruby_interpreter(), make_ruby, none[i], &frames);
		assert_int_equal(counts.stacks, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_php),
		cmocka_unit_test(test_ruby),
	};

	if (!sampling_is_permitted())
		return 77;
	return cmocka_run_group_tests_name("ebpf.fake_scripts", tests, NULL, NULL);
}
