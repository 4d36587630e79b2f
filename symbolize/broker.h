/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Opens files for the child process that names functions (symbolize/naming.h), which cannot open any. The broker is a
 * process of its own with the rights of its parent; it reads no foreign bytes but the requests. What it is asked for is
 * as hostile as the binaries that the child reads, so where root runs it, it opens a file only
 *
 * - where debug files are kept, beside the binary or below it, without links that lead elsewhere; a .dwo or .dwp file
 *   also elsewhere if it belongs to the owner of the binary, which is where it was built;
 * - with the rights of the binary's owner: who wrote the name gets nothing that they could not read. A file of root
 * that others may write to counts as nobody's.
 *
 * Only regular files are opened. Without root's rights the kernel's own checks are enough.
 */

enum { BROKER_MAX_OPENED = 1 << 16 }; /* files of one image */

/* What the child has got: the limits of its tasks are in proportion to it. */
struct broker_shares {
	uint64_t data_bytes, memory_factor; /* the child may take data_bytes + memory_factor * all bytes */
	_Atomic uint64_t all_bytes;         /* of the images that it works on and their files, on disk */
	_Atomic uint64_t bytes[];           /* [image] */
};

/* Sets the child's limit of memory. */
void broker_limit_memory(struct broker_shares *shares, pid_t child);

/* Bytes that a file has on disk, where a sparse one has few; 0 if that is not known. */
uint64_t broker_disk_bytes(int fd);

struct broker {
	struct elf_image *const *images; /* by number; entries may be NULL, which have no other files */
	size_t image_count;
	const struct symbolize_options *options; /* debug directories, root, cache directory */
	struct broker_shares *shares;            /* shared with the parent */
	pid_t child;
	int socket; /* borrowed; the other end is the child's */
};

/* Answers requests until the other end is closed. */
void broker_serve(const struct broker *broker);

/* The rule above, for one request: a descriptor, or -1 with errno. `image` NULL: nobody's. */
int broker_open(const struct broker *broker, const struct elf_image *image, enum elf_file_use use, const char *path);

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
