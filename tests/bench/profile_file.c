/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A large profile for the benchmark of files, and what is measured on it:
 *
 *   bench_profile_file make FILE.pb.gz      writes a profile of a million samples and prints what is in it
 *   bench_profile_file read FILE.pb.gz      reads it
 *   bench_profile_file rewrite FILE.pb.gz   reads it and writes it to memory
 */
#include "made.h"
#include "profile/foreign/foreign.h"

#include <stdlib.h>
#include <string.h>

enum {
	SAMPLES = 1000000,
	THREADS = 8,
	MAPPINGS = 40,
	FUNCTIONS = 6000,
	LOCATIONS = 20000,
	LEAST_DEPTH = 8,
	MOST_DEPTH = 48,
	SAMPLE_NS = 1003009,
};

static const size_t max_file_bytes = (size_t)1 << 30;

static void add_places(struct profile *profile)
{
	struct error err;
	uint32_t id;

	for (uint32_t i = 0; i < MAPPINGS; i++) {
		struct profile_mapping mapping = {
			.path = intern(profile, "/usr/lib/x86_64-linux-gnu/library_%u", i),
			.build_id = intern(profile, "00112233445566778899aabbccddeeff00112233_%u", i),
			.end = 1 << 20,
		};

		must(profile_add_mapping(profile, &mapping, &id, &err), &err);
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct profile_function function = {
			.name = intern(profile, "company::project::module::Class<int, std::string>::method_%u", i),
			.linkage_name = intern(profile, "_ZN7company7project6module5ClassIiSsE6methodEv_%u", i),
			.file = intern(profile, "/home/build/project/src/module/class_%u", i / 20),
			.start_line = i,
			.module = profile->mappings[i % MAPPINGS].module,
			.fingerprint = mix(i),
		};

		must(profile_add_function(profile, &function, &id, &err), &err);
	}
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		struct profile_line lines[2] = { { (uint32_t)(mix(i) % FUNCTIONS), i },
			{ (uint32_t)(mix(~i) % FUNCTIONS), 7 } };

		must(profile_add_location(profile, i % MAPPINGS, 0x1000 + 16 * (uint64_t)i, &id, &err) &&
				profile_set_lines(profile, id, lines, 1 + i % 2, &err),
			&err);
	}
}

/* From each frame a few callees, the first of them most often: stacks share their roots and differ towards the leaves.
 */
static uint32_t add_stack(struct profile *profile, uint64_t seed)
{
	size_t depth = LEAST_DEPTH + mix(seed & 0xffff) % (MOST_DEPTH - LEAST_DEPTH);
	uint64_t path = 1;
	struct error err;
	uint32_t stack = 0;

	for (size_t i = 0; i < depth; i++) {
		uint64_t draw = mix(seed ^ i << 40) % 32;

		path = mix(path * 4 + (draw < 29 ? 0 : draw - 28));
		must(profile_add_stack(profile, stack, (uint32_t)(path % LOCATIONS), &stack, &err), &err);
	}
	return stack;
}

static struct profile *make(void)
{
	struct profile_run run = { .exit_status = -1, .duration_ns = (int64_t)SAMPLES * SAMPLE_NS / THREADS };
	struct profile *profile;
	struct error err;
	uint32_t id;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	add_places(profile);
	must(profile_add_run(profile, &run, &id, &err), &err);
	for (int32_t i = 0; i < THREADS; i++) {
		struct profile_thread thread = {
			.pid = 100, .tid = 100 + i, .name = intern(profile, "worker_%u", (uint32_t)i)
		};

		must(profile_add_thread(profile, &thread, &id, &err), &err);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		int64_t values[] = { 1, SAMPLE_NS };

		must(profile_add_sample(profile, add_stack(profile, mix(mix(i) & 0x1ffff)), i % THREADS, values,
			     (int64_t)i * SAMPLE_NS / THREADS + (int64_t)(mix(i) % 1000), &err),
			&err);
	}
	must(profile_finish(profile, &err), &err);
	return profile;
}

static void make_file(const char *path)
{
	struct profile *profile = make();
	size_t size = write_profile(profile, path);

	printf("%zu samples, %zu distinct, %zu stacks, %zu bytes\n", profile->event_count, profile->sample_count,
		profile->stack_count, size);
	profile_destroy(profile);
}

static void measure(const char *path, bool write)
{
	struct profile *profile = NULL;
	struct buffer file, out;
	struct error err;

	buffer_init(&file, max_file_bytes);
	buffer_init(&out, max_file_bytes);
	must(file_read(path, &file, &err) && foreign_read(file.data, file.size, path, &profile, &err), &err);
	if (write)
		must(profile_write_pprof(profile, &out, &err), &err);
	profile_destroy(profile);
	buffer_deinit(&out);
	buffer_deinit(&file);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "make") == 0)
		make_file(argv[2]);
	else if (argc == 3 && strcmp(argv[1], "read") == 0)
		measure(argv[2], false);
	else if (argc == 3 && strcmp(argv[1], "rewrite") == 0)
		measure(argv[2], true);
	else
		fprintf(stderr, "usage: %s make|read|rewrite FILE\n", argv[0]);
	return argc != 3;
}
