/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/debuginfod.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
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
	int (*find_source)(
		debuginfod_client *client, const unsigned char *build_id, int size, const char *source, char **path);
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
		find(l->library, "debuginfod_find_debuginfo", &l->find_debuginfo) &&
		find(l->library, "debuginfod_find_source", &l->find_source))
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

/*
 * The place in the library's cache of a binary's debug file, or with `source` of that source file; the caller owns it;
 * NULL: there is none.
 */
static char *find_path(const struct elf_build_id *id, const char *source)
{
	struct client_library functions;
	debuginfod_client *client;
	char *path = NULL;
	int fd = -1;

	if (id->size == 0 || !load(&functions))
		return NULL;
	client = functions.begin();
	if (client) {
		fd = source ? functions.find_source(client, id->bytes, id->size, source, &path)
			    : functions.find_debuginfo(client, id->bytes, id->size, &path);
		functions.end(client);
	}
	dlclose(functions.library);
	if (fd >= 0)
		close(fd);
	return path;
}

int debuginfod_find(const struct elf_build_id *id)
{
	CLEANUP(cleanup_free) char *path = find_path(id, NULL);
	struct error ignored;

	return path ? elf_open_regular(path, &ignored) : -1;
}

static bool parse_build_id(const char *text, struct elf_build_id *id)
{
	*id = (struct elf_build_id){ 0 };
	for (; text[0] && text[1] && id->size < ELF_BUILD_ID_MAX_SIZE; text += 2) {
		unsigned int byte;

		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]) ||
			sscanf(text, "%2x", &byte) != 1)
			return false;
		id->bytes[id->size++] = (uint8_t)byte;
	}
	return text[0] == '\0' && id->size > 0;
}

/* Control characters are in no path of a compiler, but might end a line of the request. */
static bool is_source_path(const char *path)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ')
			return false;
	return path[0] == '/';
}

int symbolize_debuginfod_source(const char *build_id, const char *path)
{
	struct elf_build_id id;
	CLEANUP(cleanup_free)
	char *found = is_source_path(path) && parse_build_id(build_id, &id) ? find_path(&id, path) : NULL;
	struct error ignored;

	return found ? elf_open_regular(found, &ignored) : -1;
}

struct elf_image *debuginfod_fetch(const struct elf_image *image, const struct elf_opener *opener)
{
	CLEANUP(cleanup_free) char *path = opener ? NULL : find_path(elf_image_build_id(image), NULL);
	struct elf_image *debug = NULL;
	struct error ignored;

	if (!opener && !path)
		return NULL;
	return elf_image_open_for(opener, ELF_FILE_FETCHED, path ? path : elf_image_path(image), &debug, &ignored)
		       ? debug
		       : NULL;
}
