/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/event.h"

#include "sampler/live/event_choice.h"
#include "sampler/live/event_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

/*
 * A wake-up costs as much as the work on 15 samples, so a ring has room for the samples of half a second: 480 with 16
 * kB of stack. A sideband record takes 100 bytes.
 */
enum { MOST_RING_PAGES_TOGETHER = 8192, LEAST_SAMPLES = 16 };
enum { SAMPLE_RING_PAGES = 2048, SIDEBAND_RING_PAGES = 32, LEAST_RING_PAGES = 4, MAX_DESCRIPTORS = 1 << 24 };

uint32_t event_cpu_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);

	return count > 0 ? (uint32_t)count : 1;
}

/* Raises the limit as far as permitted: each thread needs two descriptors for each CPU. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * Returns what would help. Without CAP_PERFMON the kernel permits events of whole CPUs up to level 0, those of kernel
 * code up to 1, those of one's own user code up to 2; at Debian's level 3 and Ubuntu's 4, nothing.
 */
static const char *permission_advice(int level, bool counts_cpus)
{
	if (geteuid() == 0)
		return "a container or sandbox forbids it: allow it there (docker run --cap-add PERFMON), or run kelvin outside of it";
	if (counts_cpus && level > 0)
		return "-a and --cgroup need CAP_PERFMON or perf_event_paranoid 0: run kelvin with sudo, or run 'sudo sysctl "
		       "kernel.perf_event_paranoid=0'";
	if (level > 2)
		return "run 'sudo sysctl kernel.perf_event_paranoid=1', with which users may sample their own processes, or run kelvin with "
		       "sudo";
	if (counts_cpus)
		return "a container or sandbox forbids it: allow it there, or run kelvin outside of it";
	return "you may sample your own processes only: run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names";
}

static bool explain_failure(int failure, const struct event_set *set, struct error *err)
{
	int level;

	switch (failure) {
	case EACCES:
	case EPERM:
		level = proc_read_number("/proc/sys/kernel/perf_event_paranoid");
		error_set_errno(err, failure, "perf_event_open");
		snprintf(err->message, sizeof(err->message),
			"perf_event_open: permission denied (perf_event_paranoid is %d); %s", level,
			permission_advice(level, set->counts_cpus));
		return false;
	case ESRCH:
		return error_set_errno(err, failure, "perf_event_open");
	case ENOSYS:
		return error_set(err, ERROR_UNSUPPORTED,
			"perf_event_open is missing: a container or sandbox hides it, or the kernel was built without it");
	case EMFILE:
		return error_set(err, ERROR_LIMIT, "out of file descriptors after %zu events; raise 'ulimit -n'",
			set->descriptor_count);
	case EBADF:
		return error_set(err, ERROR_NOT_FOUND,
			"perf does not know this control group; with cgroup v1, name a directory of the perf_event hierarchy");
	default:
		return error_set_errno(err, failure, "perf_event_open");
	}
}

/*
 * Opens an event of our own that counts nothing, into whose ring other events write. It wakes the recorder when half of
 * the ring is filled; the other half is for the time until the recorder runs.
 */
static bool event_open_ring(struct event_set *set, struct ring *ring, size_t pages, int cpu, struct error *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(pages * (size_t)sysconf(_SC_PAGESIZE) / 2),
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int fd = event_open(&attr, 0, cpu, 0);

	/* A CPU that is present but offline has nothing to sample. */
	if (fd < 0 && errno == ENODEV)
		return true;
	if (fd < 0)
		return explain_failure(errno, set, err);
	if (ring_init(ring, fd, pages, err))
		return true;
	close(fd);
	return false;
}

static void close_rings(const struct event_set *set, struct ring *rings)
{
	for (uint32_t cpu = 0; rings && cpu < set->cpu_count; cpu++) {
		if (rings[cpu].pages)
			close(rings[cpu].fd);
		ring_deinit(&rings[cpu]);
	}
}

/* Opens one ring for each CPU, or none. */
static bool open_rings_of(struct event_set *set, struct ring *rings, size_t pages, struct error *err)
{
	for (uint32_t cpu = 0; cpu < set->cpu_count; cpu++)
		if (!event_open_ring(set, &rings[cpu], pages, (int)cpu, err)) {
			close_rings(set, rings);
			return false;
		}
	return true;
}

/*
 * Locked memory is limited per user: if large rings are refused, smaller ones are used and read more often. All rings
 * have one size, so that the first CPUs leave memory to the last.
 */
static bool open_rings_as_permitted(
	struct event_set *set, struct ring *rings, size_t *pages, size_t least, struct error *err)
{
	while (!open_rings_of(set, rings, *pages, err)) {
		if (err->code != ERROR_MEMORY)
			return false;
		if (*pages / 2 < least)
			return error_set(err, ERROR_LIMIT,
				"not enough locked memory for %u buffers of %zu kB: perf_event_mlock_kb and 'ulimit -l' limit it for each user, and other recorders use some of it; run 'sudo sysctl kernel.perf_event_mlock_kb=2048'",
				(unsigned int)set->cpu_count, *pages * (size_t)sysconf(_SC_PAGESIZE) / 1024);
		*pages /= 2;
	}
	return true;
}

/* Room for one sample that is read and one that is written. */
static size_t least_sample_pages(const struct event_set *set)
{
	enum { BESIDE_STACK_PAGES = 2 };
	size_t pages = LEAST_RING_PAGES;

	while (pages < 2 * (set->sample_attr.sample_stack_user / (size_t)sysconf(_SC_PAGESIZE) + BESIDE_STACK_PAGES))
		pages *= 2;
	return pages;
}

static bool open_sideband_rings(struct event_set *set, struct error *err)
{
	size_t pages = SIDEBAND_RING_PAGES;

	set->sideband_rings = calloc(set->cpu_count, sizeof(*set->sideband_rings));
	if (!set->sideband_rings)
		return error_set_memory(err);
	return open_rings_as_permitted(set, set->sideband_rings, &pages, LEAST_RING_PAGES, err);
}

static bool open_sample_rings(struct event_set *set, struct error *err)
{
	size_t few_pages = set->ring_pages / 8;

	set->sample_rings = calloc(set->cpu_count, sizeof(*set->sample_rings));
	if (!set->sample_rings)
		return error_set_memory(err);
	if (!open_rings_as_permitted(set, set->sample_rings, &set->ring_pages, least_sample_pages(set), err))
		return false;
	if (set->ring_pages < few_pages)
		buffer_printf(set->notices,
			"the buffers have only %zu kB each, because locked memory is limited; run 'sudo sysctl kernel.perf_event_mlock_kb=2048' if "
			"samples are lost\n",
			set->ring_pages * (size_t)sysconf(_SC_PAGESIZE) / 1024);
	return true;
}

/* The ring size: smaller on machines with many CPUs, but with room for a few samples. */
static size_t ring_pages_for(uint32_t stack_bytes, uint32_t cpu_count)
{
	size_t least = (size_t)LEAST_SAMPLES * stack_bytes / (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = SAMPLE_RING_PAGES;

	while (pages > LEAST_RING_PAGES && pages * cpu_count > MOST_RING_PAGES_TOGETHER && pages / 2 >= least)
		pages /= 2;
	return pages;
}

static struct event_set set_without_rings(const struct sampler_options *options, struct buffer *notices)
{
	return (struct event_set){
		.cpu_count = event_cpu_count(),
		.program_fd = -1,
		.notices = notices,
		.counts_cpus =
			options->target.kind == SAMPLER_TARGET_SYSTEM || options->target.kind == SAMPLER_TARGET_CGROUP,
		.inherits =
			options->target.kind == SAMPLER_TARGET_PIDS || options->target.kind == SAMPLER_TARGET_COMMAND,
	};
}

bool event_set_init(struct event_set *set, const struct sampler_options *options, struct event_extras extras,
	struct buffer *notices, struct error *err)
{
	*set = set_without_rings(options, notices);
	set->ring_pages = ring_pages_for(options->stack_bytes, set->cpu_count);
	raise_descriptor_limit();
	if (event_choose(set, options, extras, err) && open_sideband_rings(set, err) && open_sample_rings(set, err))
		return true;
	event_set_deinit(set);
	return false;
}

/* Maps new sample rings if larger ones are wanted and possible; otherwise uses those of the other set. */
static bool find_sample_rings(struct event_set *set, size_t pages, const struct event_set *other, struct error *err)
{
	struct error ignored;

	set->sample_rings = calloc(set->cpu_count, sizeof(*set->sample_rings));
	if (!set->sample_rings)
		return error_set_memory(err);
	set->ring_pages = pages;
	if (pages > other->ring_pages && open_rings_of(set, set->sample_rings, pages, &ignored))
		return true;
	memcpy(set->sample_rings, other->sample_rings, set->cpu_count * sizeof(*set->sample_rings));
	set->ring_pages = other->ring_pages;
	set->shares_rings = true;
	return true;
}

bool event_set_init_beside(struct event_set *set, const struct event_set *other, const struct sampler_options *options,
	struct event_extras extras, struct error *err)
{
	*set = set_without_rings(options, other->notices);
	set->group = other->group;
	if (event_choose(set, options, extras, err) && open_sideband_rings(set, err) &&
		find_sample_rings(set, ring_pages_for(options->stack_bytes, set->cpu_count), other, err))
		return true;
	event_set_deinit(set);
	return false;
}

void event_set_take_rings(struct event_set *set, struct event_set *other)
{
	if (!set->shares_rings)
		return;
	/* The rings' present state: records were read since they were copied. */
	memcpy(set->sample_rings, other->sample_rings, set->cpu_count * sizeof(*set->sample_rings));
	set->shares_rings = false;
	other->shares_rings = true;
}

void event_set_deinit(struct event_set *set)
{
	if (!set->shares_rings)
		close_rings(set, set->sample_rings);
	close_rings(set, set->sideband_rings);
	for (size_t i = 0; i < set->descriptor_count; i++)
		close(set->descriptors[i].fd);
	free(set->sample_rings);
	free(set->sideband_rings);
	free(set->descriptors);
	*set = (struct event_set){ 0 };
}

/* The place of an event: a task, a CPU or a cgroup. */
struct event_place {
	int pid, cpu;
	unsigned long flags;
};

/* Opens an event; an older kernel, which cannot count lost samples, gets the attributes without that. */
static int open_known(struct perf_event_attr *attr, const struct event_place *place, int leader)
{
	uint64_t format = attr->read_format;
	int fd = event_open_in_group(attr, place->pid, place->cpu, leader, place->flags);

	if (fd >= 0 || errno != EINVAL || !(format & PERF_FORMAT_LOST))
		return fd;
	attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	fd = event_open_in_group(attr, place->pid, place->cpu, leader, place->flags);
	if (fd < 0)
		attr->read_format = format;
	return fd;
}

/* Opens an event; leaves kernel code out if sampling it is not permitted. */
static int open_permitted(
	struct event_set *set, struct perf_event_attr *attr, const struct event_place *place, int leader)
{
	int fd = open_known(attr, place, leader);

	if (fd >= 0 || errno != EACCES || attr->exclude_kernel)
		return fd;
	attr->exclude_kernel = 1;
	set->user_only = true;
	return event_open_in_group(attr, place->pid, place->cpu, leader, place->flags);
}

/* Opens an event, which the set then owns. */
static bool open_owned(struct event_set *set, struct perf_event_attr *attr, const struct event_place *place, int leader,
	int *fd, struct error *err)
{
	if (!ARRAY_RESERVE(
		    &set->descriptors, &set->descriptor_capacity, set->descriptor_count + 1, MAX_DESCRIPTORS, err))
		return false;
	*fd = open_permitted(set, attr, place, leader);
	if (*fd < 0)
		return explain_failure(errno, set, err);
	set->descriptors[set->descriptor_count++] = (struct event_descriptor){ .fd = *fd };
	return true;
}

static bool join_ring(int fd, const struct ring *ring, const struct event_place *place, struct error *err)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 ||
	       error_set_errno(err, errno, "cannot join the events of CPU %d", place->cpu);
}

/* Returns the attributes of what is counted beside the sampling event: in the same code, by the same clock. */
static struct perf_event_attr counted_attr(const struct event_set *set, const struct counter_event *event)
{
	const struct perf_event_attr *sampled = &set->sample_attr;

	return (struct perf_event_attr){
		.size = sizeof(*sampled),
		.type = event->type,
		.config = event->config,
		.read_format = sampled->read_format,
		.inherit = sampled->inherit,
		.exclude_kernel = sampled->exclude_kernel,
		.exclude_guest = sampled->exclude_guest,
		.exclude_idle = sampled->exclude_idle,
		.use_clockid = sampled->use_clockid,
		.clockid = sampled->clockid,
	};
}

static bool open_sideband(struct event_set *set, struct event_place place, struct error *err)
{
	int fd;

	return open_owned(set, &set->sideband_attr, &place, -1, &fd, err) &&
	       join_ring(fd, &set->sideband_rings[place.cpu], &place, err);
}

/*
 * Opens the sampling event and those that are counted with it. The one that leads is switched for all. If the kernel
 * refuses the program, unwanted samples arrive and are dropped by the recorder.
 */
static bool open_sampling(struct event_set *set, struct event_place place, struct error *err)
{
	size_t count = set->group.count ? set->group.count : 1, first = set->descriptor_count;

	for (size_t i = 0; i < count; i++) {
		bool samples = i == set->group.sampling;
		struct perf_event_attr attr = samples ? set->sample_attr : counted_attr(set, &set->group.events[i]);
		int leader = i ? set->descriptors[first].fd : -1, fd;

		attr.disabled = i == 0;
		attr.enable_on_exec = i == 0 && set->sample_attr.enable_on_exec;
		if (!open_owned(set, &attr, &place, leader, &fd, err) ||
			(samples && !join_ring(fd, &set->sample_rings[place.cpu], &place, err)))
			return false;
		/* The kernel's permissions decide the attributes of the events after it. */
		set->sample_attr.exclude_kernel = attr.exclude_kernel;
		set->sample_attr.read_format = attr.read_format;
		if (samples && set->program_fd >= 0)
			(void)ioctl(fd, PERF_EVENT_IOC_SET_BPF, set->program_fd);
	}
	set->descriptors[first].is_switched = true;
	return true;
}

bool event_set_open(struct event_set *set, int pid, unsigned long flags, struct error *err)
{
	/* Only events of tasks are inherited; events of a CPU or a cgroup count all tasks there. */
	set->sample_attr.inherit = set->sideband_attr.inherit = set->inherits && pid != -1 && flags == 0;
	for (uint32_t cpu = 0; cpu < set->cpu_count; cpu++) {
		struct event_place place = { pid, (int)cpu, flags };

		if (!set->sample_rings[cpu].pages)
			continue;
		if (!open_sideband(set, place, err) || !open_sampling(set, place, err))
			return false;
	}
	return true;
}

bool event_set_open_wide(struct event_set *set, struct error *err)
{
	struct perf_event_attr sample_attr = set->sample_attr, sideband_attr = set->sideband_attr;
	bool user_only = set->user_only;

	set->sample_attr.exclude_idle = 1;
	set->sample_attr.enable_on_exec = 0;
	if (event_set_open(set, -1, 0, err))
		return true;
	if (err->code == ERROR_PERMISSION) {
		set->sample_attr = sample_attr;
		set->sideband_attr = sideband_attr;
		set->user_only = user_only;
	}
	return false;
}

bool event_set_enable(struct event_set *set, bool enabled, struct error *err)
{
	for (size_t i = 0; i < set->descriptor_count; i++) {
		const struct event_descriptor *event = &set->descriptors[i];

		if (event->is_switched &&
			ioctl(event->fd, enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) != 0)
			return error_set_errno(err, errno, "cannot switch sampling %s", enabled ? "on" : "off");
	}
	return true;
}

/*
 * Sums the lost samples. A read of an event gives its value and how many of its samples were lost. Of a group: how many
 * events, two times, and those two of each.
 */
uint64_t event_set_lost(const struct event_set *set)
{
	enum { VALUE_WORDS = 2, GROUP_WORDS = 3, MOST_WORDS = GROUP_WORDS + VALUE_WORDS * COUNTERS_MAX_MEMBERS };
	size_t before = set->group.count ? GROUP_WORDS + VALUE_WORDS * set->group.sampling : 0;
	uint64_t sum = 0, values[MOST_WORDS];

	if (!(set->sample_attr.read_format & PERF_FORMAT_LOST))
		return 0;
	for (size_t i = 0; i < set->descriptor_count; i++)
		if (set->descriptors[i].is_switched && read(set->descriptors[i].fd, values, sizeof(values)) >=
							       (ssize_t)((before + VALUE_WORDS) * sizeof(*values)))
			sum += values[before + 1];
	return sum;
}

int event_set_filling_ms(const struct event_set *set)
{
	enum { BESIDE_STACK_BYTES = 512 };
	uint64_t ring_bytes = set->ring_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes_per_s =
		set->sample_attr.sample_freq * (uint64_t)(set->sample_attr.sample_stack_user + BESIDE_STACK_BYTES);

	return set->is_time ? (int)(ring_bytes * 3 / 4 * 1000 / bytes_per_s) : 0;
}
