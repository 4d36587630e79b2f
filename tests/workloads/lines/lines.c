/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that cost what the program says: `lines ROUNDS`. Rounds differ in length, so that no sampling keeps step. */
#include "burn.h"
#include "lines/laps.h"

#include <stdlib.h>

/* Two lines of a function that is called at one. */
static __attribute__((noinline)) uint64_t called(uint64_t value, unsigned int scale)
{
	struct stopwatch inner;

	BEGIN(&inner);
	value = BURN(4 * scale, value);
	LAP(&inner);
	value ^= BURN(12 * scale, value);
	LAP(&inner);
	return value + 1;
}

/* Told apart at the calls, which one expression has on several lines. */
static __attribute__((noinline)) uint64_t spin(unsigned int units, uint64_t value, int line)
{
	struct stopwatch inner;

	BEGIN(&inner);
	value = BURN(units, value);
	lap(&inner, "lines.c", line);
	return value;
}

static __attribute__((noinline)) uint64_t work(uint64_t value)
{
	unsigned int scale = 4 + (unsigned int)(value >> 60);
	struct stopwatch outer;

	BEGIN(&outer);
	value = BURN(4 * scale, value);
	LAP(&outer);
	for (int i = 0; i < 4; i++) {
		BEGIN(&outer);
		value ^= BURN(2 * scale, value);
		LAP(&outer);
		value += BURN(5 * scale, value);
		LAP(&outer);
	}
	value = called(value, scale);
	LAP(&outer);
	/* clang-format off */
	value ^= spin(5 * scale, value, __LINE__) +
		 spin(15 * scale, value, __LINE__);
	/* clang-format on */
	return value;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	struct stopwatch whole;
	uint64_t value = 1;

	BEGIN(&whole);
	while (rounds-- > 0)
		value = work(value);
	print_laps(&whole);
	return value == 42;
}
