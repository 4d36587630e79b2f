/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fmt/format.h>

int main()
{
	char text[512];
	unsigned state = 1;
	unsigned long size = 0;

	for (int i = 0; i < 12000000; i++) {
		state = state * 1103515245 + 12345;
		size += fmt::format_to_n(text, sizeof(text), FMT_STRING("{}"), state).size;
	}
	return size == 0;
}
