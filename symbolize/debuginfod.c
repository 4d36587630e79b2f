/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

static bool symbolize_debuginfod_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	/* ISO C does not cast data pointers to functions; POSIX gives both one representation. */
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static bool debuginfod_load(struct client_library *l)
{
	*l = (struct client_library){ .library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL) };
	if (!l->library)
		return false;
	if (symbolize_debuginfod_find(l->library, "debuginfod_begin", &l->begin) &&
		symbolize_debuginfod_find(l->library, "debuginfod_end", &l->end) &&
		symbolize_debuginfod_find(l->library, "debuginfod_find_debuginfo", &l->find_debuginfo) &&
		symbolize_debuginfod_find(l->library, "debuginfod_find_source", &l->find_source))
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
	if (!debuginfod_load(&functions))
		return error_set(err, ERROR_UNSUPPORTED,
			"libdebuginfod.so.1 cannot be loaded; on Debian: sudo apt install libdebuginfod1. A static build of Kelvin loads no libraries");
	dlclose(functions.library);
	return true;
}

/* ---- The process that fetches ---- */

/* The file that is fetched. */
struct debuginfod_wanted {
	const struct elf_build_id *id;
	const char *source; /* NULL: the debug file */
	uint64_t most_bytes, seconds;
};

static void debuginfod_set_number(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	setenv(name, text, 1);
}

/*
 * The library keeps both bounds where a server tells the size, and answers. Of one that tells none, or whose few bytes
 * become many when they are decompressed, the kernel writes no more than that: the library takes it for a full disk,
 * and removes what it has.
 */
static void keep_bounds(const struct debuginfod_wanted *wanted)
{
	debuginfod_set_number("DEBUGINFOD_MAXTIME", wanted->seconds);
	debuginfod_set_number("DEBUGINFOD_MAXSIZE", wanted->most_bytes);
	signal(SIGXFSZ, SIG_IGN);
	child_limit(&(struct child_limit){ RLIMIT_FSIZE, wanted->most_bytes, false }, 1);
}

/* Returns how many bytes we have written; 0 where the kernel does not count them. */
static uint64_t read_written_bytes(void)
{
	return proc_read_value("/proc/self/io", "wchar: ", "wchar: ");
}

/* The path is the file's place in the library's cache; "": there is none. It is sent with its NUL and nothing behind.
 */
struct client_answer {
	uint64_t written_bytes;
	char path[PATH_MAX];
};

static _Noreturn void be_client(const struct debuginfod_wanted *wanted, int out)
{
	const struct elf_build_id *id = wanted->id;
	struct client_library functions;
	struct client_answer answer;
	debuginfod_client *client;
	char *path = NULL;
	int fd = -1;

	keep_bounds(wanted);
	client = debuginfod_load(&functions) ? functions.begin() : NULL;
	if (client)
		fd = wanted->source ? functions.find_source(client, id->bytes, id->size, wanted->source, &path)
				    : functions.find_debuginfo(client, id->bytes, id->size, &path);
	answer.written_bytes = read_written_bytes();
	snprintf(answer.path, sizeof(answer.path), "%s", fd >= 0 && path ? path : "");
	(void)!file_write_all(out, &answer, offsetof(struct client_answer, path) + strlen(answer.path) + 1);
	_exit(0);
}

/* ---- The process that waits ---- */

/* False: the client said nothing, or not within the time. */
static bool debuginfod_receive_answer(pid_t pid, int end, int64_t end_ns, struct client_answer *answer)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(sizeof(*answer) + 1);
	const struct child_patience patience = { .deadline_ns = end_ns, .most_bytes = sizeof(*answer) + 1 };

	if (child_listen(pid, end, &patience, &bytes) != CHILD_ANSWERED ||
		bytes.size <= sizeof(answer->written_bytes) || ((char *)bytes.data)[bytes.size - 1] != '\0')
		return false;
	memcpy(answer, bytes.data, bytes.size);
	return true;
}

static void pay(struct symbolize_servers *servers, uint64_t bytes, int64_t ns)
{
	servers->bytes -= bytes < servers->bytes ? bytes : servers->bytes;
	servers->ns -= ns < servers->ns ? ns : servers->ns;
}

/*
 * Fetches a file, in a process of its own, as the library has bounds that a server need not keep. It is ended when it
 * is late by more than it takes to notice that itself.
 */
static bool fetch(struct debuginfod_wanted *wanted, struct symbolize_servers *servers, char path[static PATH_MAX])
{
	static const int64_t grace_ns = 3000000000, ns_per_s = 1000000000;
	int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);
	struct client_answer answer;
	bool ok;
	pid_t pid;
	int end;

	if (wanted->id->size == 0 || servers->bytes == 0 || servers->ns <= 0)
		return false;
	wanted->seconds = (uint64_t)((servers->ns + ns_per_s - 1) / ns_per_s);
	if (wanted->most_bytes > servers->bytes)
		wanted->most_bytes = servers->bytes;
	pid = child_fork_linked(CHILD_ENDS_WITH_PARENT, CHILD_PIPE, &end);
	if (pid == 0)
		be_client(wanted, end);
	if (pid < 0)
		return false;
	ok = debuginfod_receive_answer(pid, end, began_ns + servers->ns + grace_ns, &answer);
	(void)kill(pid, SIGKILL);
	pay(servers, ok ? answer.written_bytes : UINT64_MAX, clock_read_ns(CLOCK_MONOTONIC) - began_ns);
	(void)child_reap(pid);
	close(end);
	if (!ok || !answer.path[0])
		return false;
	memcpy(path, answer.path, sizeof(answer.path));
	return true;
}

/* A bound of the library's that the user has set, or naming_prepare_debuginfod(). */
static uint64_t bound_of(const char *name, uint64_t usual)
{
	const char *text = getenv(name);
	char *end = NULL;
	uint64_t value = text ? strtoull(text, &end, 10) : 0;

	return value > 0 && *end == '\0' ? value : usual;
}

struct symbolize_servers symbolize_debuginfod_bounds(void)
{
	enum { USUAL_SECONDS = 300, MOST_SECONDS = 86400 };
	uint64_t seconds = bound_of("DEBUGINFOD_MAXTIME", USUAL_SECONDS);

	return (struct symbolize_servers){
		.bytes = bound_of("DEBUGINFOD_MAXSIZE", (uint64_t)2 << 30),
		.ns = (int64_t)(seconds < MOST_SECONDS ? seconds : MOST_SECONDS) * 1000000000,
	};
}

static bool fetch_debug_file(
	const struct elf_build_id *id, struct symbolize_servers *servers, char path[static PATH_MAX])
{
	return fetch(&(struct debuginfod_wanted){ .id = id, .most_bytes = UINT64_MAX }, servers, path);
}

/* ---- Files ---- */

int debuginfod_find(const struct elf_build_id *id, struct symbolize_servers *servers)
{
	char path[PATH_MAX];
	struct error ignored;

	return fetch_debug_file(id, servers, path) ? elf_open_regular(path, &ignored) : -1;
}

/* Control characters are in no path of a compiler, but might end a line of the request. */
static bool is_source_path(const char *path)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ')
			return false;
	return path[0] == '/';
}

int symbolize_debuginfod_source(
	const char *build_id, const char *path, uint64_t most_bytes, struct symbolize_servers *servers)
{
	struct elf_build_id id;
	struct debuginfod_wanted wanted = { .id = &id, .source = path, .most_bytes = most_bytes };
	char found[PATH_MAX];
	struct error ignored;

	return is_source_path(path) && elf_build_id_parse(build_id, &id) && fetch(&wanted, servers, found)
		       ? elf_open_regular(found, &ignored)
		       : -1;
}

struct elf_image *debuginfod_fetch(
	const struct elf_image *image, const struct elf_opener *opener, struct symbolize_servers *servers)
{
	struct elf_image *debug = NULL;
	char path[PATH_MAX];
	struct error ignored;

	if (!opener && !fetch_debug_file(elf_image_build_id(image), servers, path))
		return NULL;
	return elf_image_open_for(opener, ELF_FILE_FETCHED, opener ? elf_image_path(image) : path, &debug, &ignored)
		       ? debug
		       : NULL;
}
