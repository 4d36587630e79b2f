/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds.h"

#include "maker.h"

#include <stdio.h>
#include <string.h>

enum { RUNS = 10, HEAD_RUNS_SCALED = 5, STEADY = 30, STEADY_MS = 40 };

/* ---- The known tree: lib/known.js holds the same figures ---- */

#define MAIN "__libc_start_main!libc.so@s;main"

static const struct known_row {
	const char *stack;
	int ms[DIFF_SIDES]; /* a run */
} known_rows[] = {
	{ MAIN ";parse#~", { 40, 90 } },
	{ MAIN ";parse#~;lex#~", { 60, 110 } },
	{ MAIN ";parse#~;malloc!libc.so@s", { 10, 10 } },
	{ MAIN ";parse#~;malloc!libc.so@s;_int_malloc!libc.so@s", { 8, 8 } },
	{ MAIN ";parse#~;malloc!libc.so@s;_int_malloc!libc.so@s;page_fault![kernel.kallsyms]@s", { 5, 5 } },
	{ MAIN ";compress!libz.so@l#~", { 200, 120 } },
	{ MAIN ";sort_items", { 20, 20 } },
	{ MAIN ";sort_items;qsort!libc.so@s", { 10, 10 } },
	{ MAIN ";sort_items;qsort!libc.so@s;compare", { 50, 50 } },
	{ MAIN ";sort_items;qsort!libc.so@s;compare;memcmp!libc.so@s", { 10, 10 } },
	{ MAIN ";old_cache", { 60, 0 } },
	{ MAIN ";new_audit", { 0, 70 } },
	{ MAIN ";format_page#77", { 40, 0 } },
	{ MAIN ";render_page#77", { 0, 40 } },
	{ MAIN ";read!libc.so@s", { 5, 5 } },
	{ MAIN ";read!libc.so@s;sys_read![kernel.kallsyms]@s", { 30, 30 } },
	{ "0xdeadbeef!//anon@?", { 12, 12 } },
};

/* Runs of one program differ; over ten of them it evens out, so that sums are those of the table. */
static int jitter(int run)
{
	return run * 7 % 5 - 2;
}

/* Most of a program is the same after a change: what does not change tells how far the machine itself did. */
static void add_steady(struct maker *maker, int run)
{
	for (int i = 0; i < STEADY; i++) {
		char stack[96];

		snprintf(stack, sizeof(stack), MAIN ";steady;steady_%02d", i);
		maker_add(maker, maker_stack_of(maker, stack), STEADY_MS + jitter(run + i), -1);
	}
}

static struct profile *known_profile(int side, int runs)
{
	struct maker maker = maker_create(side ? "./app --new" : "./app --old", side ? "22" : "11");

	for (int run = 0; run < runs; run++) {
		maker_run(&maker, "app", 600);
		add_steady(&maker, run);
		for (size_t i = 0; i < sizeof(known_rows) / sizeof(known_rows[0]); i++) {
			int ms = known_rows[i].ms[side];

			if (ms > 0)
				maker_add(&maker, maker_stack_of(&maker, known_rows[i].stack),
					ms + (ms >= 40 ? jitter(run + (int)i) : 0), -1);
		}
	}
	return maker_finish(&maker);
}

static struct profile *diff_profile(int side)
{
	return known_profile(side, RUNS);
}

static struct profile *scaled_profile(int side)
{
	return known_profile(side, side ? HEAD_RUNS_SCALED : RUNS);
}

static struct profile *same_profile(int side)
{
	(void)side;
	return known_profile(DIFF_BASE, RUNS);
}

/* ---- Interrupts ---- */

#define TIMER "asm_sysvec_apic_timer_interrupt![kernel.kallsyms]@s"
#define SOFTIRQS "handle_softirqs![kernel.kallsyms]@s"

/* The program is the same; the machine did more beside it in head. `handle_softirqs` runs in both ways. */
static struct profile *interrupts_profile(int side)
{
	struct maker maker = maker_create("./app", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker_run(&maker, "app", 1500);
		add_steady(&maker, run);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";parse"), 100, -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";parse;" TIMER), side ? 40 : 10, -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";parse;" TIMER ";" SOFTIRQS), side ? 80 : 20, -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";send!libc.so@s;" SOFTIRQS), 50, -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";send!libc.so@s;" SOFTIRQS ";" TIMER), side ? 6 : 2, -1);
		/* Where it hit is chance. */
		maker_add(&maker, maker_stack_of(&maker, MAIN ";steady;" TIMER), side ? 0 : 5, -1);
	}
	return maker_finish(&maker);
}

/* ---- A group ---- */

/* Lambdas that nothing tells apart: a new compiler numbers them otherwise. tests/viewer/members.test.js knows them. */
static struct profile *group_profile(int side)
{
	enum { LAMBDAS = 3, LAMBDA_MS = 40 };
	struct maker maker = maker_create("./app", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker_run(&maker, "app", 600);
		add_steady(&maker, run);
		for (int i = 0; i < LAMBDAS; i++) {
			char stack[96];

			snprintf(stack, sizeof(stack), MAIN ";Svc.lambda$main$%d", i + (side ? LAMBDAS : 0));
			maker_add(&maker, maker_stack_of(&maker, stack), LAMBDA_MS, -1);
		}
	}
	return maker_finish(&maker);
}

/* ---- Verdicts on functions and on their places ---- */

/* All of audit's time is new below check; copy takes more in one place, which its noise in the other hides. */
static struct profile *places_profile(int side)
{
	struct maker maker = maker_create(side ? "./shop --new" : "./shop --old", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker_run(&maker, "shop", 2500);
		add_steady(&maker, run);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";check"), 50 + jitter(run), -1);
		if (side)
			maker_add(&maker, maker_stack_of(&maker, MAIN ";check;audit"), 300 + jitter(run + 1), -1);
		maker_add(
			&maker, maker_stack_of(&maker, MAIN ";left#~;copy"), (side ? 160 : 100) + jitter(run + 2), -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";right;copy"), 200 + 60 * jitter(run + side), -1);
	}
	return maker_finish(&maker);
}

/* Only one place changes: copy below left. The noise of its other place, and of left, hides it of every function. */
static struct profile *one_place_profile(int side)
{
	struct maker maker = maker_create(side ? "./shop --new" : "./shop --old", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker_run(&maker, "shop", 2500);
		add_steady(&maker, run);
		maker_add(
			&maker, maker_stack_of(&maker, MAIN ";left#~;copy"), (side ? 160 : 100) + jitter(run + 2), -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";left#~;rest"), 300 + 120 * jitter(run + side), -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";right;copy"), 300 + 120 * jitter(run + 1 - side), -1);
	}
	return maker_finish(&maker);
}

/* ---- Time and threads ---- */

/* Two seconds: main loads for one and works for one; a thread waits through both; a worker runs in the second half. */
static struct profile *timeline_profile(int side)
{
	struct maker maker = maker_create("./threads", side ? "22" : "11");

	maker_run(&maker, "main", 2000);
	maker_add(&maker, maker_stack_of(&maker, "main;load"), 1000, 0);
	maker_add(&maker, maker_stack_of(&maker, "main;work"), 1000, 1000);
	maker_thread(&maker, "io", 101);
	maker_add(&maker, maker_stack_of(&maker, "start_thread!libc.so@s;wait_io;epoll_wait!libc.so@s"), 2000, 0);
	for (int i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker-%d", i);
		maker_thread(&maker, name, 110 + i);
		maker_add(&maker, maker_stack_of(&maker, "start_thread!libc.so@s;worker"), side ? 900 : 500, 1000);
	}
	return maker_finish(&maker);
}

/* ---- More than one value type ---- */

/* CPU time is the same on both sides; what is allocated below fill_cache is not. */
static struct profile *metrics_profile(int side)
{
	struct maker maker = maker_create("./cache", side ? "22" : "11");
	struct error err;

	maker_check(profile_add_value_type(maker.profile, "alloc_space", "bytes", &err), &err);
	for (int run = 0; run < RUNS; run++) {
		int64_t think[] = { 400, 400 * (int64_t)MAKER_SAMPLE_NS, 0 };
		int64_t fill[] = { 100, 100 * (int64_t)MAKER_SAMPLE_NS, side ? 3000000 : 1000000 };

		maker_run(&maker, "cache", 500);
		maker_check(profile_add_sample(
				    maker.profile, maker_stack_of(&maker, "main;think"), maker.thread, think, -1, &err),
			&err);
		maker_check(
			profile_add_sample(maker.profile, maker_stack_of(&maker, "main;fill_cache;malloc!libc.so@s"),
				maker.thread, fill, -1, &err),
			&err);
	}
	return maker_finish(&maker);
}

/* ---- Names that try to break out ---- */

static const char *const hostile_names[] = {
	"</script><script>window.hacked=1</script>",
	"<img src=x onerror=window.hacked=2>",
	"<!--<script>",
	"]]>&lt;b&gt;&amp;\"'`",
	"${window.hacked=3}`javascript:window.hacked=4",
	"\xe2\x80\xaeright to left\xe2\x80\xac mark",
	"\xe2\x81\xa6isolated\xe2\x81\xa9",
	"bell\x07 escape\x1b[31m tab\t line\nreturn\r delete\x7f one\x01",
	"\xff\xfe broken \xc3 utf-8 \xed\xa0\x80",
	"__proto__",
	"constructor",
	"toString",
	"a;b;c 7",
	"漢字関数名前<漢字, 漢字>::operator<(漢字)",
	"[a-z]+(*",
};

enum { HOSTILE_NAMES = sizeof(hostile_names) / sizeof(hostile_names[0]), LONG_NAME = 10000 };

static struct profile *hostile_profile(int side)
{
	struct maker maker = maker_create("</title><script>window.hacked=5</script>", side ? "22" : "11");
	struct maker_frame frame = { "main", "app", PROFILE_ORIGIN_USER };
	static char long_name[LONG_NAME + 1];
	struct profile *profile;
	uint32_t root;

	memset(long_name, 'x', LONG_NAME);
	memcpy(long_name, "long<", 5);
	memcpy(long_name + LONG_NAME - 6, "_end>", 5);
	maker_run(&maker, "<b>thread</b>\xe2\x80\xae", 600);
	root = maker_stack(&maker, 0, &frame);
	for (size_t i = 0; i <= HOSTILE_NAMES; i++) {
		frame = (struct maker_frame){ i < HOSTILE_NAMES ? hostile_names[i] : long_name, "<i>module</i>",
			PROFILE_ORIGIN_USER };
		maker_add(&maker, maker_stack(&maker, root, &frame), 100 + (int64_t)i * (side ? 2 : 1), -1);
	}
	frame = (struct maker_frame){ "", "", PROFILE_ORIGIN_UNKNOWN };
	maker_add(&maker, maker_stack(&maker, root, &frame), 100, -1);
	profile = maker_finish(&maker);
	kinds_requests_of_event(profile, "</script><img src=x onerror=window.hacked=7>\xff");
	return profile;
}

/* ---- Several processes ---- */

/* Two programs that share a function: what one of them does more in head is all that changes. */
static struct profile *processes_profile(int side)
{
	struct maker maker = maker_create("./site", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker.process = "web";
		maker.pid = 100;
		maker_run(&maker, "web", 2500);
		add_steady(&maker, run);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";serve;parse"), 100, -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";serve;render;serve;parse"), 50, -1);
		maker.process = "worker";
		maker.pid = 200;
		maker_thread(&maker, "worker", 200);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";crunch"), (side ? 300 : 100) + jitter(run), -1);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";serve;parse"), 30, -1);
	}
	return maker_finish(&maker);
}

/* ---- All of them ---- */

static const struct kind kinds[] = {
	{ "diff", diff_profile, .title = "old against new" },
	{ "scaled", scaled_profile },
	{ "same", same_profile },
	{ "single", diff_profile, KIND_SINGLE },
	{ "empty-base", diff_profile, KIND_EMPTY_BASE },
	{ "empty-head", diff_profile, KIND_EMPTY_HEAD },
	{ "group", group_profile },
	{ "places", places_profile },
	{ "one-place", one_place_profile },
	{ "processes", processes_profile },
	{ "timeline", timeline_profile },
	{ "metrics", metrics_profile },
	{ "lines", kinds_lines, .listing = kinds_lines_listing },
	{ "lines-single", kinds_lines, KIND_SINGLE, .listing = kinds_lines_listing },
	{ "lines-large", kinds_lines_large, .listing = kinds_lines_listing },
	{ "waits", kinds_waits },
	{ "waits-busy", kinds_waits_busy },
	{ "bottlenecks", kinds_bottlenecks },
	{ "bottlenecks-single", kinds_bottlenecks, KIND_SINGLE },
	{ "python", kinds_python },
	{ "trunks", kinds_trunks },
	{ "requests", kinds_requests },
	{ "requests-single", kinds_requests, KIND_SINGLE },
	{ "interrupts", interrupts_profile },
	{ "hostile", hostile_profile, .title = "</title><img src=x onerror=window.hacked=6>" },
	{ "deep", kinds_large_deep },
	{ "deep-timeline", kinds_large_deep_timeline, KIND_SINGLE },
	{ "large-timeline", kinds_large_timeline, KIND_SINGLE },
	{ "functions", kinds_large_functions },
	{ "threads", kinds_large_threads, KIND_SINGLE },
	{ "huge", kinds_large_huge, KIND_SINGLE },
	{ "huge-diff", kinds_large_huge },
};

const struct kind *kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

void kind_list(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		puts(kinds[i].name);
}
