/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/interpret/stack.h"

#include <string.h>

/* A stack that is joined. */
struct joining {
	struct interpreter_stack *stack;
	const struct interpret_sample *sample;
	const struct interpreter_stack_image *image;
	uint64_t clock_ns, epoch;
	size_t next;             /* of the words */
	bool has_unmarked_first; /* its innermost frame is an activation of its own */
	bool made_are_loops;     /* code made at run time stands for the loop */
};

static bool is_of_image(const struct joining *joining, const struct unwind_frame *frame)
{
	const struct process_table *table = joining->stack->names->table;

	return table->images[table->places[frame->image].image].elf == joining->image->elf;
}

static bool is_made(const struct joining *joining, const struct unwind_frame *frame)
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
	return joining->made_are_loops && is_made(joining, frame) && i + 1 < result->count &&
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

static void add_frame(struct interpreter_stack *stack, const struct unwind_frame *frame)
{
	if (stack->count < UNWIND_MAX_FRAMES)
		stack->frames[stack->count++] = *frame;
}

/* Finds the frame of a word. Most words were in the stack before it. */
static bool find_frame(struct joining *joining, uint64_t word, struct unwind_frame *frame, struct error *err)
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

	if (!find_frame(joining, word, &frame, err))
		return false;
	add_frame(joining->stack, &frame);
	return true;
}

/* Adds the frames of the next activation. `*has_frames`: there were some. */
static bool add_activation(struct joining *joining, uint64_t stack_pointer, bool *has_frames, struct error *err)
{
	const struct ebpf_frames *frames = joining->sample->interpreter_frames;

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

static bool is_whole(enum profile_stop stop)
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
			add_frame(joining->stack, frame);
		else if (i + 1 < result->count && joining->image->has_trampolines &&
			 is_made(joining, &result->frames[i + 1]))
			i++;
	}
	return true;
}

/* Whether the leaf is an activation at its begin or end, which the words do not have. */
static bool is_entering(
	const struct joining *joining, const struct unwind_result *result, size_t loops, size_t activations)
{
	return loops == activations + 1 && result->count > 0 && is_loop(joining, result, 0);
}

/* Whether the innermost frame is the first of such an activation, and is not marked yet. */
static bool has_unmarked_first(const struct ebpf_frames *frames)
{
	return frames->count > 0 && !ebpf_frame_is_first(frames->words[0]) &&
	       ebpf_frame_position(frames->words[0]) == EBPF_FRAME_NO_POSITION;
}

static bool is_near(const struct interpreter_stack_image *image, size_t loops, size_t activations)
{
	return image->has_early_frames && (loops == activations + 1 || activations == loops + 1);
}

static void take_frames(struct interpreter_stack *stack, struct unwind_result *result)
{
	memcpy(result->frames, stack->frames, stack->count * sizeof(*stack->frames));
	result->count = stack->count;
	if (stack->count == UNWIND_MAX_FRAMES)
		result->stop = PROFILE_STOP_DEPTH;
}

bool interpreter_stack_join(struct interpreter_stack *stack, const struct interpret_sample *sample,
	const struct interpreter_stack_image *image, uint64_t clock_ns, struct error *err)
{
	struct joining joining = { .stack = stack,
		.sample = sample,
		.image = image,
		.clock_ns = clock_ns,
		.epoch = interpreter_codes_epoch(stack->codes, clock_ns) };
	struct unwind_result *result = &sample->job->result;
	size_t loops = count_loops(&joining, result), activations = count_activations(sample->interpreter_frames);
	bool from_root = is_whole(result->stop) && !sample->interpreter_frames->is_cut, ignored;
	bool enters;

	if (image->has_made_loops && activations > loops) {
		joining.made_are_loops = true;
		loops = count_loops(&joining, result);
	}
	enters = from_root && is_entering(&joining, result, loops, activations);
	stack->count = 0;
	stack->joined++;
	stack->mismatched += from_root && loops != activations && !enters && !is_near(image, loops, activations);
	joining.has_unmarked_first = enters && has_unmarked_first(sample->interpreter_frames);
	activations += joining.has_unmarked_first;
	for (; from_root && activations > loops; activations--)
		if (!add_activation(&joining, result->count > 0 ? result->frames[0].stack_pointer : 0, &ignored, err))
			return false;
	if (!add_native(&joining, from_root ? loops - activations : 0, err))
		return false;
	while (joining.next < sample->interpreter_frames->count)
		if (!add_activation(&joining, 0, &ignored, err))
			return false;
	take_frames(stack, result);
	return true;
}
