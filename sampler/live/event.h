/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/counter_group.h"
#include "sampler/live/ring.h"
#include "sampler/sampling.h"

#include <linux/perf_event.h>

/*
 * The perf events of a recording: one sampling event and one `dummy` for the sideband (mmap, comm, task) per thread and
 * CPU, all of a CPU joined into one ring each, so that a burst of samples can never drop a mapping. The rings belong to
 * dummy events of our own process: those of a thread that ends would report it for ever after, and wake us for nothing.
 */
struct event_descriptor {
	int fd;           /* owned */
	bool is_switched; /* it is switched on and off: a sampling event, or what leads its group */
};

struct event_set {
	struct perf_event_attr sample_attr, sideband_attr;
	struct counter_group group; /* what is counted with the sampling event; count 0: nothing */
	struct buffer *notices;     /* borrowed */
	const char *event_name;     /* static: the event that was chosen */
	uint32_t cpu_count;
	struct event_descriptor *descriptors;
	size_t descriptor_count, descriptor_capacity;
	struct ring *sample_rings, *sideband_rings; /* [cpu] */
	bool user_only;                             /* kernel part refused */
	bool is_time;                               /* the period is in nanoseconds of CPU time */
	bool counts_cpus;  /* counts all tasks of a CPU, or of a cgroup on it, which needs more rights */
	bool inherits;     /* new threads and processes are counted too */
	bool needs_cpus;   /* the kernel does not let threads inherit the group: only events of CPUs follow them */
	bool shares_rings; /* the sample rings belong to another set */
	size_t ring_pages; /* of a sample ring, as far as permitted */
	int program_fd;    /* BPF program that each sampling event gets when it is opened: borrowed; -1: none */
};

/*
 * Extras that take the target time, and are taken where they are seen to be needed.
 *
 * with_callchains       Beside a copied stack, the kernel follows its frame pointers.
 * with_own_clocks   Between tasks that inherit the same events the kernel switches by exchanging those as a whole, with
 * the way that each clock has come to its next sample. What a task that ends at once was given so is lost: who starts
 * many of them is hardly ever sampled himself. Not where a sample reads values (since Linux 6.12; perf_event_open()
 * fails before).
 */
struct event_extras {
	bool with_callchains, with_own_clocks;
	bool with_switches; /* of threads; whoever knows it after event_set_init() sets it in sideband_attr, too */
};

/* Fills the attributes and maps the rings. ERROR_USAGE for an unknown event. */
COMMON_MUST_CHECK
bool event_set_init(struct event_set *set, const struct sampler_options *options, struct event_extras extras,
	struct buffer *notices, struct error *err);

/*
 * Prepares a set that takes the place of `other`, which stays open meanwhile and writes the same event. Where no larger
 * sample rings are wanted, or can be had, it writes into those of `other`: users may lock no more memory than one
 * recorder's. The sideband's are always its own, so that they hold what happened since.
 */
COMMON_MUST_CHECK
bool event_set_init_beside(struct event_set *set, const struct event_set *other, const struct sampler_options *options,
	struct event_extras extras, struct error *err);

/* Call it when all records of `other` are read, and before it is closed: shared rings move to the set that stays. */
void event_set_take_rings(struct event_set *set, struct event_set *other);

void event_set_deinit(struct event_set *set);

/*
 * Opens the event for one place: pid is a thread's id, -1 for all, or a descriptor of a cgroup directory with `flags`.
 */
COMMON_MUST_CHECK
bool event_set_open(struct event_set *set, int pid, unsigned long flags, struct error *err);

/* Opens an event on every CPU, for all tasks but the idle task. ERROR_PERMISSION leaves the set unchanged. */
COMMON_MUST_CHECK
bool event_set_open_wide(struct event_set *set, struct error *err);

/* PERF_EVENT_IOC_ENABLE or _DISABLE for the sampling events. */
COMMON_MUST_CHECK
bool event_set_enable(struct event_set *set, bool enabled, struct error *err);

/*
 * The time in which three quarters of a sample ring fill while its CPU is always busy; 0: not known, for events that
 * are not clocks.
 */
int event_set_filling_ms(const struct event_set *set);

/*
 * Returns how many samples were lost so far because their ring was full, including those that no record reports because
 * nothing was written after them; 0 if the kernel does not count them (before 6.0).
 */
uint64_t event_set_lost(const struct event_set *set);

/* The number of CPUs; rings are indexed by a CPU's number. */
uint32_t event_cpu_count(void);
