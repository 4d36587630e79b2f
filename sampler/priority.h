/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * A recorder needs little CPU time, but needs it before its rings are full: on a machine with a hundred busy threads a CPU its turn
 * would come too late, and attaching would take minutes. While it records it therefore goes first, where that is permitted, unless
 * it was itself started with another priority than the usual.
 */
struct priority {
	bool is_real_time, is_nice;
};

/* Of the calling thread. Real time where it may be had, else the best of the usual; a child that is forked later may have that too.
 */
void priority_raise(struct priority *priority);
void priority_restore(struct priority *priority);
