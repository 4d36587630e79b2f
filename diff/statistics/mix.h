/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * The composition of a part of a program, as far as it decides how much the part varies between processes. The time of
 * a group of samples, as of a thread or a route, is that of several functions, each with its floor (floor.h).
 *
 * Model: what functions vary by independently is less in their sum, the root of the sum of the squares; what varies in
 * all of them alike (process_floor.speed) is not. Never does a sum vary more than it would if all functions of a kind
 * varied together: that is the bound, and exact for a group of one function, which is then tested as that function is.
 */
enum mix_kind { MIX_OTHERS, MIX_BY_TIER, MIX_CHANGED, MIX_WAITS };
enum { MIX_KINDS = 4 };

struct mix {
	double parts[MIX_KINDS];   /* shares of its time, which add up to 1 */
	double squares[MIX_KINDS]; /* sums of the squared shares of single functions */
	double waiting;            /* the share in which threads wait, for the load (load.h) */
};

struct process_floor;

/* Adds a function that has `share` of the time; `waits`: the part of that which is waits. */
void mix_add(struct mix *mix, enum mix_kind kind, double share, double waits);

/* Returns whether most of it is in functions whose code changed. */
bool mix_is_changed(const struct mix *mix);

/* Returns whether most of it depends on what a run-time compiler decides (modes.h). */
bool mix_is_by_tier(const struct mix *mix);

/* Returns the standard deviation of all functions together, of which none is left out: there is no bound. */
double mix_whole_rsd(const struct mix *mix, const struct process_floor *floor);

/* Its relative standard deviation between processes, and the degrees of freedom of that. */
double mix_rsd(const struct mix *mix, const struct process_floor *floor, double *freedom);
