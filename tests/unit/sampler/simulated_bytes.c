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

void simulated_add_numbers(
	struct simulated_bytes *bytes, uint32_t kind, uint32_t entries, const uint64_t *numbers, size_t count)
{
	CLEANUP(buffer_deinit) struct buffer payload = { 0 };

	buffer_init(&payload, MAX_BYTES);
	for (size_t i = 0; i < count; i++)
		buffer_append_varint(&payload, numbers[i]);
	simulated_add(bytes, kind, entries, payload.data, payload.size);
}

uint64_t simulated_step(int64_t step)
{
	return ((uint64_t)step << 1) ^ (step < 0 ? UINT64_MAX : 0);
}

static void add_counts(struct simulated_bytes *bytes)
{
	const uint64_t counts[] = {
		/* of block 0 in node 0 */
		SIMULATE_COUNT_ALL,
		5,
		10,
		/* of block 0 in node 1, with all values at the third instruction */
		SIMULATE_COUNT_NODE | SIMULATE_COUNT_COSTS | SIMULATE_COUNT_END,
		simulated_step(1),
		100,
		2 * SIMULATE_COST_STEP + 31 * SIMULATE_COST_SET,
		7,
		2,
		3,
		4,
		5000,
	};

	simulated_add_numbers(bytes, SIMULATE_COUNTS, 2, counts, sizeof(counts) / sizeof(counts[0]));
}

static void add_tree(struct simulated_bytes *bytes)
{
	const uint64_t block[] = { simulated_step(0x1000), 1, 4, 1, 4 * 2, 4 * 2, 4 * 2 + 1, 4, 4 * 2 + 1, 8, 2 };
	const uint64_t nodes[] = { 0, SIMULATE_NODE_THREAD, 0, 1, 1 * 4 + SIMULATE_NODE_CALL, simulated_step(0x1004) };

	simulated_add_numbers(bytes, SIMULATE_BLOCKS, 1, block, sizeof(block) / sizeof(block[0]));
	simulated_add_numbers(bytes, SIMULATE_NODES, 2, nodes, sizeof(nodes) / sizeof(nodes[0]));
}

void simulated_add_example(struct simulated_bytes *bytes, int32_t pid)
{
	const struct simulate_process process = { "KELVINSM", SIMULATE_VERSION, pid, 1, 0, { 0 }, { 0 }, { 0 },
		"program" };
	const struct simulate_mapping mapping = { .start = 0x1000, .end = 0x2000 };
	const struct simulate_thread thread = { 0, pid + 1, "worker" };
	const struct simulate_dump dump = { SIMULATE_TRIGGER_END, 0 };
	const struct {
		struct simulate_dump dump;
		char name[8];
	} named = { { SIMULATE_TRIGGER_REQUEST, 5 }, "bench" };
	const struct simulate_end end = { 0 };

	simulated_add(bytes, SIMULATE_PROCESS, 1, &process, sizeof(process));
	simulated_add(bytes, SIMULATE_MAPPING, 1, &mapping, sizeof(mapping));
	add_tree(bytes);
	simulated_add(bytes, SIMULATE_THREAD, 1, &thread, sizeof(thread));
	add_counts(bytes);
	simulated_add(bytes, SIMULATE_DUMP, 1, &named, sizeof(named));
	add_counts(bytes);
	simulated_add(bytes, SIMULATE_DUMP, 1, &dump, sizeof(dump));
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
