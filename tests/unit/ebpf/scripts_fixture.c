/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scripts_fixture.h"

#include "sampler/interpret/python/python.h"
#include "tests/unit/support/unit_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QUALNAME_OFFSET = 128, LENGTH_OFFSET = 16, MOST_PYTHONS = 8, PATH_BYTES = 256, WORK_NS = 20000000 };

/* Under $HOME, or from the root. */
static const char *const programs[] = { "/usr/bin/python3.11", ".pyenv/versions/3.11.7/bin/python3.11",
	".pyenv/versions/3.12.1/bin/python3.12", ".pyenv/versions/3.13.0/bin/python3.13" };

/* What each script begins with: it tells the file of its interpreter, and where it has _PyRuntime. */
static const char prologue[] =
	"import ctypes, os, sys, threading\n"
	"def say(number): os.write(1, b'%d\\n' % number)\n"
	"def begin():\n"
	"  maps = open('/proc/self/maps').read().split()\n"
	"  print(next((word for word in maps if 'libpython3' in word), sys.executable), flush=True)\n"
	"  say(ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, '_PyRuntime')))\n";

/* Finds the index-th program that there is. */
static bool find_program(size_t index, char *path)
{
	const char *home = getenv("HOME");

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const char *folder = programs[i][0] != '/' && home ? home : "";

		snprintf(path, PATH_BYTES, "%s/%s", folder, programs[i] + (programs[i][0] == '/'));
		if (access(path, X_OK) == 0 && index-- == 0)
			return true;
	}
	return false;
}

bool script_is_possible(void)
{
	char path[PATH_BYTES];

	if (find_program(0, path))
		return true;
	fprintf(stderr, "there is no CPython 3.11, 3.12 or 3.13\n");
	return false;
}

/* Hears which file the interpreter is of, and reads it. */
static void read_layout(struct script *script)
{
	char path[PATH_BYTES];
	struct python_image *image;
	struct elf_image *elf;
	struct error why, err;

	assert_non_null(fgets(path, sizeof(path), script->says));
	path[strcspn(path, "\n")] = '\0';
	assert_true(elf_image_open_path(path, &elf, &err));
	assert_true(python_image_read(elf, &image, &why, &err));
	assert_non_null(image);
	script->python = image->read;
	script->text_offset = image->unicode_ascii;
	python_image_destroy(image);
	elf_image_unref(elf);
}

long script_hear(const struct script *script)
{
	char line[64];

	if (!fgets(line, sizeof(line), script->says))
		fail_msg("the script has ended");
	return strtol(line, NULL, 10);
}

static long used_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &used), 0);
	return used.tv_sec * 1000000000 + used.tv_nsec;
}

void script_wait_for_work(pid_t pid)
{
	const struct timespec wait = { .tv_nsec = 1000000 };
	long before = used_ns(pid);

	while (used_ns(pid) - before < WORK_NS)
		nanosleep(&wait, NULL);
}

bool script_start(struct script *script, size_t index, const char *text)
{
	char path[PATH_BYTES], whole[4096];
	int ends[2];

	if (!find_program(index, path))
		return false;
	snprintf(whole, sizeof(whole), "%s%s", prologue, text);
	assert_int_equal(pipe(ends), 0);
	script->pid = fork();
	assert_true(script->pid >= 0);
	if (script->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(path, path, "-c", whole, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	script->says = fdopen(ends[0], "r");
	assert_non_null(script->says);
	read_layout(script);
	script->python.runtime = (uint64_t)script_hear(script);
	script_wait_for_work(script->pid);
	return true;
}

void script_stop(struct script *script)
{
	kill(script->pid, SIGKILL);
	waitpid(script->pid, NULL, 0);
	fclose(script->says);
}

static bool read_memory(const struct script *script, uint64_t address, void *to, size_t bytes)
{
	const struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)address, bytes };

	return process_vm_readv(script->pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

void script_name_frame(const struct script *script, uint64_t word, char *name, size_t bytes)
{
	uint64_t text, length = 0;

	if (!read_memory(script, ebpf_frame_code(word) + QUALNAME_OFFSET, &text, sizeof(text)) ||
		!read_memory(script, text + LENGTH_OFFSET, &length, sizeof(length)) || length >= bytes ||
		!read_memory(script, text + script->text_offset, name, length))
		fail_msg("no code object: %llx", (unsigned long long)ebpf_frame_code(word));
	name[length] = '\0';
}
