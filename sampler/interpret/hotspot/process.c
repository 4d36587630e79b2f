/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/process.h"

#include "sampler/interpret/kind.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_KEPT = 1 << 20,  /* frames, methods or blocks: beyond that all is read again */
	MOST_READS = 1 << 16, /* of one process, at once; then so many in a second: */
	READS_PER_ROUND = 1 << 13,
};

static const uint64_t round_ns = 1000000000, first_retry_ns = 10000000;

static void process_clear(struct hotspot_process *process)
{
	hotspot_codes_deinit(&process->codes);
	hotspot_methods_deinit(&process->methods);
	hash_map_deinit(&process->keys);
	free(process->frames);
	process->frames = NULL;
	process->frame_count = process->frame_capacity = 0;
	hotspot_loop_deinit(&process->loop);
	process->is_ready = false;
	process->retry_ns = first_retry_ns;
	hotspot_codes_init(&process->codes, &process->target);
	hotspot_methods_init(&process->methods, &process->target);
	hash_map_init(&process->keys, sizeof(struct hotspot_frame_key));
}

bool hotspot_process_create(const struct hotspot_memory *memory, struct interpreter_names *names,
	struct shares *debug_bytes, struct hotspot_process **process, struct error *err)
{
	struct hotspot_process *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->costs = (struct hotspot_costs){
		.reads_left = MOST_READS,
		.giver = { .pid = memory->pid },
		.debug_bytes = debug_bytes,
		.account = process_table_account(names->table, memory->pid),
		.table = names->table,
	};
	made->target.memory = *memory;
	made->target.memory.costs = &made->costs;
	made->target.names = names;
	process_clear(made);
	*process = made;
	return true;
}

void hotspot_process_destroy(struct hotspot_process *process)
{
	if (!process)
		return;
	process_clear(process);
	free(process);
}

/* ---- The start ---- */

/* JDK 8 has no bounds but those of its heap, and calls its own version 25. */
static void complete_jdk_8(struct hotspot_process *process)
{
	enum { JDK_8 = 8 };

	if (process->target.layout.code_cache_heap == 0 || process->codes.heap_count == 0)
		return;
	process->low = process->codes.heaps[0].start;
	process->high = process->codes.heaps[0].end;
	process->target.vm_major_version = JDK_8;
}

/* A program that has only begun has no code cache yet, and then no interpreter. */
static void hotspot_process_start_process(
	struct hotspot_process *process, const struct hotspot_image *image, uint64_t bias)
{
	struct hotspot_target *target = &process->target;
	uint64_t words[4], addresses[4];

	if (!hotspot_layout_read(image, bias, &target->memory, &target->layout))
		return;
	addresses[0] = target->layout.code_cache_low_bound;
	addresses[1] = target->layout.code_cache_high_bound;
	addresses[2] = target->layout.vm_major_version;
	addresses[3] = target->layout.call_stub_return_address;
	hotspot_read_words(&target->memory, addresses, 4, words);
	process->low = words[0];
	process->high = words[1];
	target->vm_major_version = (uint32_t)words[2];
	process->entry_return = words[3];
	hotspot_loop_read(&process->loop, target, image, bias);
	hotspot_codes_read_heaps(&process->codes);
	complete_jdk_8(process);
	process->is_ready = process->low < process->high && process->codes.heap_count > 0 &&
			    process->entry_return != 0 && process->loop.start < process->loop.end;
}

/* ---- Rounds ---- */

static bool was_used(const struct hotspot_watch *watch, uint32_t round)
{
	enum { RECENT_ROUNDS = 16 };

	return round - watch->used <= RECENT_ROUNDS;
}

/* Checks together what was used lately: a read of much takes hardly longer than one of little. */
static bool hotspot_process_check_used(struct hotspot_process *process, struct error *err)
{
	const uint32_t round = process->target.round;
	struct hotspot_watch **used = malloc((process->codes.count + process->methods.count + 1) * sizeof(*used));
	size_t count = 0;

	if (!used)
		return error_set_memory(err);
	for (size_t i = 0; i < process->codes.count; i++)
		if (was_used(&process->codes.items[i].watch, round))
			used[count++] = &process->codes.items[i].watch;
	for (size_t i = 0; i < process->methods.count; i++)
		if (was_used(&process->methods.items[i].watch, round))
			used[count++] = &process->methods.items[i].watch;
	hotspot_watch_check(&process->target.memory, used, count, round);
	free(used);
	return true;
}

static bool begin_round(
	struct hotspot_process *process, const struct hotspot_image *image, uint64_t bias, struct error *err)
{
	if (process->frame_count > MOST_KEPT || process->methods.count > MOST_KEPT || process->codes.count > MOST_KEPT)
		process_clear(process);
	process->target.round++;
	process->costs.reads_left = process->costs.reads_left < MOST_READS - READS_PER_ROUND
					    ? process->costs.reads_left + READS_PER_ROUND
					    : MOST_READS;
	if (!process->is_ready) {
		hotspot_process_start_process(process, image, bias);
		return true;
	}
	hotspot_loop_read(&process->loop, &process->target, image, bias);
	return hotspot_process_check_used(process, err);
}

bool hotspot_process_keep_up(
	struct hotspot_process *process, const struct hotspot_image *image, uint64_t bias, struct error *err)
{
	uint64_t now = (uint64_t)clock_read_ns(CLOCK_MONOTONIC_COARSE);

	if (now < process->due_ns)
		return true;
	if (!begin_round(process, image, bias, err))
		return false;
	process->due_ns = now + (process->is_ready ? round_ns : process->retry_ns);
	process->retry_ns = 2 * process->retry_ns < round_ns ? 2 * process->retry_ns : round_ns;
	return true;
}

bool hotspot_process_is_unknown(const struct hotspot_process *process)
{
	return !process->is_ready && process->retry_ns == round_ns;
}

bool hotspot_process_find_frame(struct hotspot_process *process, const struct hotspot_frame_key *key,
	struct hotspot_frame **frame, struct error *err)
{
	const struct hotspot_frame nothing = { .owner = PROFILE_NONE, .image = PROFILE_NONE };
	uint32_t *id;
	bool added;

	if (!ARRAY_RESERVE(&process->frames, &process->frame_capacity, process->frame_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&process->keys, key, (uint32_t)process->frame_count, &id, &added, err))
		return false;
	*frame = &process->frames[*id];
	if (added)
		process->frames[process->frame_count++] = nothing;
	return true;
}

static bool is_current(struct hotspot_process *process, const struct hotspot_frame *frame)
{
	struct hotspot_watch *watch;

	if (frame->owner == PROFILE_NONE)
		return frame->version == process->target.round;
	watch = &process->codes.items[frame->owner].watch;
	watch->used = process->target.round;
	hotspot_watch_check(&process->target.memory, &watch, 1, process->target.round);
	return frame->version == watch->version;
}

bool hotspot_process_find_place(
	struct hotspot_process *process, uint64_t pc, bool is_exact, struct hotspot_frame **frame, struct error *err)
{
	const struct hotspot_frame_key key = { .address = pc, .is_exact = is_exact };
	struct hotspot_frame made = { .image = PROFILE_NONE };
	uint32_t late = process->costs.late;

	if (!hotspot_process_find_frame(process, &key, frame, err))
		return false;
	if (is_current(process, *frame))
		return true;
	if (!hotspot_codes_find(&process->codes, pc - !is_exact, &made.owner, err))
		return false;
	/* What could not be read is looked for again. */
	if (made.owner == PROFILE_NONE)
		made.version = process->target.round - (process->costs.late != late);
	else
		made.version = process->codes.items[made.owner].watch.version;
	**frame = made;
	return true;
}
