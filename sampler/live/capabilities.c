/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/sampling.h"

#include "sampler/ebpf/ebpf.h"
#include "sampler/live/counter_sets.h"
#include "sampler/live/event.h"
#include "sampler/live/event_open.h"
#include "sampler/live/requests.h"
#include "sampler/live/task_layout.h"
#include "sampler/live/waiting.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Returns whether this machine allows an event, for kelvin doctor. */

static bool can_open(uint32_t type, uint64_t config, bool kernel, int pid, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.disabled = 1,
		.exclude_kernel = !kernel,
		.sample_period = 1000000,
	};
	int fd = event_open(&attr, pid, cpu, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Restricted kernels show every symbol at address 0. */
static bool kernel_symbols_are_readable(void)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;

	return file && fscanf(file, "%llx", &address) == 1 && address != 0;
}

static bool map_files_are_readable(void)
{
	CLEANUP(cleanup_fclose) FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], path[128];
	unsigned long long start, end;
	int fd;

	if (!maps || !fgets(line, sizeof(line), maps) || sscanf(line, "%llx-%llx", &start, &end) != 2)
		return false;
	snprintf(path, sizeof(path), "/proc/self/map_files/%llx-%llx", start, end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/*
 * Tests with the first process of the system, if it belongs to another user: a low perf_event_paranoid permits events
 * of CPUs for everybody, but not those of other users' processes.
 */
static bool can_sample_others(void)
{
	struct stat info;

	if (stat("/proc/1", &info) == 0 && info.st_uid != geteuid())
		return can_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 1, -1);
	return can_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, -1, 0);
}

static const char *probe_counters(struct error *why)
{
	struct counter_group group;
	uint32_t precise = 0;

	return counter_sets_choose(&precise, &group, why) ? group.kind : NULL;
}

/*
 * Returns whether this machine lets the recorder read the frames of CPython. False, with what would help: it does not.
 */
static bool can_read_frames(struct error *err)
{
	struct ebpf_frame_reader_options options = { .cpu_count = event_cpu_count() };
	struct ebpf_frame_reader *reader;
	bool can_read;

	if (!task_layout_read(&options.layout, err) || !ebpf_frame_reader_create(&options, &reader, err))
		return false;
	can_read = ebpf_frame_reader_load(reader);
	if (!can_read)
		*err = *ebpf_frame_reader_refusal(reader);
	ebpf_frame_reader_destroy(reader);
	return can_read;
}

void sampler_probe(struct sampler_capabilities *capabilities)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	*capabilities = (struct sampler_capabilities){
		.perf_event_paranoid = proc_read_number("/proc/sys/kernel/perf_event_paranoid"),
		.perf_event_mlock_kb = proc_read_number("/proc/sys/kernel/perf_event_mlock_kb"),
		.perf_event_max_sample_rate = proc_read_number("/proc/sys/kernel/perf_event_max_sample_rate"),
		.has_hardware_cycles = can_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, 0, -1),
		.has_cpu_clock = can_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 0, -1),
		.can_sample_own = can_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 0, -1),
		.can_sample_kernel = can_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, 0, -1),
		.can_sample_others = can_sample_others(),
		.can_sample_system = can_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, -1, 0),
		.kernel_symbols_readable = kernel_symbols_are_readable(),
		.map_files_readable = map_files_are_readable(),
		.descriptor_limit = limit.rlim_max,
	};
	capabilities->waits_hook = waiting_probe(&capabilities->no_waits);
	capabilities->counters = probe_counters(&capabilities->no_counters);
	capabilities->can_count_requests = requests_probe(&capabilities->no_requests);
	capabilities->can_read_python = can_read_frames(&capabilities->no_python);
}
