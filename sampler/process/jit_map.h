/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/* The places where the names of code made at run time are looked for. */

/* The user of a process that is gone. */
static const uid_t JIT_NO_USER = (uid_t)-1;

/* The kernel dates a write to its last tick, so many ns before at most (CONFIG_HZ=100). */
enum { JIT_TICK_NS = 10000000 };

/* Why a file names nothing that another program has written under the same pid. */
#define JIT_MAP_IS_ANOTHERS                                                                                            \
	"a later program with the same pid has written this perf map anew, and the names of the first are lost; a jitdump keeps both"

void jit_place_deinit(struct jit_place *place);

/*
 * Opens the file at a place, when the recording has ended: a process writes to it as long as it lives. Leaves `file`
 * empty if there is none, or one that is not to be believed: `notices` (may be NULL) then gets a line that says why. A
 * regular file with one name is believed, of root or of the process's user, as our user namespace has their numbers.
 * Below the root directory of a process in a container no link leads out of that directory (openat2(2)).
 */
COMMON_MUST_CHECK
bool jit_map_open(const struct jit_place *place, struct file_opened *file, struct buffer *notices, struct error *err);

/* A time of the records' clock, of a live recording, since 1970. */
int64_t jit_map_unix_ns(uint64_t clock_ns);

/*
 * Returns whether the mapping is that of a jitdump. A runtime that writes one maps its first page, so that profilers
 * hear of it (linux, tools/perf/Documentation/jitdump-specification.txt): jit-PID.dump; JavaScriptCore's is
 * jit-TID-PID.dump, or jit-TID-PID-RANDOM in /tmp. What it describes is the process's memory without a file.
 */
bool jit_map_is_dump(const struct elf_mapping *mapped);

/*
 * Sets where the names of the process's code would be: in its jitdump, else in its perf map, which may be written any
 * time until the process ends; and the map of the process that it was forked from.
 */
COMMON_MUST_CHECK
bool jit_map_expect(const struct elf_mapping *mapped, struct process_image *image, struct error *err);

/* Returns whether a file of that path is one that jit_map_expect_recorded() expects for some process. */
bool jit_map_is_recorded(const char *path);

/* Does the same for a process of a recording of another time: whatever lies under the name now. */
COMMON_MUST_CHECK
bool jit_map_expect_recorded(const struct elf_mapping *mapped, struct process_image *image, struct error *err);
