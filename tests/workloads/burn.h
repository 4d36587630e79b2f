/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdint.h>

/*
 * Spends CPU time: a chain of dependent multiplications that no compiler can shorten. A unit is the same work
 * everywhere, some ten microseconds. A macro, so that the time is the calling function's own, without an inlined frame.
 */
#define BURN(units, seed)                                                                                              \
	({                                                                                                             \
		uint64_t x_ = (seed);                                                                                  \
		for (unsigned int i_ = 0; i_ < (units)*2500U; i_++) {                                                  \
			x_ = x_ * 6364136223846793005U + 1442695040888963407U;                                         \
			__asm__ volatile("" : "+r"(x_));                                                               \
		}                                                                                                      \
		x_;                                                                                                    \
	})
