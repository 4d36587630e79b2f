/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles of one service over days, for the benchmark of histories:
 *
 *   bench_history_profiles DIRECTORY PROFILES [FUNCTIONS]
 *
 * Each is 30 s of samples in 3,000 functions, a file every hour. From the middle on one function has more, as a new
 * version's, whose build id and code are others.
 */
#include "made.h"

#include <stdlib.h>

enum {
	SAMPLES = 30000,
	THREADS = 8,
	MAPPINGS = 20,
	LEAST_DEPTH = 6,
	MOST_DEPTH = 30,
	SAMPLE_NS = 1003009,
	PATHS = 9000
};

static const int64_t first_unix_ns = 1760000000000000000, hour_ns = 3600000000000;

static void add_places(struct profile *profile, unsigned int functions, bool is_new)
{
	struct error err;
	uint32_t id;

	for (uint32_t i = 0; i < MAPPINGS; i++) {
		struct profile_mapping mapping = {
			.path = intern(profile, "/usr/lib/x86_64-linux-gnu/library_%u", i),
			.build_id = intern(
				profile, "00112233445566778899aabbccddeeff0011223_%u", i * 2 + (i == 0 && is_new)),
			.end = 1 << 20,
		};

		must(profile_add_mapping(profile, &mapping, &id, &err), &err);
	}
	for (uint32_t i = 0; i < functions; i++) {
		struct profile_function function = {
			.name = intern(profile, "company::project::module::Class<int, std::string>::method_%u", i),
			.file = intern(profile, "/home/build/project/src/module/class_%u", i / 20),
			.start_line = i,
			.module = profile->mappings[i % MAPPINGS].module,
			.fingerprint = mix(i + (i == MAPPINGS && is_new)),
			.origin = i % MAPPINGS ? PROFILE_ORIGIN_LIBRARY : PROFILE_ORIGIN_USER,
		};
		struct profile_line line = { i, i };

		must(profile_add_function(profile, &function, &id, &err), &err);
		must(profile_add_location(profile, i % MAPPINGS, 0x1000 + 16 * (uint64_t)i, &id, &err) &&
				profile_set_lines(profile, id, &line, 1, &err),
			&err);
	}
}

/* From each frame a few callees, the first of them most often: stacks share their roots and differ towards the leaves.
 */
static uint32_t add_stack(struct profile *profile, unsigned int functions, uint64_t seed, uint32_t last)
{
	size_t depth = LEAST_DEPTH + mix(seed) % (MOST_DEPTH - LEAST_DEPTH);
	uint64_t path = 1;
	struct error err;
	uint32_t stack = 0;

	for (size_t i = 0; i < depth; i++) {
		uint64_t draw = mix(seed ^ i << 40) % 32;

		path = mix(path * 4 + (draw < 24 ? 0 : draw - 23));
		must(profile_add_stack(profile, stack, (uint32_t)(path % functions), &stack, &err), &err);
	}
	if (last != PROFILE_NONE)
		must(profile_add_stack(profile, stack, last, &stack, &err), &err);
	return stack;
}

static struct profile *make(unsigned int functions, unsigned int number, bool is_new)
{
	struct profile_run run = { .exit_status = -1,
		.start_unix_ns = first_unix_ns + number * hour_ns,
		.duration_ns = (int64_t)SAMPLES * SAMPLE_NS };
	struct profile *profile;
	struct error err;
	uint32_t id;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	must(profile_set_label(profile, "service", "checkout", &err) &&
			profile_set_label(profile, "version", is_new ? "42" : "41", &err),
		&err);
	profile->facts.tool = intern(profile, "kelvin 0_%u", 2);
	profile->facts.frequency_hz = 997;
	add_places(profile, functions, is_new);
	must(profile_add_run(profile, &run, &id, &err), &err);
	for (int32_t i = 0; i < THREADS; i++) {
		struct profile_thread thread = {
			.pid = 100, .tid = 100 + i, .name = intern(profile, "worker_%u", (uint32_t)i)
		};

		must(profile_add_thread(profile, &thread, &id, &err), &err);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		int64_t values[] = { 1, SAMPLE_NS };
		uint64_t draw = mix((uint64_t)number << 32 | i);
		uint32_t last = is_new && draw % 50 == 0 ? MAPPINGS : PROFILE_NONE;

		must(profile_add_sample(profile, add_stack(profile, functions, mix(draw % PATHS), last), i % THREADS,
			     values, (int64_t)i * SAMPLE_NS, &err),
			&err);
	}
	must(profile_finish(profile, &err), &err);
	return profile;
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 2 ? (unsigned int)atoi(argv[2]) : 0,
		     functions = argc > 3 ? (unsigned int)atoi(argv[3]) : 3000;

	if (argc < 3 || functions <= MAPPINGS) {
		fprintf(stderr, "usage: %s DIRECTORY PROFILES [FUNCTIONS]\n", argv[0]);
		return 1;
	}
	for (unsigned int i = 0; i < count; i++) {
		struct profile *profile = make(functions, i, i >= count / 2);
		char path[4096];

		snprintf(path, sizeof(path), "%s/p%05u.pb.gz", argv[1], i);
		(void)write_profile(profile, path);
		profile_destroy(profile);
	}
	return 0;
}
