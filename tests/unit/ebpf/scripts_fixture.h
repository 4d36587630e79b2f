/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Scripts that CPythons of several versions run, and what their memory tells of code objects. */
#include "sampler/ebpf/ebpf.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct script {
	pid_t pid;
	FILE *says; /* what it prints */
	struct ebpf_python python;
	uint32_t text_offset; /* of the text in a str of ASCII characters */
};

/* Whether there is a CPython whose frames can be read; otherwise says so. */
bool script_is_possible(void);

/*
 * Runs a script by the index-th CPython that there is, and waits until it calls begin(). False: there are not so many.
 * say() prints a number.
 */
bool script_start(struct script *script, size_t index, const char *text);
void script_stop(struct script *script);

/* Until a process that uses the CPU all the time has done so for a while: by then it has returned from say(). */
void script_wait_for_work(pid_t pid);

/* The next number that it says. */
long script_hear(const struct script *script);

/* co_qualname of a frame's code. */
void script_name_frame(const struct script *script, uint64_t word, char *name, size_t bytes);
