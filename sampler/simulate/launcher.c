/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher OPTION... COMMAND...: executes the tool that lies beside this program, for `kelvin simulate`. Valgrind's
 * core accepts only a start by a launcher, whose path it finds in VALGRIND_LAUNCHER: it starts that one again for each
 * program that a simulated process executes. Valgrind's own launcher chooses among tools and processors; here there is
 * one tool, and no need for an installed valgrind.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const char tool[] = "kelvin-amd64-linux";
	char path[PATH_MAX + sizeof(tool)];
	ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *name;

	(void)argc;
	path[size > 0 ? size : 0] = '\0';
	name = strrchr(path, '/');
	if (name && setenv("VALGRIND_LAUNCHER", path, 1) == 0) {
		memcpy(name + 1, tool, sizeof(tool));
		execv(path, argv);
	}
	fprintf(stderr, "cannot execute %.4000s: %s\n", path, strerror(errno));
	return 127;
}
