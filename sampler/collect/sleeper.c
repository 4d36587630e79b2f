/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/sleeper.h"

#include "sampler/collect/collector.h"
#include "sampler/collect/wait_class.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/uio.h>

bool sleeper_init(struct sleeper *sleeper, size_t capacity, struct error *err)
{
	*sleeper = (struct sleeper){ .stack = undumped_alloc(capacity), .capacity = capacity, .stack_room = capacity };
	return sleeper->stack ? true : error_set_memory(err);
}

void sleeper_deinit(struct sleeper *sleeper)
{
	undumped_free(sleeper->stack, sleeper->capacity);
	*sleeper = (struct sleeper){ 0 };
}

/* Returns where perf has the value of a register. */
static size_t index_of_register(const struct machine *machine, uint8_t number)
{
	size_t index = 0;

	while (machine->perf_order[index] != number)
		index++;
	return index;
}

void sleeper_set_register(struct sleeper *sleeper, uint8_t number, uint64_t value)
{
	sleeper->registers[index_of_register(machine_host(), number)] = value;
}

bool sleeper_read(struct sleeper *sleeper, struct collector *collector)
{
	const struct process_host *host = &collector->processes.host;
	const struct machine *machine = collector->processes.machine;
	int32_t pid = (int32_t)sleeper->wait.process;
	struct iovec here = { sleeper->stack, sleeper->stack_room }, there = { NULL, here.iov_len };
	ssize_t size = 0;

	if (collector->has_stack) {
		size_t index = index_of_register(machine, machine->stack_pointer);

		there.iov_base = (void *)(uintptr_t)sleeper->registers[index];
		size = host->functions->read_memory(host->context, pid, &here, &there, 1);
	}
	sleeper->stack_bytes = size > 0 ? (size_t)size : 0;
	sleeper->frames.count = 0;
	if (collector->interpreters)
		(void)interpreters_read_frames(
			collector->interpreters, pid, (int32_t)sleeper->wait.tid, &sleeper->frames);
	return size >= 0;
}

static bool read_memory_of(
	const struct ebpf_wait *wait, struct collector *collector, uint64_t address, void *bytes, size_t size)
{
	const struct process_host *host = &collector->processes.host;
	struct iovec here = { bytes, size }, there = { (void *)(uintptr_t)address, size };

	return host->functions->read_memory(host->context, (int32_t)wait->process, &here, &there, 1) == (ssize_t)size;
}

/* The descriptors of a set that are below `limit`. */
static size_t list_selected(const uint64_t *set, size_t limit, struct ebpf_polled polled[EBPF_MOST_POLLED])
{
	size_t count = 0;

	for (size_t i = 0; i < limit; i++) {
		if (!(set[i / 64] >> i % 64 & 1))
			continue;
		if (count == EBPF_MOST_POLLED)
			return 0;
		polled[count++] = (struct ebpf_polled){ (int32_t)i, POLLIN };
	}
	return count;
}

size_t sleeper_read_polled(
	const struct ebpf_wait *wait, struct collector *collector, struct ebpf_polled polled[EBPF_MOST_POLLED])
{
	const struct machine *machine = collector->processes.machine;
	uint64_t set[FD_SETSIZE / 64];
	size_t count;

	switch (machine ? wait_descriptors_of(machine, wait->system_call) : EBPF_READS_NONE) {
	case EBPF_POLLS:
		count = (uint32_t)wait->arguments[1];
		return count <= EBPF_MOST_POLLED && read_memory_of(wait, collector, wait->arguments[0], polled,
							    count * sizeof(*polled))
			       ? count
			       : 0;
	case EBPF_SELECTS:
		count = (uint32_t)wait->arguments[0];
		return count <= FD_SETSIZE &&
				       read_memory_of(wait, collector, wait->arguments[1], set, (count + 63) / 64 * 8)
			       ? list_selected(set, count, polled)
			       : 0;
	default:
		return 0;
	}
}

bool sleeper_take(const struct sleeper *sleeper, struct collector *collector, uint64_t time_ns, struct error *err)
{
	const struct machine *machine = collector->processes.machine;
	const uint64_t callchain[] = { PERF_CONTEXT_USER,
		sleeper->registers[index_of_register(machine, machine->program_counter)] };
	struct record record = { .kind = RECORD_SAMPLE,
		.type = PERF_RECORD_SAMPLE,
		.pid = (int32_t)sleeper->wait.process,
		.tid = (int32_t)sleeper->wait.tid,
		.time_ns = time_ns };
	struct record_sample *sample = &record.sample;

	sample->raw = (const uint8_t *)&sleeper->wait;
	sample->raw_bytes = sizeof(sleeper->wait);
	if (sleeper->has_two_registers)
		sample->callchain = (struct record_words){ (const uint8_t *)callchain, 2 };
	if (collector->has_stack) {
		sample->lacks_frame_pointer = sleeper->has_two_registers;
		sample->registers_abi = PERF_SAMPLE_REGS_ABI_64;
		sample->user_registers =
			(struct record_words){ (const uint8_t *)sleeper->registers, machine->perf_register_count };
		sample->stack = sleeper->stack;
		sample->stack_bytes = sleeper->stack_bytes;
		sample->stack_room = sleeper->stack_room;
	}
	if (sleeper->frames.count > 0)
		sample->interpreter_frames = &sleeper->frames;
	/* The bytes of the sample are the sleeper's, and are used for the next one. */
	return collector_take(collector, &record, false, err) && collector_flush(collector, err);
}
