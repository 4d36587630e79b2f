/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/waits.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A descriptor may become another file: what is known of it is believed for a while. */
static const int64_t file_age_ns = 1000000000;

enum { FILES = 256, RELEASES = 1024, MAX_LOCKS = 65536 };

struct known_file {
	int32_t pid;
	uint32_t descriptor;
	int64_t since_ns;
	enum wait_file file;
};

/* A release whose wait has not come yet. */
struct release {
	uint64_t sequence; /* 0: none */
	uint32_t tid, stack;
	bool is_delivery; /* an interrupt has delivered what the thread may have sent */
};

/* A futex of a process. */
struct lock_key {
	uint64_t address, pid;
};

struct wait_counter {
	struct profile *profile; /* borrowed */
	const struct machine *machine;
	struct hash_map locks;               /* struct lock_key -> id in the profile */
	struct shares lock_shares;           /* by account */
	struct profile_lock_address *places; /* owned: [lock] */
	size_t place_capacity;
	struct known_file files[FILES];    /* processes share places */
	struct release releases[RELEASES]; /* a later one replaces an earlier one */
};

bool wait_counter_create(
	struct profile *profile, const struct machine *machine, struct wait_counter **waits, struct error *err)
{
	struct wait_counter *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->profile = profile;
	made->machine = machine;
	hash_map_init(&made->locks, sizeof(struct lock_key));
	shares_init(&made->lock_shares, MAX_LOCKS);
	*waits = made;
	return true;
}

void wait_counter_destroy(struct wait_counter *waits)
{
	if (!waits)
		return;
	hash_map_deinit(&waits->locks);
	shares_deinit(&waits->lock_shares);
	free(waits->places);
	free(waits);
}

bool wait_counter_read(const struct record_sample *sample, struct ebpf_wait *wait)
{
	if (sample->raw_bytes < sizeof(*wait))
		return false;
	memcpy(wait, sample->raw, sizeof(*wait));
	return true;
}

/* ---- What it waited for ---- */

static enum wait_file look_up_file(int32_t pid, uint32_t descriptor)
{
	char path[64], link[PATH_MAX];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)pid, (unsigned int)descriptor);
	size = readlink(path, link, sizeof(link) - 1);
	if (size < 0)
		return WAIT_FILE_UNKNOWN;
	link[size] = '\0';
	return wait_file_of_link(link);
}

static enum wait_file collect_waits_find_file(struct wait_counter *waits, const struct wait_counter_sample *sample)
{
	uint32_t descriptor = (uint32_t)sample->wait.arguments[0];
	struct known_file *known = &waits->files[((uint32_t)sample->pid * 31 + descriptor) % FILES];

	if (known->pid != sample->pid || known->descriptor != descriptor ||
		sample->end_ns - known->since_ns > file_age_ns)
		*known = (struct known_file){ sample->pid, descriptor, sample->end_ns,
			look_up_file(sample->pid, descriptor) };
	return known->file;
}

static enum profile_wait_class find_class(struct wait_counter *waits, const struct wait_counter_sample *sample)
{
	enum wait_file file = WAIT_FILE_UNKNOWN;

	if (!waits->machine)
		return PROFILE_WAIT_OTHER;
	if (wait_class_needs_file(waits->machine, &sample->wait))
		file = collect_waits_find_file(waits, sample);
	return wait_class_of(waits->machine, &sample->wait, file);
}

/* A lock is named by the data that it lies in, when the recording has ended. */
static bool meet_lock(
	struct wait_counter *waits, const struct wait_counter_sample *sample, uint32_t *lock, struct error *err)
{
	const struct profile_lock made = { .pid = sample->pid };
	const struct process_space *space = sample->space;
	struct profile_lock_address *place;
	struct process_location at;

	if (!profile_add_lock(waits->profile, &made, lock, err) ||
		!ARRAY_RESERVE(&waits->places, &waits->place_capacity, *lock + 1, ARRAY_MAX_IDS, err))
		return false;
	place = &waits->places[*lock];
	place->mapping = PROFILE_NONE;
	if (space && process_table_find_data(space->table, space->process, sample->wait.arguments[0], &at))
		*place = (struct profile_lock_address){ at.mapping, at.address };
	return true;
}

static uint64_t account_of_sample(const struct wait_counter_sample *sample)
{
	return sample->space ? process_table_account(sample->space->table, sample->pid) : SHARES_NOBODY;
}

/* PROFILE_NONE: it is no lock, or its account has too many. */
static bool find_lock(
	struct wait_counter *waits, const struct wait_counter_sample *sample, uint32_t *lock, struct error *err)
{
	struct lock_key key = { sample->wait.arguments[0], (uint32_t)sample->pid };
	uint32_t *value;
	bool added;

	*lock = PROFILE_NONE;
	if (!waits->machine || !wait_is_futex(waits->machine, &sample->wait))
		return true;
	*lock = hash_map_get(&waits->locks, &key);
	if (*lock != PROFILE_NONE || !shares_take(&waits->lock_shares, account_of_sample(sample), 1))
		return true;
	return meet_lock(waits, sample, lock, err) && hash_map_add(&waits->locks, &key, *lock, &value, &added, err);
}

/* ---- Who let it go on ---- */

static struct release *collect_waits_place_of(struct wait_counter *waits, uint64_t sequence)
{
	return &waits->releases[hash_mix(sequence, 0x9e3779b97f4a7c15) % RELEASES];
}

/* Returns whether the thread is in a call that may send something. */
static bool is_sending(const struct wait_counter *waits, const struct ebpf_wait *wait)
{
	enum machine_call call =
		waits->machine ? machine_call_of(waits->machine, wait->system_call) : MACHINE_CALL_OTHER;

	return call == MACHINE_CALL_SOCKET || call == MACHINE_CALL_FILE;
}

/*
 * Without a system call, an interrupt came while the thread ran: a device or a timer let the other one go on. So it is
 * with an interrupt, but for one that runs within a call which sends.
 */
static void keep_release(struct wait_counter *waits, const struct wait_counter_sample *sample)
{
	const struct ebpf_wait *wait = &sample->wait;

	if (wait->sequence == 0 || wait->system_call == -1 || (wait->is_interrupt && !is_sending(waits, wait)))
		return;
	*collect_waits_place_of(waits, wait->sequence) =
		(struct release){ wait->sequence, wait->tid, sample->stack, wait->is_interrupt };
}

static uint32_t take_releaser(
	struct wait_counter *waits, const struct ebpf_wait *wait, enum profile_wait_class wait_class)
{
	struct release *release = collect_waits_place_of(waits, wait->sequence);

	if (wait->sequence == 0 || release->sequence != wait->sequence || release->tid != wait->tid)
		return 0;
	release->sequence = 0;
	/* The clock ends waits for it, whichever thread its interrupt has met in a system call. */
	if (wait_class == PROFILE_WAIT_TIMER)
		return 0;
	/* What is sent is waited for at a socket, or in an event loop. */
	if (release->is_delivery && wait_class != PROFILE_WAIT_NETWORK && wait_class != PROFILE_WAIT_IDLE)
		return 0;
	return release->stack;
}

/* ---- Counting ---- */

static bool collect_waits_count_wait(struct wait_counter *waits, const struct wait_counter_sample *sample,
	enum profile_wait_class wait_class, int64_t weight_ns, uint32_t *stack, struct error *err)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES], begin_ns = sample->end_ns - weight_ns;
	uint32_t id;

	profile_wait_fill(waits->profile, wait_class, weight_ns, values);
	return profile_add_wait_stack(waits->profile, sample->stack, wait_class, stack, err) &&
	       profile_find_sample(waits->profile, *stack, sample->thread, &id, err) &&
	       profile_count_sample(waits->profile, id, values, begin_ns > 0 ? begin_ns : 0, err) &&
	       profile_weigh_event(waits->profile, weight_ns, err);
}

static bool count_blocked(struct wait_counter *waits, const struct wait_counter_sample *sample, struct error *err)
{
	enum profile_wait_class wait_class = find_class(waits, sample);
	struct profile_release release = { .releaser = take_releaser(waits, &sample->wait, wait_class),
		.weight_ns = (int64_t)sample->wait.blocked_weight_ns };

	if (!collect_waits_count_wait(waits, sample, wait_class, release.weight_ns, &release.stack, err) ||
		!find_lock(waits, sample, &release.lock, err))
		return false;
	return (release.lock == PROFILE_NONE && release.releaser == 0) ||
	       profile_add_release(waits->profile, &release, err);
}

bool wait_counter_add(struct wait_counter *waits, const struct wait_counter_sample *sample, struct error *err)
{
	const struct ebpf_wait *wait = &sample->wait;
	uint32_t ignored;

	if (wait->kind == EBPF_WAIT_RELEASE) {
		keep_release(waits, sample);
		return true;
	}
	return (wait->blocked_weight_ns == 0 || count_blocked(waits, sample, err)) &&
	       (wait->queued_weight_ns == 0 || collect_waits_count_wait(waits, sample, PROFILE_WAIT_RUN_QUEUE,
						       (int64_t)wait->queued_weight_ns, &ignored, err));
}

struct profile_lock_address *wait_counter_take_addresses(struct wait_counter *waits)
{
	return TAKE(waits->places);
}
