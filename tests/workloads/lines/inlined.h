/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "burn.h"
#include "lines/laps.h"

/* A function of a header, which is inlined where it is called: its lines are its own wherever that is. */
template <typename T> inline T twist(T value, unsigned int units)
{
	struct stopwatch inner;

	BEGIN(&inner);
	value = BURN(units, value);
	LAP(&inner);
	value ^= BURN(3 * units, value);
	LAP(&inner);
	return value;
}
