/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/collect/sleeper.h"
#include "sampler/live/members.h"
#include "sampler/live/order.h"
#include "sampler/live/pace.h"
#include "sampler/live/watch.h"

/*
 * The sampling of waits: the programs in the kernel (ebpf/waiting.h), the events that these write through, and their
 * rings, one for each CPU. They stay as they are when the events of CPU time are opened anew.
 */
struct waiting_cpu {
	struct ring ring; /* of `first` */
	int first;        /* owned; -1: the CPU is offline */
	int output;       /* owned, or `first`: the event that samples go through */
	int switches;     /* owned; -1: not needed */
};

struct waiting {
	struct ebpf_waiting *programs; /* owned; NULL: waits are not sampled */
	struct ebpf_visit *visit;      /* owned: of threads that are asleep; NULL: none goes on */
	struct members members;
	struct waiting_cpu *cpus; /* owned */
	uint32_t cpu_count, stack_bytes;
	struct perf_event_attr attr;
	struct record_layout layout;
	struct pace pace;
	bool is_enabled;
	uint64_t visited_ns;                /* when the last visit began, by the records' clock */
	struct ebpf_waiting_counts counted; /* when it was visited */
	struct sleeper sleeper;
};

/*
 * Prepares sampling for a target; nothing counts yet. When it fails nothing is open, and the message says what would
 * help: recordings go on without waits.
 *
 * chains  borrowed: samples of waits follow the chains of CPython's frames; NULL: they do not
 */
COMMON_MUST_CHECK
bool waiting_open(struct waiting *waiting, const struct sampler_options *options, int32_t child,
	const struct ebpf_chains *chains, struct error *err);
void waiting_close(struct waiting *waiting);

/*
 * Tries whether waits can be sampled here. Returns the name of the hook, static: "fentry", "kprobe", "rseq"; NULL, with
 * `err` set as by waiting_open(): they cannot be.
 */
const char *waiting_probe(struct error *err);

/* Adds the rings to those that are read and waited for. Room for waiting->cpu_count of them. */
COMMON_MUST_CHECK
bool waiting_add_rings(struct waiting *waiting, struct order *order, struct watch *watch, struct error *err);

/*
 * Begins or ends to count waits, at `clock_ns` of the records' clock. Waits that last at the end are charged up to
 * then.
 */
COMMON_MUST_CHECK
bool waiting_enable(
	struct waiting *waiting, struct collector *collector, bool enabled, uint64_t clock_ns, struct error *err);

/*
 * To be called again and again: once a second it charges threads that are asleep, some of them at each call, and heeds
 * the budget and what the options became.
 */
COMMON_MUST_CHECK
bool waiting_look(struct waiting *waiting, struct collector *collector, const struct sampler_options *options,
	uint64_t clock_ns, struct error *err);

/* How long to wait for samples at most, until waiting_look() is to be called. */
int waiting_timeout(const struct waiting *waiting, int timeout_ms);

/* Tells the profile the longest interval, and the user what became of the one that was asked for. */
void waiting_tell(const struct waiting *waiting, const struct sampler_options *options, struct profile *profile,
	struct buffer *notices);
