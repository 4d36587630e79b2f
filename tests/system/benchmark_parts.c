/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile/profile.h"

/*
 * benchmark_parts FILE: a line for each run of a profile: its name ("-": none), how many samples it has, the function
 * that most of them end in and its percentage, the outermost function of its stacks ("*": they differ), and what was
 * measured: rounds, iterations, median and mean in nanoseconds; and the percentage of samples that end in another
 * function of a benchmark ("bench_").
 */

enum { MAX_BYTES = 1 << 28 };

static const char *function_of(const struct profile *profile, uint32_t stack, bool outermost)
{
	const struct profile_location *location = &profile->locations[profile->stacks[stack].location];
	uint32_t line = location->first_line + (outermost ? location->line_count - 1 : 0);

	return profile_string(profile, profile->functions[profile->lines[line].function].name);
}

static const char *root_of(const struct profile *profile, uint32_t stack)
{
	while (profile->stacks[stack].parent)
		stack = profile->stacks[stack].parent;
	return function_of(profile, stack, true);
}

static void print_run(const struct profile *profile, uint32_t run, int64_t *by_function)
{
	const struct profile_measured *measured = &profile->runs[run].measured;
	const char *name = profile_string(profile, profile->runs[run].name), *root = NULL;
	int64_t total = 0, others = 0;
	size_t most = 0;

	memset(by_function, 0, profile->function_count * sizeof(*by_function));
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		int64_t count = profile->values[i * profile->value_type_count];
		const struct profile_location *leaf;

		if (profile->threads[sample->thread].run != run || sample->stack == 0)
			continue;
		leaf = &profile->locations[profile->stacks[sample->stack].location];
		by_function[profile->lines[leaf->first_line].function] += count;
		total += count;
		if (!root || strcmp(root, root_of(profile, sample->stack)) == 0)
			root = root_of(profile, sample->stack);
		else
			root = "*";
	}
	for (size_t i = 0; i < profile->function_count; i++)
		if (by_function[i] > by_function[most])
			most = i;
	for (size_t i = 0; i < profile->function_count; i++)
		if (i != most && strstr(profile_string(profile, profile->functions[i].name), "bench_"))
			others += by_function[i];
	printf("%s %lld %s %.1f %s %llu %llu %.1f %.1f %.2f\n", name[0] ? name : "-", (long long)total,
		profile_string(profile, profile->functions[most].name),
		total ? 100.0 * (double)by_function[most] / (double)total : 0, root ? root : "-",
		(unsigned long long)measured->rounds, (unsigned long long)measured->iterations, measured->median_ns,
		measured->mean_ns, total ? 100.0 * (double)others / (double)total : 0);
}

int main(int argc, char **argv)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(cleanup_free) int64_t *by_function = NULL;
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;

	buffer_init(&bytes, MAX_BYTES);
	if (argc != 2 || !file_read(argv[1], &bytes, &err) ||
		!foreign_read(bytes.data, bytes.size, argv[1], &profile, &err)) {
		fprintf(stderr, "benchmark_parts: %s\n", argc == 2 ? err.message : "one file");
		return 1;
	}
	by_function = calloc(profile->function_count + 1, sizeof(*by_function));
	for (uint32_t run = 0; by_function && run < profile->run_count; run++)
		print_run(profile, run, by_function);
	return 0;
}
