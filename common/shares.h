/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"
#include "common/hash_map.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A bounded amount of something that all accounts use: bytes, entries, rows. None of them can empty it for the others.
 *
 * What cannot be taken back, as a name in a profile, is taken by shares_take(): an account may hold as much as is free
 * when it has it (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998). One alone gets
 * a half, two that come together a third each, and whoever comes later still finds as much as any of these holds.
 *
 * What can be taken back, as an entry of a cache, is only counted, by shares_add(): all of it is of use to who is
 * alone. When there is no room, the account that holds most loses some of its own (shares_greatest()).
 *
 * In both cases what an account gives back is free for all. Not thread-safe.
 */
struct shares {
	uint64_t most, held;
	struct hash_map by_account;  /* account -> index of items */
	struct account_share *items; /* owned */
	size_t count, capacity;
};

struct account_share {
	uint64_t account, held;
};

/* A user without an account, as a process that is known by a file alone: bounded by the whole. */
#define SHARES_NOBODY UINT64_MAX

void shares_init(struct shares *shares, uint64_t most);
void shares_deinit(struct shares *shares);

/* Returns whether the account may hold so much more, which it then does. Also false for want of memory. */
COMMON_MUST_CHECK
bool shares_take(struct shares *shares, uint64_t account, uint64_t amount);

/* Returns whether so much more of what can be taken back is free. */
bool shares_fit(const struct shares *shares, uint64_t amount);

/* Counts what an account holds; ERROR_MEMORY. */
COMMON_MUST_CHECK
bool shares_add(struct shares *shares, uint64_t account, uint64_t amount, struct error *err);

/* `amount`: at most what the account holds. */
void shares_give_back(struct shares *shares, uint64_t account, uint64_t amount);

uint64_t shares_of(const struct shares *shares, uint64_t account);

/* The account that holds most; SHARES_NOBODY also where none holds anything. */
uint64_t shares_greatest(const struct shares *shares);
