/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What the hostile programs share. */

/* Says what failed and why, and ends the process with code 1. */
__attribute__((noreturn)) void hostile_fail(const char *what);

/* Says what this machine lacks, and ends the process with code 77, which tests take as "skipped". */
__attribute__((noreturn)) void hostile_lacks(const char *what);

/* Position-independent code of x86-64 that works for some 50 microseconds and returns. */
extern const uint8_t hostile_code[];
extern const size_t hostile_code_bytes;

/* Calls the code again and again until the process is killed. */
__attribute__((noreturn)) void hostile_run(const void *code);

/* Prints "ready pid PID": the harm is in place. */
void hostile_ready(void);

/* Gives up root for the user nobody; does nothing without root. */
void hostile_become_nobody(void);

/* The modes of hostile.c that have a file of their own. They do not return. */
__attribute__((noreturn)) void hostile_missing_code(void);
__attribute__((noreturn)) void hostile_missing_stack(void);
__attribute__((noreturn)) void hostile_silent_file(const char *directory);
