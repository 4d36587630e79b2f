/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

#include <limits.h>
#include <linux/openat2.h>
#include <sys/types.h>

/*
 * Reads a whole file ("-": standard input) into `buffer`, which the caller has initialised with its cap.
 * Fails with ERROR_NOT_FOUND, ERROR_PERMISSION, ERROR_SYSTEM, ERROR_LIMIT; the message names the path.
 */
COMMON_MUST_CHECK
bool file_read(const char *path, struct buffer *buffer, struct error *err);

/*
 * A file that was opened once and is read by its descriptor from then on, as another one may lie under its name later.
 * All zero: no file.
 */
struct file_opened {
	char *name; /* owned, for messages; NULL: no file */
	int fd;     /* owned, for reading; without a name it means nothing */
};

void file_opened_deinit(struct file_opened *file);

/* Reads an opened file from its start, as file_read() does. */
COMMON_MUST_CHECK
bool file_read_opened(const struct file_opened *file, struct buffer *buffer, struct error *err);

/*
 * Writes a whole file or nothing: to a new file in the same directory, which is synced and renamed. On failure no
 * partial file is left, and an existing file stays. "-" is standard output; devices, pipes and links to open files
 * (/proc/self/fd/3) are written directly. A link that stands at the end of the path is followed, and a pipe there
 * written to, only if it is the user's own or the owner's of its directory, else ERROR_PERMISSION: where others may
 * write too, they could choose the file. `mode` is the file's, whatever the umask; 0: that of the file which is
 * replaced, if it is the user's own, else 0600 less the umask.
 */
COMMON_MUST_CHECK
bool file_write(const char *path, const void *bytes, size_t size, mode_t mode, struct error *err);

/*
 * The same piece by piece. What was begun is ended by file_commit() or file_abandon(), which free it; without a commit
 * no file is made or replaced, though a pipe has got what was appended.
 */
struct file_writing;
COMMON_MUST_CHECK
bool file_begin(const char *path, mode_t mode, struct file_writing **writing, struct error *err);
COMMON_MUST_CHECK
bool file_append(struct file_writing *writing, const void *bytes, size_t size, struct error *err);
COMMON_MUST_CHECK
bool file_commit(struct file_writing *writing, struct error *err);
void file_abandon(struct file_writing *writing); /* NULL is allowed */

/*
 * Returns whether a file lies beside the one that is written for as long as that takes, which a killed process leaves
 * there.
 */
bool file_is_beside(const struct file_writing *writing);

/* Writes all bytes to a descriptor, also to a pipe that is full for the moment. False with errno set. */
COMMON_MUST_CHECK
bool file_write_all(int fd, const void *bytes, size_t size);

/*
 * Makes an empty file that is only in memory, and which nobody can execute where the kernel knows that (Linux 6.3):
 * vm.memfd_noexec may forbid others. It can be sealed, and is not inherited by what is executed. `name` is for
 * who looks into /proc. -1 on failure, with `err` set.
 */
int file_in_memory(const char *name, struct error *err);

/*
 * Copies the path of the file that file_write() to `path` makes or replaces, which is behind the links, to the `size`
 * bytes of `end`; "" for standard output, a device, a pipe or an open file. ERROR_LIMIT: it is too long.
 */
COMMON_MUST_CHECK
bool file_end_of_links(const char *path, char *end, size_t size, struct error *err);

/*
 * Opens for reading what an O_PATH descriptor has found, which is borrowed: a regular file, outside the kernel's own
 * file systems. There, opening a file may do something: tracefs frees its buffers when one is closed, a file of
 * configfs or binder makes a device, one of autofs a mount. `path` is for messages. -1 on failure, with `err` set.
 */
int file_open_found(int found, const char *path, struct error *err);

/*
 * Opens a path below a directory by openat2(2): with RESOLVE_BENEATH or RESOLVE_IN_ROOT no link and no ".." leads out
 * of it, and none of /proc is followed. -1 with errno set; ENOSYS or EPERM: before Linux 5.6, and in containers that
 * know no newer calls.
 */
int file_open_below(int directory, const char *path, int flags, uint64_t resolve);

/* Checks before long work whether file_write() to `path` is likely to succeed: the directory exists and is writable. */
COMMON_MUST_CHECK
bool file_check_writable(const char *path, struct error *err);

/*
 * Removes ".", ".." and empty components from an absolute path, in place and by the letters alone: no link is followed.
 * False if it is not absolute, which leaves it as it was, or nothing remains of it, which leaves "".
 */
COMMON_MUST_CHECK
bool file_normalize_path(char *path);

/* Finds the file that execvp() would execute; a name with a '/' is taken as it is. False: PATH leads to none. */
bool file_find_program(const char *name, char path[PATH_MAX]);

/* Raises the number of files that may be open as far as that goes. */
void file_allow_many(void);
