/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile/profile.h"

#include "tests/fuzz/mutate_pprof.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>

enum { MAX_OUTPUT_BYTES = 1 << 28 };

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* A rule that divides stacks among all classes. */
static enum profile_wait_class any_class(void *context, uint32_t stack, enum profile_wait_class wait_class)
{
	(void)context;
	return (enum profile_wait_class)((stack + (uint32_t)wait_class) % PROFILE_WAIT_COUNT);
}

/* Modulo 2^64: a sum may be too large. */
static uint64_t sum_of(const struct profile *profile, uint32_t value_type)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		sum += (uint64_t)profile->values[i * profile->value_type_count + value_type];
	return sum;
}

/* What was read can be written, is read again with the same sums, and merged with itself. */
static void use(struct profile *profile)
{
	CLEANUP(profile_cleanup) struct profile *again = NULL;
	CLEANUP(profile_tree_cleanup) struct profile_tree *tree = NULL;
	struct buffer file;
	struct error err;

	buffer_init(&file, MAX_OUTPUT_BYTES);
	must(profile_validate(profile, &err) && profile_tree_create(profile, NULL, &tree, &err));
	must(profile_write_pprof(profile, &file, &err));
	must(foreign_read(file.data, file.size, "again", &again, &err));
	for (uint32_t v = 0; v < profile->value_type_count; v++)
		must(sum_of(profile, v) == sum_of(again, v));
	must(again->event_count == (profile->has_timeline ? profile->event_count : 0));
	file.size = 0;
	must(profile_write_folded(again, PROFILE_NONE, &file, &err));
	if (profile_merge(again, profile, &err))
		must(again->run_count == 2 * profile->run_count);
	must(profile_classify_waits(profile, any_class, NULL, &err));
	profile_tree_destroy(TAKE(tree));
	must(profile_tree_create(profile, NULL, &tree, &err));
	buffer_deinit(&file);
}

/* A file of any kind, bare or gzipped: all that foreign_read() tells apart. */
bool fuzz_take(const uint8_t *data, size_t size)
{
	struct profile *profile;
	struct error err;

	if (!foreign_read(data, size, "fuzz", &profile, &err))
		return false;
	use(profile);
	profile_destroy(profile);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_take(data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutation_run(data, size, max_size, seed, mutate_pprof);
}
