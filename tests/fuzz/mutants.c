/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/target.h"

#include "common/common.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tells how many mutants of the inputs of a corpus get past the first checks of their reader, changed blindly and by
 * the target's mutator: mutants_x LEAST-PERCENT COUNT DIRECTORY. Each mutant has had one to three changes, the same
 * ones in each execution. It fails if less than LEAST-PERCENT of the mutator's are read. Inputs that are refused
 * themselves, and large ones, are left out.
 */

enum { MAX_INPUT_BYTES = 1 << 15, MAX_MUTANT_BYTES = 1 << 16, MOST_CHANGES = 3 };

struct tally {
	size_t mutants, blind, structured; /* the latter two: that were read */
	unsigned int seed;
};

static bool is_taken(const uint8_t *data, size_t size)
{
	/* A block of its own, so that a read past its end is caught. */
	uint8_t *exact = malloc(size ? size : 1);
	bool ok;

	if (!exact)
		abort();
	memcpy(exact, data, size);
	ok = fuzz_take(exact, size);
	free(exact);
	return ok;
}

static void try_mutant(struct tally *tally, const struct buffer *input)
{
	static uint8_t blind[MAX_MUTANT_BYTES], structured[MAX_MUTANT_BYTES];
	size_t blind_size = input->size, size = input->size;

	memcpy(blind, input->data, size);
	memcpy(structured, input->data, size);
	for (size_t i = 0; i <= tally->mutants % MOST_CHANGES; i++) {
		blind_size = LLVMFuzzerMutate(blind, blind_size, sizeof(blind));
		size = LLVMFuzzerCustomMutator(structured, size, sizeof(structured), ++tally->seed);
	}
	tally->blind += is_taken(blind, blind_size);
	tally->structured += is_taken(structured, size);
	tally->mutants++;
}

static void try_file(struct tally *tally, const char *path, size_t count)
{
	struct buffer input;
	struct error err;

	buffer_init(&input, MAX_INPUT_BYTES);
	if (file_read(path, &input, &err) && input.size > 0 && is_taken((uint8_t *)input.data, input.size))
		for (size_t i = 0; i < count; i++)
			try_mutant(tally, &input);
	buffer_deinit(&input);
}

int main(int argc, char **argv)
{
	struct tally tally = { 0 };
	struct dirent **names;
	double all;
	int files;

	if (argc != 4 || (files = scandir(argv[3], &names, NULL, alphasort)) < 0)
		return 2;
	for (int i = 0; i < files; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", argv[3], names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			try_file(&tally, path, strtoul(argv[2], NULL, 10));
		free(names[i]);
	}
	free(names);
	all = tally.mutants ? (double)tally.mutants : 1;
	printf("%zu mutants: %.1f %% are read when changed blindly, %.1f %% when changed by their format\n",
		tally.mutants, 100 * (double)tally.blind / all, 100 * (double)tally.structured / all);
	return 100 * (double)tally.structured < strtod(argv[1], NULL) * all || tally.mutants == 0;
}
