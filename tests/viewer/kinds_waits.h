/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* Threads that wait for known times; tests/viewer/waiting.test.js knows them. */
void kinds_waits(struct profile *profiles[DIFF_SIDES]);

/* The same beside other programs that want the CPUs, in head more than in base. */
void kinds_waits_busy(struct profile *profiles[DIFF_SIDES]);
