/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/*
 * The owner of a foreign file: the account that wrote its bytes. What one account's files say must not pass for what
 * another's say (symbolize/naming.h).
 *
 * The owner of many files is not known, whatever their user says: others may write to them, they have come from a
 * process's memory, or their file system is a program of a user (FUSE), which names any user it likes. Those of one
 * device count as one owner's, who is nobody else.
 */
struct file_owner {
	bool is_known;
	uid_t user;   /* if it is known */
	dev_t device; /* if not; 0: of memory */
};

/* `fd` may be of O_PATH. */
struct file_owner file_owner_of(int fd);

/*
 * Returns the owner of a binary. The kernel's own code, the vdso, is root's, if it is the same that the kernel gave to
 * this process.
 */
struct file_owner file_owner_of_image(const struct elf_image *image);

bool file_owner_is_same(const struct file_owner *left, const struct file_owner *right);
bool file_owner_is_root(const struct file_owner *owner);
