/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_fleet DIRECTORY INSTANCES: profiles of a service on so many instances before and after a release, for the
 * benchmark of comparisons of fleets: base-N.pb.gz and head-N.pb.gz. Each has 3,000 functions in about 3,000 stacks and
 * 6,000 samples over a minute. In head 1.6 % of the time has moved to eight stacks and one instance takes twice the
 * time of the others; an eighth of the machines have another CPU. The first lines printed are the files of both sides,
 * joined by commas.
 */
#include "made.h"

#include <stdlib.h>

enum { SAMPLES = 6000, STACKS = 5000, FUNCTIONS = 3000, LOCATIONS = 9000, MODULES = 30, MOST_DEPTH = 40 };
enum { SAMPLE_NS = 10000000, THREADS = 16 };

static const int64_t duration_ns = 60000000000;

/* Most of the time is spent in a few stacks, as in a real program. */
static void add_samples(struct profile *profile, uint64_t side, uint64_t instance)
{
	struct profile_run run = { .start_unix_ns =
					   1700000000000000000 + (int64_t)(side * 3600 + instance) * 1000000007,
		.duration_ns = duration_ns,
		.exit_status = -1 };
	uint64_t seed = mix(side << 32 | instance), times = side && instance == 7 ? 2 : 1;
	uint32_t threads[THREADS], run_id;
	const int64_t values[2] = { 1, SAMPLE_NS };
	struct error err;

	must(profile_add_run(profile, &run, &run_id, &err), &err);
	for (int32_t i = 0; i < THREADS; i++) {
		struct profile_thread thread = { .run = run_id,
			.pid = 100 + (int32_t)instance,
			.tid = 100 + (int32_t)instance + i,
			.process_name = intern(profile, "server", 0),
			.name = intern(profile, "worker-%u", (uint32_t)i) };

		must(profile_add_thread(profile, &thread, &threads[i], &err), &err);
	}
	for (uint64_t i = 0; i < SAMPLES * times; i++) {
		uint64_t random = mix(seed + i), span = random % 4 ? STACKS / 16 : STACKS;
		uint32_t stack = (uint32_t)(1 + (random >> 8) % span);

		if (side && random >> 58 == 0)
			stack = 1 + (uint32_t)(random >> 20) % 8;
		must(profile_add_sample(profile, stack, threads[random >> 40 & (THREADS - 1)], values,
			     (int64_t)(duration_ns / SAMPLES / (int64_t)times * (int64_t)i), &err),
			&err);
	}
}

static void make(const char *directory, uint64_t side, uint64_t instance)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	const struct service_shape shape = { FUNCTIONS, LOCATIONS, MODULES, side, .changed_one_in = 0 };
	struct error err;
	char path[4096];

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	profile->period_type = profile->value_types[1];
	profile->period = SAMPLE_NS;
	profile->has_timeline = true;
	add_service_code(profile, &shape);
	add_grown_stacks(profile, STACKS, MOST_DEPTH, LOCATIONS, 0);
	add_samples(profile, side, instance);
	profile->facts.tool = intern(profile, "kelvin 0.%u.0", 1);
	profile->facts.frequency_hz = 100;
	profile->facts.cpu_model =
		intern(profile, instance % 8 == 3 ? "AMD EPYC 7763" : "Intel(R) Xeon(R) Platinum 8370C", 0);
	snprintf(path, sizeof(path), "api-%u", (unsigned int)instance);
	must(profile_set_label(profile, "pod", path, &err) && profile_set_label(profile, "service", "api", &err) &&
			profile_set_label(profile, "version", side ? "42" : "41", &err),
		&err);
	profile->quality = (struct profile_quality){ .samples = SAMPLES, .stops[PROFILE_STOP_ROOT] = SAMPLES };
	must(profile_finish(profile, &err), &err);
	snprintf(path, sizeof(path), "%s/%s-%u.pb.gz", directory, side ? "head" : "base", (unsigned int)instance);
	(void)write_profile(profile, path);
	printf("%s%s", instance ? "," : "", path);
}

int main(int argc, char **argv)
{
	unsigned long instances = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (instances == 0) {
		fprintf(stderr, "usage: %s DIRECTORY INSTANCES\n", argv[0]);
		return 2;
	}
	for (uint64_t side = 0; side < 2; side++) {
		for (uint64_t i = 0; i < instances; i++)
			make(argv[1], side, i);
		printf("\n");
	}
	return 0;
}
