/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made_tree_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char made_tree[64];

void put(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", made_tree, name);
	for (char *slash = strchr(path + strlen(made_tree) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

int set_up(void **state)
{
	strcpy(made_tree, "/tmp/kelvin-tree-XXXXXX");
	return mkdtemp(made_tree) ? 0 : -1;
}

int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", made_tree);
	return system(command);
}
