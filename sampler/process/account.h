/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdint.h>

/*
 * The account that answers for what a process makes the recorder do. A user may make any number of namespaces in which
 * he has any number of user ids (unshare(1), newuidmap(1)), and all of them are his one account: that of the outermost
 * user namespace's owner, seen from the recorder's. Root's processes, and those in user namespaces that root made, are
 * told apart by their container: its pid namespace, or the outermost of these user namespaces.
 *
 * Of a process whose namespaces may not be looked at, its own user answers: its real one, since anybody may start
 * programs that belong to others.
 */
/* False if the process is gone. */
COMMON_MUST_CHECK
bool account_of(int32_t pid, uint64_t *account);

struct profile_process;

/* Sets whose the process is and where it sees its files, as far as it is known now; nothing else of it. */
void account_identify(int32_t pid, struct profile_process *process);

/*
 * Returns whether a process is in our user namespace, so that nobody but root has made the namespaces that it is in. 0
 * or less stands for ourselves.
 */
bool account_has_our_users(int32_t pid);

/* The user id in an account. */
static inline uint32_t account_user(uint64_t account)
{
	return (uint32_t)account;
}
