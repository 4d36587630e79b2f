// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdlib>

// Initialized before main(), in a function that the compiler makes.

static int number = std::rand() + 3;

int main()
{
	return number;
}
