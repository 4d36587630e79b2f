/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/fifo.h"

#include <limits.h>

/*
 * A mount namespace of the command, in which FIFOs of our own lie at the places of the protocol, so that any number of
 * suites run at once and nobody else reaches ours. Root enters one; a user without privileges needs a user namespace as
 * well, in which set-user-ID programs do not work.
 *
 * A mount needs an entry that it covers: an empty file that anybody may lock (flock), and that stays as long as
 * somebody does, since a mount ends when what it covers is removed. Root removes what another user has put there, or
 * moves a directory aside. A user covers it as it is: the suite loses its runner if its owner removes it.
 */
struct namespace
{
	bool is_used;
	bool has_user;  /* a user namespace, too */
	int covered[2]; /* owned: the entries at the places, with a shared lock where they can be locked; -1: none */
	char sources[2][PATH_MAX]; /* our FIFOs; for commands, for answers */
	const char *places[2];     /* borrowed */
};

/* Returns whether this process may do that: a child tries it. The sources must be there. */
bool namespace_is_allowed(const struct namespace *namespace);

/* Prepares the places. On failure nothing is left, and `err` names the entry that is in the way, and its owner. */
COMMON_MUST_CHECK
bool namespace_prepare(struct namespace *namespace, struct error *err);

/* Removes what was prepared, unless another suite uses it. All zero but for the descriptors is allowed. */
void namespace_release(struct namespace *namespace);

/* Enters the namespace, in a child. False with errno set. */
COMMON_MUST_CHECK
bool namespace_enter(const struct namespace *namespace);

/* Removes, as root, what another user has put at a place. */
void namespace_clear_foreign(const char *place);

/* Removes an empty file of ours at a place that nobody locks: its user was killed. */
void namespace_remove_stale(const char *place);
