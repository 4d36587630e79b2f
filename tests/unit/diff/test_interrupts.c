/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ms = SYNTHETIC_SAMPLE_NS;

/* The entry of that name which is, or is not, of the interrupts; NULL: there is none. */
static const struct diff_function *find(const struct diff *diff, const char *name, bool interrupt)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (diff->functions[i].interrupt == interrupt &&
			strcmp(diff_string(diff, diff->functions[i].name), name) == 0)
			return &diff->functions[i];
	return NULL;
}

/* One recording each: 10 s of two functions, in head with so much of this stack on top of them. */
static struct diff *compare_with(const char *stack, int64_t samples)
{
	struct profile *profiles[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct synthetic s = synthetic_create();

		synthetic_run(&s, false, 10000);
		for (int i = 0; i < 4000; i++) {
			synthetic_add(&s, synthetic_stack(&s, "main;parse#1"), 1, i * 2.5);
			synthetic_add(&s, synthetic_stack(&s, "main;sum#2"), 1, i * 2.5 + 1);
		}
		for (int i = 0; side == DIFF_HEAD && i < samples; i++)
			synthetic_add(&s, synthetic_stack(&s, stack), 1, i * 10000.0 / (double)samples);
		profiles[side] = synthetic_finish(&s);
	}
	return synthetic_compare(
		profiles[DIFF_BASE], profiles[DIFF_HEAD], &(struct diff_options){ .scale = DIFF_SCALE_RATE });
}

static void assert_is_the_machines(const char *stack)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare_with(stack, 3000);

	assert_true(diff->total.delta == 0);
	assert_true(diff->interrupts.raw[DIFF_HEAD] == 3000 * ms);
	assert_true(diff->verdict != DIFF_REGRESSED && diff->verdict != DIFF_IMPROVED);
	for (size_t i = 0; i < diff->function_count; i++)
		assert_false(diff_state_is_difference(diff->functions[i].self.state) ||
			     diff_state_is_difference(diff->functions[i].total.state));
	for (size_t node = 0; node < diff->node_count; node++)
		assert_false(diff_state_is_difference((enum diff_state)diff->nodes[node].state));
}

static void what_interrupts_a_thread_is_no_change_of_the_program(void **state)
{
	assert_is_the_machines("main;parse#1;asm_common_interrupt!kernel;common_interrupt!kernel;__irq_exit_rcu!kernel;"
			       "handle_softirqs!kernel;blk_done_softirq!kernel");
	assert_is_the_machines(
		"main;parse#1;asm_sysvec_apic_timer_interrupt!kernel;irqentry_exit_to_user_mode!kernel;schedule!kernel;"
		"__schedule!kernel;finish_task_switch.isra.0!kernel");
	assert_is_the_machines(
		"main;sum#2;read!libc.so;do_syscall_64!kernel;vfs_read!kernel;asm_sysvec_reschedule_ipi!kernel");
	assert_is_the_machines("main;sum#2;read!libc.so;do_syscall_64!kernel;syscall_exit_to_user_mode!kernel;"
			       "exit_to_user_mode_loop!kernel;schedule!kernel");
	assert_is_the_machines(
		"main;sum#2;read!libc.so;do_syscall_64!kernel;vfs_read!kernel;preempt_schedule_irq!kernel;__schedule!kernel");
	assert_is_the_machines("main;parse#1;el0t_64_irq!kernel;el0_interrupt!kernel;handle_softirqs!kernel");
	assert_is_the_machines(
		"main;sum#2;futex!libc.so;do_syscall_64!kernel;schedule!kernel;__traceiter_sched_switch!kernel;"
		"bpf_trace_run4!kernel;bpf_perf_event_output_raw_tp!kernel");
}

static void assert_is_the_programs(const char *stack, const char *name)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare_with(stack, 3000);

	assert_true(diff->interrupts.raw[DIFF_HEAD] == 0);
	assert_true(diff->total.delta == 3000 * ms);
	assert_true(diff_state_is_difference(find(diff, name, false)->total.state));
}

static void what_the_program_calls_stays_its_own(void **state)
{
	assert_is_the_programs(
		"main;sum#2;send!libc.so;do_syscall_64!kernel;tcp_sendmsg!kernel;__local_bh_enable_ip!kernel;"
		"do_softirq!kernel;handle_softirqs!kernel;net_rx_action!kernel",
		"net_rx_action");
	assert_is_the_programs("main;sum#2;asm_exc_page_fault!kernel;exc_page_fault!kernel", "exc_page_fault");
	assert_is_the_programs(
		"main;sum#2;futex!libc.so;do_syscall_64!kernel;futex_wait!kernel;schedule!kernel", "schedule");
	/* A function of the program may have any name. */
	assert_is_the_programs("main;common_interrupt;work", "work");
}

static void a_function_in_both_is_two(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = synthetic_profile(
		"main;send!libc.so;do_syscall_64!kernel;__local_bh_enable_ip!kernel;handle_softirqs!kernel 30\n"
		"main;parse;asm_common_interrupt!kernel;handle_softirqs!kernel 20\n"
		"main;parse 50\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(profile, profile, NULL);

	assert_true(find(diff, "handle_softirqs", false)->raw_self[DIFF_HEAD] == 30 * ms);
	assert_true(find(diff, "handle_softirqs", true)->raw_self[DIFF_HEAD] == 20 * ms);
	assert_null(find(diff, "asm_common_interrupt", false));
	assert_true(find(diff, "asm_common_interrupt", true)->raw_total[DIFF_HEAD] == 20 * ms);
	assert_true(find(diff, "parse", false)->raw_total[DIFF_HEAD] == 50 * ms);
	assert_true(find(diff, "main", false)->raw_total[DIFF_HEAD] == 80 * ms);
	assert_true(diff->raw_total[DIFF_HEAD] == 80 * ms);
	assert_true(diff->origins[PROFILE_ORIGIN_SYSTEM].raw[DIFF_HEAD] == 30 * ms);
}

static void a_side_of_nothing_else_is_compared_as_it_is(void **state)
{
	struct profile *base = synthetic_profile("swapper;asm_common_interrupt!kernel;handle_softirqs!kernel 20\n");
	struct profile *head =
		synthetic_profile("swapper;asm_common_interrupt!kernel;handle_softirqs!kernel 20\nswapper 7\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_true(diff->raw_total[DIFF_BASE] == 20 * ms && diff->raw_total[DIFF_HEAD] == 27 * ms);
	assert_null(find(diff, "handle_softirqs", true));
}

/* ---- Run-time compilers ---- */

static const char compiler[] = "start!node;v8::internal::OptimizingCompileDispatcher::CompileNext()!node;memcpy!libc";

/* Adds so many samples of the compiler in each half of 10 s. */
static struct profile *record_work(int64_t first, int64_t second, bool whole_command, int64_t work)
{
	const int64_t counts[] = { first, second };
	struct synthetic s = synthetic_create();
	struct profile *profile;
	struct error err;

	synthetic_run(&s, whole_command, 10000);
	for (int i = 0; i < 4000; i++) {
		synthetic_add(&s, synthetic_stack(&s, "main;parse#1"), work, i * 2.5);
		synthetic_add(&s, synthetic_stack(&s, "main;memcpy!libc"), 1, i * 2.5 + 1);
		synthetic_add(&s, synthetic_stack(&s, "main;JS:f!jit"), 1, i * 2.5 + 2);
	}
	for (int half = 0; half < 2; half++)
		for (int64_t i = 0; i < counts[half]; i++)
			synthetic_add(&s, synthetic_stack(&s, compiler), 1,
				half * 5000 + (double)i * 5000 / (double)counts[half]);
	profile = synthetic_finish(&s);
	assert_true(profile_mark_activities(profile, &err));
	return profile;
}

static struct profile *record_compiler(int64_t first, int64_t second, bool whole_command)
{
	return record_work(first, second, whole_command, 1);
}

static struct diff *compare_compilers(struct profile *base, struct profile *head)
{
	return synthetic_compare(base, head, &(struct diff_options){ .scale = DIFF_SCALE_RATE });
}

static bool is_warned(const struct diff *diff, const char *start)
{
	for (size_t i = 0; i < diff->warning_count; i++)
		if (strncmp(diff_string(diff, diff->warnings[i].text), start, strlen(start)) == 0)
			return diff->warnings[i].blocks_gate;
	return false;
}

/* It has a row of its own, and is part of nothing else; what it calls is not what the program calls. */
static void compilers_are_beside_the_program(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare_compilers(record_compiler(0, 0, false), record_compiler(1500, 1500, false));
	const struct diff_function *frame = find(diff, "[just-in-time compilation]", true);

	assert_true(diff->total.delta == 0);
	assert_true(diff->compilation.raw[DIFF_HEAD] == 3000 * ms && diff->compilation.raw[DIFF_BASE] == 0);
	assert_true(diff->interrupts.raw[DIFF_HEAD] == 0);
	assert_non_null(frame);
	assert_true(frame->compiles && frame->raw_total[DIFF_HEAD] == 3000 * ms);
	assert_string_equal(diff_string(diff, frame->shown), "just-in-time compilation");
	assert_true(find(diff, "memcpy", true)->raw_self[DIFF_HEAD] == 3000 * ms);
	assert_true(find(diff, "memcpy", false)->raw_self[DIFF_HEAD] == 4000 * ms);
	for (size_t i = 0; i < diff->function_count; i++)
		assert_false(diff_state_is_difference(diff->functions[i].total.state));
}

static void a_side_that_compiles_first_is_warming_up(void **state)
{
	struct diff *diff = compare_compilers(record_compiler(0, 0, false), record_compiler(3000, 200, false));

	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
	assert_true(is_warned(diff,
		"head was still compiling: just-in-time compilation took 33 % of its CPU time in the first half"));
	diff_destroy(diff);
	diff = compare_compilers(record_compiler(3000, 200, false), record_compiler(0, 0, false));
	assert_true(is_warned(diff, "base was still compiling"));
	diff_destroy(diff);
	/* Both sides were: that is said, and they are compared. */
	diff = compare_compilers(record_compiler(3000, 200, false), record_compiler(3000, 200, false));
	assert_true(is_warned(diff, "base was still compiling") && is_warned(diff, "head was still compiling"));
	assert_null(strstr(diff_string(diff, diff->verdict_text), "compiling"));
	diff_destroy(diff);
}

/* Warming up is said beside what is proven, and hides nothing. */
static void warming_up_hides_no_change(void **state)
{
	struct diff *diff = compare_compilers(record_work(3000, 200, false, 1), record_work(0, 0, false, 6));

	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_true(is_warned(diff, "base was still compiling"));
	diff_destroy(diff);
	diff = compare_compilers(record_work(3000, 200, false, 6), record_work(0, 0, false, 1));
	assert_int_equal(diff->verdict, DIFF_IMPROVED);
	assert_true(is_warned(diff, "base was still compiling"));
	diff_destroy(diff);
}

/* Adds so many samples of the compilation of scripts in each half of 10 s. */
static struct profile *record_scripts(int64_t first, int64_t second)
{
	const int64_t counts[] = { first, second };
	struct synthetic s = synthetic_create();
	struct profile *profile;
	struct error err;

	synthetic_run(&s, false, 10000);
	for (int i = 0; i < 4000; i++)
		synthetic_add(&s, synthetic_stack(&s, "execute_ex!php8.2;php::{main}:/a.php!jit"), 1, i * 2.5);
	for (int half = 0; half < 2; half++)
		for (int64_t i = 0; i < counts[half]; i++)
			synthetic_add(&s,
				synthetic_stack(
					&s, "execute_ex!php8.2;php::{main}:/a.php!jit;compile_file!php8.2;memcpy!libc"),
				1, half * 5000 + (double)i * 5000 / (double)counts[half]);
	profile = synthetic_finish(&s);
	assert_true(profile_mark_activities(profile, &err));
	return profile;
}

/* opcache that fills is warm-up; opcache that was turned off is a regression. */
static void scripts_that_are_compiled_at_first_are_warm_up(void **state)
{
	struct diff *diff = compare_compilers(record_scripts(0, 0), record_scripts(2000, 100));

	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_true(is_warned(diff, "head was still compiling: the compilation of scripts took 50 %"));
	diff_destroy(diff);
	diff = compare_compilers(record_scripts(0, 0), record_scripts(2000, 2000));
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_false(is_warned(diff, "head was still"));
	assert_true(find(diff, "[compilation of scripts]", false)->raw_total[DIFF_HEAD] == 4000 * ms);
	diff_destroy(diff);
}

static void what_compiles_all_the_time_is_not_warming_up(void **state)
{
	struct diff *diff = compare_compilers(record_compiler(1500, 1500, false), record_compiler(1500, 1400, false));

	assert_false(is_warned(diff, "base was still") || is_warned(diff, "head was still"));
	diff_destroy(diff);
	/* Little of it is no warm-up. */
	diff = compare_compilers(record_compiler(0, 0, false), record_compiler(300, 0, false));
	assert_false(is_warned(diff, "head was still"));
	diff_destroy(diff);
	/* Commands have their start on both sides. */
	diff = compare_compilers(record_compiler(0, 0, true), record_compiler(3000, 200, true));
	assert_false(is_warned(diff, "head was still"));
	diff_destroy(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_are_beside_the_program),
		cmocka_unit_test(a_side_that_compiles_first_is_warming_up),
		cmocka_unit_test(warming_up_hides_no_change),
		cmocka_unit_test(scripts_that_are_compiled_at_first_are_warm_up),
		cmocka_unit_test(what_compiles_all_the_time_is_not_warming_up),
		cmocka_unit_test(what_interrupts_a_thread_is_no_change_of_the_program),
		cmocka_unit_test(what_the_program_calls_stays_its_own),
		cmocka_unit_test(a_function_in_both_is_two),
		cmocka_unit_test(a_side_of_nothing_else_is_compared_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
