/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/owner.h"

#include "sampler/process/account.h"

#include <stdlib.h>

enum { MAX_OWNERS = 1 << 16, NS_PER_UNIT = 1000000000 / OWNER_WORK_PER_S };

void owners_init(struct owners *owners)
{
	*owners = (struct owners){ 0 };
	hash_map_init(&owners->by_account, sizeof(uint64_t));
}

void owners_deinit(struct owners *owners)
{
	free(owners->owners);
	hash_map_deinit(&owners->by_account);
	*owners = (struct owners){ 0 };
}

uint32_t owners_find(struct owners *owners, uint64_t account)
{
	struct error ignored;
	uint32_t *index;
	bool added;

	if (!ARRAY_RESERVE(&owners->owners, &owners->capacity, owners->count + 1, MAX_OWNERS, &ignored) ||
		!hash_map_add(&owners->by_account, &account, (uint32_t)owners->count, &index, &added, &ignored))
		return OWNER_NOBODY;
	if (added)
		owners->owners[owners->count++] = (struct owner){
			.account = account,
			.work_left = OWNER_MOST_WORK,
			.work_as_of_ns = owners->now_ns,
			.reads_left = OWNER_MOST_READS,
		};
	return *index;
}

struct owner *owners_at(struct owners *owners, uint32_t index)
{
	return index < owners->count ? &owners->owners[index] : NULL;
}

/* Records of several CPUs may be a little out of order: time does not go back here. */
static void owner_earn(struct owner *owner, uint64_t now_ns)
{
	uint64_t earned = now_ns > owner->work_as_of_ns ? (now_ns - owner->work_as_of_ns) / NS_PER_UNIT : 0;

	owner->work_as_of_ns += earned * NS_PER_UNIT;
	owner->work_left =
		earned < OWNER_MOST_WORK - owner->work_left ? owner->work_left + (uint32_t)earned : OWNER_MOST_WORK;
}

/* Returns what the process leaves of something of which the user may have so much. */
static uint64_t reserve_of(uint64_t most, uint64_t spent)
{
	return spent > OWNER_LITTLE_WORK ? most / 2 : 0;
}

static bool owner_pay_work(const struct owners *owners, struct owner *owner, uint64_t work, uint64_t *spent)
{
	owner_earn(owner, owners->now_ns);
	if (work + reserve_of(OWNER_MOST_WORK, *spent) > owner->work_left)
		return false;
	owner->work_left -= (uint32_t)work;
	*spent += work;
	return true;
}

static bool owner_pay(const struct owners *owners, struct owner *owner, bool has_room, uint64_t work, uint64_t *spent)
{
	bool has_paid = has_room && owner_pay_work(owners, owner, work, spent);

	owner->left_out += !has_paid;
	return has_paid;
}

bool owner_pay_mapping(struct owners *owners, struct owner *owner, uint64_t work, uint64_t *spent)
{
	bool has_room;

	if (owner) {
		has_room = owner->mappings + reserve_of(OWNER_MOST_MAPPINGS, *spent) < OWNER_MOST_MAPPINGS;
		return owner_pay(owners, owner, has_room, work, spent);
	}
	has_room = owners->kept < OWNER_MOST_KEPT_OF_NOBODY;
	owners->left_out += !has_room;
	return has_room;
}

bool owner_pay_opening(const struct owners *owners, struct owner *owner, uint64_t *spent)
{
	return !owner ||
	       owner_pay(owners, owner,
		       owner->images + reserve_of(OWNER_MOST_IMAGES, *spent) < OWNER_MOST_IMAGES &&
			       owner->table_bytes + reserve_of(OWNER_MOST_TABLE_BYTES, *spent) < OWNER_MOST_TABLE_BYTES,
		       OWNER_WORK_OPENING, spent);
}

bool owner_pay_reading(const struct owners *owners, struct owner *owner, uint64_t *spent)
{
	return !owner || owner_pay_work(owners, owner, OWNER_WORK_READING, spent);
}

void owner_pay_text(struct owner *owner, size_t bytes, uint64_t *spent)
{
	uint64_t work = bytes / OWNER_TEXT_PER_UNIT;

	if (!owner)
		return;
	owner->work_left -= work < owner->work_left ? (uint32_t)work : owner->work_left;
	*spent += work;
}

bool owner_pay_reads(struct owner *owner, uint64_t clock_ns, uint32_t count)
{
	uint64_t earned, ns_per_read = 1000000000 / OWNER_READS_PER_S;

	if (!owner)
		return true;
	earned = clock_ns > owner->reads_as_of_ns ? (clock_ns - owner->reads_as_of_ns) / ns_per_read : 0;
	owner->reads_as_of_ns += earned * ns_per_read;
	owner->reads_left =
		earned < OWNER_MOST_READS - owner->reads_left ? owner->reads_left + (uint32_t)earned : OWNER_MOST_READS;
	if (owner->reads_left < count)
		return false;
	owner->reads_left -= count;
	return true;
}

void owner_count_mappings(struct owner *owner, size_t before, size_t after)
{
	if (owner)
		owner->mappings += after - before;
}

void owner_count_image(struct owner *owner, uint64_t table_bytes)
{
	if (!owner)
		return;
	owner->images++;
	owner->table_bytes += table_bytes;
}

bool owner_count_place(struct owner *owner)
{
	bool has_room = !owner || owner->places < OWNER_MOST_PLACES;

	if (owner) {
		owner->places += has_room;
		owner->left_out += !has_room;
	}
	return has_room;
}

static void describe_left_out(const struct owner *owner, struct buffer *notices)
{
	if (owner->left_out > 0)
		buffer_printf(notices,
			"the processes of user %u map more code, or faster, than is followed for one user: %llu of their mappings are left out, "
			"and code there has no names\n",
			(unsigned int)account_user(owner->account), (unsigned long long)owner->left_out);
}

void owners_describe(const struct owners *owners, bool has_lost, struct buffer *notices)
{
	const struct owner *most = NULL;
	uint64_t records = 0;

	if (owners->left_out > 0)
		buffer_printf(notices,
			"the processes map more code than is followed: %llu of their mappings are left out, and code there has no names\n",
			(unsigned long long)owners->left_out);
	for (size_t i = 0; i < owners->count; i++) {
		const struct owner *owner = &owners->owners[i];

		describe_left_out(owner, notices);
		records += owner->records;
		if (!most || owner->records > most->records)
			most = owner;
	}
	if (has_lost && records > 0 && owners->count > 1)
		buffer_printf(notices,
			"%.0f %% of the records of new mappings and threads came from the processes of user %u, which filled the buffers\n",
			(double)most->records * 100 / (double)records, (unsigned int)account_user(most->account));
}
