/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/instrument.h"

/*
 * The sampling of waits by programs in the kernel (sampler/ebpf/waiting.h), which write through events of their own
 * into rings, one for each CPU. These stay as they are when the events of CPU time are opened anew. Where the programs
 * are not permitted, the states of threads are sampled in /proc (sampler/live/proc_waits.h); where that is not
 * permitted either, the recording goes on without waits.
 */
extern const struct instrument_functions waiting_functions;

/*
 * Tries whether waits can be sampled here by a program. Returns the name of the hook, static: "fentry", "kprobe",
 * "rseq"; NULL, with `err` saying what would help: they cannot be.
 */
const char *waiting_probe(struct error *err);
