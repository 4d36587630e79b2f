/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/shares.h"

#include "common/array.h"

#include <stdlib.h>

enum { MOST_ACCOUNTS = 1 << 20 };

void shares_init(struct shares *shares, uint64_t most)
{
	*shares = (struct shares){ .most = most };
	hash_map_init(&shares->by_account, sizeof(uint64_t));
}

void shares_deinit(struct shares *shares)
{
	free(shares->items);
	hash_map_deinit(&shares->by_account);
	*shares = (struct shares){ 0 };
}

static const struct account_share *share_find(const struct shares *shares, uint64_t account)
{
	uint32_t index = hash_map_get(&shares->by_account, &account);

	return index == HASH_MAP_NONE ? NULL : &shares->items[index];
}

bool shares_add(struct shares *shares, uint64_t account, uint64_t amount, struct error *err)
{
	uint32_t *index;
	bool added;

	if (!ARRAY_RESERVE(&shares->items, &shares->capacity, shares->count + 1, MOST_ACCOUNTS, err) ||
		!hash_map_add(&shares->by_account, &account, (uint32_t)shares->count, &index, &added, err))
		return false;
	if (added)
		shares->items[shares->count++] = (struct account_share){ .account = account };
	shares->items[*index].held += amount;
	shares->held += amount;
	return true;
}

bool shares_fit(const struct shares *shares, uint64_t amount)
{
	return shares->held <= shares->most && amount <= shares->most - shares->held;
}

bool shares_take(struct shares *shares, uint64_t account, uint64_t amount)
{
	struct error ignored;
	uint64_t left;

	if (!shares_fit(shares, amount))
		return false;
	left = shares->most - shares->held - amount;
	if (account != SHARES_NOBODY && (amount > left || shares_of(shares, account) > left - amount))
		return false;
	return shares_add(shares, account, amount, &ignored);
}

void shares_give_back(struct shares *shares, uint64_t account, uint64_t amount)
{
	uint32_t index = hash_map_get(&shares->by_account, &account);

	if (index == HASH_MAP_NONE)
		return;
	shares->items[index].held -= amount;
	shares->held -= amount;
}

uint64_t shares_of(const struct shares *shares, uint64_t account)
{
	const struct account_share *share = share_find(shares, account);

	return share ? share->held : 0;
}

uint64_t shares_greatest(const struct shares *shares)
{
	const struct account_share *greatest = NULL;

	for (size_t i = 0; i < shares->count; i++)
		if (shares->items[i].held > 0 && (!greatest || shares->items[i].held > greatest->held))
			greatest = &shares->items[i];
	return greatest ? greatest->account : SHARES_NOBODY;
}
