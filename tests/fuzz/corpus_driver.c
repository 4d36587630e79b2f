/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>

/* Runs a fuzz target over the files of its corpus, as an ordinary test: fuzz_x DIRECTORY... */

enum { MAX_INPUT_BYTES = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* From a block that ends with the input, so that a read past it is caught by the sanitizer. */
static bool run_file(const char *path)
{
	struct buffer input;
	struct error err;
	uint8_t *exact;

	buffer_init(&input, MAX_INPUT_BYTES);
	if (!file_read(path, &input, &err)) {
		fprintf(stderr, "%s\n", err.message);
		buffer_deinit(&input);
		return false;
	}
	exact = malloc(input.size ? input.size : 1);
	if (exact) {
		if (input.size)
			memcpy(exact, input.data, input.size);
		LLVMFuzzerTestOneInput(exact, input.size);
	}
	free(exact);
	buffer_deinit(&input);
	return exact != NULL;
}

static bool run_directory(const char *path, size_t *count)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool ok = true;

	if (!directory) {
		perror(path);
		return false;
	}
	while (ok && (entry = readdir(directory))) {
		char file[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		ok = run_file(file);
		*count += ok;
	}
	closedir(directory);
	return ok;
}

int main(int argc, char **argv)
{
	size_t count = 0;

	for (int i = 1; i < argc; i++)
		/* An option that is not given arrives as an empty argument. */
		if (argv[i][0] != '\0' && !run_directory(argv[i], &count))
			return 1;
	printf("%zu inputs\n", count);
	return count == 0;
}
