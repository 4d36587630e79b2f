/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampling_fixture.h"

#include "sampler/live/task_layout.h"
#include "tests/unit/support/unit_test.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PERIOD_NS = 1000000,
	DATA_PAGES = 64,
	MOST_WAITS = 3000,
	WAIT_NS = 10000000,
	SAMPLE_BYTES = 24,
	INTERVAL_NS = 5000000,
	MOST_A_SECOND = 100000
};

static bool create(
	const struct ebpf_process_set *processes, size_t bytes, struct ebpf_frame_reader **reader, struct error *err)
{
	struct ebpf_frame_reader_options options = {
		.processes = processes,
		.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.bytes_per_cpu = bytes,
	};

	return task_layout_read(&options.layout, err) && ebpf_frame_reader_create(&options, reader, err);
}

bool sampling_is_permitted(void)
{
	struct ebpf_frame_reader *reader = NULL;
	struct error err = { 0 };
	bool is_permitted = create(NULL, 0, &reader, &err) && ebpf_frame_reader_load(reader);

	if (reader && !is_permitted)
		err = *ebpf_frame_reader_refusal(reader);
	ebpf_frame_reader_destroy(reader);
	if (is_permitted)
		return true;
	fprintf(stderr, "%s\n", err.message);
	return err.code != ERROR_PERMISSION && err.code != ERROR_UNSUPPORTED;
}

static int open_event(uint64_t config, uint64_t period, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.use_clockid = true,
		.clockid = CLOCK_MONOTONIC,
		.disabled = config != PERF_COUNT_SW_DUMMY,
		.context_switch = config == PERF_COUNT_SW_DUMMY,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void start(struct sampling *sampling, size_t bytes, uint64_t config, uint64_t period)
{
	size_t ring_bytes = (1 + DATA_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	struct error err;

	*sampling = (struct sampling){ .cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF) };
	assert_true(sampling->cpu_count <= SAMPLING_MOST_CPUS);
	if (!ebpf_process_set_create(&sampling->processes, &err) ||
		!create(sampling->processes, bytes, &sampling->frame_reader, &err))
		fail_msg("%s", err.message);
	ebpf_process_set_filter(sampling->processes, true);
	for (uint32_t cpu = 0; cpu < sampling->cpu_count; cpu++) {
		sampling->switches[cpu] = -1;
		sampling->events[cpu] = open_event(config, period, cpu);
		if (sampling->events[cpu] < 0)
			continue;
		sampling->pages[cpu] =
			mmap(NULL, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sampling->events[cpu], 0);
		assert_ptr_not_equal(sampling->pages[cpu], MAP_FAILED);
	}
}

void sampling_start(struct sampling *sampling, size_t bytes)
{
	int program;

	start(sampling, bytes, PERF_COUNT_SW_CPU_CLOCK, PERIOD_NS);
	program = ebpf_process_set_program(sampling->processes);
	for (uint32_t cpu = 0; cpu < sampling->cpu_count; cpu++)
		if (sampling->pages[cpu])
			assert_int_equal(ioctl(sampling->events[cpu], PERF_EVENT_IOC_SET_BPF, program), 0);
}

void sampling_start_waits(struct sampling *sampling, size_t bytes)
{
	struct ebpf_waiting_options options = { .interval_ns = INTERVAL_NS, .samples_per_second = MOST_A_SECOND };
	struct timespec now;
	struct error err;

	start(sampling, bytes, PERF_COUNT_SW_BPF_OUTPUT, 1);
	for (uint32_t cpu = 0; cpu < sampling->cpu_count; cpu++)
		sampling->switches[cpu] = open_event(PERF_COUNT_SW_DUMMY, 1, cpu);
	options.processes = sampling->processes;
	options.frame_reader = sampling->frame_reader;
	options.output = sampling->events;
	options.cpu_count = sampling->cpu_count;
	if (!ebpf_waiting_create(&options, &sampling->waiting, &err))
		fail_msg("%s", err.message);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ebpf_waiting_enable(sampling->waiting, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

void sampling_stop(struct sampling *sampling)
{
	ebpf_waiting_destroy(sampling->waiting);
	for (uint32_t cpu = 0; cpu < sampling->cpu_count; cpu++) {
		if (sampling->pages[cpu])
			munmap(sampling->pages[cpu], (1 + DATA_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
		close(sampling->events[cpu]);
		close(sampling->switches[cpu]);
	}
	ebpf_frame_reader_destroy(sampling->frame_reader);
	ebpf_process_set_destroy(sampling->processes);
}

void sampling_add_interpreter(struct sampling *sampling, pid_t pid, const struct ebpf_interpreter *interpreter)
{
	ebpf_process_set_add(sampling->processes, pid);
	(void)ebpf_frame_reader_add(sampling->frame_reader, pid, 0, interpreter);
}

void sampling_add(struct sampling *sampling, pid_t pid, const struct ebpf_python *python)
{
	if (python)
		sampling_add_interpreter(
			sampling, pid, &(const struct ebpf_interpreter){ .kind = EBPF_PYTHON, .python = *python });
	else
		ebpf_process_set_add(sampling->processes, pid);
}

static void switch_events(const struct sampling *sampling, unsigned long request)
{
	for (uint32_t cpu = 0; cpu < sampling->cpu_count; cpu++)
		if (sampling->pages[cpu])
			assert_int_equal(ioctl(sampling->events[cpu], request, 0), 0);
}

/* Records are samples of one size. */
static uint64_t count_samples(const struct sampling *sampling)
{
	uint64_t bytes = 0;

	for (uint32_t cpu = 0; cpu < sampling->cpu_count; cpu++) {
		const struct perf_event_mmap_page *page = sampling->pages[cpu];

		bytes += page ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) : 0;
	}
	return bytes / SAMPLE_BYTES;
}

void sampling_wait(struct sampling *sampling, uint64_t samples)
{
	const struct timespec wait = { .tv_nsec = WAIT_NS };
	uint64_t before = count_samples(sampling);

	switch_events(sampling, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < MOST_WAITS && count_samples(sampling) - before < samples; i++)
		nanosleep(&wait, NULL);
	switch_events(sampling, PERF_EVENT_IOC_DISABLE);
	assert_true(count_samples(sampling) - before >= samples);
}

/* The records fit into the ring, so that none of them lies across its end. */
static bool next_record(struct sampling *sampling, struct sample *sample)
{
	const struct perf_event_mmap_page *page = sampling->pages[sampling->cpu];
	const char *data = (const char *)page + sysconf(_SC_PAGESIZE);

	assert_true(!page || page->data_head < DATA_PAGES * (uint64_t)sysconf(_SC_PAGESIZE));
	while (page && sampling->positions[sampling->cpu] < page->data_head) {
		const char *record = data + sampling->positions[sampling->cpu];
		struct perf_event_header header;

		memcpy(&header, record, sizeof(header));
		sampling->positions[sampling->cpu] += header.size;
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		sample->cpu = sampling->cpu;
		memcpy(&sample->pid, record + sizeof(header), sizeof(sample->pid));
		memcpy(&sample->tid, record + sizeof(header) + sizeof(sample->pid), sizeof(sample->tid));
		memcpy(&sample->time_ns, record + sizeof(header) + 2 * sizeof(uint32_t), sizeof(sample->time_ns));
		return true;
	}
	return false;
}

bool sampling_next(struct sampling *sampling, struct sample *sample)
{
	for (; sampling->cpu < sampling->cpu_count; sampling->cpu++)
		if (next_record(sampling, sample))
			return true;
	sampling->cpu = 0;
	return false;
}

size_t sampling_count_frames(struct sampling *sampling, uint32_t tid, size_t *samples, struct ebpf_frames *last)
{
	struct sample sample;
	size_t with_frames = 0;

	*samples = 0;
	while (sampling_next(sampling, &sample)) {
		if (sample.tid != tid)
			continue;
		++*samples;
		with_frames +=
			ebpf_frame_reader_find(sampling->frame_reader, sample.cpu, sample.tid, sample.time_ns, last);
	}
	return with_frames;
}
