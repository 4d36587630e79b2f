/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/requests_shared.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Costs per request: when requests are the scale, when they are not and why, and which noise they take away and show.
 */

enum { BLOCKS = 32, BLOCK_MS = 250 };

/* A service that was attached to. All figures are per block. */
struct service {
	int64_t requests, samples;
	int64_t bytes;          /* of a request */
	uint64_t latency_ns;    /* 0: not counted */
	double burst;           /* every second block has this many times the load; 0: 1 */
	int64_t per_connection; /* requests in each connection; 0: 400 */
	bool in_bursts;         /* twice as many in every other second, and none in between */
};

static const struct service ordinary = { 50, 20, 200, 2000000, 0, 0 };

static double factor(double value)
{
	return value > 0 ? value : 1;
}

/* Makes the process that the following samples are of, and the exchanges that it answers. */
static uint32_t add_server(struct synthetic *s, const struct service *service)
{
	struct profile_thread thread = { .run = (uint32_t)s->profile->run_count - 1, .pid = 10, .tid = 10 };
	struct profile_exchanges exchanges = { .run = thread.run, .pid = thread.pid };
	struct error err;
	uint32_t id;

	must(profile_intern(s->profile, "httpd", &thread.name, &err), &err);
	thread.process_name = exchanges.process_name = thread.name;
	must(profile_add_thread(s->profile, &thread, &s->thread, &err), &err);
	exchanges.received_bytes = (uint64_t)(service->bytes * service->requests * BLOCKS);
	exchanges.connections =
		(uint64_t)(service->requests * BLOCKS / (service->per_connection ? service->per_connection : 400));
	must(profile_add_exchanges(s->profile, &exchanges, &id, &err), &err);
	return id;
}

static double load_of(const struct service *service, int block)
{
	if (service->in_bursts)
		return block / (1000 / BLOCK_MS) % 2 ? 0 : 2;
	return block % 2 ? factor(service->burst) : 1;
}

static void add_block(struct synthetic *s, const struct service *service, uint32_t exchanges, int block)
{
	double load = load_of(service, block);
	struct profile_exchange_reading reading = { .exchanges = exchanges,
		.time_ns = (int64_t)(block + 1) * BLOCK_MS * 1000000,
		.count = (uint64_t)((double)service->requests * load) };
	struct error err;

	must(profile_add_exchange_reading(s->profile, &reading, &err), &err);
	synthetic_add(s, synthetic_stack(s, "main;serve;parse"), (int64_t)((double)service->samples * load * 0.6),
		block * BLOCK_MS + 1);
	synthetic_add(s, synthetic_stack(s, "main;serve;render"), (int64_t)((double)service->samples * load * 0.4),
		block * BLOCK_MS + 2);
}

static void add_run(struct synthetic *s, const struct service *service)
{
	struct profile_latency latency = { .bucket = (uint16_t)requests_bucket(service->latency_ns),
		.count = (uint64_t)service->requests * BLOCKS };
	struct error err;

	synthetic_run(s, false, BLOCKS * BLOCK_MS);
	latency.exchanges = add_server(s, service);
	for (int block = 0; block < BLOCKS; block++)
		add_block(s, service, latency.exchanges, block);
	if (service->latency_ns)
		must(profile_add_latency(s->profile, &latency, &err), &err);
}

static struct profile *recording(const struct service *service)
{
	struct synthetic s = synthetic_create();

	s.profile->requests.source = PROFILE_WORK_SOCKETS;
	add_run(&s, service);
	return synthetic_finish(&s);
}

static struct diff *compare(const struct service *base, const struct service *head)
{
	return synthetic_compare(recording(base), recording(head), NULL);
}

static void costs_are_per_request(void **state)
{
	struct service head = ordinary;
	struct diff *diff;

	/* Twice the load at twice the cost is no change. */
	head.requests *= 2;
	head.samples *= 2;
	diff = compare(&ordinary, &head);
	assert_int_equal(diff->scale.mode, DIFF_SCALE_PER_REQUEST);
	assert_false(diff->scale.load_is_unknown);
	assert_float_equal(diff->scale.factor, 0.5, 1e-12);
	assert_float_equal(diff->total.delta, 0, 1e-3);
	assert_true(diff->total.state == DIFF_STATE_SAME);
	diff_destroy(diff);
	/* A third more for each at half of the requests: less load may do that. */
	head.samples = ordinary.samples * 3 / 2;
	diff = compare(&head, &ordinary);
	assert_float_equal(diff->total.head / diff->total.base, 4.0 / 3, 1e-9);
	assert_false(diff_state_is_difference(diff->total.state));
	assert_true(diff->total.ci_low <= diff->total.delta && diff->total.ci_high >= diff->total.delta);
	diff_destroy(diff);
	head = ordinary;
	head.samples *= 6;
	diff = compare(&ordinary, &head);
	assert_int_equal(diff->total.state, DIFF_STATE_MORE);
	assert_true(diff->total.ci_low > 0 && diff->total.ci_low <= diff->total.delta &&
		    diff->total.ci_high >= diff->total.delta);
	diff_destroy(diff);
}

static void a_count_that_is_no_measure_of_the_work_is_not_used(void **state)
{
	struct service few = ordinary, bulky = ordinary, brief = ordinary, idle = ordinary;
	static const char *const words[] = { "too few", "other requests", "making one", "works on something else" };
	const struct service *heads[] = { &few, &bulky, &brief, &idle };

	few.requests = 3;
	bulky.bytes *= 2;
	/* A connection for each transaction, with its logging in. */
	brief.per_connection = 4;
	/* Health checks of 10 µs beside work that keeps a CPU busy. */
	idle.latency_ns = 10000;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		CLEANUP(diff_cleanup) struct diff *diff = compare(&ordinary, heads[i]);

		assert_int_equal(diff->scale.mode, DIFF_SCALE_RATE);
		assert_true(diff->scale.load_is_unknown);
		assert_non_null(strstr(diff_string(diff, diff->requests_doubt), words[i]));
	}
}

static void what_is_counted_must_be_the_same(void **state)
{
	struct profile *base = recording(&ordinary), *head = recording(&ordinary);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	head->requests.source = PROFILE_WORK_STATED;
	diff = synthetic_compare(base, head, NULL);
	assert_int_equal(diff->scale.mode, DIFF_SCALE_RATE);
	assert_non_null(strstr(diff_string(diff, diff->requests_doubt), "different things"));
}

static double width(const struct diff *diff)
{
	return diff->total.ci_high - diff->total.ci_low;
}

/* Bursts of requests are no noise of what a request costs, as they are of what a second costs. */
static void bursts_of_load_widen_nothing(void **state)
{
	struct service bursts = ordinary;
	CLEANUP(diff_cleanup) struct diff *even = NULL, *uneven = NULL;

	bursts.burst = 3;
	even = compare(&ordinary, &ordinary);
	uneven = compare(&bursts, &bursts);
	assert_true(width(uneven) / uneven->total.base < 1.1 * width(even) / even->total.base);
}

/* As many requests in half of the time share more of what is done once for all that wait. */
static void requests_in_bursts_may_cost_less(void **state)
{
	struct service bursts = ordinary, less = ordinary;
	struct diff *diff;

	bursts.samples = less.samples = ordinary.samples * 3 / 5;
	diff = compare(&ordinary, &less);
	assert_int_equal(diff->total.state, DIFF_STATE_LESS);
	diff_destroy(diff);
	bursts.in_bursts = true;
	diff = compare(&ordinary, &bursts);
	assert_float_equal(diff->total.head / diff->total.base, 0.6, .03);
	assert_false(diff_state_is_difference(diff->total.state));
	diff_destroy(diff);
}

static struct profile *three_runs(const int64_t requests[3], int64_t samples_per_50)
{
	struct synthetic s = synthetic_create();

	s.profile->requests.source = PROFILE_WORK_SOCKETS;
	for (int run = 0; run < 3; run++) {
		struct service service = ordinary;

		service.requests = requests[run];
		service.samples = samples_per_50 * requests[run] / 50;
		add_run(&s, &service);
	}
	return synthetic_finish(&s);
}

/* Runs of other loads are alike in what a request costs: their cost per second varies by a factor of three. */
static void runs_are_divided_by_their_requests(void **state)
{
	static const int64_t base_requests[] = { 50, 150, 100 }, head_requests[] = { 200, 100, 50 };
	struct profile *base = three_runs(base_requests, 20), *same = three_runs(head_requests, 20),
		       *more = three_runs(head_requests, 30);
	struct diff *diff = synthetic_diff(base, same, NULL);

	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_RUNS);
	assert_int_equal(diff->scale.mode, DIFF_SCALE_PER_REQUEST);
	assert_float_equal(diff->total.delta / diff->total.base, 0, 1e-6);
	assert_false(diff_state_is_difference(diff->total.state));
	diff_destroy(diff);
	diff = synthetic_compare(base, more, NULL);
	assert_float_equal(diff->total.delta / diff->total.base, 0.5, 1e-6);
	assert_int_equal(diff->total.state, DIFF_STATE_MORE);
	diff_destroy(diff);
	profile_destroy(same);
}

static void per_request_is_refused_without_requests(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = synthetic_profile("main;a 400\n"), *head = recording(&ordinary);
	struct diff_options options = { .scale = DIFF_SCALE_PER_REQUEST };
	struct diff *diff;
	struct error err;

	assert_false(diff_create(base, head, &options, &diff, &err));
	assert_non_null(strstr(err.message, "base counted none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_per_request),
		cmocka_unit_test(a_count_that_is_no_measure_of_the_work_is_not_used),
		cmocka_unit_test(what_is_counted_must_be_the_same),
		cmocka_unit_test(bursts_of_load_widen_nothing),
		cmocka_unit_test(requests_in_bursts_may_cost_less),
		cmocka_unit_test(runs_are_divided_by_their_requests),
		cmocka_unit_test(per_request_is_refused_without_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
