/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/profile.h"

#include <string.h>

/* Ten seconds attached, 1,000 samples. */
static struct profile *recording_of(const char *rare, double seconds, size_t threads)
{
	struct synthetic s = synthetic_create();
	struct profile_thread thread = { .pid = 1 };
	struct error err;
	uint32_t id;

	synthetic_run(&s, false, seconds * 1000);
	for (int i = 0; i < 1000; i++)
		synthetic_add(&s, synthetic_stack(&s, i % 10 ? "main;parse" : rare), 1, i * seconds);
	for (thread.tid = 2; thread.tid <= (int32_t)threads; thread.tid++)
		assert_true(profile_add_thread(s.profile, &thread, &id, &err));
	s.profile->quality.samples = 1000;
	s.profile->quality.stops[PROFILE_STOP_ROOT] = 1000;
	s.profile->quality.frames = 20000;
	return synthetic_finish(&s);
}

static struct profile *recording(double seconds, size_t threads)
{
	return recording_of("main;lex", seconds, threads);
}

static void set_facts(struct profile *profile, const char *what)
{
	profile->facts = (struct profile_facts){ .tool = profile_id(profile, what),
		.event = profile_id(profile, what),
		.cpu_model = profile_id(profile, what),
		.kernel = profile_id(profile, what),
		.governor = profile_id(profile, what),
		.cgroup = profile_id(profile, what),
		.call_graph = profile_id(profile, what),
		.cpu_count = (uint32_t)strlen(what),
		.frequency_hz = 1000 * (uint32_t)strlen(what) };
	profile->period = 1000000;
}

static void cpu_model(struct profile *p)
{
	p->facts.cpu_model = profile_id(p, "other");
}

static void cpu_count(struct profile *p)
{
	p->facts.cpu_count = 64;
}

static void kernel(struct profile *p)
{
	p->facts.kernel = profile_id(p, "other");
}

static void event(struct profile *p)
{
	p->facts.event = profile_id(p, "other");
}

static void metric(struct profile *p)
{
	p->value_types[p->default_value_type].type = profile_id(p, "wall");
}

static void frequency(struct profile *p)
{
	p->facts.frequency_hz = 99;
}

static void period(struct profile *p)
{
	p->period = 10000000;
}

static void governor(struct profile *p)
{
	p->facts.governor = profile_id(p, "other");
}

static void call_graph(struct profile *p)
{
	p->facts.call_graph = profile_id(p, "other");
}

static void tool(struct profile *p)
{
	p->facts.tool = profile_id(p, "other");
}

static void cpu_limit(struct profile *p)
{
	p->facts.cpu_limit_milli = 1500;
}

static void cgroup(struct profile *p)
{
	p->facts.cgroup = profile_id(p, "/docker/0123456789abcdef");
}

static void user_only(struct profile *p)
{
	p->facts.user_only = true;
}

static void lost(struct profile *p)
{
	p->quality.lost = 50;
}

static void cut(struct profile *p)
{
	p->quality.stops[PROFILE_STOP_ROOT] -= 100;
	p->quality.stops[PROFILE_STOP_DUMP_END] += 100;
}

/* All but those that are called by an address. */
static void named(struct profile *p)
{
	for (size_t i = 0; i < p->function_count; i++)
		p->functions[i].name_source =
			strstr(profile_string(p, p->functions[i].name), "+0x") ? PROFILE_NAME_NONE : PROFILE_NAME_DWARF;
}

static void whole_command(struct profile *p)
{
	p->runs[0].whole_command = true;
}

static void failed(struct profile *p)
{
	p->runs[0].whole_command = true;
	p->runs[0].exit_status = 2;
}

static void unsampled(struct profile *p)
{
	p->facts.unsampled_ms = 30000;
}

static bool has_warning(const struct diff *diff, const char *words, bool *blocks)
{
	for (size_t i = 0; i < diff->warning_count; i++) {
		if (!strstr(diff_string(diff, diff->warnings[i].text), words))
			continue;
		*blocks = diff->warnings[i].blocks_gate;
		return true;
	}
	return false;
}

static const struct {
	void (*spoil)(struct profile *head);
	const char *words;
	bool blocks;
} cases[] = {
	{ cpu_model, "base and head were recorded with different CPU models: 'same' and 'other'", true },
	{ cpu_count, "base was recorded on 4 CPUs and head on 64", false },
	{ kernel, "base and head were recorded with different kernels: 'same' and 'other'", true },
	{ event, "base and head were recorded with different events: 'same' and 'other'", true },
	{ metric,
		"base measured cpu (nanoseconds) and head measured wall (nanoseconds), so only sample counts are compared",
		true },
	{ frequency, "base was sampled at 4000 Hz and head at 99 Hz", false },
	{ period, "base was sampled every 1000000 and head every 10000000", false },
	{ governor, "base and head were recorded with different CPU frequency governors: 'same' and 'other'", true },
	{ call_graph,
		"base was recorded with call graph same and head with call graph other: a difference that only this",
		false },
	{ tool, "base was recorded by same and head by other: a difference that only this makes is not the program's",
		false },
	{ cpu_limit, "base and head ran under different CPU limits: no limit and 1.5 CPUs", true },
	{ cgroup, "base and head ran in different control groups: 'same' and '/docker/0123456789abcdef'", false },
	{ user_only, "head was recorded without kernel code, base with it", true },
	{ lost, "head lost 4.8 % of its samples; record with a lower -F", true },
	{ cut, "0.0 % of base's stacks and 10.0 % of head's are not whole, so total times (with all that a function calls) are not comparable",
		true },
	{ whole_command, "head holds whole runs of a command and base does not, so only head includes start and exit",
		false },
	{ failed, "1 of 1 runs of head failed", true },
	{ unsampled, "30.00 s of head's CPU time (", true },
};

static void each_difference_is_named(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *base = recording(10, 1), *head = recording(10, 1);
		CLEANUP(diff_cleanup) struct diff *same = NULL, *diff = NULL;
		bool blocks = !cases[i].blocks;

		set_facts(base, "same");
		set_facts(head, "same");
		named(base);
		named(head);
		same = synthetic_diff(base, head, NULL);
		assert_int_equal(same->warning_count, 0);
		cases[i].spoil(head);
		diff = synthetic_compare(base, head, NULL);
		if (!has_warning(diff, cases[i].words, &blocks))
			fail_msg("nothing says '%s'", cases[i].words);
		assert_int_equal(blocks, cases[i].blocks);
	}
}

static struct profile *by_tool(const char *name, const char *graph)
{
	struct profile *profile = recording(10, 1);

	profile->facts.tool = profile_id(profile, name);
	profile->facts.call_graph = profile_id(profile, graph);
	return profile;
}

static void expect(struct profile *base, struct profile *head, const char *words, bool expected)
{
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, NULL);
	bool blocks = false;

	if (has_warning(diff, words, &blocks) != expected)
		fail_msg("'%s' is %ssaid", words, expected ? "not " : "");
	assert_false(blocks);
	profile_destroy(base);
	profile_destroy(head);
}

static uint32_t fact_value(struct profile *profile, const struct profile_fact *fact, bool is_other)
{
	if (fact->type == PROFILE_FACT_STRING)
		return profile_id(profile, is_other ? "other" : "same");
	return is_other ? 1 : fact->type == PROFILE_FACT_FLAG ? 0 : 2;
}

/* Each row of the table of facts, so that one that is added is compared as it says. */
static void each_fact_is_compared(void **state)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		struct profile *base = recording(10, 1), *head = recording(10, 1);
		CLEANUP(diff_cleanup) struct diff *diff = NULL;
		bool blocks = !facts[i].blocks_gate;

		base->facts.cgroup = profile_id(base, "same");
		head->facts.cgroup = profile_id(head, "same");
		profile_fact_set(&base->facts, &facts[i], fact_value(base, &facts[i], false));
		profile_fact_set(&head->facts, &facts[i], fact_value(head, &facts[i], true));
		diff = synthetic_compare(base, head, NULL);
		if (facts[i].differs[1]) {
			assert_true(has_warning(diff, facts[i].differs[1], &blocks));
			assert_int_equal(blocks, facts[i].blocks_gate);
		}
	}
}

/* One sentence says of both. What a side does not tell is not guessed. */
static void different_tools_are_named(void **state)
{
	expect(by_tool("perf 6.1", "fp"), by_tool("kelvin 0.2.0", "dwarf,16384"),
		"base was recorded by perf 6.1 with call graph fp and head by kelvin 0.2.0 with call graph dwarf,16384: ",
		true);
	expect(by_tool("py-spy@0.4.0", ""), by_tool("perf 6.1", "fp"), "by py-spy@0.4.0 and head by perf 6.1: ", true);
	expect(by_tool("", ""), by_tool("perf 6.1", "fp"), "recorded by", false);
	expect(by_tool("perf 6.1", "fp"), by_tool("perf 6.1", "fp"), "is not the program's", false);
}

static struct profile *in_group(const char *cgroup)
{
	struct profile *profile = recording(10, 1);

	profile->facts.cgroup = profile_id(profile, cgroup);
	return profile;
}

/* The next container of the same service, or its next start, is no other place. */
static void ids_of_control_groups_do_not_count(void **state)
{
	expect(in_group("/docker/0123456789abcdef"), in_group("/docker/fedcba9876543210"), "control groups", false);
	expect(in_group("/user.slice/session-4.scope"), in_group("/user.slice/session-17.scope"), "control groups",
		false);
	expect(in_group("/pods/pod1b4e28ba-2fa1-11d2/x"), in_group("/pods/pod883f-0016d3cca427/x"), "control groups",
		false);
	expect(in_group("/a.service"), in_group("/b.service"), "control groups", true);
	expect(in_group("/a.service"), in_group(""), "control groups", false);
}

static void chains_do_not_tell_what_was_cut(void **state)
{
	struct profile *head = recording(10, 1);

	head->quality.frames = 0;
	head->quality.stops[PROFILE_STOP_ROOT] -= 500;
	head->quality.stops[PROFILE_STOP_CHAIN_END] += 500;
	expect(recording(10, 1), head, "are cut", false);
}

/* What is missing on both sides alike leaves the rest comparable. */
static void what_neither_side_has_is_said(void **state)
{
	struct profile *base = recording(10, 1), *head = recording(10, 1);

	base->facts.unsampled_ms = head->facts.unsampled_ms = 30000;
	expect(base, head, "s of base's CPU time (", true);
}

static void lengths_and_threads_are_compared(void **state)
{
	expect(recording(10, 1), recording(60, 1),
		"base was recorded for 10.0 s and head for 60.0 s; the longer one may", true);
	expect(recording(10, 1), recording(30, 1), "was recorded for", false);
	expect(recording(10, 4), recording(10, 16), "base ran 4 threads and head 16, so", true);
	expect(recording(10, 4), recording(10, 6), "threads", false);
	expect(recording(10, 1), recording(10, 2), "threads", false);
}

static void expect_unnamed(const char *module, const char *advice)
{
	struct profile *base = recording(10, 1), *head = recording_of("main;code+0x12", 10, 1);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	char warning[160];
	bool blocks = false;

	named(base);
	named(head);
	for (size_t i = 0; i < head->function_count; i++)
		if (head->functions[i].name_source == PROFILE_NAME_NONE)
			head->functions[i].module = profile_id(head, module);
	diff = synthetic_compare(base, head, NULL);
	snprintf(warning, sizeof(warning), "0.0 %% of base's time and 10.0 %% of head's is in %s", advice);
	assert_true(has_warning(diff, warning, &blocks));
	assert_true(blocks);
}

static void time_without_names_is_compared(void **state)
{
	expect_unnamed("prog", "functions without names: install the missing debug symbols");
	expect_unnamed("//anon", "code generated at run time without function names: 'man kelvin-record' says");
}

/* All functions of whole runs take half as much again but one, which takes a little more: less than its share of the
 * load. */
static void readings_that_disagree_are_both_given(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_runs("main;a#1 5000\nmain;b#2 5000\nmain;c#3 5000\nmain;d#4 5000\n", 6);
	CLEANUP(profile_cleanup)
	struct profile *head = synthetic_runs("main;a#1 7500\nmain;b#2 7500\nmain;c#3 7500\nmain;d#4 5500\n", 6);
	struct diff_options robust = { .scale = DIFF_SCALE_ROBUST };
	struct diff *diff = synthetic_diff(base, head, &robust);
	bool blocks = true;

	assert_int_equal(diff->scale.other_mode, DIFF_SCALE_PER_RUN);
	assert_float_equal(diff->scale.other_factor, 1, 1e-9);
	assert_int_equal(synthetic_function(diff, "d")->self.state, DIFF_STATE_LESS);
	assert_true(has_warning(diff,
		"`d` takes less time at a guessed load but more per run; --scale per-run shows that view", &blocks));
	assert_false(blocks);
	diff_destroy(diff);
	diff = synthetic_diff(base, head, NULL);
	assert_int_equal(diff->scale.other_mode, DIFF_SCALE_ROBUST);
	assert_float_equal(diff->scale.other_factor, 2.0 / 3, 5e-3);
	diff_destroy(diff);
	/* Where both agree there is nothing to say. */
	diff = synthetic_diff(base, base, NULL);
	assert_false(has_warning(diff, "shows that view", &blocks));
	diff_destroy(diff);
}

/* "main" in two executables, each with functions of its own; the kernel's are everyone's. */
static void different_programs_are_named(void **state)
{
	static const char redis[] = "main!redis;set!redis 400\nmain!redis;get!redis 200\nmain!redis;read!kernel 400\n";
	static const char nginx[] =
		"main!nginx;parse!nginx 500\nmain!nginx;log!nginx 100\nmain!nginx;read!kernel 500\n";
	static const char redis_new[] = "main!redis-new;set!redis-new 500\nmain!redis-new;read!kernel 500\n";
	static const char rewritten[] = "main!redis;store!redis 600\nmain!redis;read!kernel 400\n";
	static const char shell[] = "main!dash;read!kernel 100\nmain!nginx;parse!nginx 600\n";
	static const char words[] = "look like different programs";

	expect(synthetic_profile(redis), synthetic_profile(nginx),
		"base and head look like different programs ('redis' and 'nginx'): apart from system code, at most 0.0 % of either side's time",
		true);
	expect(synthetic_profile(redis), synthetic_profile(shell), "('redis' and 'nginx')", true);
	expect(synthetic_profile(redis), synthetic_profile(redis_new), words, false);
	expect(synthetic_profile(redis), synthetic_profile(rewritten), words, false);
	/* Three samples do not tell. */
	expect(synthetic_profile(redis), synthetic_profile("main!nginx;parse!nginx 3\nmain!nginx;read!kernel 500\n"),
		words, false);
}

/* Three functions of seven take less than their share of the load. */
static void other_functions_whose_readings_disagree_are_counted(void **state)
{
	struct profile *base = synthetic_runs(
		"main;a#1 9000\nmain;b#2 9000\nmain;c#3 9000\nmain;g#4 9000\nmain;d 5000\nmain;e 4000\nmain;f 3000\n",
		6);
	struct profile *head = synthetic_runs(
		"main;a#1 13500\nmain;b#2 13500\nmain;c#3 13500\nmain;g#4 13500\nmain;d 5500\nmain;e 4400\nmain;f 3300\n",
		6);
	struct diff_options robust = { .scale = DIFF_SCALE_ROBUST };
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, &robust);
	bool blocks = true;

	assert_true(has_warning(diff,
		"`d` takes less time at a guessed load but more per run; --scale per-run shows that view (2 other functions change direction too)",
		&blocks));
}

/* A file named twice, on both sides or on one. */
static void copies_of_a_recording_are_named(void **state)
{
	static const char both[] = "base and head contain the same recording",
			  twice[] = "head contains the same recording more than once";
	struct profile *base = synthetic_runs("main;a 500\n", 2), *head = synthetic_runs("main;a 500\n", 2);
	bool blocks = false;
	struct diff *diff;

	for (size_t i = 0; i < 2; i++) {
		base->runs[i].start_unix_ns = 1600000000123456789 + (int64_t)i;
		head->runs[i].start_unix_ns = 1600000001000000000;
	}
	diff = synthetic_diff(base, head, NULL);
	assert_false(has_warning(diff, "recording", &blocks));
	diff_destroy(diff);
	head->runs[0].start_unix_ns = head->runs[1].start_unix_ns = 1600000001234567890;
	diff = synthetic_diff(base, head, NULL);
	assert_true(has_warning(diff, twice, &blocks));
	assert_true(blocks);
	diff_destroy(diff);
	head->runs[0].start_unix_ns = base->runs[1].start_unix_ns;
	diff = synthetic_diff(base, head, NULL);
	assert_true(has_warning(diff, both, &blocks));
	assert_true(blocks);
	diff_destroy(diff);
	head->runs[0].duration_ns++;
	diff = synthetic_compare(base, head, NULL);
	assert_false(has_warning(diff, both, &blocks));
	diff_destroy(diff);
}

static struct profile *run_as(const char *command)
{
	struct profile *profile = synthetic_runs("main;a 500\nmain;b 500\n", 3);

	profile->facts.command = profile_id(profile, command);
	return profile;
}

/* Where the program lies, and what its build is called, is no other work. */
static void arguments_are_compared(void **state)
{
	static const char words[] = "were run with different arguments";

	expect(run_as("./prog -n 1000"), run_as("./prog -n 3000"),
		"base and head were run with different arguments ('-n 1000' and '-n 3000'), so they may have done different work; give the work of each as --scale work=BASE:HEAD",
		true);
	expect(run_as("xz -1 -k big.bin"), run_as("xz -3 -k big.bin"), "('-1' and '-3')", true);
	expect(run_as("./prog in"), run_as("./prog in --check"), "(none and '--check')", true);
	expect(run_as("sh -c ./old 1; true"), run_as("sh -c ./new 2; true"), "('1;' and '2;')", true);
	expect(run_as("./old in.txt"), run_as("./new in.txt"), words, false);
	expect(run_as("/srv/a/prog /srv/a/in -n 5"), run_as("/srv/b/prog /srv/b/in -n 5"), words, false);
	expect(run_as("./prog -d /data/base/x -o base.out"), run_as("./prog -d /data/head/x -o head.out"), words,
		false);
	expect(run_as("perl one.pl 5"), run_as("perl two.pl 5"), words, false);
	expect(run_as("python3 -X perf one.py 5"), run_as("python3 -X perf two.py 6"), "('5' and '6')", true);
	expect(run_as("env A=1 prog 5"), run_as("env A=2 prog 5"), words, false);
	expect(run_as("./prog 5"), run_as(""), words, false);
	expect(recording(10, 1), run_as("./prog 5"), words, false);
}

static struct profile *harness(const char *stacks, const char *command)
{
	struct profile *profile = synthetic_runs(stacks, 3);

	profile->facts.command = profile_id(profile, command);
	return profile;
}

static struct profile *lasting(const char *stacks, double seconds)
{
	struct profile *profile = synthetic_runs(stacks, 6);

	for (size_t i = 0; i < profile->run_count; i++)
		profile->runs[i].duration_ns = (int64_t)(seconds * 1e9) + (int64_t)i * 1000000;
	return profile;
}

/* Another mix of work in the same time is strange; in another time, or for an instant, it is not. */
static void equally_long_runs_of_other_work_are_named(void **state)
{
	static const char before[] = "main;a 4000\nmain;b 6000\n", after[] = "main;a 6000\nmain;b 4000\n";
	static const char words[] =
		"all runs of both sides took 2.0 s, as those of a program that repeats its work for a fixed time";

	expect(lasting(before, 2), lasting(after, 2.02), words, true);
	expect(lasting(before, 2), lasting(before, 2), "for a fixed time", false);
	expect(lasting(before, 2), lasting(after, 2.4), "for a fixed time", false);
	expect(lasting(before, 0.2), lasting(after, 0.2), "for a fixed time", false);
}

/* A benchmark harness stops by the clock, unless it was told how often. */
static void runs_by_the_clock_are_named(void **state)
{
	static const char google[] = "main;benchmark::internal::Run;parse 600\nmain;other 400\n";
	static const char go[] = "main;testing.(*B).runN;parse 900\n";
	static const char little[] = "main;testing.(*B).runN;parse 100\nmain;parse 800\n";
	static const char words[] = "time per run does not tell which side is faster, because ";

	expect(harness(google, "b"), harness(google, "b"),
		"time per run does not tell which side is faster, because Google Benchmark repeats its work for a fixed time",
		true);
	expect(harness(google, "b --benchmark_min_time=2s"), harness(google, "b --benchmark_min_time=2s"),
		"run a fixed number of iterations with --benchmark_min_time=1000x, or give the iterations", true);
	expect(harness(google, "b --benchmark_min_time=20x"), harness(google, "b --benchmark_min_time=20x"), words,
		false);
	expect(harness(go, "x.test -test.benchtime=3s"), harness(go, "x.test -test.benchtime=3s"), "-benchtime=1000x",
		true);
	expect(harness(go, "x.test -test.benchtime=30x"), harness(go, "x.test -test.benchtime=30x"), words, false);
	expect(harness(little, "x.test"), harness(little, "x.test"), words, false);
	expect(harness(little, "/usr/bin/wrk -d 5 u"), harness(little, "/usr/bin/wrk -d 5 u"), words, true);
	expect(harness(little, "ab -n 500 u"), harness(little, "ab -n 500 u"), words, false);
}

/* What an interpreter executes has no names on a side, on both, or in a profile alone. */
static void missing_names_are_said(void **state)
{
	static const char python[] = "main;_PyEval_EvalFrameDefault;add 400\nmain;parse 100\n",
			  plain[] = "main;add 400\nmain;parse 100\n";
	CLEANUP(profile_cleanup) struct profile *single = synthetic_profile(python);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;
	bool blocks = true;

	expect(synthetic_profile(python), synthetic_profile(python),
		"80 % of base's time and 80 % of head's pass through Python functions that have no names: start it with 'python3 -X perf'",
		true);
	expect(synthetic_profile(plain), synthetic_profile(python),
		"head: 80 % of the time passes through Python functions that have no names", true);
	expect(synthetic_profile(python), synthetic_profile(plain),
		"base: 80 % of the time passes through Python functions that have no names", true);
	expect(synthetic_profile(plain), synthetic_profile(plain), "no names", false);
	assert_true(diff_create_single(single, NULL, &diff, &err));
	assert_int_equal(diff->warning_count, 1);
	assert_true(has_warning(diff, "80 % of the time passes through Python functions that have no names", &blocks));
	assert_false(blocks);
}

static void a_busier_machine_is_named(void **state)
{
	static const char quiet[] = "main;parse 950\nmain;parse;asm_common_interrupt!kernel 20\n";
	static const char busy[] = "main;parse 900\nmain;parse;asm_common_interrupt!kernel 100\n";
	static const char words[] = "the machine was busier";

	expect(synthetic_profile(quiet), synthetic_profile(busy),
		"of head's time and 2.1 % of base's: the machine was busier during head, so changes below about 24 % cannot",
		true);
	expect(synthetic_profile(busy), synthetic_profile(quiet), "the machine was busier during base", true);
	expect(synthetic_profile(busy), synthetic_profile(busy), words, false);
}

/* However many notes the files of both sides have, nothing that is known besides is left out for want of room. */
static void notes_leave_room_for_all_warnings(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = recording(10, 1), *head = recording(80, 20);
	struct profile *sides[] = { base, head };
	size_t without;
	struct error err;
	bool blocks;

	(void)state;
	set_facts(base, "same");
	set_facts(head, "another");
	user_only(head);
	lost(head);
	cut(head);
	for (int i = 0; i < 2; i++) {
		CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, &(struct diff_options){ 0 });

		if (i == 1) {
			assert_int_equal(diff->warning_count, without + DIFF_SIDES * (PROFILE_MAX_NOTES + 1));
			assert_true(has_warning(diff, "base: it asks for more", &blocks) && !blocks);
			assert_true(has_warning(diff, "head: 1 of its lines is lost", &blocks) && blocks);
			assert_true(has_warning(diff, "head: 2 further notes", &blocks) && blocks);
		}
		without = diff->warning_count;
		for (int side = 0; side < DIFF_SIDES; side++) {
			assert_true(profile_add_remark(sides[side], &err, "it asks for more"));
			for (int k = 0; k <= PROFILE_MAX_NOTES; k++)
				assert_true(profile_add_doubt(sides[side], &err, "%d of its lines is lost", k));
		}
	}
	assert_true(without > 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_difference_is_named),
		cmocka_unit_test(each_fact_is_compared),
		cmocka_unit_test(different_tools_are_named),
		cmocka_unit_test(chains_do_not_tell_what_was_cut),
		cmocka_unit_test(what_neither_side_has_is_said),
		cmocka_unit_test(lengths_and_threads_are_compared),
		cmocka_unit_test(ids_of_control_groups_do_not_count),
		cmocka_unit_test(time_without_names_is_compared),
		cmocka_unit_test(readings_that_disagree_are_both_given),
		cmocka_unit_test(other_functions_whose_readings_disagree_are_counted),
		cmocka_unit_test(different_programs_are_named),
		cmocka_unit_test(copies_of_a_recording_are_named),
		cmocka_unit_test(missing_names_are_said),
		cmocka_unit_test(a_busier_machine_is_named),
		cmocka_unit_test(arguments_are_compared),
		cmocka_unit_test(runs_by_the_clock_are_named),
		cmocka_unit_test(equally_long_runs_of_other_work_are_named),
		cmocka_unit_test(notes_leave_room_for_all_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
