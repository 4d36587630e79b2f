/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/isolated.h"

#include "common/child/confined.h"
#include "common/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

/* A machine that does not allow a part refuses it to all readers: `kelvin doctor` tells. */
static void isolated_confine(const struct isolated_limits *limits)
{
	static const struct filter_rule opens[] = { FILTER_OPENS };
	const struct child_limit own[] = { { RLIMIT_CPU, limits->seconds, false },
		{ RLIMIT_AS, limits->memory_bytes, true }, { RLIMIT_CORE, 0, false } };
	enum { OWN = sizeof(own) / sizeof(own[0]) };
	struct confinement confinement = { .descriptors = limits->descriptors,
		.descriptor_count = limits->descriptor_count,
		.user = CONFINED_NOBODY,
		.limits = own,
		.limit_count = OWN };

	if (limits->reads_files) {
		confinement.files = CONFINED_READS_FILES;
		confinement.more_calls[0] = (struct filter_set)FILTER_SET(opens);
	}
	if (limits->is_confined)
		child_limit(own, OWN);
	else
		(void)confined_enter(&confinement);
}

static bool make_result(struct isolated *isolated, size_t bytes, struct error *err)
{
	void *result = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (result == MAP_FAILED)
		return error_set_memory(err);
	isolated_deinit(isolated);
	isolated->result = result;
	isolated->result_bytes = bytes;
	return true;
}

bool isolated_start(struct isolated *isolated, const struct isolated_limits *limits, size_t result_bytes,
	void (*work)(void *context, void *result), void *context, struct error *err)
{
	pid_t pid;

	if (!make_result(isolated, result_bytes, err))
		return false;
	pid = child_fork(CHILD_ENDS_WITH_PARENT);
	if (pid < 0)
		return error_set_errno(err, errno, "cannot start a process");
	if (pid == 0) {
		isolated_confine(limits);
		work(context, isolated->result);
		_exit(0);
	}
	isolated->pid = pid;
	isolated->deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + limits->seconds * INT64_C(1000000000);
	return true;
}

bool isolated_has_ended(struct isolated *isolated)
{
	if (isolated->pid != 0 && clock_read_ns(CLOCK_MONOTONIC) >= isolated->deadline_ns)
		child_end(isolated->pid);
	else if (isolated->pid != 0 && !child_has_ended(isolated->pid, NULL))
		return false;
	isolated->pid = 0;
	return true;
}

void isolated_wait(struct isolated *isolated)
{
	while (!isolated_has_ended(isolated))
		(void)poll(NULL, 0, 1);
}

void isolated_deinit(struct isolated *isolated)
{
	if (isolated->pid != 0)
		child_end(isolated->pid);
	if (isolated->result)
		munmap(isolated->result, isolated->result_bytes);
	*isolated = (struct isolated){ 0 };
}
