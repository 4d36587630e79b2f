/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/verify/verify.h"

#include "sampler/verify/code_map.h"
#include "sampler/verify/compare.h"
#include "sampler/verify/reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * A batch is given to a child from BATCH_READY stacks on, and grows up to BATCH_STACKS while the previous batch's child
 * runs; the copies take at most 32 MB. A batch whose child fails is continued after the stack that failed, MAX_FAILURES
 * times in a recording: further stacks are skipped, so that the recording's end is not delayed.
 */
enum { BATCH_READY = 64, BATCH_STACKS = 512, BATCHES = 2, MAX_FAILURES = 4, MAX_PLACES = 1 << 20 };
enum { FRAMES_BEFORE_PARTING = 2 };
static const struct isolated_limits batch_limits = { .seconds = 5, .memory_bytes = (size_t)256 << 20 };

struct verify_stack {
	const struct code_map *map; /* the batch's map of the process */
	struct reference_stack stack;
	uint8_t *copy;       /* owned */
	uint64_t *addresses; /* owned: Kelvin's own walk */
	size_t count;
	bool is_whole; /* as Kelvin says */
};

/* The data that the child writes into shared memory. It is foreign: the library may have overwritten it. */
struct reference_answer {
	uint32_t is_done;
	struct reference_end end;
	uint64_t addresses[UNWIND_MAX_FRAMES];
};

struct verify_batch {
	struct verify_stack stacks[BATCH_STACKS];
	struct code_map *maps[BATCH_STACKS]; /* owned */
	size_t count, map_count;
	const struct unwind_library *library; /* of the verifier */
	size_t first;                         /* the first stack of the child's work */
	struct isolated child;
};

struct verifier {
	struct verifier_options options;
	struct unwind_library library;
	uint32_t until_next; /* stacks to skip before the next one is chosen */
	struct verify_batch *filling, *running;
	struct verify_batch batches[BATCHES];
	struct profile_verification counts;
	uint64_t unfinished, no_room, by_frame_pointer; /* stacks */
	unsigned int failures;
	struct verify_difference differences[PROFILE_MOST_DIFFERENCES];
	size_t difference_count;
	struct hash_map places; /* mapping and address of the frames of compared stacks */
};

bool verifier_create(const struct verifier_options *options, struct verifier **verifier, struct error *err)
{
	struct verifier *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	if (!unwind_library_open(&made->library, err)) {
		free(made);
		return false;
	}
	made->options = *options;
	made->filling = &made->batches[0];
	made->running = &made->batches[1];
	hash_map_init(&made->places, 2 * sizeof(uint64_t));
	*verifier = made;
	return true;
}

static void batch_clear(struct verify_batch *batch)
{
	isolated_deinit(&batch->child);
	for (size_t i = 0; i < batch->count; i++) {
		undumped_free(
			batch->stacks[i].copy, batch->stacks[i].stack.copy.size + batch->stacks[i].stack.other.size);
		free(batch->stacks[i].addresses);
	}
	for (size_t i = 0; i < batch->map_count; i++)
		code_map_destroy(batch->maps[i]);
	*batch = (struct verify_batch){ 0 };
}

void verifier_destroy(struct verifier *verifier)
{
	if (!verifier)
		return;
	for (size_t i = 0; i < BATCHES; i++)
		batch_clear(&verifier->batches[i]);
	hash_map_deinit(&verifier->places);
	unwind_library_close(&verifier->library);
	free(verifier);
}

/* ---- In the child ---- */

static void walk_batch(void *context, void *result)
{
	const struct verify_batch *batch = context;
	struct reference_answer *answers = result;
	struct reference *reference = NULL;
	const struct code_map *map = NULL;
	struct error ignored;

	for (size_t i = batch->first; i < batch->count; i++) {
		const struct verify_stack *stack = &batch->stacks[i];

		if (stack->map != map && !reference_create(batch->library, stack->map, &reference, &ignored))
			return;
		map = stack->map;
		answers[i].end = reference_walk(reference, &stack->stack, answers[i].addresses, UNWIND_MAX_FRAMES);
		answers[i].is_done = 1;
	}
}

/* ---- Results ---- */

/* The place of an address. A caller's is inside its call, as in the profile's locations. */
static struct verify_place verify_place_of(const struct code_map *map, uint64_t address, bool is_caller)
{
	uint64_t inside = address - is_caller;
	const struct code_region *region = code_map_find(map, inside);

	if (!region)
		return (struct verify_place){ PROFILE_NONE, inside };
	return (struct verify_place){ region->mapping_id, inside + region->bias };
}

static bool note_places(struct verifier *verifier, const struct verify_stack *stack, struct error *err)
{
	for (size_t i = 0; i < stack->count && verifier->places.count < MAX_PLACES; i++) {
		struct verify_place place = verify_place_of(stack->map, stack->addresses[i], i > 0);
		uint64_t key[2] = { place.mapping, place.address };
		uint32_t *value;
		bool added;

		if (place.mapping != PROFILE_NONE && !hash_map_add(&verifier->places, key, 0, &value, &added, err))
			return false;
	}
	return true;
}

/* Finds room for a difference: the rarer and more serious kinds are kept. */
static struct verify_difference *verify_make_room(struct verifier *verifier, enum profile_comparison comparison)
{
	if (verifier->difference_count < PROFILE_MOST_DIFFERENCES)
		return &verifier->differences[verifier->difference_count++];
	for (size_t i = 0; i < PROFILE_MOST_DIFFERENCES; i++)
		if (verifier->differences[i].comparison < comparison)
			return &verifier->differences[i];
	return NULL;
}

static struct verify_difference describe_difference(const struct verify_stack *stack,
	const struct reference_answer *answer, size_t common, enum profile_comparison comparison)
{
	const uint64_t *const walks[VERIFY_WALKS] = { stack->addresses, answer->addresses };
	const size_t depths[VERIFY_WALKS] = { stack->count, answer->end.count };
	struct verify_difference difference = { .comparison = comparison,
		.has_frame_pointers = answer->end.by_frame_pointer < answer->end.count };

	difference.first = common > FRAMES_BEFORE_PARTING ? common - FRAMES_BEFORE_PARTING : 0;
	for (size_t walk = 0; walk < VERIFY_WALKS; walk++) {
		difference.depths[walk] = depths[walk];
		for (size_t i = difference.first;
			i < depths[walk] && difference.counts[walk] < VERIFY_DIFFERENCE_FRAMES; i++)
			difference.frames[walk][difference.counts[walk]++] =
				verify_place_of(stack->map, walks[walk][i], i > 0);
	}
	return difference;
}

static bool is_same_place(
	const struct verify_difference *a, const struct verify_difference *b, size_t walk, size_t frame)
{
	return a->frames[walk][frame].mapping == b->frames[walk][frame].mapping &&
	       a->frames[walk][frame].address == b->frames[walk][frame].address;
}

/* Returns whether an equal difference is kept: one at the same place for the same reason shows nothing new. */
static bool is_shown(const struct verifier *verifier, const struct verify_difference *difference)
{
	for (size_t i = 0; i < verifier->difference_count; i++) {
		const struct verify_difference *shown = &verifier->differences[i];
		bool is_same = shown->comparison == difference->comparison;

		for (size_t frame = 0; frame <= FRAMES_BEFORE_PARTING && is_same; frame++)
			is_same = is_same_place(shown, difference, VERIFY_OURS, frame) &&
				  is_same_place(shown, difference, VERIFY_REFERENCE, frame);
		if (is_same)
			return true;
	}
	return false;
}

static void note_difference(struct verifier *verifier, const struct verify_difference *difference)
{
	struct verify_difference *room =
		is_shown(verifier, difference) ? NULL : verify_make_room(verifier, difference->comparison);

	if (room)
		*room = *difference;
}

/*
 * Compares the walks. A function of Go without a frame is not in the chain of frame pointers, which shows its caller's:
 * one may be missing there, as the caller of a leaf that has not set the frame pointer yet, or cgocall before Go 1.21.
 * Where frame pointers show that frames go on in a stack that was not copied, a stack that is called whole, or has
 * other frames there, is wrong.
 */
static enum profile_comparison compare_walks(
	const struct verify_stack *stack, const struct reference_answer *answer, size_t count, size_t *common)
{
	const uint64_t *ours = stack->addresses, *reference = answer->addresses;
	enum profile_comparison comparison = verify_compare(ours, stack->count, reference, count, common);
	size_t parting = *common;

	if (parting >= answer->end.by_frame_pointer && parting < count && parting + 1 < stack->count &&
		ours[parting + 1] == reference[parting]) {
		comparison = verify_compare(
			ours + parting + 1, stack->count - parting - 1, reference + parting, count - parting, common);
		*common += parting + 1;
	}
	if (answer->end.is_elsewhere && (comparison == PROFILE_COMPARISON_LONGER ||
						(comparison == PROFILE_COMPARISON_EQUAL && stack->is_whole)))
		return PROFILE_COMPARISON_OTHER;
	return comparison;
}

static bool verify_take_answer(struct verifier *verifier, const struct verify_stack *stack,
	const struct reference_answer *answer, struct error *err)
{
	struct verify_difference difference;
	enum profile_comparison comparison;
	size_t common, count = answer->end.count;

	/* The library's walk may have no frame at all: there is nothing to compare then. */
	if (count > UNWIND_MAX_FRAMES || count == 0) {
		verifier->unfinished++;
		return true;
	}
	comparison = compare_walks(stack, answer, count, &common);
	verifier->counts.stacks[comparison]++;
	verifier->by_frame_pointer += answer->end.by_frame_pointer < count;
	if (comparison != PROFILE_COMPARISON_EQUAL) {
		difference = describe_difference(stack, answer, common, comparison);
		note_difference(verifier, &difference);
	}
	return note_places(verifier, stack, err);
}

/* Reads the child's answers; `*next` is the first stack after the one that failed, or the count. */
static bool verify_take_answers(struct verifier *verifier, struct verify_batch *batch, size_t *next, struct error *err)
{
	const struct reference_answer *answers = batch->child.result;
	size_t i = batch->first;

	for (; i < batch->count && answers[i].is_done == 1; i++)
		if (!verify_take_answer(verifier, &batch->stacks[i], &answers[i], err))
			return false;
	if (i < batch->count) {
		verifier->unfinished++;
		verifier->failures++;
		i++;
	}
	*next = i;
	return true;
}

static bool start_child(struct verifier *verifier, struct verify_batch *batch)
{
	struct error ignored;

	if (verifier->failures < MAX_FAILURES &&
		isolated_start(&batch->child, &batch_limits, batch->count * sizeof(struct reference_answer), walk_batch,
			batch, &ignored))
		return true;
	verifier->unfinished += batch->count - batch->first;
	batch_clear(batch);
	return false;
}

/* Collects the running batch when its child has ended, and restarts it after a stack that failed. */
static bool take_running(struct verifier *verifier, bool may_wait, struct error *err)
{
	struct verify_batch *batch = verifier->running;

	while (batch->count > 0) {
		size_t next;

		if (may_wait)
			isolated_wait(&batch->child);
		if (!isolated_has_ended(&batch->child))
			return true;
		if (!verify_take_answers(verifier, batch, &next, err))
			return false;
		batch->first = next;
		if (next == batch->count)
			batch_clear(batch);
		else if (!start_child(verifier, batch))
			return true;
	}
	return true;
}

/* Gives the filled batch to a child; false while the previous child runs. */
static bool run_filled(struct verifier *verifier)
{
	struct verify_batch *filled = verifier->filling;

	if (verifier->running->count > 0)
		return false;
	verifier->filling = verifier->running;
	verifier->running = filled;
	filled->library = &verifier->library;
	(void)start_child(verifier, filled);
	return true;
}

/* ---- Choosing and copying ---- */

static const struct code_map *map_of(
	const struct verifier *verifier, const struct process_table *table, const struct process *process)
{
	struct verify_batch *batch = verifier->filling;
	struct error ignored;

	for (size_t i = 0; i < batch->map_count; i++)
		if (batch->maps[i]->pid == process->pid && batch->maps[i]->generation == process->generation)
			return batch->maps[i];
	return code_map_create(
		       table, process, &verifier->options.frame_pointers, &batch->maps[batch->map_count], &ignored)
		       ? batch->maps[batch->map_count++]
		       : NULL;
}

/*
 * Returns where a frame goes on in code that was made while the program runs, as the stack has it: a deoptimised
 * frame's return address leads to what will replace it, and its own is kept elsewhere.
 */
static uint64_t return_address_of(const struct code_map *map, const struct unwind_job *job, size_t i)
{
	const struct unwind_frame *frame = &job->result.frames[i];
	const struct code_region *region = code_map_find(map, unwind_frame_address(frame));
	uint64_t at = frame->stack_pointer - sizeof(uint64_t) - job->dump.address, address = frame->pc;

	if (i > 0 && !frame->is_exact && region && region->is_made &&
		checked_range(at, sizeof(address), job->dump.size))
		memcpy(&address, job->dump.bytes + at, sizeof(address));
	return address;
}

static bool copy_stack(const struct verifier *verifier, const struct process_table *table,
	const struct process *process, const struct unwind_job *job)
{
	struct verify_batch *batch = verifier->filling;
	const struct unwind_result *result = &job->result;
	struct verify_stack *stack = &batch->stacks[batch->count];

	*stack = (struct verify_stack){ .map = map_of(verifier, table, process), .count = result->count };
	stack->copy = undumped_alloc(job->dump.size + job->dump.other.size);
	stack->addresses = malloc(result->count * sizeof(*stack->addresses));
	if (!stack->map || !stack->copy || !stack->addresses) {
		undumped_free(stack->copy, job->dump.size + job->dump.other.size);
		free(stack->addresses);
		return false;
	}
	if (job->dump.size > 0)
		memcpy(stack->copy, job->dump.bytes, job->dump.size);
	if (job->dump.other.size > 0)
		memcpy(stack->copy + job->dump.size, job->dump.other.bytes, job->dump.other.size);
	for (size_t i = 0; i < result->count; i++)
		stack->addresses[i] = return_address_of(stack->map, job, i);
	stack->stack = (struct reference_stack){ job->registers, { stack->copy, job->dump.size, job->dump.address },
		{ stack->copy + job->dump.size, job->dump.other.size, job->dump.other.address } };
	stack->is_whole = result->stop == PROFILE_STOP_ROOT || result->stop == PROFILE_STOP_STITCHED;
	batch->count++;
	return true;
}

void verifier_offer(struct verifier *verifier, const struct process_table *table, const struct process *process,
	const struct unwind_job *job)
{
	bool may_wait = verifier->options.may_wait && verifier->filling->count == BATCH_STACKS;
	struct error ignored;

	/* The installed library only supports this machine's processor. */
	if (job->result.count == 0 || job->result.count > UNWIND_MAX_FRAMES || job->space.machine != machine_host())
		return;
	if (verifier->until_next > 0) {
		verifier->until_next--;
		return;
	}
	verifier->until_next = verifier->options.every - 1;
	if (verifier->filling->count >= BATCH_READY &&
		(!take_running(verifier, may_wait, &ignored) || !run_filled(verifier)) &&
		verifier->filling->count == BATCH_STACKS) {
		verifier->no_room++;
		return;
	}
	if (!copy_stack(verifier, table, process, job))
		verifier->no_room++;
}

/* ---- The end ---- */

static void verify_describe(const struct verifier *verifier, struct buffer *notices)
{
	if (notices && verifier->by_frame_pointer > 0)
		buffer_printf(notices,
			"--verify: %" PRIu64
			" stack%s compared along frame pointers where libunwind knows no code, as in that of Go and V8\n",
			verifier->by_frame_pointer, verifier->by_frame_pointer == 1 ? " was" : "s were");
	if (notices && verifier->unfinished > 0)
		buffer_printf(notices,
			"--verify: libunwind found no way into %" PRIu64 " stack%s: it crashed or took too long\n",
			verifier->unfinished, verifier->unfinished == 1 ? "" : "s");
	if (notices && verifier->no_room > 0)
		buffer_printf(notices,
			"--verify: %" PRIu64
			" stack%s not compared, because libunwind was still at work on those before; a larger N compares fewer\n",
			verifier->no_room, verifier->no_room == 1 ? " was" : "s were");
}

/* Finds the places among the profile's locations. Asking the profile for each would add missing ones. */
static bool find_locations(
	const struct verifier *verifier, const struct profile *profile, struct compared_stacks *out, struct error *err)
{
	out->locations = calloc(verifier->places.count + 1, sizeof(*out->locations));
	if (!out->locations)
		return error_set_memory(err);
	for (uint32_t i = 0; i < profile->location_count; i++) {
		uint64_t key[2] = { profile->locations[i].mapping, profile->locations[i].address };

		if (out->location_count < verifier->places.count &&
			hash_map_get(&verifier->places, key) != HASH_MAP_NONE)
			out->locations[out->location_count++] = i;
	}
	return true;
}

bool verifier_finish(struct verifier *verifier, struct profile *profile, struct compared_stacks **compared,
	struct buffer *notices, struct error *err)
{
	struct compared_stacks *made;

	if (!take_running(verifier, true, err))
		return false;
	if (verifier->filling->count > 0 && run_filled(verifier) && !take_running(verifier, true, err))
		return false;
	made = calloc(1, sizeof(*made));
	if (!made || !find_locations(verifier, profile, made, err)) {
		compared_stacks_destroy(made);
		return error_set_memory(err);
	}
	verifier->counts.is_there = true;
	profile_verification_add(&profile->verification, &verifier->counts);
	verify_describe(verifier, notices);
	memcpy(made->differences, verifier->differences, sizeof(made->differences));
	made->difference_count = verifier->difference_count;
	*compared = made;
	return true;
}
