/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/increments.h"

#include "profile/pprof_writer.h"

#include <stdlib.h>
#include <string.h>

/* The wire type of a fixed 64-bit number, as the hash is. */
enum { WIRE_FIXED64 = 1 };

/* The start of a file in the format that versions before protobuf increments wrote. */
static const char former_magic[] = "KELVINPART\n";

void profile_written_deinit(struct profile_written *written)
{
	free(written->met);
	*written = (struct profile_written){ 0 };
}

static uint32_t hash_number(void)
{
	return proto_number_of(&pprof__profile__descriptor, offsetof(Pprof__Profile, message_hash));
}

/* ---- Writing ---- */

static bool reserve_met(struct profile_written *written, size_t sample_count, struct error *err)
{
	size_t old = written->met_capacity;

	if (!ARRAY_RESERVE(&written->met, &written->met_capacity, sample_count + 1, ARRAY_MAX_IDS, err))
		return false;
	memset(written->met + old, 0, (written->met_capacity - old) * sizeof(*written->met));
	return true;
}

static void note_written(struct profile_written *written, const struct profile *profile)
{
	written->messages++;
	written->strings = string_table_count(profile->strings);
	written->mappings = profile->mapping_count;
	written->functions = profile->function_count;
	written->lines = profile->line_count;
	written->locations = profile->location_count;
	written->stacks = profile->stack_count;
	written->threads = profile->thread_count;
	written->samples = profile->sample_count;
	written->events = profile->event_count;
	written->locks = profile->lock_count;
	written->releases = profile->release_count;
	written->exchanges = profile->requests.exchange_count;
	written->readings = profile->requests.reading_count;
	written->latencies = profile->requests.latency_count;
	written->weighted = profile->weighted_count;
}

bool profile_write_increment(const struct profile *profile, const struct profile_recording *recording,
	struct profile_written *written, struct buffer *out, struct error *err)
{
	struct pprof_writer w = { .profile = profile, .from = written, .recording = recording };
	size_t start = out->size;
	uint64_t hash;

	if (written->messages == 0)
		buffer_append_string(out, PROFILE_INCREMENTS_MAGIC);
	if (!reserve_met(written, profile->sample_count, err) || !pprof_write_message(&w, out, err))
		return false;
	hash = hash_bytes(out->data + start, out->size - start);
	buffer_append_varint(out, hash_number() << 3 | WIRE_FIXED64);
	buffer_append(out, &hash, sizeof(hash));
	if (!buffer_ok(out, err))
		return false;
	note_written(written, profile);
	return true;
}

/* ---- Reading ---- */

/* Returns the number of bytes, from the start on, that hold whole increments, which are those whose hashes match. */
static size_t find_whole(const void *bytes, size_t size)
{
	struct byte_reader walk = byte_reader_over(bytes, size);
	size_t whole = 0, before = 0;
	uint32_t number = hash_number();
	struct protobuf_field field;

	for (; protobuf_next_field(&walk, &field); before = byte_reader_offset(&walk)) {
		if (field.id != number)
			continue;
		if (hash_bytes(walk.start + whole, before - whole) != field.number)
			break;
		whole = byte_reader_offset(&walk);
	}
	return whole;
}

static bool increments_begins_with(const void *bytes, size_t size, const char *magic)
{
	return size >= strlen(magic) && memcmp(bytes, magic, strlen(magic)) == 0;
}

bool profile_read_increments(const void *bytes, size_t size, struct profile_recording *recording, size_t *whole_bytes,
	struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *read = NULL;
	uint64_t kernel_text = 0;
	size_t whole;

	if (increments_begins_with(bytes, size, former_magic))
		return error_set(err, ERROR_UNSUPPORTED,
			"an older kelvin wrote this unfinished recording; recover it with the kelvin that recorded it");
	if (!increments_begins_with(bytes, size, PROFILE_INCREMENTS_MAGIC))
		return error_set(err, ERROR_FORMAT, "it does not begin as an unfinished recording");
	whole = find_whole(bytes, size);
	if (whole > 0 && !pprof_read_growing(bytes, whole, &kernel_text, &read, err))
		return false;
	if (whole == 0 || read->event_count == 0)
		return error_set(err, ERROR_EMPTY, "it holds no samples");
	*recording = (struct profile_recording){ .duration_ns = read->runs[0].duration_ns, .kernel_text = kernel_text };
	*whole_bytes = whole;
	*profile = TAKE(read);
	return true;
}
