/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdint.h>

enum { DIGITS_SIZE = 32 };

/* Writes a whole number with its digits in groups of three: "1,203". */
void digits_in_groups(uint64_t number, char text[static DIGITS_SIZE]);
