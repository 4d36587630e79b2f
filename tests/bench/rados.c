/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rados TIMES: keeps libceph-common busy, whose debug file is the symbolizers' large one: clients are made and thrown
 * away. */

static void *symbol(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "rados: %s\n", dlerror());
		exit(1);
	}
	return found;
}

int main(int argc, char **argv)
{
	void *library = dlopen("librados.so.2", RTLD_NOW), *found;
	int (*create)(void **client, const char *id);
	void (*destroy)(void *client);

	/* ISO C knows no way from data to code. */
	found = symbol(library, "rados_create");
	memcpy(&create, &found, sizeof(create));
	found = symbol(library, "rados_shutdown");
	memcpy(&destroy, &found, sizeof(destroy));
	for (int left = argc == 2 ? atoi(argv[1]) : 1; left > 0; left--) {
		void *client;

		if (create(&client, NULL) != 0)
			return 1;
		destroy(client);
	}
	return 0;
}
