/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/recall.h"

enum { MOST_CREDIT = 256, CREDIT_OF_FOUND = 16, ONE_WITHOUT_CREDIT_IN = 64 };

struct recall_caller *recall_caller_at(struct recall *recall, uint64_t generation, uint64_t stack_pointer)
{
	return &recall->callers[hash_mix(stack_pointer, generation) % RECALL_CALLERS];
}

struct recall_link *recall_link_at(struct recall *recall, uint64_t generation, uint64_t return_address, uint64_t callee)
{
	return &recall->links[hash_mix(return_address ^ generation, callee) % RECALL_LINKS];
}

static struct recall_credit *recall_credit_of(struct recall *recall, uint64_t generation)
{
	struct recall_credit *credit = &recall->credits[generation % RECALL_CREDITS];

	if (credit->generation != generation)
		*credit = (struct recall_credit){ generation, MOST_CREDIT, 0 };
	return credit;
}

bool recall_may_scan(struct recall *recall, uint64_t generation)
{
	struct recall_credit *credit = recall_credit_of(recall, generation);

	return credit->left > 0 || ++credit->left_out % ONE_WITHOUT_CREDIT_IN == 0;
}

void recall_found(struct recall *recall, uint64_t generation)
{
	struct recall_credit *credit = recall_credit_of(recall, generation);

	credit->left += CREDIT_OF_FOUND;
	if (credit->left > MOST_CREDIT)
		credit->left = MOST_CREDIT;
}

void recall_found_nothing(struct recall *recall, uint64_t generation)
{
	struct recall_credit *credit = recall_credit_of(recall, generation);

	credit->left -= credit->left > 0;
}
