/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/stack.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COMPARED = 1 << 16 }; /* native frames, for the activations of one stack */

/* A stack that is joined. */
struct joining {
	struct interpreter_stack *stack;
	const struct interpret_sample *sample;
	const struct interpreter_stack_image *image;
	struct ebpf_frames frames; /* the sample's; where activations have addresses, in the order of these */
	uint64_t clock_ns, epoch;
	size_t next;             /* of the words */
	bool has_unmarked_first; /* its innermost frame is an activation of its own */
	bool made_are_loops;     /* code made at run time stands for the loop */
	/*
	 * Native frames, where activations have addresses: the next native frame, and native frames that were compared.
	 */
	size_t native, compared;
	bool replaces_leaf; /* the next activation has nothing below it but a task */
	bool is_uncertain;
};

static bool is_of_image(const struct joining *joining, const struct unwind_frame *frame)
{
	const struct process_table *table = joining->stack->names->table;

	return table->images[table->places[frame->image].image].elf == joining->image->elf;
}

static bool stack_is_made(const struct joining *joining, const struct unwind_frame *frame)
{
	const struct process_table *table = joining->stack->names->table;
	enum profile_mapping_kind kind = table->profile->mappings[table->places[frame->image].mapping].kind;

	return kind == PROFILE_MAPPING_JIT || kind == PROFILE_MAPPING_ANON;
}

static bool is_loop(const struct joining *joining, const struct unwind_result *result, size_t i)
{
	const struct unwind_frame *frame = &result->frames[i];
	uint64_t bias = joining->stack->names->table->places[frame->image].bias;

	if (is_of_image(joining, frame))
		return interpreter_loop_has(joining->image->loop, unwind_frame_address(frame) + bias);
	return joining->made_are_loops && stack_is_made(joining, frame) && i + 1 < result->count &&
	       is_of_image(joining, &result->frames[i + 1]);
}

static size_t count_loops(const struct joining *joining, const struct unwind_result *result)
{
	size_t count = 0;

	for (size_t i = 0; i < result->count; i++)
		count += is_loop(joining, result, i);
	return count;
}

/* Frames that are cut end within an activation. */
static size_t count_activations(const struct ebpf_frames *frames)
{
	size_t count = 0;

	for (size_t i = 0; i < frames->count; i++)
		count += ebpf_frame_is_first(frames->words[i]);
	return count + (frames->count > 0 && !ebpf_frame_is_first(frames->words[frames->count - 1]));
}

static void stack_add_frame(struct interpreter_stack *stack, const struct unwind_frame *frame)
{
	if (stack->count < UNWIND_MAX_FRAMES)
		stack->frames[stack->count++] = *frame;
}

/* Finds the frame of a word. Most words were in the stack before it. */
static bool stack_find_frame(struct joining *joining, uint64_t word, struct unwind_frame *frame, struct error *err)
{
	struct interpreter_stack *stack = joining->stack;
	int32_t pid = joining->sample->pid;
	struct interpreter_known *known =
		&stack->known[hash_mix(word, (uint32_t)pid | 1ULL << 63) % INTERPRETER_STACK_KNOWN];
	struct profile_line line;

	if (known->word == word && known->pid == pid && known->epoch == joining->epoch) {
		frame->pc = known->pc;
		frame->image = known->image;
		frame->is_exact = true;
		return true;
	}
	if (!interpreter_codes_find(stack->codes, joining->image->image, pid, word, joining->clock_ns, &line, err) ||
		!interpreter_names_frame(stack->names, &line, 1, frame, err))
		return false;
	if (!interpreter_codes_is_gone(stack->codes, &line))
		*known = (struct interpreter_known){ word, joining->epoch, pid, frame->image, frame->pc };
	return true;
}

static bool add_interpreted(struct joining *joining, uint64_t word, uint64_t stack_pointer, struct error *err)
{
	struct unwind_frame frame = { .stack_pointer = stack_pointer };

	if (!stack_find_frame(joining, word, &frame, err))
		return false;
	stack_add_frame(joining->stack, &frame);
	return true;
}

/* Adds the frames of the next activation. `*has_frames`: there were some. */
static bool add_activation(struct joining *joining, uint64_t stack_pointer, bool *has_frames, struct error *err)
{
	const struct ebpf_frames *frames = &joining->frames;

	*has_frames = false;
	while (joining->next < frames->count) {
		uint64_t word = frames->words[joining->next++];

		if (ebpf_frame_code(word) != 0) {
			*has_frames = true;
			if (!add_interpreted(joining, word, stack_pointer, err))
				return false;
		}
		if (ebpf_frame_is_first(word) || (joining->next == 1 && joining->has_unmarked_first))
			break;
	}
	return true;
}

static bool stack_is_whole(enum profile_stop stop)
{
	return stop == PROFILE_STOP_ROOT || stop == PROFILE_STOP_STITCHED;
}

/* Adds the native frames; those of the loop but the first `unmatched` become the interpreter's. */
static bool add_native(struct joining *joining, size_t unmatched, struct error *err)
{
	const struct unwind_result *result = &joining->sample->job->result;

	for (size_t i = 0; i < result->count; i++) {
		const struct unwind_frame *frame = &result->frames[i];
		bool has_frames = false;

		if (is_loop(joining, result, i)) {
			if (unmatched > 0)
				unmatched--;
			else if (!add_activation(joining, frame->stack_pointer, &has_frames, err))
				return false;
		}
		if (!has_frames)
			stack_add_frame(joining->stack, frame);
	}
	return true;
}

/* Returns whether the leaf is an activation at its begin or end, which the words do not have. */
static bool is_entering(
	const struct joining *joining, const struct unwind_result *result, size_t loops, size_t activations)
{
	return loops == activations + 1 && result->count > 0 && is_loop(joining, result, 0);
}

/* Returns whether the innermost frame is the first of such an activation, and is not marked yet. */
static bool has_unmarked_first(const struct ebpf_frames *frames)
{
	return frames->count > 0 && !ebpf_frame_is_first(frames->words[0]) &&
	       ebpf_frame_position(frames->words[0]) == EBPF_FRAME_NO_POSITION;
}

static bool stack_is_near(const struct interpreter_stack_image *image, size_t loops, size_t activations)
{
	return image->has_early_frames && (loops == activations + 1 || activations == loops + 1);
}

/* The address of the activation that the next words belong to; 0: they are cut before it. `*end`: of its frames. */
static uint64_t find_activation(const struct joining *joining, size_t *end)
{
	const struct ebpf_frames *frames = &joining->frames;

	for (*end = joining->next; *end < frames->count; (*end)++)
		if (ebpf_python_is_activation(frames->words[*end]))
			return ebpf_python_activation_address(frames->words[*end]);
	return 0;
}

/* The native frame that an address lies in, of those that have no frames yet; result->count: none. */
static size_t find_native(struct joining *joining, uint64_t address)
{
	const struct unwind_result *result = &joining->sample->job->result;

	for (size_t i = joining->native; i < result->count && joining->compared < MOST_COMPARED; i++) {
		uint64_t end =
			i + 1 < result->count ? result->frames[i + 1].stack_pointer : result->caller_stack_pointer;

		joining->compared++;
		if (address >= result->frames[i].stack_pointer && address < end)
			return i;
	}
	return result->count;
}

/* Returns whether an activation's native frame is one that was not walked to. */
static bool is_beyond(const struct unwind_result *result, uint64_t address)
{
	return result->count > 0 && !stack_is_whole(result->stop) &&
	       address >= result->frames[result->count - 1].stack_pointer;
}

static void add_natives(struct joining *joining, size_t end)
{
	const struct unwind_result *result = &joining->sample->job->result;

	while (joining->native < end)
		stack_add_frame(joining->stack, &result->frames[joining->native++]);
}

/*
 * Leaves out the native frame whose place the interpreter's take, and code made at run time that has called it: with
 * -X perf, CPython's own name for the function that the loop runs.
 */
static void skip_native(struct joining *joining)
{
	const struct unwind_result *result = &joining->sample->job->result;

	joining->native++;
	if (joining->native < result->count && stack_is_made(joining, &result->frames[joining->native]))
		joining->native++;
}

/* Adds the frames up to a word, and that one, which is their activation's. */
static bool add_words(struct joining *joining, size_t end, uint64_t stack_pointer, struct error *err)
{
	const uint64_t *words = joining->frames.words;

	for (; joining->next < end; joining->next++)
		if (!add_interpreted(joining, words[joining->next], stack_pointer, err))
			return false;
	joining->next++;
	return true;
}

/* Adds the next activation in the place of its native frame, and the native frames before that. */
static bool place_activation(struct joining *joining, struct error *err)
{
	const struct unwind_result *result = &joining->sample->job->result;
	size_t end, native;
	uint64_t address = find_activation(joining, &end);
	bool has_frames = end > joining->next;

	if (!has_frames) {
		joining->next++;
		return true;
	}
	native = find_native(joining, address);
	if (native < result->count) {
		if (joining->replaces_leaf)
			joining->native = native;
		joining->replaces_leaf = false;
		add_natives(joining, native);
		skip_native(joining);
		return add_words(joining, end, result->frames[native].stack_pointer, err);
	}
	if (is_beyond(result, address))
		add_natives(joining, result->count);
	else if (address != 0)
		joining->is_uncertain = true;
	return add_words(joining, end, 0, err);
}

static void stack_take_frames(struct interpreter_stack *stack, struct unwind_result *result)
{
	memcpy(result->frames, stack->frames, stack->count * sizeof(*stack->frames));
	result->count = stack->count;
	if (stack->count == UNWIND_MAX_FRAMES)
		result->stop = PROFILE_STOP_DEPTH;
}

/* The activations of the loop are matched with the native frames that are the loop's, one by one. */
static bool join_by_loops(struct joining *joining, struct error *err)
{
	struct interpreter_stack *stack = joining->stack;
	const struct interpreter_stack_image *image = joining->image;
	const struct ebpf_frames *frames = &joining->frames;
	struct unwind_result *result = &joining->sample->job->result;
	size_t loops = count_loops(joining, result), activations = count_activations(frames);
	bool from_root = stack_is_whole(result->stop) && !frames->is_cut, ignored, enters;

	if (image->has_made_loops && activations > loops) {
		joining->made_are_loops = true;
		loops = count_loops(joining, result);
	}
	enters = from_root && is_entering(joining, result, loops, activations);
	stack->mismatched += from_root && loops != activations && !enters && !stack_is_near(image, loops, activations);
	joining->has_unmarked_first = enters && has_unmarked_first(frames);
	activations += joining->has_unmarked_first;
	for (; from_root && activations > loops; activations--)
		if (!add_activation(joining, result->count > 0 ? result->frames[0].stack_pointer : 0, &ignored, err))
			return false;
	if (!add_native(joining, from_root ? loops - activations : 0, err))
		return false;
	while (joining->next < frames->count)
		if (!add_activation(joining, 0, &ignored, err))
			return false;
	return true;
}

/*
 * Adds the coroutines of a task that waits in an event loop: they stand in place of the native frames in which the loop
 * waits.
 */
static bool stack_add_waiting_task(struct joining *joining, struct error *err)
{
	const struct ebpf_frames *frames = &joining->frames;
	const struct unwind_result *result = &joining->sample->job->result;
	size_t end;

	if (find_activation(joining, &end) != 0 || end == frames->count)
		return true;
	if (!joining->sample->waits_for_events) {
		joining->next = end + 1;
		return true;
	}
	joining->replaces_leaf = true;
	return add_words(joining, end, result->count > 0 ? result->frames[0].stack_pointer : 0, err);
}

static int compare_activations(const void *left, const void *right)
{
	const struct interpreter_activation *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->begin < b->begin ? -1 : 1;
}

/* Finds the activations of all words. Returns whether each lies further out on the stack than those before it. */
static bool list_activations(const struct joining *joining, struct interpreter_activation *list, size_t *count)
{
	const struct ebpf_frames *frames = &joining->frames;
	bool is_in_order = true;
	size_t begin = 0;

	*count = 0;
	for (size_t i = 0; i < frames->count; i++) {
		bool ends = ebpf_python_is_activation(frames->words[i]);

		if (!ends && i + 1 < frames->count)
			continue;
		list[*count] = (struct interpreter_activation){
			ends ? ebpf_python_activation_address(frames->words[i]) : UINT64_MAX, begin, i + 1
		};
		is_in_order = is_in_order && (*count == 0 || list[*count - 1].address <= list[*count].address);
		(*count)++;
		begin = i + 1;
	}
	return is_in_order;
}

/*
 * A thread that runs several interpreters, each called from within another one, has the frames of one behind those of
 * the other: its place on the stack tells which activation has called which.
 */
static void order_activations(struct joining *joining)
{
	struct interpreter_stack *stack = joining->stack;
	size_t count, made = 0;

	if (joining->frames.count > EBPF_MOST_FRAMES || list_activations(joining, stack->activations, &count))
		return;
	qsort(stack->activations, count, sizeof(*stack->activations), compare_activations);
	for (size_t i = 0; i < count; i++) {
		const struct interpreter_activation *activation = &stack->activations[i];

		memcpy(&stack->words[made], &joining->frames.words[activation->begin],
			(activation->end - activation->begin) * sizeof(*stack->words));
		made += activation->end - activation->begin;
	}
	joining->frames.words = stack->words;
}

static bool join_by_addresses(struct joining *joining, struct error *err)
{
	order_activations(joining);
	if (!stack_add_waiting_task(joining, err))
		return false;
	while (joining->next < joining->frames.count)
		if (!place_activation(joining, err))
			return false;
	add_natives(joining, joining->sample->job->result.count);
	joining->stack->mismatched += joining->is_uncertain;
	return true;
}

bool interpreter_stack_join(struct interpreter_stack *stack, const struct interpret_sample *sample,
	const struct interpreter_stack_image *image, uint64_t clock_ns, struct error *err)
{
	struct joining joining = { .stack = stack,
		.sample = sample,
		.image = image,
		.frames = *sample->interpreter_frames,
		.clock_ns = clock_ns,
		.epoch = interpreter_codes_epoch(stack->codes, clock_ns) };

	stack->count = 0;
	stack->joined++;
	if (!(image->loop ? join_by_loops : join_by_addresses)(&joining, err))
		return false;
	stack_take_frames(stack, &sample->job->result);
	return true;
}
