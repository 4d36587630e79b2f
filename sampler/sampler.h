/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The wing's public header: from a target to a profile of addresses.
 *
 *	sampling.h	sampling a target; perf.data, recordings that were killed, simulations
 *	recording.h	what all of these make
 *	ebpf/		programs that run in the kernel
 *	harness/	the runner that benchmark harnesses look for
 *	simulated/	simulator.h: the tool of valgrind, and what it can run
 *	watch/		what is recorded when, of a target that is watched
 */
#include "sampler/bench/bench.h"
#include "sampler/ebpf/ebpf.h"
#include "sampler/harness/harness.h"
#include "sampler/recording.h"
#include "sampler/sampling.h"
#include "sampler/simulated/simulator.h"
#include "sampler/watch/watch.h"
