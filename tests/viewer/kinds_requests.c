/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds.h"
#include "sampler/ebpf/requests_shared.h"

#include "maker.h"

#include <math.h>

enum { SECONDS = 10 };

/* Answers around a latency: their logarithms have a bell's shape, from `spread` times less to `spread` times more. */
static void add_answers(struct profile *profile, uint32_t exchanges, double answers, double median_ns, double spread)
{
	enum { STEPS = 60 };
	struct error err;

	for (int i = -STEPS; i <= STEPS; i++) {
		double z = 3.0 * i / STEPS, part = exp(-z * z / 2) * 3 / STEPS / sqrt(2 * acos(-1));
		struct profile_latency latency = { exchanges,
			(uint16_t)requests_bucket((uint64_t)(median_ns * pow(spread, z / 3))),
			(uint64_t)llround(answers * part) };

		maker_check(profile_add_latency(profile, &latency, &err), &err);
	}
}

static uint32_t add_exchanges(struct profile *profile, enum profile_exchange_kind kind, uint64_t count)
{
	const struct profile_exchanges exchanges = { .pid = 812, .kind = kind, .count = count, .connections = 16 };
	struct error err;
	uint32_t id;

	maker_check(profile_add_exchanges(profile, &exchanges, &id, &err), &err);
	return id;
}

/* One reading a second: base answers 30 requests in the first one and 20 more in each that follows, head 119 in each.
 */
static void add_readings(struct profile *profile, uint32_t exchanges, int side)
{
	struct error err;

	for (int second = 0; second < SECONDS; second++) {
		struct profile_exchange_reading reading = { exchanges, (second + 1) * (int64_t)1000000000,
			side ? 119 : 30 + 20 * (uint64_t)second };

		maker_check(profile_add_exchange_reading(profile, &reading, &err), &err);
	}
}

struct profile *kinds_requests(int side)
{
	struct maker maker = maker_create("./server", side ? "22" : "11");
	struct profile *profile;
	uint32_t answered;
	struct error err;

	maker_run(&maker, "server", SECONDS * 1000);
	maker_add(&maker, maker_stack_of(&maker, "main;serve;parse#~"), side ? 900 : 300, 0);
	maker_add(&maker, maker_stack_of(&maker, "main;serve;write"), 400, 1500);
	profile = maker.profile;
	profile->requests.source = PROFILE_WORK_SOCKETS;
	answered = add_exchanges(profile, PROFILE_EXCHANGE_ANSWERED, 0);
	add_readings(profile, answered, side);
	add_answers(profile, answered, side ? 500 : 1150, 17e6, 3);
	add_answers(profile, answered, side ? 690 : 50, side ? 130e6 : 41e6, 2);
	add_answers(profile, add_exchanges(profile, PROFILE_EXCHANGE_CALLED_OUT, 2400), 2400, 800e3, 4);
	maker_check(profile_finish(profile, &err), &err);
	return maker_finish(&maker);
}

void kinds_requests_of_event(struct profile *profile, const char *event)
{
	struct error err;

	profile->requests.source = PROFILE_WORK_EVENT;
	maker_check(profile_intern(profile, event, &profile->requests.event, &err), &err);
	(void)add_exchanges(profile, PROFILE_EXCHANGE_ANSWERED, 5);
}
