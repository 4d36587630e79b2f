/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The trust in the file system of a file that a process has mapped, or that is open here. */

/*
 * Returns whether a page of the file may never arrive. File systems of local devices and of memory are known; every
 * other one may ask another machine, or a process. An overlay has its files from other file systems, which may be any
 * where a user has made it in a namespace of his own.
 */
bool file_system_may_hang(int fd, int32_t pid);

/*
 * Returns whether owner and mode of a file on such a file system are more than what a process says: FUSE is served by
 * any user, and of an overlay in a namespace of another user the file below may be from there. To mount all others
 * takes root.
 */
bool file_system_knows_owner(int fd);
