/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/file_owner.h"
#include "symbolize/symbolize.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Opens files for the child process that names functions of one owner's binaries (symbolize/naming.h), which cannot
 * open any. The broker is a process of its own that reads no foreign bytes but the requests, and of each file that it
 * has opened the first four. What it is asked for is as hostile as the binaries that the child reads, so
 *
 * - it is the owner: where root runs it, it becomes the binaries' owner for good, with the groups that the system gives
 *   that account; for binaries whose owner is not known, a user that nobody is. Who wrote the name of a file gets
 *   nothing that they could not read. Of root's capabilities root's own broker keeps that to read files;
 * - it opens files for the child's own binaries only, and only where debug files are kept, beside the binary or below
 *   it, without links that lead elsewhere. Beside a binary they must be the owner's or root's. A .dwo or .dwp file
 *   that is the owner's may lie elsewhere, which is where it was built;
 * - it opens regular files that begin as an ELF file does;
 * - it can only read files (Landlock), and makes no other system calls (seccomp).
 */

enum { BROKER_MAX_OPENED = 1 << 16 }; /* files of one image */

/*
 * The knowledge of the broker (the process that opens files for the child) and the parent about the child. The parent
 * believes nothing of it but for limits.
 */
struct broker_shares {
	_Atomic pid_t child;                /* as the parent sees it; 0: not started yet */
	uint64_t data_bytes, memory_factor; /* the child may take data_bytes + memory_factor * all bytes */
	_Atomic uint64_t all_bytes;         /* of the images that it works on and their files, on disk */
	_Atomic uint64_t bytes[];           /* [image] */
};

/* Bytes that a file has on disk, where a sparse one has few; 0 if that is not known. */
uint64_t broker_disk_bytes(int fd);

struct broker {
	struct elf_image *const *images; /* of the child's tasks, by number; entries may be NULL: they have no files */
	size_t image_count;
	struct file_owner owner; /* of all images */
	const struct symbolize_options *options;
	struct broker_shares *shares;
	int system_root; /* "/", as a directory; -1: none. Images of other trees have theirs (elf_image_root()) */
	int socket;      /* borrowed; the other end is the child's */
};

/* Opens "/", which takes the rights of the process that starts the broker. */
void broker_open_root(struct broker *broker);
void broker_close_root(const struct broker *broker);

/*
 * Makes the calling process the broker, for good. False if it cannot become the owner: it must not open a file then. A
 * process that is not root's stays what it is.
 */
COMMON_MUST_CHECK
bool broker_become(const struct broker *broker);

/* Answers requests until the other end is closed. */
void broker_serve(const struct broker *broker);

/* The rule above, for one request of the image with that number: a descriptor, or -1 with errno. */
int broker_open(const struct broker *broker, uint32_t number, enum elf_file_use use, const char *path);

/* The broker as the child sees it; shared by its threads. */
struct broker_client {
	int socket; /* borrowed */
	pthread_mutex_t lock;
};

/* Opens the other files of image `number`. */
struct broker_opener {
	struct broker_client *client; /* borrowed */
	uint32_t number;
};

/* An opener over `opener`, which it borrows. */
struct elf_opener broker_opener_of(struct broker_opener *opener);
