/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tells how many mutants of the inputs of a corpus get past the first checks of their reader, changed blindly and by
 * the target's mutator: mutants_x LEAST-PERCENT COUNT DIRECTORY makes COUNT mutants in all. Each mutant has had one to
 * three changes, the same ones in each execution. It fails if less than LEAST-PERCENT of the mutator's are read. Inputs
 * that are refused themselves, and large ones, are left out.
 */

enum { MAX_INPUTS = 1 << 12, MAX_INPUT_BYTES = 1 << 15, MAX_MUTANT_BYTES = 1 << 16, MOST_CHANGES = 3 };

struct inputs {
	struct buffer items[MAX_INPUTS];
	size_t count;
};

struct tally {
	size_t mutants, blind, structured; /* the latter two: that were read */
	unsigned int seed;
	struct mutation chance; /* of how many changes a mutant has */
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
	for (size_t changes = 1 + mutation_below(&tally->chance, MOST_CHANGES); changes > 0; changes--) {
		blind_size = LLVMFuzzerMutate(blind, blind_size, sizeof(blind));
		size = LLVMFuzzerCustomMutator(structured, size, sizeof(structured), ++tally->seed);
	}
	tally->blind += is_taken(blind, blind_size);
	tally->structured += is_taken(structured, size);
	tally->mutants++;
}

/* Adds the inputs of a directory that are read, in the order of their names. */
static bool find_inputs(const char *directory, struct inputs *inputs)
{
	struct dirent **names;
	int count = scandir(directory, &names, NULL, alphasort);
	struct error err;
	bool ok = count >= 0;

	for (int i = 0; i < count; i++) {
		struct buffer input;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
		buffer_init(&input, MAX_INPUT_BYTES);
		if (names[i]->d_name[0] != '.' && file_read(path, &input, &err) && input.size > 0 &&
			is_taken((uint8_t *)input.data, input.size) && inputs->count < MAX_INPUTS)
			inputs->items[inputs->count++] = input;
		else
			buffer_deinit(&input);
		free(names[i]);
	}
	if (ok)
		free(names);
	return ok;
}

int main(int argc, char **argv)
{
	static struct inputs inputs;
	struct tally tally = { 0 };
	double all;

	if (argc != 4 || !find_inputs(argv[3], &inputs) || inputs.count == 0)
		return 2;
	while (tally.mutants < strtoul(argv[2], NULL, 10))
		try_mutant(&tally, &inputs.items[tally.mutants % inputs.count]);
	for (size_t i = 0; i < inputs.count; i++)
		buffer_deinit(&inputs.items[i]);
	all = (double)tally.mutants;
	printf("%zu mutants: %.1f %% are read when changed blindly, %.1f %% when changed by their format\n",
		tally.mutants, 100 * (double)tally.blind / all, 100 * (double)tally.structured / all);
	return 100 * (double)tally.structured < strtod(argv[1], NULL) * all;
}
