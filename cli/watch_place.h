/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"

/*
 * The directory of a watch: the user's own, which nobody else can lead elsewhere (common/own_directory.h), opened once
 * and locked, so that one watch has one directory. It is made with 0700 if it is not there.
 */
struct watch_place {
	char *path;   /* owned: absolute, for messages */
	int fd, lock; /* owned */
};

/* Opens the directory. ERROR_USAGE: another watch has it, whose process is named. */
COMMON_MUST_CHECK
bool watch_place_open(const char *path, struct watch_place *place, struct error *err);
void watch_place_deinit(struct watch_place *place);

/* Returns whether somebody has removed the directory. */
bool watch_place_is_removed(const struct watch_place *place);

/* Reads the watch's files, in order. */
COMMON_MUST_CHECK
bool watch_place_list(const struct watch_place *place, struct watch_files *files, struct error *err);

/* Gives a profile of this time the first number under which neither it nor its part is there. */
void watch_place_choose(const struct watch_place *place, struct watch_file *file);

/* Returns whether the file is there. */
bool watch_place_has(const struct watch_place *place, const struct watch_file *file);

/* Returns when it was written, in nanoseconds since 1970; 0: it is not there. */
int64_t watch_place_written_ns(const struct watch_place *place, const struct watch_file *file);

/* Removes files over the bounds. */
COMMON_MUST_CHECK
bool watch_place_expire(const struct watch_place *place, const struct watch_bounds *bounds, struct error *err);

void watch_place_remove(const struct watch_place *place, const struct watch_file *file);
