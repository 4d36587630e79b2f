/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/assemble.h"

#include <errno.h>
#include <inttypes.h>

bool assembly_init(struct assembly *assembly, struct error *err)
{
	struct hash_map *const maps[] = { &assembly->frames, &assembly->stacks, &assembly->threads };

	*assembly = (struct assembly){ 0 };
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		hash_map_init(maps[i], sizeof(uint64_t));
	return profile_create(&assembly->profile, err);
}

void assembly_deinit(struct assembly *assembly)
{
	profile_destroy(assembly->profile);
	hash_map_deinit(&assembly->frames);
	hash_map_deinit(&assembly->stacks);
	hash_map_deinit(&assembly->threads);
	assembly->profile = NULL;
}

static bool assembly_map(struct hash_map *map, uint64_t key, uint32_t id, const char *what, struct error *err)
{
	uint32_t *value;
	bool is_new;

	if (!hash_map_add(map, &key, id, &value, &is_new, err))
		return false;
	return is_new || error_set(err, ERROR_FORMAT, "the server sent a %s twice", what);
}

bool assembly_add_run(struct assembly *assembly, uint64_t key, const struct profile_run *run, struct error *err)
{
	struct profile_thread thread = { .pid = 1, .tid = 1 };
	uint32_t id;

	return profile_add_run(assembly->profile, run, &thread.run, err) &&
	       profile_add_thread(assembly->profile, &thread, &id, err) &&
	       assembly_map(&assembly->threads, key, id, "run", err);
}

bool assembly_add_frame(struct assembly *assembly, uint64_t hash, uint32_t mapping, const struct profile_line *lines,
	size_t count, struct error *err)
{
	uint32_t location;

	return profile_add_location_of_lines(assembly->profile, mapping, lines, count, &location, err) &&
	       assembly_map(&assembly->frames, hash, location, "frame", err);
}

bool assembly_add_stack(
	struct assembly *assembly, uint64_t hash, const uint64_t *frames, size_t count, struct error *err)
{
	uint32_t stack = 0;

	for (size_t i = count; i > 0; i--) {
		uint32_t location = hash_map_get(&assembly->frames, &frames[i - 1]);

		if (location != HASH_MAP_NONE && !profile_add_stack(assembly->profile, stack, location, &stack, err))
			return false;
	}
	return assembly_map(&assembly->stacks, hash, stack, "stack", err);
}

bool assembly_add_sample(
	struct assembly *assembly, uint64_t run, uint64_t stack, const int64_t *values, struct error *err)
{
	uint32_t thread = hash_map_get(&assembly->threads, &run);
	uint32_t id = hash_map_get(&assembly->stacks, &stack);
	const uint32_t count = assembly->profile->value_type_count;

	for (uint32_t i = 0; i < count; i++)
		if (values[i] < 0)
			return error_set(err, ERROR_FORMAT, "the server sent a negative value");
	if (thread == HASH_MAP_NONE || id == HASH_MAP_NONE) {
		assembly->missing++;
		return true;
	}
	return profile_add_sample(assembly->profile, id, thread, values, -1, err);
}

bool assembly_hand_over(struct assembly *assembly, bool in_parts, bool by_instance, struct courier *courier,
	struct store_profiles *profiles, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer file = BUFFER_INIT((size_t)1 << 31);
	CLEANUP(cleanup_close) int fd = -1;
	char name[COURIER_MAX_NAME];

	if (assembly->missing > 0)
		buffer_printf(courier->notices,
			"%" PRIu64 " samples are left out: their stacks are not in the store any more\n",
			assembly->missing);
	snprintf(name, sizeof(name), "%zu %s", assembly->profile->run_count,
		in_parts      ? "parts of the profiles"
		: by_instance ? "instances"
			      : "profiles");
	if (!profile_finish(assembly->profile, err) || !profile_validate(assembly->profile, err) ||
		!profile_write_pprof(assembly->profile, &file, err) || !courier_file(&fd, err))
		return false;
	if (!file_write_all(fd, file.data, file.size))
		return error_set_errno(err, errno, "cannot write to a file in memory");
	return courier_add(profiles, name, &fd, err);
}
