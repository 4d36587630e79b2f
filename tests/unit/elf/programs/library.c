/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared object with code, data, debug information and a build id, for the tests to open. */
int library_counter = 7;

int library_add(int a, int b);

int library_add(int a, int b)
{
	return a + b + library_counter;
}
