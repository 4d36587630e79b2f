/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the samples of pprof, with their stacks and threads. */
#include "profile/index.h"
#include "profile/pprof_reader.h"

#include <inttypes.h>
#include <string.h>

/* The labels of a sample that are the program's own. */
struct own_labels {
	struct profile_label items[PROFILE_MAX_SAMPLE_LABELS];
	size_t count;
};

/*
 * Names of single requests are kept nowhere: each would make a thread of its own, and no two recordings have one in
 * common.
 */
static bool is_worth_keeping(const char *key)
{
	static const char *const ids[] = { "trace_id", "span_id", "trace id", "span id", "profile_id" };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (strcmp(key, ids[i]) == 0)
			return false;
	return key[0] != '\0';
}

static bool read_label(const struct pprof_reader *r, struct byte_reader message, struct profile_thread *thread,
	struct own_labels *own, struct error *err)
{
	Pprof__Label label = PPROF__LABEL__INIT;
	uint32_t string, key;

	if (!proto_set_members(&label.base, message))
		return error_set(err, ERROR_FORMAT, "a label is malformed");
	if (!pprof_string_id(r, label.key, &key, "a label's key", err) ||
		!pprof_string_id(r, label.str, &string, "a label", err))
		return false;
	switch ((enum pprof_label)r->labels[label.key]) {
	case PPROF_LABEL_PID:
		thread->pid = (int32_t)label.num;
		break;
	case PPROF_LABEL_TID:
		thread->tid = (int32_t)label.num;
		break;
	case PPROF_LABEL_PROCESS:
		thread->process_name = string;
		break;
	case PPROF_LABEL_THREAD:
		thread->name = string;
		break;
	case PPROF_LABEL_OTHER:
		if (label.str && own->count < PROFILE_MAX_SAMPLE_LABELS &&
			is_worth_keeping(profile_string(r->profile, key)))
			own->items[own->count++] = (struct profile_label){ key, string };
		break;
	}
	return true;
}

static bool thread_of_sample(struct pprof_reader *r, size_t position, const struct profile_thread *labelled,
	uint32_t *thread, struct error *err)
{
	uint64_t number;

	if (!r->has_thread_column)
		return profile_add_thread(r->profile, labelled, thread, err);
	number = pprof_column_next(&r->extension, PPROF_COLUMN(sample_thread), UINT64_MAX);
	if (number >= r->extension.numbers.n_thread)
		return error_set(err, ERROR_FORMAT, "sample %zu references thread %llu, which is not there", position,
			(unsigned long long)number);
	*thread = r->threads[number];
	return true;
}

/* ---- Stacks ---- */

/* A sample as the file has it. */
struct sample {
	size_t position, value_count;
	struct byte_reader locations; /* packed, leaf first; empty if they are not in one piece */
	size_t depth; /* number of locations in the reader's path, for a sample whose locations are not in one piece */
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	struct profile_thread thread; /* as its labels say */
	struct own_labels own;
};

static bool pprof_samples_append_location(struct pprof_reader *r, struct sample *sample, uint64_t id, struct error *err)
{
	uint32_t position = id_table_get(&r->location_ids, id);

	if (position == HASH_MAP_NONE)
		return error_set(err, ERROR_FORMAT, "sample %zu references location %llu, which is not there",
			sample->position, (unsigned long long)id);
	if (sample->depth >= r->path_capacity &&
		!ARRAY_RESERVE(&r->path, &r->path_capacity, sample->depth + 1, ARRAY_MAX_IDS, err))
		return false;
	r->path[sample->depth++] = r->locations[position];
	return true;
}

static bool append_packed(struct pprof_reader *r, struct sample *sample, struct byte_reader packed, struct error *err)
{
	while (packed.pos < packed.end) {
		uint64_t id = protobuf_varint(&packed);

		if (packed.failed)
			return error_set(err, ERROR_FORMAT, "sample %zu is malformed", sample->position);
		if (!pprof_samples_append_location(r, sample, id, err))
			return false;
	}
	return true;
}

/* Adds the frames of the path to the stack at `depth`, the outermost first. */
static bool samples_add_frames(struct pprof_reader *r, size_t depth, size_t count, uint32_t *stack, struct error *err)
{
	if (depth + count >= r->frame_capacity &&
		!ARRAY_RESERVE(&r->frames, &r->frame_capacity, depth + count + 1, ARRAY_MAX_IDS, err))
		return false;
	r->frames[0] = 0;
	for (; count > 0; depth++) {
		uint32_t parent = r->frames[depth], location = r->path[--count];

		r->frames[depth + 1] = (uint32_t)r->profile->stack_count;
		if (!(r->in_order ? profile_append_stack(r->profile, parent, location, err)
				  : profile_add_stack(r->profile, parent, location, &r->frames[depth + 1], err)))
			return false;
	}
	*stack = r->frames[depth];
	return true;
}

/*
 * Returns whether the stack of this sample comes after the stack before it in the writer's order, judged by the first
 * frame that they do not share; callers come before what they call. Where all stacks do, all are different, and all
 * frames that are not shared with the stack before are new.
 */
static bool comes_after(const struct pprof_reader *r, const struct sample *sample, size_t shared)
{
	if (shared == r->depth_before)
		return true;
	return sample->depth > 0 && r->path[sample->depth - 1] > r->profile->stacks[r->frames[shared + 1]].location;
}

/*
 * Finds or adds the sample's stack. The frames shared with the sample before are known already; in our own files these
 * are most.
 */
static bool pprof_samples_read_stack(struct pprof_reader *r, struct sample *sample, uint32_t *stack, struct error *err)
{
	struct byte_reader fresh = sample->locations, left = r->before;
	size_t size = protobuf_shared_tail(&sample->locations, &r->before), shared;

	if (sample->depth > 0) {
		r->in_order = false;
		r->before = byte_reader_over(NULL, 0);
		r->depth_before = 0;
		return samples_add_frames(r, 0, sample->depth, stack, err);
	}
	fresh.end -= size;
	left.end -= size;
	shared = r->depth_before - protobuf_count_varints(&left);
	if (!append_packed(r, sample, fresh, err))
		return false;
	r->in_order = r->in_order && comes_after(r, sample, shared);
	if (!samples_add_frames(r, shared, sample->depth, stack, err))
		return false;
	r->before = sample->locations;
	r->depth_before = shared + sample->depth;
	return true;
}

static bool take_locations(struct pprof_reader *r, struct byte_reader *message, struct protobuf_field *field,
	struct sample *sample, struct error *err)
{
	uint64_t id;

	if (field->has_bytes && sample->depth == 0 && byte_reader_left(&sample->locations) == 0) {
		sample->locations = field->bytes;
		return true;
	}
	if (!append_packed(r, sample, sample->locations, err))
		return false;
	sample->locations = byte_reader_over(NULL, 0);
	while (protobuf_next_number(message, field, &id))
		if (!pprof_samples_append_location(r, sample, id, err))
			return false;
	return true;
}

/* The stack of a sample in a growing recording, which has its stacks in a table of their own. */
static bool stack_of_sample(struct pprof_reader *r, struct sample *sample, uint32_t *stack, struct error *err)
{
	uint64_t number;

	if (!r->has_stack_column)
		return pprof_samples_read_stack(r, sample, stack, err);
	r->in_order = false;
	number = pprof_column_next(&r->extension, PPROF_COLUMN(sample_stack), UINT64_MAX);
	if (number >= r->stack_count)
		return error_set(err, ERROR_FORMAT, "sample %zu references stack %" PRIu64 ", which is not there",
			sample->position, number);
	*stack = r->stacks[number];
	return true;
}

/* ---- Samples ---- */

static void pprof_samples_take_values(struct byte_reader *message, struct protobuf_field *field, struct sample *sample)
{
	uint64_t value;

	for (; protobuf_next_number(message, field, &value); sample->value_count++)
		if (sample->value_count < PROFILE_MAX_VALUE_TYPES)
			sample->values[sample->value_count] = (int64_t)value;
}

/* Skips labels whose tag and length take one byte each, as those that Kelvin writes. A column holds what they say. */
static void skip_labels(const struct pprof_reader *r, struct byte_reader *message)
{
	const uint8_t *pos = message->pos;

	while (message->end - pos >= 2 && pos[0] == r->label_tag && pos[1] < 0x80 && message->end - pos >= pos[1] + 2)
		pos += pos[1] + 2;
	message->pos = pos;
}

static bool take_fields(struct pprof_reader *r, struct byte_reader message, struct sample *sample, struct error *err)
{
	struct protobuf_field field;

	while (protobuf_next_field(&message, &field)) {
		size_t member = proto_member(&pprof__sample__descriptor, field.id);

		if (member == offsetof(Pprof__Sample, location_id) && !take_locations(r, &message, &field, sample, err))
			return false;
		if (member == offsetof(Pprof__Sample, value))
			pprof_samples_take_values(&message, &field, sample);
		if (member == offsetof(Pprof__Sample, label) && field.has_bytes && !r->has_thread_column &&
			!read_label(r, field.bytes, &sample->thread, &sample->own, err))
			return false;
		if (r->has_thread_column && !message.failed)
			skip_labels(r, &message);
	}
	return pprof_check(byte_reader_ok(&message), "sample", sample->position, err);
}

static bool order_values(const struct pprof_reader *r, struct sample *sample, int64_t *values, struct error *err)
{
	if (sample->value_count != r->type_count)
		return error_set(err, ERROR_FORMAT, "sample %zu has %zu values for %zu sample types", sample->position,
			sample->value_count, r->type_count);
	for (size_t i = 0; i < r->type_count; i++) {
		if (__builtin_mul_overflow(sample->values[i], r->scales[i], &sample->values[i]))
			return error_set(
				err, ERROR_FORMAT, "sample %zu has a value that is too large", sample->position);
		values[r->types[i]] = sample->values[i];
		if (sample->values[i] < 0)
			return error_set(err, ERROR_FORMAT,
				"sample %zu has the negative value %lld: this is a difference of two profiles; give the two themselves",
				sample->position, (long long)sample->values[i]);
	}
	if (!r->has_count)
		pprof_count_samples(r, sample->values, values);
	return true;
}

/* Adds the sample. Samples of one stack are in order of their threads. */
static bool pprof_samples_add_sample(struct pprof_reader *r, const struct sample *sample, uint32_t stack,
	uint32_t thread, const int64_t *values, struct error *err)
{
	r->in_order = r->in_order && (sample->depth > 0 || thread > r->thread_before);
	r->thread_before = thread;
	return r->in_order ? profile_append_sample(r->profile, stack, thread, values, err)
			   : profile_add_sample(r->profile, stack, thread, values, -1, err);
}

static bool pprof_samples_read_sample(
	struct pprof_reader *r, struct byte_reader message, size_t position, struct error *err)
{
	struct sample sample;
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t stack, thread;

	/* Only some members are set, since clearing the array of values for each sample takes time. */
	sample.position = position;
	sample.value_count = sample.depth = sample.own.count = 0;
	sample.locations = byte_reader_over(NULL, 0);
	sample.thread = (struct profile_thread){ 0 };
	return take_fields(r, message, &sample, err) && order_values(r, &sample, values, err) &&
	       (sample.own.count == 0 || profile_make_label_set(r->profile, sample.own.items, sample.own.count,
						 &sample.thread.labels, err)) &&
	       stack_of_sample(r, &sample, &stack, err) &&
	       thread_of_sample(r, position, &sample.thread, &thread, err) &&
	       pprof_samples_add_sample(r, &sample, stack, thread, values, err);
}

/*
 * The fewest bytes of a sample: a stack of one frame and two values, each with tag and size, and the sample's own tag
 * and size.
 */
enum { LEAST_SAMPLE_BYTES = 8 };

bool pprof_read_samples(struct pprof_reader *r, struct error *err)
{
	struct proto_walk walk = pprof_walk_table(r, PPROF_TABLE(sample));
	struct byte_reader message;
	size_t count = r->sections[PPROF_TABLE(sample)].count,
	       likely = byte_reader_left(&walk.left) / LEAST_SAMPLE_BYTES;

	r->before = byte_reader_over(NULL, 0);
	r->depth_before = 0;
	r->label_tag = proto_number_of(&pprof__sample__descriptor, offsetof(Pprof__Sample, label)) << 3 | 2;
	r->in_order = true;
	r->thread_before = -1;
	if (!profile_reserve_samples(r->profile, count < likely ? count : likely, err))
		return false;
	for (size_t i = 0; proto_next_entry(&walk, &message); i++)
		if (!pprof_samples_read_sample(r, message, i, err))
			return false;
	return true;
}
