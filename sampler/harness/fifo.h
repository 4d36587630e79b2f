/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <sys/types.h>

/*
 * The two FIFOs by which harnesses find their runner. Their names are fixed, so there can be one runner on a machine
 * for all that see the same /tmp (namespace.h).
 * They lie where others may write: files that are not our own FIFOs are left alone. The one for commands carries a lock
 * for as long as a Kelvin serves it. One that nobody has open was left behind by a runner that was killed, and is used
 * again.
 */
struct fifo_pair {
	int commands, answers; /* owned; opened for reading and writing, never blocking; -1: none */
};

#define FIFO_COMMANDS_PATH "/tmp/runner.ctl.fifo"
#define FIFO_ANSWERS_PATH "/tmp/runner.ack.fifo"

/*
 * Errors are those of harness_create(). `commands` and `answers` are paths of less than PATH_MAX bytes: those above,
 * except in tests.
 */
COMMON_MUST_CHECK
bool fifo_pair_open(struct fifo_pair *pair, const char *commands, const char *answers, struct error *err);

/* Removes the FIFOs, if they are still the ones that were opened, and closes them. */
void fifo_pair_close(struct fifo_pair *pair, const char *commands, const char *answers);

/* Says what lies at a path where our FIFO should, whose it is, and the way out. */
bool fifo_fail_foreign(const char *path, struct error *err);

/* Throws away what is in a FIFO. */
void fifo_drain(int fd);

/*
 * Removes FIFOs of ours that nobody has open. A process that is about to end, `owner`, may have them open for a moment
 * longer, with the processes that it has started: it is waited for, but not for long.
 */
void fifo_remove_stale(const char *commands, const char *answers, pid_t owner);
