/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_diff_pair BASE.pb.gz HEAD.pb.gz: two large profiles of one program for the benchmark of the diff, a million
 * samples in 200,000 stacks each, over a minute, one function in fifty dearer in head. Prints what is in them.
 */
#include "made.h"

#include <stdlib.h>

enum {
	SAMPLES = 1000000,
	STACKS = 200000,
	FUNCTIONS = 6000,
	LOCATIONS = 20000,
	MODULES = 30,
	MOST_DEPTH = 64,
	CHANGED_ONE_IN = 50,
	SAMPLE_NS = 1000000
};

static const int64_t duration_ns = 60000000000;

static void add_samples(struct profile *profile, uint64_t side)
{
	struct profile_run run = { .duration_ns = duration_ns, .exit_status = -1 };
	struct profile_thread thread = { .pid = 100,
		.tid = 100,
		.process_name = intern(profile, "server", 0),
		.name = intern(profile, "worker", 0) };
	const int64_t values[2] = { 1, SAMPLE_NS };
	struct error err;
	uint32_t id;

	must(profile_add_run(profile, &run, &thread.run, &err) && profile_add_thread(profile, &thread, &id, &err),
		&err);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		uint64_t random = mix(i + side * SAMPLES * 7), span = random % 8 == 0 ? STACKS : STACKS / 16;
		/* Each stack at least once; of the rest most fall on a few, as in a real program. */
		uint32_t stack = i < STACKS ? (uint32_t)i + 1 : (uint32_t)(1 + (random >> 8) % span);

		if (side && i >= STACKS && profile->locations &&
			profile->stacks[stack].location % FUNCTIONS % CHANGED_ONE_IN != 7 && random >> 60 == 0)
			stack = 1 + (uint32_t)((random >> 20) % 40) * 5;
		must(profile_add_sample(
			     profile, stack, id, values, (int64_t)(duration_ns / SAMPLES * (int64_t)i), &err),
			&err);
	}
}

static void make(const char *path, uint64_t side)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	const struct service_shape shape = { FUNCTIONS, LOCATIONS, MODULES, side, .changed_one_in = CHANGED_ONE_IN };
	struct error err;
	size_t size;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	profile->period_type = profile->value_types[1];
	profile->period = SAMPLE_NS;
	profile->has_timeline = true;
	add_service_code(profile, &shape);
	add_grown_stacks(profile, STACKS, MOST_DEPTH, LOCATIONS, side);
	add_samples(profile, side);
	profile->facts.tool = intern(profile, "kelvin 0.%u.0", 1);
	profile->quality = (struct profile_quality){ .samples = SAMPLES, .stops[PROFILE_STOP_ROOT] = SAMPLES };
	must(profile_finish(profile, &err), &err);
	size = write_profile(profile, path);
	printf("%s: %zu samples in %zu stacks, %zu functions, %.1f MB\n", side ? "head" : "base", (size_t)SAMPLES,
		profile->sample_count, profile->function_count, (double)size / 1e6);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s BASE.pb.gz HEAD.pb.gz\n", argv[0]);
		return 2;
	}
	make(argv[1], 0);
	make(argv[2], 1);
	return 0;
}
