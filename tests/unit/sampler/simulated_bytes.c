/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulated_bytes.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 24 };

void simulated_bytes_init(struct simulated_bytes *bytes)
{
	strcpy(bytes->directory, "/tmp/test_simulated.XXXXXX");
	if (!mkdtemp(bytes->directory))
		abort();
	buffer_init(&bytes->file, MAX_BYTES);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
	return remove(path);
}

void simulated_bytes_deinit(struct simulated_bytes *bytes)
{
	nftw(bytes->directory, remove_entry, 4, FTW_DEPTH | FTW_PHYS);
	buffer_deinit(&bytes->file);
}

void simulated_add(struct simulated_bytes *bytes, uint32_t kind, uint32_t entries, const void *payload, size_t size)
{
	static const uint8_t zeros[8];
	size_t padding = (8 - size % 8) % 8;
	const struct simulate_record record = { kind, entries, size + padding };

	buffer_append(&bytes->file, &record, sizeof(record));
	buffer_append(&bytes->file, payload, size);
	buffer_append(&bytes->file, zeros, padding);
}

static void add_counts(struct simulated_bytes *bytes)
{
	const struct {
		struct simulate_count count;
		uint64_t times[2];
	} counts[] = { { { 0, 0 }, { 5, 10 } }, { { 1, 0 }, { 0, 100 } } };
	const struct simulate_cost cost = { .address = 0x1008,
		.node = 1,
		.first_misses = 7,
		.last_misses = 2,
		.branch_misses = 3,
		.system_calls = 4,
		.system_ns = 5000 };

	simulated_add(bytes, SIMULATE_COUNTS, 2, counts, sizeof(counts));
	simulated_add(bytes, SIMULATE_COSTS, 1, &cost, sizeof(cost));
}

void simulated_add_example(struct simulated_bytes *bytes, int32_t pid)
{
	const struct simulate_process process = { "KELVINSM", SIMULATE_VERSION, pid, 1, 0, { 0 }, { 0 }, { 0 },
		"program" };
	const struct simulate_mapping mapping = { .start = 0x1000, .end = 0x2000 };
	const struct {
		struct simulate_block block;
		uint8_t lengths[4], costs[4];
		uint16_t left_after[4];
	} block = { { 0x1000, 0, 4, 1 }, { 4, 4, 4, 4 }, { 2, 2, 4, 8 }, { 2 } };
	const struct simulate_node nodes[] = {
		{ SIMULATE_NONE, SIMULATE_NONE, 0, SIMULATE_NODE_THREAD, 0 },
		{ 0, 0, 0x1004, SIMULATE_NODE_CALL, 0 },
	};
	const struct simulate_thread thread = { 0, pid + 1, "worker" };
	const struct simulate_dump dump = { SIMULATE_TRIGGER_END, 0 };
	const struct {
		struct simulate_dump dump;
		char name[8];
	} named = { { SIMULATE_TRIGGER_REQUEST, 5 }, "bench" };
	const struct simulate_end end = { 0 };

	simulated_add(bytes, SIMULATE_PROCESS, 1, &process, sizeof(process));
	simulated_add(bytes, SIMULATE_MAPPING, 1, &mapping, sizeof(mapping));
	simulated_add(bytes, SIMULATE_BLOCKS, 1, &block, sizeof(block));
	simulated_add(bytes, SIMULATE_NODES, 2, nodes, sizeof(nodes));
	simulated_add(bytes, SIMULATE_THREAD, 1, &thread, sizeof(thread));
	simulated_add(bytes, SIMULATE_DUMP, 1, &named, sizeof(named));
	add_counts(bytes);
	simulated_add(bytes, SIMULATE_DUMP, 1, &dump, sizeof(dump));
	add_counts(bytes);
	simulated_add(bytes, SIMULATE_END, 1, &end, sizeof(end));
}

void simulated_write(const struct simulated_bytes *bytes, const char *name, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", bytes->directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || !file_write_all(fd, bytes->file.data, size))
		abort();
	close(fd);
}

static bool name_location(struct profile *profile, uint32_t id, struct error *err)
{
	uint64_t address = profile->locations[id].address;
	struct profile_function function = { .name_source = PROFILE_NAME_SYMTAB };
	struct profile_line line = { .line = (uint32_t)(address / 4) };
	char name[32];

	snprintf(name, sizeof(name), "f_%" PRIx64, address / 8 * 8);
	return profile_intern(profile, name, &function.name, err) &&
	       profile_add_function(profile, &function, &line.function, err) &&
	       profile_set_lines(profile, id, &line, 1, err);
}

bool simulated_read(
	const struct simulated_bytes *bytes, struct recording *result, struct buffer *notices, struct error *err)
{
	const struct sampler_label label = { "version", "7" };
	const struct sampler_simulated simulated = { .directory = bytes->directory,
		.command = "./program",
		.tool = "kelvin test",
		.labels = &label,
		.label_count = 1,
		.run = { .start_unix_ns = 1000000000, .wall_ns = 5, .exit_status = 9 } };
	struct sampler_simulation *simulation = NULL;
	bool ok;

	*result = (struct recording){ .child_status = -1 };
	if (!sampler_simulation_read(&simulated, &simulation, result, notices, err))
		return false;
	ok = true;
	for (uint32_t i = 0; ok && i < result->profile->location_count; i++)
		ok = name_location(result->profile, i, err);
	ok = ok && sampler_simulation_count(simulation, result, notices, err);
	sampler_simulation_destroy(simulation);
	return ok;
}
