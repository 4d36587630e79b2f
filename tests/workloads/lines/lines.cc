/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that cost what the program says: `lines ROUNDS`. Rounds differ in length, so that no sampling keeps step. */
#include "lines/inlined.h"

#include <cstdlib>

namespace shop
{

struct basket {
	uint64_t value;

	/* Inlined into a member that is not. */
	uint64_t add(unsigned int units)
	{
		struct stopwatch inner;

		BEGIN(&inner);
		value += BURN(units, value);
		LAP(&inner);
		return value;
	}
	__attribute__((noinline)) uint64_t work();
};

uint64_t basket::work()
{
	unsigned int scale = 4 + (unsigned int)(value >> 60);
	struct stopwatch outer;
	auto spin = [this](unsigned int units) { return value + BURN(units, value); };

	BEGIN(&outer);
	value = twist(value, 2 * scale);
	LAP(&outer);
	value = BURN(6 * scale, value);
	LAP(&outer);
	value = twist(value, 5 * scale);
	LAP(&outer);
	value ^= spin(10 * scale);
	LAP(&outer);
	value ^= add(16 * scale);
	LAP(&outer);
	return value;
}

} // namespace shop

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	shop::basket basket = { 1 };
	struct stopwatch whole;

	BEGIN(&whole);
	while (rounds-- > 0)
		basket.work();
	print_laps(&whole);
	return basket.value == 42;
}
