/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_diff_pair BASE.pb.gz HEAD.pb.gz: two large profiles of one program for the benchmark of the diff, a million
 * samples in 200,000 stacks each, over a minute, one function in fifty dearer in head. Prints what is in them.
 */
#include "profile/profile.h"

#include <stdlib.h>

enum {
	SAMPLES = 1000000,
	STACKS = 200000,
	FUNCTIONS = 6000,
	LOCATIONS = 20000,
	MODULES = 30,
	MOST_DEPTH = 64,
	SAMPLE_NS = 1000000
};

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
			.fingerprint = mix(i + (i % 50 == 7 ? side * 1000003 : 0)),
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

/* Every stack grows from one that was there; base and head share nine of ten. */
static void add_stacks(struct profile *profile, uint64_t side)
{
	uint8_t *depths = calloc(STACKS + 2, 1);
	struct error err;
	uint32_t id;

	if (!depths)
		exit(1);
	for (uint64_t i = 1; profile->stack_count <= STACKS; i++) {
		uint64_t random = mix(i * 3 + (i % 10 == 9 ? side : 0)),
			 recent = profile->stack_count < 300 ? profile->stack_count : 300;
		uint32_t parent = (uint32_t)(random & 3 ? profile->stack_count - 1 - (random >> 8) % recent
							: (random >> 8) % profile->stack_count);

		if (depths[parent] >= MOST_DEPTH)
			parent = 0;
		must(profile_add_stack(profile, parent, (uint32_t)(mix(random) % LOCATIONS), &id, &err), &err);
		depths[id] = (uint8_t)(depths[parent] + 1);
	}
	free(depths);
}

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
			profile->stacks[stack].location % FUNCTIONS % 50 != 7 && random >> 60 == 0)
			stack = 1 + (uint32_t)((random >> 20) % 40) * 5;
		must(profile_add_sample(
			     profile, stack, id, values, (int64_t)(duration_ns / SAMPLES * (int64_t)i), &err),
			&err);
	}
}

static void make(const char *path, uint64_t side)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct buffer out;
	struct error err;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	profile->period_type = profile->value_types[1];
	profile->period = SAMPLE_NS;
	profile->has_timeline = true;
	add_code(profile, side);
	add_stacks(profile, side);
	add_samples(profile, side);
	profile->facts.tool = intern(profile, "kelvin 0.%u.0", 1);
	profile->quality = (struct profile_quality){ .samples = SAMPLES, .stops[PROFILE_STOP_ROOT] = SAMPLES };
	must(profile_finish(profile, &err), &err);
	buffer_init(&out, max_file_bytes);
	must(profile_write_pprof(profile, &out, &err) && buffer_ok(&out, &err) &&
			file_write(path, out.data, out.size, 0644, &err),
		&err);
	printf("%s: %zu samples in %zu stacks, %zu functions, %.1f MB\n", side ? "head" : "base", (size_t)SAMPLES,
		profile->sample_count, profile->function_count, (double)out.size / 1e6);
	buffer_deinit(&out);
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
