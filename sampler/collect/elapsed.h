/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Shares the time that passed out among the samples of a recording. At each instant the threads of the target that run
 * on a CPU own it in equal parts; an instant at which none runs belongs to the wait that ends next, of the thread that
 * runs next. So the shares add up to the time that passed, and what a perfect speed-up of some code would take off it,
 * if nothing else changed place, is its share at most.
 *
 * Virtual time goes by 1/n as fast as real time while n threads run (as in fair queueing: Demers, Keshav and Shenker
 * 1989). A sample of a thread that runs takes the virtual time since its last sample or since it went on; what is left
 * when the thread stops goes to its next sample, at the end to its last. Time of threads without any sample is shared
 * out among all samples in proportion to what they have.
 */
enum elapsed_kind {
	ELAPSED_BEGIN,  /* the thread begins; one of the same number may have ended before */
	ELAPSED_ON,     /* the thread runs from here on */
	ELAPSED_OFF,    /* it runs no longer */
	ELAPSED_SAMPLE, /* of the thread while it runs */
	ELAPSED_WAIT,   /* of a wait of the thread, which it has waited up to here */
	ELAPSED_END,    /* it ends: where it runs after that, on its way out of the kernel, is not told to the end */
};

struct elapsed_point {
	int64_t time_ns; /* since the begin */
	uint32_t thread; /* numbered from 0 on */
	enum elapsed_kind kind;
	uint32_t sample; /* index in `shares`; of SAMPLE and WAIT */
	double weight;   /* of a WAIT: waits of different kinds, one behind the other, share by their weights */
};

struct elapsed_quality {
	uint64_t contradictions; /* points that tell of a switch that was not told: such records were lost */
	int64_t spread_ns;       /* of threads without any sample */
};

/*
 * Shares `end_ns` nanoseconds from time 0 out: shares[sample] is added to, and the sum of what is added is `end_ns`,
 * whatever the points are, provided that there is a SAMPLE or WAIT. Points are sorted here, by time; those before 0 or
 * after the end count as at these.
 */
COMMON_MUST_CHECK
bool elapsed_share(struct elapsed_point *points, size_t count, size_t threads, int64_t end_ns, int64_t *shares,
	size_t samples, struct elapsed_quality *quality, struct error *err);
