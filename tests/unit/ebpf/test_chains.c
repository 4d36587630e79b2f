/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program as the kernel runs it: samples of real CPythons, and of a process that only looks like one. */
#include "ebpf/ebpf.h"
#include "refusal.h"
#include "sampling.h"
#include "scripts.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ENOUGH = 60, CODE_WORDS = 20 };

/* ---- Chains of CPython ---- */

static void expect_names(const struct script *script, const struct ebpf_chain *chain, const char *const *names)
{
	size_t count = 0;
	char name[64];

	for (; names[count]; count++) {
		assert_true(count < chain->count);
		script_name_frame(script, chain->frames[count], name, sizeof(name));
		assert_string_equal(name, names[count]);
		assert_int_not_equal(ebpf_chain_unit(chain->frames[count]), EBPF_CHAIN_NO_UNIT);
	}
	assert_int_equal(chain->count, count);
	assert_false(chain->is_cut);
}

static void expect_activations(const struct ebpf_chain *chain, const char *first)
{
	for (size_t i = 0; i < chain->count; i++)
		assert_int_equal(ebpf_chain_is_first(chain->frames[i]), first[i] == '1');
}

static void test_each_sample_has_its_chain(void **state)
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
	size_t samples = 0;

	for (size_t i = 0; script_start(&script, i, text); i++) {
		sampling_start(&sampling, PLENTY_BYTES);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_wait(&sampling, ENOUGH);
		while (sampling_next(&sampling, &sample)) {
			struct ebpf_chain chain;

			if (sample.tid != (uint32_t)script.pid)
				continue;
			assert_true(ebpf_chains_find(sampling.chains, sample.cpu, sample.tid, sample.time_ns, &chain));
			expect_names(&script, &chain, names);
			expect_activations(&chain, "1001");
			samples++;
		}
		assert_true(samples >= ENOUGH);
		sampling_stop(&sampling);
		script_stop(&script);
	}
	(void)state;
	assert_true(samples > 0);
}

/* The chains of a thread's samples. `*samples` receives how many it has, with and without a chain. */
static size_t count_chains(struct sampling *sampling, uint32_t tid, size_t *samples, struct ebpf_chain *last)
{
	struct sample sample;
	size_t chains = 0;

	*samples = 0;
	while (sampling_next(sampling, &sample)) {
		if (sample.tid != tid)
			continue;
		++*samples;
		chains += ebpf_chains_find(sampling->chains, sample.cpu, sample.tid, sample.time_ns, last);
	}
	return chains;
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

	(void)state;
	for (size_t i = 0; script_start(&script, i, text); i++) {
		struct ebpf_chain chains[THREADS] = { 0 };
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
					(void)ebpf_chains_find(sampling.chains, sample.cpu, sample.tid, sample.time_ns,
						&chains[thread]);
		for (int thread = 0; thread < THREADS; thread++)
			expect_names(&script, &chains[thread], names);
		sampling_stop(&sampling);
		script_stop(&script);
	}
}

/* Samples of waits, and of who ends them, follow chains too. */
static void test_waits_have_chains(void **state)
{
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

	(void)state;
	for (size_t i = 0; script_start(&script, i, text); i++) {
		size_t of_get = 0, of_put = 0;
		struct sample sample;

		sampling_start_waits(&sampling, PLENTY_BYTES);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_wait(&sampling, 2 * (uint64_t)ENOUGH);
		while (sampling_next(&sampling, &sample)) {
			bool is_put = sample.tid == (uint32_t)script.pid;
			struct ebpf_chain chain;

			assert_true(ebpf_chains_find(sampling.chains, sample.cpu, sample.tid, sample.time_ns, &chain));
			expect_names(&script, &chain, is_put ? putter : getter);
			of_put += is_put;
			of_get += !is_put;
		}
		assert_true(of_put > 0 && of_get > 0);
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

	(void)state;
	for (size_t i = 0; script_start(&script, i, text); i++) {
		struct ebpf_chain chain = { 0 };
		uint32_t child;
		size_t samples;

		sampling_start(&sampling, PLENTY_BYTES);
		child = (uint32_t)script_hear(&script);
		script_wait_for_work((pid_t)child);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_add(&sampling, (pid_t)child, NULL);
		sampling_wait(&sampling, ENOUGH);
		assert_true(count_chains(&sampling, child, &samples, &chain) >= ENOUGH);
		expect_names(&script, &chain, names);
		sampling_stop(&sampling);
		kill((pid_t)child, SIGKILL);
		script_stop(&script);
	}
}

/* A thousand frames, and more of them than there is room for. */
static void test_deep_chains(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct ebpf_chain chain = { 0 };
		size_t samples, chains;
		bool is_whole = depths[i] < EBPF_CHAIN_MOST_FRAMES;

		snprintf(text, sizeof(text), format, depths[i]);
		assert_true(script_start(&script, 0, text));
		sampling_start(&sampling, PLENTY_BYTES);
		sampling_add(&sampling, script.pid, &script.python);
		sampling_wait(&sampling, 20);
		chains = count_chains(&sampling, (uint32_t)script.pid, &samples, &chain);
		assert_true(chains > 0);
		assert_int_equal(chains, samples);
		assert_int_equal(chain.is_cut, !is_whole);
		assert_int_equal(chain.count, is_whole ? (size_t)depths[i] + 1 : EBPF_CHAIN_MOST_FRAMES);
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

	while (ebpf_chains_next_code(sampling->chains, UINT64_MAX, &code)) {
		const struct ebpf_piece *piece = &code.pieces[0];
		uint64_t there[CODE_WORDS], copied[CODE_WORDS];
		const struct iovec into = { there, sizeof(there) },
				   from = { (void *)(uintptr_t)piece->address, sizeof(there) };

		assert_int_equal(code.pid, script->pid);
		if (piece->address != ebpf_chain_code(frame))
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
	struct ebpf_chains_counts counts, after;
	struct ebpf_chain chain = { 0 };
	struct sampling sampling;
	struct script script;
	size_t samples;

	(void)state;
	assert_true(script_start(&script, 0, text));
	sampling_start(&sampling, 0);
	sampling_add(&sampling, script.pid, &script.python);
	sampling_wait(&sampling, 2 * ENOUGH);
	counts = ebpf_chains_counts(sampling.chains);
	assert_true(counts.lost > 0);
	assert_true(counts.chains > 0);
	assert_int_equal(count_chains(&sampling, (uint32_t)script.pid, &samples, &chain), counts.chains);
	assert_int_equal(chain.count, 101);
	assert_int_equal(counts.chains + counts.lost, samples);
	/* Samples of a later time pass over what there is. */
	for (uint32_t cpu = 0; cpu < sampling.cpu_count; cpu++)
		assert_false(ebpf_chains_find(sampling.chains, cpu, (uint32_t)script.pid, UINT64_MAX, &chain));
	assert_true(has_code(&sampling, &script, chain.frames[0]));
	ebpf_chains_release(sampling.chains);
	sampling_wait(&sampling, ENOUGH);
	after = ebpf_chains_counts(sampling.chains);
	assert_true(after.chains > counts.chains);
	assert_int_equal(count_chains(&sampling, (uint32_t)script.pid, &samples, &chain), after.chains - counts.chains);
	assert_int_equal(chain.count, 101);
	sampling_stop(&sampling);
	script_stop(&script);
}

/* ---- A process that says that it is CPython ---- */

struct fake_frame {
	uint64_t code, previous, instruction;
	uint8_t mark;
};

struct fake {
	uint64_t first_interpreter;
	struct {
		uint64_t next, first_thread;
	} interpreters[2];
	struct {
		uint64_t next, id, frame;
	} threads[2];
	struct fake_frame frames[2];
};

/* The child runs in a copy of this memory, at the same addresses. */
static struct fake fake;

enum { FAKE_CODE = 0x7f0012345670, FAKE_UNIT = 21, WILD = 0x1234567890 };

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
	fake.frames[0] = (struct fake_frame){ FAKE_CODE, 0, FAKE_CODE + 2 * FAKE_UNIT, 1 };
}

/* `flags`: of clone(2). */
static pid_t start_fake(void (*change)(void), int flags)
{
	pid_t pid;

	make_fake();
	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	assert_true(pid >= 0);
	if (pid == 0) {
		fake.threads[0].id = (uint64_t)syscall(SYS_gettid);
		if (change)
			change();
		for (;;)
			;
	}
	return pid;
}

/* Samples such a process, and returns what was counted. `chain` receives the last one, whose words are copied. */
static struct ebpf_chains_counts sample_fake_of(void (*change)(void), int flags, struct ebpf_chain *chain)
{
	static uint64_t words[EBPF_CHAIN_MOST_FRAMES];
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
	};
	struct ebpf_chains_counts counts;
	pid_t child = start_fake(change, flags);
	struct sampling sampling;
	size_t samples;

	*chain = (struct ebpf_chain){ 0 };
	sampling_start(&sampling, PLENTY_BYTES);
	sampling_add(&sampling, child, &python);
	sampling_wait(&sampling, 20);
	counts = ebpf_chains_counts(sampling.chains);
	(void)count_chains(&sampling, (uint32_t)child, &samples, chain);
	assert_true(chain->count <= EBPF_CHAIN_MOST_FRAMES);
	if (chain->count > 0)
		chain->frames = memcpy(words, chain->frames, chain->count * sizeof(words[0]));
	sampling_stop(&sampling);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return counts;
}

static struct ebpf_chains_counts sample_fake(void (*change)(void), struct ebpf_chain *chain)
{
	return sample_fake_of(change, 0, chain);
}

static void expect_fake_frame(uint64_t word)
{
	assert_int_equal(ebpf_chain_code(word), FAKE_CODE);
	assert_int_equal(ebpf_chain_unit(word), FAKE_UNIT);
	assert_true(ebpf_chain_is_first(word));
}

static void test_a_fake_has_its_chain(void **state)
{
	struct ebpf_chain chain;
	struct ebpf_chains_counts counts = sample_fake(NULL, &chain);

	(void)state;
	assert_true(counts.chains > 0);
	assert_int_equal(counts.unread, 0);
	assert_int_equal(chain.count, 1);
	assert_false(chain.is_cut);
	expect_fake_frame(chain.frames[0]);
}

/* A thread of a container knows itself by another id. */
static void test_a_namespace_has_ids_of_its_own(void **state)
{
	struct ebpf_chain chain;
	struct ebpf_chains_counts counts = sample_fake_of(NULL, CLONE_NEWPID, &chain);

	(void)state;
	assert_true(counts.chains > 0);
	assert_int_equal(counts.unknown, 0);
	assert_int_equal(chain.count, 1);
	expect_fake_frame(chain.frames[0]);
}

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
	struct ebpf_chains_counts counts;
	struct ebpf_chain chain;

	(void)state;
	counts = sample_fake(make_frame_cycle, &chain);
	assert_true(counts.chains > 0);
	assert_true(chain.is_cut);
	assert_int_equal(chain.count, EBPF_CHAIN_MOST_FRAMES);
	counts = sample_fake(make_wild_frame, &chain);
	assert_int_equal(counts.unread, counts.chains);
	assert_true(chain.is_cut);
	assert_int_equal(chain.count, 1);
	counts = sample_fake(make_wild_first_frame, &chain);
	assert_int_equal(counts.unread, counts.chains);
	assert_true(chain.is_cut);
	assert_int_equal(chain.count, 0);
	counts = sample_fake(make_no_frame, &chain);
	assert_int_equal(counts.chains + counts.unread + counts.unknown, 0);
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

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct ebpf_chain chain;
		struct ebpf_chains_counts counts = sample_fake(changes[i], &chain);

		assert_int_equal(counts.chains, 0);
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
	struct ebpf_chain chain;
	struct ebpf_chains_counts counts = sample_fake(make_many_threads, &chain);

	(void)state;
	assert_true(counts.unknown > 0);
	assert_true(counts.chains > 0);
	assert_int_equal(chain.count, 1);
	expect_fake_frame(chain.frames[0]);
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
	struct ebpf_chain chain;
	struct ebpf_chains_counts counts = sample_fake(make_last_frame, &chain);

	(void)state;
	assert_int_equal(counts.unread, 0);
	assert_int_equal(chain.count, 1);
	assert_false(chain.is_cut);
	expect_fake_frame(chain.frames[0]);
}

/* ---- Rights ---- */

static void refuse_in_child(void)
{
	struct ebpf_chains_options options = { .cpu_count = 1 };
	struct ebpf_chains *chains = NULL;
	struct error err = { 0 };

	_exit(!ebpf_chains_create(&options, &chains, &err) && !chains && err.code == ERROR_PERMISSION ? 0 : 4);
}

static void test_a_refusal_is_an_error(void **state)
{
	(void)state;
	expect_refusal(refuse_in_child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_sample_has_its_chain),
		cmocka_unit_test(test_threads_are_found),
		cmocka_unit_test(test_waits_have_chains),
		cmocka_unit_test(test_a_child_has_its_parents_runtime),
		cmocka_unit_test(test_deep_chains),
		cmocka_unit_test(test_losses_are_counted),
		cmocka_unit_test(test_a_fake_has_its_chain),
		cmocka_unit_test(test_a_namespace_has_ids_of_its_own),
		cmocka_unit_test(test_hostile_frames_are_bounded),
		cmocka_unit_test(test_hostile_threads_are_bounded),
		cmocka_unit_test(test_a_search_goes_on_at_the_next_sample),
		cmocka_unit_test(test_a_frame_at_the_end_of_memory),
		cmocka_unit_test(test_a_refusal_is_an_error),
	};

	if (!sampling_is_permitted() || !script_is_possible())
		return 77;
	return cmocka_run_group_tests_name("ebpf.chains", tests, NULL, NULL);
}
