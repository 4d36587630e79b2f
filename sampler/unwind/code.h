/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instructions around an address, and what they alone tell of it. Foreign bytes; x86-64. */
struct code {
	const uint8_t *bytes; /* borrowed; NULL: not at hand */
	size_t size, at;      /* `at`: of the address, `size` at most */
};

/* Whether a signal handler returns there: it is rt_sigreturn, where the C library has no rules for it. */
bool code_is_signal_return(const struct code *code);

/* Whether main() or a thread's first function returns there, behind which nothing returns, in musl. */
bool code_is_last_return(const struct code *code);

/* Whether it is glibc's __start_context, to which the function of makecontext() returns. */
bool code_is_context_start(const struct code *code);

bool code_is_behind_syscall(const struct code *code);

/* Whether the instruction before is a call: only then can it be a return address. */
bool code_is_behind_call(const struct code *code);
