/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/index.h"
#include "profile/pprof_format.h"
#include "profile/pprof_reader.h"

#include <inttypes.h>
#include <stdlib.h>

static const int64_t max_time_unit_ns = 1000000000;

void pprof_extension_init(struct pprof_extension *extension)
{
	*extension = (struct pprof_extension){ .numbers = PPROF__EXTENSION__INIT };
	for (size_t i = 0; i < PPROF_COLUMNS; i++) {
		extension->columns[i] = byte_reader_over(NULL, 0);
		buffer_init(&extension->joined[i], SIZE_MAX);
	}
}

void pprof_extension_deinit(struct pprof_extension *extension)
{
	for (size_t i = 0; i < PPROF_COLUMNS; i++)
		buffer_deinit(&extension->joined[i]);
}

/*
 * Returns whether a field holds a packed column, which later pieces continue. The others are entries of a table, which
 * are read one by one, or are replaced by later ones.
 */
static bool is_column(const ProtobufCFieldDescriptor *field)
{
	return field->type != PROTOBUF_C_TYPE_MESSAGE && field->offset != offsetof(Pprof__Extension, facts) &&
	       field->offset != offsetof(Pprof__Extension, labels);
}

/* Appends a further piece to a column. A column of one piece is borrowed; from the second piece on it is a copy. */
COMMON_MUST_CHECK
static bool pprof_extension_add_piece(struct pprof_extension *extension, const ProtobufCFieldDescriptor *field,
	const struct byte_reader *piece, struct error *err)
{
	struct byte_reader *column = &extension->columns[field->offset / sizeof(size_t)];
	struct buffer *joined = &extension->joined[field->offset / sizeof(size_t)];

	if (byte_reader_left(column) == 0 || !is_column(field)) {
		*column = *piece;
		return true;
	}
	if (joined->size == 0)
		buffer_append(joined, column->pos, byte_reader_left(column));
	buffer_append(joined, piece->pos, byte_reader_left(piece));
	if (!buffer_ok(joined, err))
		return false;
	*column = byte_reader_over(joined->data, joined->size);
	return true;
}

bool pprof_extension_add(struct pprof_extension *extension, struct byte_reader message, struct error *err)
{
	struct protobuf_field field;

	extension->is_there |= byte_reader_left(&message) > 0;
	while (protobuf_next_field(&message, &field)) {
		const ProtobufCFieldDescriptor *described = proto_describe(&pprof__extension__descriptor, field.id);

		proto_set_member(&extension->numbers.base, &field);
		if (described && field.has_bytes && !pprof_extension_add_piece(extension, described, &field.bytes, err))
			return false;
	}
	if (!byte_reader_ok(&message))
		return error_set(err, ERROR_FORMAT, "Kelvin's own part is malformed");
	if (extension->numbers.version > PPROF_EXTENSION_VERSION)
		return error_set(err, ERROR_UNSUPPORTED,
			"Kelvin's own part is of version %" PRIu32
			", this kelvin knows %d; use the kelvin that recorded it",
			extension->numbers.version, PPROF_EXTENSION_VERSION);
	return true;
}

bool pprof_extension_ok(const struct pprof_extension *extension, struct error *err)
{
	const ProtobufCMessageDescriptor *message = &pprof__extension__descriptor;

	for (unsigned i = 0; i < message->n_fields; i++)
		if (!byte_reader_ok(&extension->columns[message->fields[i].offset / sizeof(size_t)]))
			return error_set(err, ERROR_FORMAT, "Kelvin's own part is malformed in field %" PRIu32,
				message->fields[i].id);
	return true;
}

bool pprof_read_numbers(struct byte_reader bytes, ProtobufCMessage *message, const char *what, struct error *err)
{
	return proto_set_members(message, bytes) ||
	       error_set(err, ERROR_FORMAT, "Kelvin's own part is malformed: %s", what);
}

bool pprof_columns_agree(const struct pprof_reader *r, size_t first, size_t last, const char *what, struct error *err)
{
	const ProtobufCMessageDescriptor *message = &pprof__extension__descriptor;
	size_t count = protobuf_count_varints(&r->extension.columns[first]);

	for (unsigned i = 0; i < message->n_fields; i++) {
		size_t column = message->fields[i].offset / sizeof(size_t);

		if (column > first && column <= last && protobuf_count_varints(&r->extension.columns[column]) != count)
			return error_set(err, ERROR_FORMAT, "the columns of %s do not agree", what);
	}
	return true;
}

static bool read_run(
	const struct pprof_reader *r, struct byte_reader message, struct profile_run *run, struct error *err)
{
	Pprof__Run in = PPROF__RUN__INIT;

	if (!pprof_read_numbers(message, &in.base, "a run", err))
		return false;
	*run = (struct profile_run){
		.start_unix_ns = in.start_unix_ns,
		.duration_ns = in.duration_ns,
		.whole_command = in.whole_command,
		.exit_status = in.exit_status,
		.wall_ns = in.wall_ns,
		.cpu_ns = in.cpu_ns,
		.peak_memory_bytes = in.peak_memory_bytes,
		.layout = in.layout,
		.measured = {
			.rounds = in.rounds,
			.iterations = in.iterations,
			.quartile_ns = in.quartile_ns,
			.median_ns = in.median_ns,
			.mean_ns = in.mean_ns,
			.stdev_ns = in.stdev_ns,
			.error_ns = in.error_ns,
		},
	};
	return pprof_string_id(r, in.name, &run->name, "the name of a run", err) &&
	       pprof_string_id(r, in.instance, &run->instance, "the instance of a run", err) &&
	       pprof_string_id(r, in.cpu_model, &run->cpu_model, "the CPU of a run", err);
}

/* A walk over the entries of a table in the extension, which may consist of several pieces. */
struct extension_walk {
	struct proto_walk pieces, entries;
};

static struct extension_walk walk_extension(const struct pprof_reader *r, size_t member)
{
	return (struct extension_walk){ pprof_walk_table(r, PPROF_TABLE(kelvin)),
		proto_walk(byte_reader_over(NULL, 0), &pprof__extension__descriptor, member) };
}

static bool next_in_extension(struct extension_walk *walk, struct byte_reader *message)
{
	while (!proto_next_entry(&walk->entries, message))
		if (!proto_next_entry(&walk->pieces, &walk->entries.left))
			return false;
	return true;
}

bool pprof_read_runs(struct pprof_reader *r, struct error *err)
{
	struct profile_run run = {
		.exit_status = -1, .start_unix_ns = r->numbers.time_nanos, .duration_ns = r->numbers.duration_nanos
	};
	struct extension_walk walk = walk_extension(r, offsetof(Pprof__Extension, run));
	struct byte_reader message;
	uint32_t id;

	if (r->extension.numbers.n_run == 0)
		return profile_add_run(r->profile, &run, &id, err);
	while (next_in_extension(&walk, &message))
		if (!read_run(r, message, &run, err) || !profile_add_run(r->profile, &run, &id, err))
			return false;
	return true;
}

static bool read_thread(struct pprof_reader *r, struct byte_reader message, size_t position, struct error *err)
{
	Pprof__Thread in = PPROF__THREAD__INIT;
	struct profile_thread thread;

	if (!pprof_read_numbers(message, &in.base, "a thread", err))
		return false;
	if (in.run >= r->profile->run_count)
		return error_set(err, ERROR_FORMAT, "thread %zu references run %" PRIu32 ", which is not there",
			position, in.run);
	thread = (struct profile_thread){ .run = in.run, .pid = in.pid, .tid = in.tid };
	return pprof_string_id(r, in.process_name, &thread.process_name, "a process's name", err) &&
	       pprof_string_id(r, in.name, &thread.name, "a thread's name", err) &&
	       pprof_string_id(r, in.labels, &thread.labels, "the labels of a thread", err) &&
	       profile_add_thread(r->profile, &thread, &r->threads[position], err);
}

bool pprof_read_threads(struct pprof_reader *r, struct error *err)
{
	struct extension_walk walk = walk_extension(r, offsetof(Pprof__Extension, thread));
	struct byte_reader message;

	if (!ARRAY_ZEROED(&r->threads, r->extension.numbers.n_thread + 1, err))
		return false;
	for (size_t i = 0; next_in_extension(&walk, &message); i++)
		if (!read_thread(r, message, i, err))
			return false;
	r->has_thread_column = r->sections[PPROF_TABLE(sample)].count > 0 &&
			       protobuf_count_varints(&r->extension.columns[PPROF_COLUMN(sample_thread)]) ==
				       r->sections[PPROF_TABLE(sample)].count;
	return true;
}

/* ---- Stacks ---- */

bool pprof_read_stacks(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *parents = &r->extension.columns[PPROF_COLUMN(stack_parent)],
			   *locations = &r->extension.columns[PPROF_COLUMN(stack_location)];
	size_t count = protobuf_count_varints(parents);

	if (!ARRAY_ZEROED(&r->stacks, count + 1, err))
		return false;
	r->stacks[r->stack_count++] = 0;
	for (size_t i = 1; i <= count; i++) {
		uint64_t parent = protobuf_varint(parents), location = protobuf_varint(locations);

		if (parents->failed || locations->failed || parent >= i ||
			location >= r->sections[PPROF_TABLE(location)].count)
			return error_set(err, ERROR_FORMAT, "stack %zu is malformed", i);
		if (!profile_add_stack(
			    r->profile, r->stacks[parent], r->locations[location], &r->stacks[r->stack_count++], err))
			return false;
	}
	return true;
}

/* ---- Timeline ---- */

/* The position in the timeline's columns, and the number of events of each sample. */
struct timeline {
	struct byte_reader deltas, samples;
	int64_t unit_ns;
	uint32_t *counts;
	bool went_back; /* the events are not in order of time */
};

static bool read_run_events(
	struct profile *profile, uint32_t run, uint64_t count, struct timeline *timeline, struct error *err)
{
	/* Local copies, which the compiler keeps in registers. */
	struct byte_reader deltas = timeline->deltas, samples = timeline->samples;
	int64_t unit_ns = timeline->unit_ns, last = INT64_MAX / unit_ns, time = 0;
	struct profile_event *events = profile->events + profile->event_count;
	size_t sample_count = profile->sample_count;
	bool one_run = profile->run_count == 1, went_back = false;

	for (uint64_t i = 0; i < count; i++) {
		int64_t delta = protobuf_zigzag(protobuf_varint(&deltas));
		uint64_t sample = protobuf_varint(&samples);

		if (delta > last - time || time + delta < 0 || sample >= sample_count ||
			(!one_run && profile->threads[profile->samples[sample].thread].run != run))
			return error_set(err, ERROR_FORMAT, "event %zu of the timeline is out of range",
				profile->event_count + i);
		went_back |= delta < 0;
		time += delta;
		timeline->counts[sample]++;
		events[i] = (struct profile_event){ time * unit_ns, (uint32_t)sample };
	}
	if (deltas.failed || samples.failed)
		return error_set(err, ERROR_FORMAT, "the timeline of run %u is malformed", run);
	profile->event_count += count;
	timeline->went_back |= went_back;
	timeline->deltas = deltas;
	timeline->samples = samples;
	return true;
}

/* Each sample must have as many events as its count says: code that cuts the timeline into blocks relies on it. */
static bool check_event_counts(const struct profile *profile, const uint32_t *counts, struct error *err)
{
	for (size_t i = 0; i < profile->sample_count; i++) {
		int64_t count = profile->values[i * profile->value_type_count];

		if (counts[i] != count)
			return error_set(err, ERROR_FORMAT,
				"the timeline has %u events of sample %zu, which counts %lld", counts[i], i,
				(long long)count);
	}
	return true;
}

static bool read_event_weights(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *gaps = &r->extension.columns[PPROF_COLUMN(weighted_event)],
			   *weights = &r->extension.columns[PPROF_COLUMN(event_weight)];
	uint64_t count = r->profile->event_count, event = 0;

	for (; gaps->pos < gaps->end; event++) {
		uint64_t gap = protobuf_varint(gaps), weight = protobuf_varint(weights);

		if (gaps->failed || weights->failed || gap >= count - event || weight == 0 || weight > INT64_MAX)
			return error_set(err, ERROR_FORMAT, "the weights of the timeline's events are malformed");
		event += gap;
		if (!profile_set_event_weight(r->profile, event, (int64_t)weight, err))
			return false;
	}
	return weights->pos == weights->end ||
	       error_set(err, ERROR_FORMAT, "there are weights of events that are not there");
}

static bool pprof_extension_read_events(struct pprof_reader *r, size_t count, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *counts = calloc(r->profile->sample_count + 1, sizeof(*counts));
	struct byte_reader *columns = r->extension.columns, *lengths = &columns[PPROF_COLUMN(run_events)];
	struct timeline timeline = { columns[PPROF_COLUMN(event_time_delta)], columns[PPROF_COLUMN(event_sample)],
		r->extension.numbers.time_unit, counts, false };
	struct profile *profile = r->profile;

	profile->events = malloc((count + 1) * sizeof(*profile->events));
	if (!counts || !profile->events)
		return error_set_memory(err);
	/* A profile of one run may omit the number of events of its run. */
	if (lengths->pos == lengths->end && profile->run_count == 1 &&
		!read_run_events(profile, 0, count, &timeline, err))
		return false;
	for (uint32_t run = 0; lengths->pos < lengths->end; run++) {
		uint64_t length = protobuf_varint(lengths);

		if (run >= profile->run_count || length > count - profile->event_count)
			return error_set(err, ERROR_FORMAT, "the timeline of run %u is longer than its columns", run);
		if (!read_run_events(profile, run, length, &timeline, err))
			return false;
	}
	profile->has_timeline = true;
	return check_event_counts(profile, counts, err) && read_event_weights(r, err) &&
	       (!timeline.went_back || profile_finish(profile, err));
}

/* Reads later values of samples that earlier increments hold. */
static bool read_sums(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *samples = &r->extension.columns[PPROF_COLUMN(sum_sample)],
			   *values = &r->extension.columns[PPROF_COLUMN(sum_value)];
	struct profile *profile = r->profile;
	size_t width = profile->value_type_count;

	if (protobuf_count_varints(values) != protobuf_count_varints(samples) * width)
		return error_set(err, ERROR_FORMAT, "the columns of sums do not agree");
	while (samples->pos < samples->end) {
		uint64_t sample = protobuf_varint(samples);

		if (sample >= profile->sample_count)
			return error_set(
				err, ERROR_FORMAT, "there are sums of sample %" PRIu64 ", which is not there", sample);
		for (size_t v = 0; v < width; v++)
			profile->values[sample * width + r->types[v]] = (int64_t)protobuf_varint(values);
	}
	return true;
}

/* Reads the timeline of Kelvin's own files. Each sample stands once in them, so positions are ids. */
bool pprof_read_timeline(struct pprof_reader *r, struct error *err)
{
	int64_t unit = r->extension.numbers.time_unit;
	size_t count = protobuf_count_varints(&r->extension.columns[PPROF_COLUMN(event_sample)]);

	r->profile->has_timeline = false;
	if (!r->extension.numbers.has_timeline || unit <= 0 || unit > max_time_unit_ns)
		return true;
	if (protobuf_count_varints(&r->extension.columns[PPROF_COLUMN(event_time_delta)]) != count ||
		count > UINT32_MAX || r->profile->sample_count != r->sections[PPROF_TABLE(sample)].count)
		return error_set(err, ERROR_FORMAT, "the timeline's columns do not agree");
	return read_sums(r, err) && pprof_extension_read_events(r, count, err);
}

/* ---- Quality and facts ---- */

bool pprof_read_quality(struct pprof_reader *r, struct error *err)
{
	struct byte_reader message = r->extension.columns[PPROF_COLUMN(quality)], stops;
	struct proto_walk walk = proto_walk(message, &pprof__quality__descriptor, offsetof(Pprof__Quality, stops));
	struct profile_quality *out = &r->profile->quality;
	Pprof__Quality in = PPROF__QUALITY__INIT;

	if (byte_reader_left(&message) == 0) {
		for (size_t i = 0; i < r->profile->sample_count; i++)
			out->samples += (uint64_t)r->profile->values[i * r->profile->value_type_count];
		return true;
	}
	if (!pprof_read_numbers(message, &in.base, "the quality", err))
		return false;
	*out = (struct profile_quality){ .samples = in.samples,
		.lost = in.lost,
		.throttled = in.throttled,
		.lost_sideband = in.lost_sideband,
		.frame_pointer_frames = in.frame_pointer_frames,
		.frames = in.frames };
	if (proto_next_entry(&walk, &stops))
		for (size_t i = 0; i < PROFILE_STOP_COUNT && stops.pos < stops.end; i++)
			out->stops[i] = protobuf_varint(&stops);
	return true;
}

bool pprof_read_verification(struct pprof_reader *r, struct error *err)
{
	const ProtobufCMessageDescriptor *type = &pprof__verification__descriptor;
	struct byte_reader message = r->extension.columns[PPROF_COLUMN(verification)], column;
	struct proto_walk stacks = proto_walk(message, type, offsetof(Pprof__Verification, stacks));
	struct proto_walk differences = proto_walk(message, type, offsetof(Pprof__Verification, difference));
	struct profile_verification *out = &r->profile->verification;
	Pprof__Verification in = PPROF__VERIFICATION__INIT;

	if (byte_reader_left(&message) == 0)
		return true;
	if (!pprof_read_numbers(message, &in.base, "the verification", err))
		return false;
	*out = (struct profile_verification){
		.is_there = true, .names_equal = in.names_equal, .names_other = in.names_other
	};
	if (proto_next_entry(&stacks, &column))
		for (size_t i = 0; i < PROFILE_COMPARISON_COUNT && column.pos < column.end; i++)
			out->stacks[i] = protobuf_varint(&column);
	if (!proto_next_entry(&differences, &column))
		return true;
	while (column.pos < column.end && out->difference_count < PROFILE_ROOM_FOR_DIFFERENCES)
		if (!pprof_string_id(r, (int64_t)protobuf_varint(&column), &out->differences[out->difference_count++],
			    "a difference", err))
			return false;
	return true;
}

static const struct profile_fact *fact_of_field(uint32_t field)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++)
		if (facts[i].field == field)
			return &facts[i];
	return NULL;
}

bool pprof_read_facts(struct pprof_reader *r, struct error *err)
{
	struct byte_reader message = r->extension.columns[PPROF_COLUMN(facts)];
	struct protobuf_field field;

	while (protobuf_next_field(&message, &field)) {
		const struct profile_fact *fact = fact_of_field(field.id);
		uint32_t value = (uint32_t)field.number;

		if (!fact || field.has_bytes)
			continue;
		if (fact->type == PROFILE_FACT_STRING &&
			!pprof_string_id(r, (int64_t)field.number, &value, fact->name, err))
			return false;
		profile_fact_set(&r->profile->facts, fact, value);
	}
	return byte_reader_ok(&message) || error_set(err, ERROR_FORMAT, "Kelvin's own part is malformed: the facts");
}

bool pprof_read_labels(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *column = &r->extension.columns[PPROF_COLUMN(labels)];

	while (column->pos < column->end) {
		uint64_t key = protobuf_varint(column), value = protobuf_varint(column);
		struct profile_label label;

		if (column->failed)
			return error_set(err, ERROR_FORMAT, "Kelvin's own part is malformed: the labels");
		if (!pprof_string_id(r, (int64_t)key, &label.key, "a label's key", err) ||
			!pprof_string_id(r, (int64_t)value, &label.value, "a label's value", err))
			return false;
		if (!profile_set_label(r->profile, profile_string(r->profile, label.key),
			    profile_string(r->profile, label.value), err))
			return err->code == ERROR_MEMORY ? false : error_set(err, ERROR_FORMAT, "a label is malformed");
	}
	return true;
}
