/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/surroundings.h"

#include "sampler/live/limits.h"
#include "sampler/live/run_clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 2 * LIMITS_PATH_BYTES, MAX_LINE = 512 };

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks; guests are part of user and nice.
 */
static void read_ticks(const char *proc, struct surroundings *s)
{
	enum { NICE = 1, SYSTEM, IDLE, IO_WAIT, IRQ, SOFT_IRQ, STEAL, COUNT };
	char path[MAX_PATH], line[MAX_LINE];
	uint64_t ticks[COUNT] = { 0 };
	CLEANUP(cleanup_fclose) FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/stat", proc);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file) ||
		sscanf(line,
			"cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			" %" SCNu64,
			&ticks[0], &ticks[NICE], &ticks[SYSTEM], &ticks[IDLE], &ticks[IO_WAIT], &ticks[IRQ],
			&ticks[SOFT_IRQ], &ticks[STEAL]) < STEAL)
		return;
	for (size_t i = 0; i < COUNT; i++)
		s->all_ticks += ticks[i];
	s->steal_ticks = ticks[STEAL];
	s->busy_ticks = s->all_ticks - ticks[IDLE] - ticks[IO_WAIT] - ticks[STEAL];
}

void surroundings_read(const char *proc, const char *mount, const char *cgroup, struct surroundings *surroundings)
{
	char path[MAX_PATH];

	*surroundings = (struct surroundings){ 0 };
	surroundings->time_ns = clock_read_ns(CLOCK_MONOTONIC);
	read_ticks(proc, surroundings);
	if (cgroup[0] && strcmp(cgroup, "/") != 0) {
		snprintf(path, sizeof(path), "%s%s/cpu.stat", mount, cgroup);
		surroundings->throttled_us = proc_read_value(path, "throttled_usec ", "throttled_usec ");
		snprintf(path, sizeof(path), "%s%s/cpu.pressure", mount, cgroup);
		surroundings->pressure_us = proc_read_value(path, "some ", "total=");
	}
	if (surroundings->pressure_us == 0) {
		snprintf(path, sizeof(path), "%s/pressure/cpu", proc);
		surroundings->pressure_us = proc_read_value(path, "some ", "total=");
	}
}

void surroundings_read_live(const struct profile *profile, struct surroundings *surroundings)
{
	surroundings_read("/proc", "/sys/fs/cgroup", profile_string(profile, profile->facts.cgroup), surroundings);
}

/* A counter that went back was another one. */
static uint64_t risen(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static uint32_t surroundings_percent_of(double part, double whole)
{
	double percent = whole > 0 ? part / whole * 100 : 0;

	return percent > 100 ? 100 : (uint32_t)(percent + 0.5);
}

void surroundings_describe(
	const struct surroundings *before, const struct surroundings *after, struct profile_facts *facts)
{
	double all = (double)risen(before->all_ticks, after->all_ticks);
	double us = (double)(after->time_ns - before->time_ns) / 1000;

	facts->machine_busy_percent =
		surroundings_percent_of((double)risen(before->busy_ticks, after->busy_ticks), all);
	facts->machine_steal_percent =
		surroundings_percent_of((double)risen(before->steal_ticks, after->steal_ticks), all);
	facts->cpu_pressure_percent =
		surroundings_percent_of((double)risen(before->pressure_us, after->pressure_us), us);
	facts->throttled_ms = (uint32_t)(risen(before->throttled_us, after->throttled_us) / 1000);
}
