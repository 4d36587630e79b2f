/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/part/part.h"

#include "sampler/process/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

void part_init(struct part *part)
{
	*part = (struct part){ .fd = -1 };
	buffer_init(&part->chunk, PART_MAX_CHUNK_BYTES);
}

static bool write_all(int fd, const void *bytes, size_t size)
{
	const uint8_t *pos = bytes;

	while (size > 0) {
		ssize_t written = write(fd, pos, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		pos += written;
		size -= (size_t)written;
	}
	return true;
}

static int open_locked(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0) {
		error_set_errno(err, errno, "cannot write %s", path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	error_set(err, ERROR_USAGE, "cannot write %s: another recording is being written there; choose another -o", path);
	return -1;
}

/* A recording that was never recovered is not thrown away. */
static bool set_aside(const char *path, struct buffer *notices, struct error *err)
{
	char old[PATH_MAX];

	if ((size_t)snprintf(old, sizeof(old), "%s.old", path) >= sizeof(old) || rename(path, old) != 0)
		return error_set_errno(err, errno, "cannot set the unfinished recording %s aside", path);
	if (notices)
		buffer_printf(notices,
			"a recording that was killed before was kept as %s; 'kelvin recover %s -o FILE' makes a profile of it\n",
			old, old);
	return true;
}

bool part_create(struct part *part, const char *path, struct buffer *notices, struct error *err)
{
	struct stat info;

	part->path = strdup(path);
	if (!part->path)
		return error_set_memory(err);
	part->fd = open_locked(path, err);
	if (part->fd >= 0 && fstat(part->fd, &info) == 0 && info.st_size > (off_t)strlen(PART_MAGIC)) {
		bool is_aside = set_aside(path, notices, err);

		close(part->fd);
		part->fd = is_aside ? open_locked(path, err) : -1;
	}
	if (part->fd < 0)
		return false;
	part->kernel_text = recorded_kernel_text();
	/* The first chunk brings the magic: a disk that is full already is found out while recording, as later. */
	return true;
}

void part_deinit(struct part *part)
{
	if (part->fd >= 0 && part->chunks == 0)
		unlink(part->path);
	if (part->fd >= 0)
		close(part->fd);
	buffer_deinit(&part->chunk);
	free(part->path);
	free(part->met);
	part_init(part);
}

/* ---- What a chunk holds ---- */

static void put(struct buffer *out, uint64_t value)
{
	buffer_append_varint(out, value);
}

static void put_strings(struct buffer *out, const struct profile *profile, size_t from, size_t to)
{
	put(out, to - from);
	for (size_t i = from; i < to; i++) {
		size_t size = string_table_size(profile->strings, (uint32_t)i);

		put(out, size);
		buffer_append(out, profile_string(profile, (uint32_t)i), size);
	}
}

static void put_quality(struct buffer *out, const struct profile_quality *quality)
{
	put(out, quality->samples);
	put(out, quality->lost);
	put(out, quality->throttled);
	put(out, quality->lost_sideband);
	put(out, quality->frame_pointer_frames);
	put(out, quality->frames);
	put(out, PROFILE_STOP_COUNT);
	for (size_t i = 0; i < PROFILE_STOP_COUNT; i++)
		put(out, quality->stops[i]);
}

static void put_description(struct buffer *out, const struct profile *profile, uint64_t kernel_text)
{
	const struct profile_facts *facts = &profile->facts;
	const uint64_t facts_words[] = { facts->tool, facts->command, facts->event, facts->cpu_model, facts->kernel,
		facts->governor, facts->call_graph, facts->cpu_count, facts->frequency_hz, facts->user_only, facts->cgroup,
		facts->container, facts->cpu_limit_milli };

	put(out, profile->value_type_count);
	for (uint32_t i = 0; i < profile->value_type_count; i++) {
		put(out, profile->value_types[i].type);
		put(out, profile->value_types[i].unit);
	}
	put(out, profile->default_value_type);
	put(out, profile->period_type.type);
	put(out, profile->period_type.unit);
	put(out, (uint64_t)profile->period);
	for (size_t i = 0; i < sizeof(facts_words) / sizeof(facts_words[0]); i++)
		put(out, facts_words[i]);
	put(out, profile->run_count ? (uint64_t)profile->runs[0].start_unix_ns : 0);
	put(out, kernel_text);
}

static void put_mappings(struct buffer *out, const struct profile *profile, size_t from)
{
	put(out, profile->mapping_count - from);
	for (size_t i = from; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];

		put(out, mapping->kind);
		put(out, mapping->path);
		put(out, mapping->build_id);
		put(out, mapping->start);
		put(out, mapping->end);
		put(out, mapping->file_offset);
		put(out, mapping->deleted);
	}
}

static void put_stacks(struct buffer *out, const struct profile *profile, const struct part *part)
{
	uint64_t before = part->locations ? profile->locations[part->locations - 1].address : 0;

	put(out, profile->location_count - part->locations);
	for (size_t i = part->locations; i < profile->location_count; i++) {
		put(out, (uint64_t)profile->locations[i].mapping + 1);
		buffer_append_zigzag(out, (int64_t)(profile->locations[i].address - before));
		before = profile->locations[i].address;
	}
	put(out, profile->stack_count - part->stacks);
	for (size_t i = part->stacks; i < profile->stack_count; i++) {
		put(out, profile->stacks[i].parent);
		put(out, profile->stacks[i].location);
	}
}

static void put_threads(struct buffer *out, const struct profile *profile, size_t from)
{
	put(out, profile->thread_count - from);
	for (size_t i = from; i < profile->thread_count; i++) {
		put(out, (uint32_t)profile->threads[i].pid);
		put(out, (uint32_t)profile->threads[i].tid);
		put(out, profile->threads[i].process_name);
		put(out, profile->threads[i].name);
	}
}

/* The sums of every sample that has a new event, each once. */
static bool put_sums(struct part *part, const struct profile *profile, struct error *err)
{
	struct buffer *out = &part->chunk;
	size_t old = part->met_capacity;
	uint32_t number = (uint32_t)part->chunks + 1;

	if (!ARRAY_RESERVE(&part->met, &part->met_capacity, profile->sample_count + 1, ARRAY_MAX_IDS, err))
		return false;
	memset(part->met + old, 0, (part->met_capacity - old) * sizeof(*part->met));
	for (size_t i = part->events; i < profile->event_count; i++) {
		uint32_t sample = profile->events[i].sample;

		if (part->met[sample] == number)
			continue;
		part->met[sample] = number;
		put(out, (uint64_t)sample + 1);
		for (uint32_t v = 0; v < profile->value_type_count; v++)
			put(out, (uint64_t)profile->values[sample * profile->value_type_count + v]);
	}
	put(out, 0);
	return true;
}

static void put_events(struct buffer *out, const struct profile *profile, size_t from)
{
	int64_t before = from ? profile->events[from - 1].time_ns : 0;

	put(out, profile->event_count - from);
	for (size_t i = from; i < profile->event_count; i++) {
		buffer_append_zigzag(out, profile->events[i].time_ns - before);
		put(out, profile->events[i].sample);
		before = profile->events[i].time_ns;
	}
}

/* The chunk but for its header, for which there is room. */
static bool encode(struct part *part, const struct profile *profile, int64_t duration_ns, struct error *err)
{
	static const uint8_t room[PART_CHUNK_HEADER_BYTES];
	struct buffer *out = &part->chunk;

	out->size = 0;
	buffer_append(out, room, sizeof(room));
	put(out, PART_VERSION);
	put(out, part->chunks);
	put(out, (uint64_t)duration_ns);
	put_quality(out, &profile->quality);
	put_strings(out, profile, part->strings, string_table_count(profile->strings));
	put_description(out, profile, part->kernel_text);
	put_mappings(out, profile, part->mappings);
	put_stacks(out, profile, part);
	put_threads(out, profile, part->threads);
	put(out, profile->sample_count - part->samples);
	for (size_t i = part->samples; i < profile->sample_count; i++) {
		put(out, profile->samples[i].stack);
		put(out, profile->samples[i].thread);
	}
	if (!put_sums(part, profile, err))
		return false;
	put_events(out, profile, part->events);
	return buffer_ok(out, err);
}

static void note_written(struct part *part, const struct profile *profile)
{
	part->chunks++;
	part->strings = string_table_count(profile->strings);
	part->mappings = profile->mapping_count;
	part->locations = profile->location_count;
	part->stacks = profile->stack_count;
	part->threads = profile->thread_count;
	part->samples = profile->sample_count;
	part->events = profile->event_count;
}

static void fill_header(struct buffer *chunk)
{
	uint8_t *header = (uint8_t *)chunk->data;
	const uint8_t *payload = header + PART_CHUNK_HEADER_BYTES;
	uint32_t size = (uint32_t)(chunk->size - PART_CHUNK_HEADER_BYTES);
	uint64_t hash = hash_bytes(payload, size);

	memcpy(header, PART_CHUNK_MAGIC, 4);
	memcpy(header + 4, &size, sizeof(size));
	memcpy(header + 8, &hash, sizeof(hash));
}

bool part_write(struct part *part, const struct profile *profile, int64_t duration_ns, struct error *err)
{
	struct buffer *chunk = &part->chunk;
	size_t magic = part->written_bytes ? 0 : strlen(PART_MAGIC);

	if (part->is_full)
		return true;
	if (!encode(part, profile, duration_ns, err))
		return false;
	fill_header(chunk);
	if (!write_all(part->fd, PART_MAGIC, magic) || !write_all(part->fd, chunk->data, chunk->size)) {
		int reason = errno;

		part->is_full = true;
		if (ftruncate(part->fd, (off_t)part->written_bytes) != 0)
			part->is_full = true;
		return error_set_errno(err, reason, "cannot write %s", part->path);
	}
	part->written_bytes += magic + chunk->size;
	note_written(part, profile);
	return true;
}
