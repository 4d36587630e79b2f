/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that mean harm to whoever profiles them:
 *
 *   workload_hostile MODE [ARGUMENT...]
 *
 *   run FILE           maps the file, which workload_hostile_files wrote, and executes its code
 *   jit                code that is made at run time: calls nothing, has no name
 *   map FILE           the same, and FILE is moved to where its perf map is looked for
 *   dump DIRECTORY FILE  the same, and FILE, a jitdump, is moved to the directory under its pid's name and mapped
 *   bend FILE          run, while the file's names, headers and sizes change as fast as they can
 *   missing-code       code between pages that never arrive (userfaultfd)
 *   missing-stack      a stack whose next page never arrives
 *   silent-file DIRECTORY  a file of a file system that stops answering (FUSE), mounted there
 *   storm              maps executable memory as fast as the kernel lets it, each time elsewhere
 *   storm-names        the same, of files that all have names of their own
 *   storm-commands     processes that execute, and threads that are renamed, each time to another name
 *   live COUNT         that many executable mappings that stay
 *
 * It prints "ready pid PID" once the harm is in place, works until it is killed, and gives up root for the user nobody
 * as soon as it can. Exit code 77: this machine lacks what the mode needs.
 */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile_elf.h"

enum { PAGE_BYTES = 4096, NOBODY = 65534, CALL_EVERY = 64 };

__attribute__((noipa)) void hostile_run(const void *code)
{
	for (;;)
		((void (*)(void))(uintptr_t)code)();
}

void hostile_ready(void)
{
	printf("ready pid %d\n", (int)getpid());
	fflush(stdout);
}

void hostile_become_nobody(void)
{
	if (geteuid() == 0 && (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0))
		hostile_fail("setresuid");
	/* Others than root may look at a process that has changed its user only where it says so. */
	prctl(PR_SET_DUMPABLE, 1);
}

static void *map(size_t bytes, int protection, int flags, int fd)
{
	void *memory = mmap(NULL, bytes, protection, flags, fd, 0);

	if (memory == MAP_FAILED)
		hostile_fail("mmap");
	return memory;
}

static uint8_t *make_code(void)
{
	uint8_t *code = map(PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memcpy(code, hostile_code, hostile_code_bytes);
	return code;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		hostile_fail(path);
	return fd;
}

/* The executable pages of a file that workload_hostile_files wrote. */
static const uint8_t *map_code(const char *path)
{
	size_t bytes = HOSTILE_CODE_OFFSET + HOSTILE_CODE_BYTES;

	return (const uint8_t *)map(bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, open_file(path, O_RDONLY)) +
	       HOSTILE_CODE_OFFSET;
}

static void run_file(char **arguments)
{
	const uint8_t *code;

	hostile_become_nobody();
	code = map_code(arguments[0]);
	hostile_ready();
	hostile_run(code);
}

/* ---- Names of code that is made at run time ---- */

static void run_jit(char **arguments)
{
	const uint8_t *code = make_code();

	(void)arguments;
	hostile_become_nobody();
	hostile_ready();
	hostile_run(code);
}

static void run_with_map(char **arguments)
{
	const uint8_t *code = make_code();
	char path[64];

	hostile_become_nobody();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	if (rename(arguments[0], path) != 0)
		hostile_fail(path);
	hostile_ready();
	hostile_run(code);
}

static void run_with_dump(char **arguments)
{
	const uint8_t *code = make_code();
	char path[4096];

	hostile_become_nobody();
	snprintf(path, sizeof(path), "%s/jit-%d.dump", arguments[0], (int)getpid());
	if (rename(arguments[1], path) != 0)
		hostile_fail(path);
	map(PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, open_file(path, O_RDONLY));
	hostile_ready();
	hostile_run(code);
}

/* ---- A file that changes while it is read ---- */

static void *run_thread(void *code)
{
	hostile_run(code);
}

/* Changes a byte to and fro. */
static void bend(volatile uint8_t *byte, uint8_t other)
{
	uint8_t before = *byte;

	*byte = other;
	__asm__ volatile("" ::: "memory");
	*byte = before;
}

/* What ends a name, the names of sections, and where and how large sections are. */
static void bend_file(volatile uint8_t *bytes, size_t size, unsigned long turn)
{
	volatile const Elf64_Ehdr *header = (volatile const Elf64_Ehdr *)bytes;
	volatile Elf64_Shdr *sections = (volatile Elf64_Shdr *)(bytes + header->e_shoff);
	volatile Elf64_Shdr *names = &sections[header->e_shnum - 1], *any = &sections[turn % header->e_shnum];

	bytes[size - 1] = turn % 2 ? 'n' : '\0';
	bend(&bytes[names->sh_offset + turn % names->sh_size], 'x');
	bend(&bytes[names->sh_offset + names->sh_size - 1], 'x');
	if (turn % 64 == 0)
		bend((volatile uint8_t *)&any->sh_size + 2, 0xff);
	if (turn % 64 == 32)
		bend((volatile uint8_t *)&any->sh_offset + 2, 0xff);
}

static void run_bending(char **arguments)
{
	struct stat info;
	pthread_t thread;
	uint8_t *bytes;
	int fd;

	hostile_become_nobody();
	fd = open_file(arguments[0], O_RDWR);
	if (fstat(fd, &info) != 0 ||
		pthread_create(&thread, NULL, run_thread, (void *)(uintptr_t)map_code(arguments[0])) != 0)
		hostile_fail(arguments[0]);
	bytes = map((size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	hostile_ready();
	for (unsigned long turn = 0;; turn++)
		bend_file(bytes, (size_t)info.st_size, turn);
}

/* ---- Storms ---- */

static int make_file(const char *name)
{
	int fd = memfd_create(name, 0);

	if (fd < 0 || ftruncate(fd, PAGE_BYTES) != 0 ||
		pwrite(fd, hostile_code, hostile_code_bytes, 0) != (ssize_t)hostile_code_bytes)
		hostile_fail("memfd_create");
	return fd;
}

/* Nobody is told that memory is unmapped: to those who only hear of what is mapped, all of it stays. */
static void map_for_a_moment(unsigned long turn, int fd)
{
	uint8_t *place = (uint8_t *)(uintptr_t)(0x200000000000 + turn % (1ul << 32) * 2 * PAGE_BYTES);

	if (mmap(place, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != place)
		hostile_fail("mmap");
	if (turn % CALL_EVERY == 0)
		((void (*)(void))(uintptr_t)place)();
	munmap(place, PAGE_BYTES);
}

static void run_storm(char **arguments)
{
	int fd = make_file("storm");

	(void)arguments;
	hostile_become_nobody();
	hostile_ready();
	for (unsigned long turn = 0;; turn++)
		map_for_a_moment(turn, fd);
}

static void run_storm_of_names(char **arguments)
{
	(void)arguments;
	hostile_become_nobody();
	hostile_ready();
	for (unsigned long turn = 0;; turn++) {
		char name[200];
		int fd;

		snprintf(name, sizeof(name), "%0*lu", (int)sizeof(name) - 1, turn);
		fd = make_file(name);
		map_for_a_moment(turn, fd);
		close(fd);
	}
}

__attribute__((noreturn)) static void *rename_thread(void *start)
{
	char name[16];

	for (unsigned long turn = (unsigned long)(uintptr_t)start;; turn++) {
		snprintf(name, sizeof(name), "%015lx", turn * 0x9e3779b97f4a7c15u >> 4);
		prctl(PR_SET_NAME, name);
	}
}

/* A program is named after the link by which it is executed. */
static void execute_as(const char *directory, unsigned long turn)
{
	char path[4096];
	char *arguments[] = { path, NULL };
	pid_t child;

	snprintf(path, sizeof(path), "%s/%015lx", directory, turn);
	if (symlink("/bin/true", path) != 0 || posix_spawn(&child, path, NULL, NULL, arguments, environ) != 0)
		hostile_fail(path);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	unlink(path);
}

static void run_storm_of_commands(char **arguments)
{
	char directory[] = "/tmp/hostile-XXXXXX";
	pthread_t thread;

	(void)arguments;
	hostile_become_nobody();
	if (!mkdtemp(directory) || pthread_create(&thread, NULL, rename_thread, NULL) != 0)
		hostile_fail("mkdtemp");
	hostile_ready();
	for (unsigned long turn = 0;; turn++)
		execute_as(directory, turn);
}

/* Neighbours of one file that do not follow each other there are not joined. */
static void run_live(char **arguments)
{
	unsigned long count = strtoul(arguments[0], NULL, 10);
	int fd = make_file("live");
	const uint8_t *code = NULL;

	hostile_become_nobody();
	for (unsigned long i = 0; i < count; i++) {
		void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (memory == MAP_FAILED)
			break;
		code = memory;
	}
	if (!code)
		hostile_fail("mmap");
	hostile_ready();
	hostile_run(code);
}

/* ---- main ---- */

static void run_missing_code(char **arguments)
{
	(void)arguments;
	hostile_missing_code();
}

static void run_missing_stack(char **arguments)
{
	(void)arguments;
	hostile_missing_stack();
}

static void run_silent_file(char **arguments)
{
	hostile_silent_file(arguments[0]);
}

static const struct {
	const char *name;
	int arguments;
	void (*run)(char **arguments);
} modes[] = {
	{ "run", 1, run_file },
	{ "jit", 0, run_jit },
	{ "map", 1, run_with_map },
	{ "dump", 2, run_with_dump },
	{ "bend", 1, run_bending },
	{ "missing-code", 0, run_missing_code },
	{ "missing-stack", 0, run_missing_stack },
	{ "silent-file", 1, run_silent_file },
	{ "storm", 0, run_storm },
	{ "storm-names", 0, run_storm_of_names },
	{ "storm-commands", 0, run_storm_of_commands },
	{ "live", 1, run_live },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 2 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, argv[1]) == 0 && argc == 2 + modes[i].arguments)
			modes[i].run(argv + 2);
	fprintf(stderr, "usage: workload_hostile MODE [ARGUMENT...]; the modes are:");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		fprintf(stderr, " %s", modes[i].name);
	fprintf(stderr, "\n");
	return 2;
}
