/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program as the kernel runs it: samples of real CPythons. */
#include "refusal_fixture.h"
#include "sampler/ebpf/ebpf.h"
#include "sampling_fixture.h"
#include "scripts_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENOUGH = 60, CODE_WORDS = 20 };

/* ---- Frames of CPython ---- */

static void expect_names(const struct script *script, const struct ebpf_frames *frames, const char *const *names)
{
	size_t count = 0;
	char name[64];

	for (size_t i = 0; i < frames->count; i++) {
		if (ebpf_python_is_activation(frames->words[i]))
			continue;
		assert_non_null(names[count]);
		script_name_frame(script, frames->words[i], name, sizeof(name));
		assert_string_equal(name, names[count++]);
		assert_int_not_equal(ebpf_frame_position(frames->words[i]), EBPF_FRAME_NO_POSITION);
	}
	assert_null(names[count]);
	assert_false(frames->is_cut);
}

/* Each activation further out on the stack than those that it has called. */
static void expect_activations(const struct ebpf_frames *frames, const char *are_activations)
{
	uint64_t address = 0;

	assert_in_range(frames->count, strlen(are_activations), strlen(are_activations) + 1);
	for (size_t i = 0; are_activations[i]; i++) {
		assert_int_equal(ebpf_python_is_activation(frames->words[i]), are_activations[i] == '1');
		if (are_activations[i] == '0')
			continue;
		assert_true(ebpf_python_activation_address(frames->words[i]) > address);
		address = ebpf_python_activation_address(frames->words[i]);
	}
}

/* Whether a sample has its time before its program runs, which then notes it with the frames. */
static bool has_time_first(void)
{
	struct utsname kernel;
	int major, minor;

	assert_int_equal(uname(&kernel), 0);
	assert_int_equal(sscanf(kernel.release, "%d.%d", &major, &minor), 2);
	return major > 6 || (major == 6 && minor >= 3);
}

/* A sample without frames is counted as such. Where frames do not have the time of their sample (`is_exact`), a host
 * that takes the CPU away between the two puts them too far apart now and then. */
static void expect_counted(const struct sampling *sampling, size_t samples, size_t found, bool is_exact)
{
	struct ebpf_frame_reader_counts counts = ebpf_frame_reader_counts(sampling->frame_reader);
	uint64_t without = counts.lost + counts.unknown + counts.unread;

	assert_true(samples >= ENOUGH);
	assert_in_range(samples - found, 0, without + (is_exact ? 0 : samples / ENOUGH));
}

static void test_each_sample_has_its_frames(void **state)
{
	static const char text[] = "def innermost(x):\n"
				   "  begin()\n"
				   "  while True: pass\n"
				   "class Shape:\n"
				   "  def run(self): return list(map(innermost, [1]))\n"
				   "def middle(): return Shape().run()\n"
				   "middle()\n";
	static const char *const names[] = { "innermost", "Shape.run", "middle", "<module>", NULL };
	struct sampling sampling;
	struct script script;
	struct sample sample;

	for (size_t i = 0; script_start(&script, i, text); i++) {
		size_t samples = 0, found = 0;

		sampling_start(&sampling, PLENTY_BYTES);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_wait(&sampling, ENOUGH);
		while (sampling_next(&sampling, &sample)) {
			struct ebpf_frames frames;

			if (sample.tid != (uint32_t)script.pid)
				continue;
			samples++;
			if (!ebpf_frame_reader_find(
				    sampling.frame_reader, sample.cpu, sample.tid, sample.time_ns, &frames))
				continue;
			found++;
			expect_names(&script, &frames, names);
			expect_activations(&frames, "010001");
		}
		expect_counted(&sampling, samples, found, has_time_first());
		sampling_stop(&sampling);
		script_stop(&script);
	}
}

/* Threads that begin while samples are taken. */
static void test_threads_are_found(void **state)
{
	enum { THREADS = 3 };
	static const char text[] = "def work():\n"
				   "  say(threading.get_native_id())\n"
				   "  while True: pass\n"
				   "def start():\n"
				   "  begin()\n"
				   "  while time.process_time() < 0.3: pass\n"
				   "  for i in range(3): threading.Thread(target=work).start()\n"
				   "  threading.Event().wait()\n"
				   "import time\n"
				   "start()\n";
	static const char *const names[] = { "work", "Thread.run", "Thread._bootstrap_inner", "Thread._bootstrap",
		NULL };
	struct sampling sampling;
	struct script script;

	for (size_t i = 0; script_start(&script, i, text); i++) {
		struct ebpf_frames frames[THREADS] = { 0 };
		uint32_t tids[THREADS];
		struct sample sample;

		sampling_start(&sampling, PLENTY_BYTES);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_wait(&sampling, ENOUGH);
		for (int thread = 0; thread < THREADS; thread++)
			tids[thread] = (uint32_t)script_hear(&script);
		sampling_wait(&sampling, THREADS * ENOUGH);
		while (sampling_next(&sampling, &sample))
			for (int thread = 0; thread < THREADS; thread++)
				if (sample.tid == tids[thread])
					(void)ebpf_frame_reader_find(sampling.frame_reader, sample.cpu, sample.tid,
						sample.time_ns, &frames[thread]);
		for (int thread = 0; thread < THREADS; thread++)
			expect_names(&script, &frames[thread], names);
		sampling_stop(&sampling);
		script_stop(&script);
	}
}

/* Samples of waits, and of who ends them, have frames too. */
static void test_waits_have_frames(void **state)
{
	enum { TURNS = 20 };
	static const char text[] = "import time\n"
				   "pipe = os.pipe()\n"
				   "def get():\n"
				   "  while True: os.read(pipe[0], 1)\n"
				   "def put():\n"
				   "  begin()\n"
				   "  while time.process_time() < 0.3: pass\n"
				   "  while True:\n"
				   "    time.sleep(0.006)\n"
				   "    os.write(pipe[1], b'1')\n"
				   "threading.Thread(target=get).start()\n"
				   "put()\n";
	static const char *const getter[] = { "get", "Thread.run", "Thread._bootstrap_inner", "Thread._bootstrap",
		NULL };
	static const char *const putter[] = { "put", "<module>", NULL };
	struct sampling sampling;
	struct script script;

	for (size_t i = 0; script_start(&script, i, text); i++) {
		size_t of_get = 0, of_put = 0, samples = 0;
		struct sample sample;

		sampling_start_waits(&sampling, PLENTY_BYTES);
		sampling_add(&sampling, script.pid, &script.python);
		/* On a busy machine one of them may have no turn for long. */
		for (int turn = 0; turn < TURNS && (of_put == 0 || of_get == 0); turn++) {
			sampling_wait(&sampling, 2 * (uint64_t)ENOUGH);
			while (sampling_next(&sampling, &sample)) {
				bool is_put = sample.tid == (uint32_t)script.pid;
				struct ebpf_frames frames;

				samples++;
				if (!ebpf_frame_reader_find(
					    sampling.frame_reader, sample.cpu, sample.tid, sample.time_ns, &frames))
					continue;
				expect_names(&script, &frames, is_put ? putter : getter);
				of_put += is_put;
				of_get += !is_put;
			}
		}
		assert_true(of_put > 0 && of_get > 0);
		expect_counted(&sampling, samples, of_put + of_get, false);
		sampling_stop(&sampling);
		script_stop(&script);
	}
}

/* A child that is forked is known by its parent; its thread has another id. */
static void test_a_child_has_its_parents_runtime(void **state)
{
	static const char text[] = "def in_child():\n"
				   "  say(os.getpid())\n"
				   "  while True: pass\n"
				   "def in_parent():\n"
				   "  begin()\n"
				   "  while time.process_time() < 0.2: pass\n"
				   "  if os.fork() == 0: in_child()\n"
				   "  os.wait()\n"
				   "import time\n"
				   "in_parent()\n";
	static const char *const names[] = { "in_child", "in_parent", "<module>", NULL };
	struct sampling sampling;
	struct script script;

	for (size_t i = 0; script_start(&script, i, text); i++) {
		struct ebpf_frames frames = { 0 };
		uint32_t child;
		size_t samples;

		sampling_start(&sampling, PLENTY_BYTES);
		child = (uint32_t)script_hear(&script);
		script_wait_for_work((pid_t)child);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_add(&sampling, (pid_t)child, NULL);
		sampling_wait(&sampling, ENOUGH);
		assert_true(sampling_count_frames(&sampling, child, &samples, &frames) >= ENOUGH);
		expect_names(&script, &frames, names);
		sampling_stop(&sampling);
		kill((pid_t)child, SIGKILL);
		script_stop(&script);
	}
}

/* A thousand frames, and more of them than there is room for. */
static void test_deep_stacks(void **state)
{
	static const char format[] = "sys.setrecursionlimit(10000)\n"
				     "def deep(n):\n"
				     "  if n > 1: return deep(n - 1)\n"
				     "  begin()\n"
				     "  while True: pass\n"
				     "deep(%d)\n";
	static const int depths[] = { 1000, 3000 };
	struct sampling sampling;
	struct script script;
	char text[256];

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct ebpf_frames frames = { 0 };
		size_t samples, with_frames;
		bool is_whole = depths[i] < EBPF_MOST_FRAMES;

		snprintf(text, sizeof(text), format, depths[i]);
		assert_true(script_start(&script, 0, text));
		sampling_start(&sampling, PLENTY_BYTES);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_wait(&sampling, 20);
		with_frames = sampling_count_frames(&sampling, (uint32_t)script.pid, &samples, &frames);
		assert_true(with_frames > 0);
		assert_int_equal(with_frames, samples);
		assert_int_equal(frames.is_cut, !is_whole);
		assert_int_equal(frames.count, is_whole ? (size_t)depths[i] + 2 : EBPF_MOST_FRAMES);
		sampling_stop(&sampling);
		script_stop(&script);
	}
}

/* Nobody reads: what does not fit is counted. Once it was read, there is room again. */
/* Whether the code object of a frame was copied, as the process has it. All that were copied are asked for. */
static bool has_code(struct sampling *sampling, const struct script *script, uint64_t frame)
{
	struct ebpf_code code;
	bool is_found = false;

	while (ebpf_frame_reader_next_code(sampling->frame_reader, UINT64_MAX, &code)) {
		const struct ebpf_piece *piece = &code.pieces[0];
		uint64_t there[CODE_WORDS], copied[CODE_WORDS];
		const struct iovec into = { there, sizeof(there) },
				   from = { (void *)(uintptr_t)piece->address, sizeof(there) };

		assert_int_equal(code.pid, script->pid);
		if (piece->address != ebpf_frame_code(frame))
			continue;
		is_found = true;
		assert_int_equal(process_vm_readv(script->pid, &into, 1, &from, 1, 0), sizeof(there));
		memcpy(copied, piece->bytes, sizeof(copied));
		/* The first word counts references. */
		assert_memory_equal(copied + 1, there + 1, sizeof(there) - sizeof(*there));
		assert_int_equal(code.pieces[1].address, copied[script->python.qualname / sizeof(*copied)]);
	}
	return is_found;
}

static void test_losses_are_counted(void **state)
{
	static const char text[] = "def deep(n):\n"
				   "  if n > 1: return deep(n - 1)\n"
				   "  begin()\n"
				   "  while True: pass\n"
				   "deep(100)\n";
	struct ebpf_frame_reader_counts counts, after;
	struct ebpf_frames frames = { 0 };
	struct sampling sampling;
	struct script script;
	size_t samples;

	assert_true(script_start(&script, 0, text));
	sampling_start(&sampling, 0);
	sampling_add(&sampling, script.pid, &script.python);
	sampling_wait(&sampling, 2 * ENOUGH);
	counts = ebpf_frame_reader_counts(sampling.frame_reader);
	assert_true(counts.lost > 0);
	assert_true(counts.stacks > 0);
	assert_int_equal(sampling_count_frames(&sampling, (uint32_t)script.pid, &samples, &frames), counts.stacks);
	assert_int_equal(frames.count, 102);
	assert_int_equal(counts.stacks + counts.lost, samples);
	/* Samples of a later time pass over what there is. */
	for (uint32_t cpu = 0; cpu < sampling.cpu_count; cpu++)
		assert_false(
			ebpf_frame_reader_find(sampling.frame_reader, cpu, (uint32_t)script.pid, UINT64_MAX, &frames));
	assert_true(has_code(&sampling, &script, frames.words[0]));
	ebpf_frame_reader_release(sampling.frame_reader);
	sampling_wait(&sampling, ENOUGH);
	after = ebpf_frame_reader_counts(sampling.frame_reader);
	assert_true(after.stacks > counts.stacks);
	assert_int_equal(sampling_count_frames(&sampling, (uint32_t)script.pid, &samples, &frames),
		after.stacks - counts.stacks);
	assert_int_equal(frames.count, 102);
	sampling_stop(&sampling);
	script_stop(&script);
}

/* ---- Rights ---- */

static void refuse_in_child(void)
{
	struct ebpf_frame_reader_options options = { .cpu_count = 1 };
	struct ebpf_frame_reader *reader = NULL;
	struct error err = { 0 };

	_exit(ebpf_frame_reader_create(&options, &reader, &err) && !ebpf_frame_reader_load(reader) &&
				ebpf_frame_reader_refusal(reader)->code == ERROR_PERMISSION
			? 0
			: 4);
}

/* One account has more processes than there is room for. Those of another one all have frames beside it. */
static void test_an_account_has_a_share_of_the_processes(void **state)
{
	enum { ROOM = 65536, FIRST = 1 << 24, OTHERS = 200, HOSTILE = 54321, OTHER = 1000 };
	const struct ebpf_interpreter interpreter = { .kind = EBPF_GO };
	struct sampling sampling;
	uint32_t count = 0, other_count = 0;

	sampling_start(&sampling, PLENTY_BYTES);
	for (int32_t i = 0; i < ROOM; i++)
		count += ebpf_frame_reader_add(sampling.frame_reader, FIRST + i, HOSTILE, &interpreter);
	assert_int_equal(count, ROOM / 2);
	for (int32_t i = 0; i < OTHERS; i++)
		other_count += ebpf_frame_reader_add(sampling.frame_reader, 2 * FIRST + i, OTHER, &interpreter);
	assert_int_equal(other_count, OTHERS);
	/* What is given back, or added again, takes nothing. */
	assert_false(ebpf_frame_reader_add(sampling.frame_reader, FIRST + ROOM, HOSTILE, &interpreter));
	for (int32_t i = 0; i < 2 * OTHERS; i++)
		ebpf_frame_reader_remove(sampling.frame_reader, FIRST + i);
	assert_true(ebpf_frame_reader_add(sampling.frame_reader, FIRST + ROOM, HOSTILE, &interpreter));
	assert_true(ebpf_frame_reader_add(sampling.frame_reader, FIRST + ROOM, HOSTILE, &interpreter));
	sampling_stop(&sampling);
}

static void test_a_refusal_is_an_error(void **state)
{
	expect_refusal(refuse_in_child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_account_has_a_share_of_the_processes),
		cmocka_unit_test(test_each_sample_has_its_frames),
		cmocka_unit_test(test_threads_are_found),
		cmocka_unit_test(test_waits_have_frames),
		cmocka_unit_test(test_a_child_has_its_parents_runtime),
		cmocka_unit_test(test_deep_stacks),
		cmocka_unit_test(test_losses_are_counted),
		cmocka_unit_test(test_a_refusal_is_an_error),
	};

	if (!sampling_is_permitted() || !script_is_possible())
		return 77;
	return cmocka_run_group_tests_name("ebpf.frame_reader", tests, NULL, NULL);
}
