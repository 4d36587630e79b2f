/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulation_fixture.h"
#include "waiting_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>

static void fail_each_allocation(const struct profile *base, const struct profile *head)
{
	struct diff *diff = NULL;
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(diff_create(base, head, NULL, &diff, &err), &err);
}

static struct profile *waits(double ms)
{
	struct synthetic s = waiting_create();

	synthetic_run(&s, false, 6000);
	for (int i = 0; i < 300; i++) {
		uint32_t stack = waiting_stack(&s, i % 2 ? "main;get" : "main;put", PROFILE_WAIT_LOCK);

		waiting_add(&s, stack, PROFILE_WAIT_LOCK, ms, i * 20);
		waiting_release(&s, stack, synthetic_stack(&s, "main;evict"), "lock", ms);
		synthetic_add(&s, synthetic_stack(&s, "main;get"), 1, i * 20);
	}
	return synthetic_finish(&s);
}

static void without_memory_the_process_ends(void **state)
{
	struct simulation s = simulation_create(1, 20, 0.1);
	struct simulated_change change = { .times = 2, .other_code = true };
	struct profile *base = simulation_runs(&s, 4, 3000, NULL), *head = simulation_runs(&s, 4, 3000, &change);

	fail_each_allocation(base, head);
	profile_destroy(base);
	profile_destroy(head);
	base = simulation_attached(&s, 6, 2000, NULL);
	head = simulation_attached(&s, 6, 2000, &change);
	fail_each_allocation(base, head);
	profile_destroy(base);
	profile_destroy(head);
	base = synthetic_profile("main;decode;bits 400\nmain;gone 300\n");
	head = synthetic_profile("main;next;bits 400\nmain;came 300\n");
	fail_each_allocation(base, head);
	profile_destroy(base);
	profile_destroy(head);
	base = synthetic_profile("main;py::run:/srv/w.py;list_append!python3.11 400\nmain;put 300\n");
	head = synthetic_profile("main;py::run:/srv/w.py;list_append!python3.11 500\nmain;put 300\n");
	fail_each_allocation(base, head);
	profile_destroy(base);
	profile_destroy(head);
	base = waits(10);
	head = waits(30);
	fail_each_allocation(base, head);
	profile_destroy(base);
	profile_destroy(head);
	simulation_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
