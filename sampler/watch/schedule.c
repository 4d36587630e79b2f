/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"

static const int64_t target_is_gone = INT64_MAX, no_slot = INT64_MIN;

/* The slot of the wall clock that a time lies in: whole numbers, also before 1970. */
static int64_t schedule_slot_of(const struct watch_plan *plan, int64_t wall_ns, int64_t *left_ns)
{
	int64_t shifted = wall_ns - plan->jitter_ns, slot = shifted / plan->every_ns;

	slot -= shifted % plan->every_ns < 0;
	*left_ns = (slot + 1) * plan->every_ns - shifted;
	return slot;
}

void watch_schedule_init(struct watch_schedule *schedule, const struct watch_plan *plan, const struct watch_clocks *now,
	int64_t newest_wall_ns)
{
	int64_t ignored;

	*schedule = (struct watch_schedule){ .plan = *plan,
		.slot = no_slot,
		/* Long enough ago that the first recording waits for nothing. */
		.last_boot_ns = now->boot_ns - plan->every_ns,
		.target_began_ns = target_is_gone,
		.extra_as_of_ns = now->boot_ns,
		.extra = WATCH_MOST_EXTRA };
	if (newest_wall_ns > 0 && newest_wall_ns <= now->wall_ns)
		schedule->slot = schedule_slot_of(plan, newest_wall_ns, &ignored);
}

void watch_schedule_target(struct watch_schedule *schedule, int64_t began_boot_ns, bool is_restart)
{
	schedule->target_began_ns = began_boot_ns;
	schedule->has_restarted |= is_restart;
	/* What the former process had still to get is of no use. */
	if (is_restart)
		schedule->burst = 0;
}

void watch_schedule_gone(struct watch_schedule *schedule)
{
	schedule->target_began_ns = target_is_gone;
}

void watch_schedule_deploy(struct watch_schedule *schedule)
{
	schedule->burst = WATCH_BURST;
}

void watch_schedule_ask(struct watch_schedule *schedule)
{
	schedule->is_asked = true;
}

static void add_extra(struct watch_schedule *schedule, int64_t boot_ns)
{
	int64_t earned = (boot_ns - schedule->extra_as_of_ns) / schedule->plan.every_ns;

	if (earned <= 0)
		return;
	schedule->extra_as_of_ns += earned * schedule->plan.every_ns;
	schedule->extra = earned >= WATCH_MOST_EXTRA - (int64_t)schedule->extra
				  ? WATCH_MOST_EXTRA
				  : schedule->extra + (unsigned int)earned;
}

static int64_t schedule_lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

enum watch_reason watch_schedule_next(struct watch_schedule *schedule, const struct watch_clocks *now, int64_t *wait_ns)
{
	const struct watch_plan *plan = &schedule->plan;
	int64_t left_ns, slot = schedule_slot_of(plan, now->wall_ns, &left_ns);
	int64_t since_ns = now->boot_ns - schedule->last_boot_ns;

	*wait_ns = plan->every_ns;
	if (schedule->target_began_ns == target_is_gone)
		return WATCH_NOT_NOW;
	if (schedule->is_asked)
		return WATCH_BY_REQUEST;
	if (now->boot_ns - schedule->target_began_ns < plan->settle_ns) {
		*wait_ns = plan->settle_ns - (now->boot_ns - schedule->target_began_ns);
		return WATCH_NOT_NOW;
	}
	add_extra(schedule, now->boot_ns);
	if (schedule->extra > 0 && schedule->has_restarted)
		return WATCH_BY_RESTART;
	if (schedule->extra > 0 && schedule->burst > 0)
		return WATCH_BY_DEPLOY;
	if (slot != schedule->slot && since_ns >= plan->every_ns / 2)
		return WATCH_BY_SCHEDULE;
	*wait_ns = slot != schedule->slot ? plan->every_ns / 2 - since_ns : left_ns;
	if (schedule->has_restarted || schedule->burst > 0)
		*wait_ns = schedule_lesser(*wait_ns, schedule->extra_as_of_ns + plan->every_ns - now->boot_ns);
	return WATCH_NOT_NOW;
}

void watch_schedule_began(struct watch_schedule *schedule, const struct watch_clocks *now, enum watch_reason reason)
{
	int64_t ignored;

	schedule->slot = schedule_slot_of(&schedule->plan, now->wall_ns, &ignored);
	schedule->last_boot_ns = now->boot_ns;
	if (reason == WATCH_BY_RESTART || reason == WATCH_BY_DEPLOY)
		schedule->extra -= schedule->extra > 0;
	if (reason == WATCH_BY_DEPLOY)
		schedule->burst -= schedule->burst > 0;
	schedule->has_restarted = false;
	schedule->is_asked = false;
}
