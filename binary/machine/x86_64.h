/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/machine/machine.h"

/* x86-64. Encodings: Intel 64 manual, volume 2. Registers: System V ABI, figure 3.36. */

enum { X86_64_RBX = 3, X86_64_RBP = 6, X86_64_RSP = 7, X86_64_RIP = 16, X86_64_REGISTERS = 17 };

/* The highest number of a system call in x86_64_calls[], and one more. */
enum { X86_64_CALLS = 456 };
extern const uint8_t x86_64_calls[X86_64_CALLS];

extern const struct machine machine_x86_64;
