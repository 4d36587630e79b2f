/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a repository as Kelvin does, and does nothing else: repository_reader DIRECTORY REVISION [PATH] prints the
 * commit, then the bytes of the file, or the paths of all files.
 */
#include "diff/repository/repository.h"

#include <stdio.h>
#include <unistd.h>

static bool print(int fd)
{
	char chunk[1 << 16];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) > 0)
		fwrite(chunk, 1, (size_t)got, stdout);
	close(fd);
	return got == 0;
}

static bool read_all(const char *directory, const char *revision, const char *path, struct error *err)
{
	enum { MOST_BYTES = 64 << 20 };
	CLEANUP(repository_cleanup) struct repository *repository = NULL;
	char id[REPOSITORY_ID_BYTES];
	int fd = -1;

	if (!repository_open(directory, NULL, &repository, err) || !repository_resolve(repository, revision, id, err))
		return false;
	printf("%s\n", id);
	if (!(path ? repository_read_file(repository, id, path, MOST_BYTES, &fd, err)
		   : repository_list_files(repository, id, MOST_BYTES, &fd, err)))
		return false;
	return print(fd);
}

int main(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc < 3 || argc > 4)
		return 2;
	if (read_all(argv[1], argv[2], argc > 3 ? argv[3] : NULL, &err))
		return 0;
	fprintf(stderr, "%s\n", err.message);
	return 2;
}
