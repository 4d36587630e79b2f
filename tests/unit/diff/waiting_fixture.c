/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waiting_fixture.h"
#include "tests/unit/support/profile.h"

struct synthetic waiting_create(void)
{
	struct synthetic synthetic = synthetic_create();
	struct error err;

	must(profile_add_wait_values(synthetic.profile, &err), &err);
	return synthetic;
}

uint32_t waiting_stack(struct synthetic *synthetic, const char *frames, enum profile_wait_class wait_class)
{
	struct error err;
	uint32_t id;

	must(profile_add_wait_stack(synthetic->profile, synthetic_stack(synthetic, frames), wait_class, &id, &err),
		&err);
	return id;
}

void waiting_add(
	struct synthetic *synthetic, uint32_t stack, enum profile_wait_class wait_class, double ms, double time_ms)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES], ns = (int64_t)(ms * 1e6);
	struct error err;

	profile_wait_fill(synthetic->profile, wait_class, ns, values);
	must(profile_add_sample(synthetic->profile, stack, synthetic->thread, values,
		     time_ms < 0 ? -1 : (int64_t)(time_ms * 1e6), &err),
		&err);
	if (time_ms >= 0)
		must(profile_weigh_event(synthetic->profile, ns, &err), &err);
}

void waiting_release(struct synthetic *synthetic, uint32_t stack, uint32_t releaser, const char *lock, double ms)
{
	struct profile_release release = {
		.stack = stack, .lock = PROFILE_NONE, .releaser = releaser, .weight_ns = (int64_t)(ms * 1e6)
	};
	struct profile_lock named = { .pid = 1 };
	struct error err;

	if (lock) {
		must(profile_intern(synthetic->profile, lock, &named.name, &err) &&
				profile_add_lock(synthetic->profile, &named, &release.lock, &err),
			&err);
	}
	must(profile_add_release(synthetic->profile, &release, &err), &err);
}
