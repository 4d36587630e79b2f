/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_fleet DIRECTORY INSTANCES: profiles of a service on so many instances before and after a release, for the
 * benchmark of comparisons of fleets: base-N.pb.gz and head-N.pb.gz. Each has 3,000 functions in about 3,000 stacks and
 * 6,000 samples over a minute. In head 1.6 % of the time has moved to eight stacks and one instance takes twice the
 * time of the others; an eighth of the machines have another CPU. The first lines printed are the files of both sides,
 * joined by commas.
 */
#include "profile/profile.h"

#include <stdlib.h>

enum { SAMPLES = 6000, STACKS = 5000, FUNCTIONS = 3000, LOCATIONS = 9000, MODULES = 30, MOST_DEPTH = 40 };
enum { SAMPLE_NS = 10000000, THREADS = 16 };

static const size_t max_file_bytes = (size_t)1 << 30;
static const int64_t duration_ns = 60000000000;

static void must(bool ok, const struct error *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->message);
	exit(1);
}

/* splitmix64: the same profiles every time. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint32_t intern(struct profile *profile, const char *format, uint32_t number)
{
	struct error err;
	char text[160];
	uint32_t id;

	snprintf(text, sizeof(text), format, number);
	must(profile_intern(profile, text, &id, &err), &err);
	return id;
}

static void add_code(struct profile *profile, uint64_t side)
{
	struct error err;
	uint32_t id;

	for (uint32_t i = 0; i < MODULES; i++) {
		struct profile_mapping mapping = { .start = 0x1000,
			.end = 0x10000000,
			.path = intern(profile, "/usr/lib/libmodule_%u.so", i),
			.build_id = intern(profile, side ? "head%08x" : "base%08x", i) };

		must(profile_add_mapping(profile, &mapping, &id, &err), &err);
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct profile_function function = { .name = intern(profile,
							     "component::Handler<int, %u>::process(request const&)", i),
			.file = intern(profile, "/src/component_%u.cc", i / 20),
			.start_line = 10 + i % 500,
			.module = profile->mappings[i % MODULES].module,
			.fingerprint = mix(i),
			.origin = i % MODULES < 5 ? PROFILE_ORIGIN_USER : PROFILE_ORIGIN_LIBRARY,
			.name_source = PROFILE_NAME_DWARF };

		must(profile_add_function(profile, &function, &id, &err), &err);
	}
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		struct profile_line line = { .function = i % FUNCTIONS, .line = 20 + i / FUNCTIONS };

		must(profile_add_location(profile, i % FUNCTIONS % MODULES, 0x1000 + (uint64_t)i * 64, &id, &err),
			&err);
		must(profile_set_lines(profile, id, &line, 1, &err), &err);
	}
}

/* Every stack grows from one that was there; all instances have the same ones. */
static void add_stacks(struct profile *profile)
{
	uint8_t *depths = calloc(STACKS + 2, 1);
	struct error err;
	uint32_t id;

	if (!depths)
		exit(1);
	for (uint64_t i = 1; profile->stack_count <= STACKS; i++) {
		uint64_t random = mix(i * 3), recent = profile->stack_count < 300 ? profile->stack_count : 300;
		uint32_t parent = (uint32_t)(random & 3 ? profile->stack_count - 1 - (random >> 8) % recent
							: (random >> 8) % profile->stack_count);

		if (depths[parent] >= MOST_DEPTH)
			parent = 0;
		must(profile_add_stack(profile, parent, (uint32_t)(mix(random) % LOCATIONS), &id, &err), &err);
		depths[id] = (uint8_t)(depths[parent] + 1);
	}
	free(depths);
}

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
	struct buffer out;
	struct error err;
	char path[4096];

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	profile->period_type = profile->value_types[1];
	profile->period = SAMPLE_NS;
	profile->has_timeline = true;
	add_code(profile, side);
	add_stacks(profile);
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
	buffer_init(&out, max_file_bytes);
	snprintf(path, sizeof(path), "%s/%s-%u.pb.gz", directory, side ? "head" : "base", (unsigned int)instance);
	must(profile_write_pprof(profile, &out, &err) && buffer_ok(&out, &err) &&
			file_write(path, out.data, out.size, 0644, &err),
		&err);
	printf("%s%s", instance ? "," : "", path);
	buffer_deinit(&out);
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
