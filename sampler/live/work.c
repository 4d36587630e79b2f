/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/work.h"

#include "sampler/live/event_open.h"
#include "sampler/live/work_event.h"

#include <errno.h>
#include <unistd.h>

static bool open_event(struct work *work, const struct work_event *event, size_t place, struct error *err)
{
	struct perf_event_attr attr = work_event_attr(event, place);
	int fd = event_open(&attr, -1, 0, 0);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return error_set(err, ERROR_PERMISSION,
			"--work '%.200s' may not be counted: run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names",
			event->name);
	if (fd < 0)
		return error_set_errno(err, errno, "--work '%.200s' cannot be counted", event->name);
	work->events[work->count++] = fd;
	return true;
}

bool work_open(struct work *work, const char *text, struct error *err)
{
	CLEANUP(cleanup_free) struct work_event *event = calloc(1, sizeof(*event));

	*work = (struct work){ 0 };
	if (!event)
		return error_set_memory(err);
	if (!work_event_find(event, text, err))
		return false;
	work->are_tracepoints = !event->path[0];
	for (size_t place = 0; place < event->place_count; place++) {
		if (open_event(work, event, place, err))
			continue;
		work_close(work);
		return false;
	}
	return true;
}

void work_close(struct work *work)
{
	for (size_t i = 0; i < work->count; i++)
		close(work->events[i]);
	*work = (struct work){ 0 };
}
