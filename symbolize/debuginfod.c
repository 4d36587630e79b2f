/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct debuginfod_client debuginfod_client; /* the library's name for it: elfutils/debuginfod.h */

/* The library's functions, loaded on request: the library brings a whole HTTP client. */
struct client_library {
	void *library; /* owned */
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	int (*find_debuginfo)(debuginfod_client *client, const unsigned char *build_id, int size, char **path);
};

static bool find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	/* ISO C does not cast data pointers to functions; POSIX gives both one representation. */
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static bool load(struct client_library *l)
{
	*l = (struct client_library){ .library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL) };
	if (!l->library)
		return false;
	if (find(l->library, "debuginfod_begin", &l->begin) && find(l->library, "debuginfod_end", &l->end) &&
		find(l->library, "debuginfod_find_debuginfo", &l->find_debuginfo))
		return true;
	dlclose(l->library);
	return false;
}

bool symbolize_debuginfod_possible(struct error *err)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	struct client_library functions;

	if (!servers || !servers[0])
		return error_set(err, ERROR_USAGE,
			"no debuginfod server is named; set DEBUGINFOD_URLS, as in: "
			"export DEBUGINFOD_URLS=https://debuginfod.elfutils.org");
	if (!load(&functions))
		return error_set(err, ERROR_UNSUPPORTED,
			"libdebuginfod.so.1 cannot be loaded; on Debian: sudo apt install libdebuginfod1. A static build of Kelvin loads no libraries");
	dlclose(functions.library);
	return true;
}

/* Its place in the library's cache is written to `path`, which the caller owns; NULL: there is none. */
static char *find_path(const struct elf_build_id *id)
{
	struct client_library functions;
	debuginfod_client *client;
	char *path = NULL;
	int fd = -1;

	if (id->size == 0 || !load(&functions))
		return NULL;
	client = functions.begin();
	if (client) {
		fd = functions.find_debuginfo(client, id->bytes, id->size, &path);
		functions.end(client);
	}
	dlclose(functions.library);
	if (fd >= 0)
		close(fd);
	return path;
}

int debuginfod_find(const struct elf_build_id *id)
{
	CLEANUP(cleanup_free) char *path = find_path(id);
	struct error ignored;

	return path ? elf_open_regular(path, &ignored) : -1;
}

struct elf_image *debuginfod_fetch(const struct elf_image *image, const struct elf_opener *opener)
{
	CLEANUP(cleanup_free) char *path = opener ? NULL : find_path(elf_image_build_id(image));
	struct elf_image *debug = NULL;
	struct error ignored;

	if (!opener && !path)
		return NULL;
	return elf_image_open_for(opener, ELF_FILE_FETCHED, path ? path : elf_image_path(image), &debug, &ignored)
		       ? debug
		       : NULL;
}
