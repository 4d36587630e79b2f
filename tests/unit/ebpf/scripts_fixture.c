/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scripts_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { QUALNAME_OFFSET = 128, LENGTH_OFFSET = 16, MOST_PYTHONS = 8, PATH_BYTES = 256, WORK_NS = 20000000 };

/* Offsets as a program over Include/internal of 3.11.7, 3.12.1 and 3.13.0 prints them. */
static const struct ebpf_python python_3_11 = { .first_interpreter = 40,
	.first_thread = 16,
	.next_thread = 8,
	.native_thread_id = 160,
	.frame = 56,
	.frame_in_cframe = 8,
	.has_cframe = 1,
	.code = 32,
	.previous = 48,
	.instruction = 56,
	.mark = 68,
	.instructions = 184,
	.qualname = 128,
	.filename = 112,
	.line_table = 136 };
static const struct ebpf_python python_3_12 = { .first_interpreter = 40,
	.first_thread = 72,
	.next_thread = 8,
	.native_thread_id = 144,
	.frame = 56,
	.has_cframe = 1,
	.code = 0,
	.previous = 8,
	.instruction = 56,
	.mark = 70,
	.shim_mark = 3,
	.instructions = 192,
	.qualname = 128,
	.filename = 112,
	.line_table = 136 };
static const struct ebpf_python python_3_13 = { .first_interpreter = 632,
	.next_interpreter = 7264,
	.first_thread = 7344,
	.next_thread = 8,
	.native_thread_id = 160,
	.frame = 72,
	.code = 0,
	.previous = 8,
	.instruction = 56,
	.mark = 70,
	.shim_mark = 3,
	.instructions = 200,
	.qualname = 128,
	.filename = 112,
	.line_table = 136 };

static const struct version {
	const char *program; /* under $HOME, or from the root */
	unsigned int number; /* sys.hexversion, upper 16 bits */
	uint32_t text_offset;
	const struct ebpf_python *python;
} versions[] = {
	{ "/usr/bin/python3.11", 0x030b, 48, &python_3_11 },
	{ ".pyenv/versions/3.11.7/bin/python3.11", 0x030b, 48, &python_3_11 },
	{ ".pyenv/versions/3.12.1/bin/python3.12", 0x030c, 40, &python_3_12 },
	{ ".pyenv/versions/3.13.0/bin/python3.13", 0x030d, 40, &python_3_13 },
};

/* What each script begins with: it tells its version, and where its interpreter has _PyRuntime. */
static const char prologue[] = "import ctypes, os, sys, threading\n"
			       "def say(number): os.write(1, b'%d\\n' % number)\n"
			       "def begin():\n"
			       "  say(sys.hexversion >> 16)\n"
			       "  say(ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, '_PyRuntime')))\n";

static bool find_program(const struct version *version, char *path)
{
	const char *home = getenv("HOME");

	if (version->program[0] == '/')
		snprintf(path, PATH_BYTES, "%s", version->program);
	else
		snprintf(path, PATH_BYTES, "%s/%s", home ? home : "", version->program);
	return access(path, X_OK) == 0;
}

static const struct version *find_version(size_t index, char *path)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (find_program(&versions[i], path) && index-- == 0)
			return &versions[i];
	return NULL;
}

bool script_is_possible(void)
{
	char path[PATH_BYTES];

	if (find_version(0, path))
		return true;
	fprintf(stderr, "there is no CPython 3.11, 3.12 or 3.13\n");
	return false;
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
	const struct version *version = find_version(index, path);
	int ends[2];

	if (!version)
		return false;
	snprintf(whole, sizeof(whole), "%s%s", prologue, text);
	assert_int_equal(pipe(ends), 0);
	*script = (struct script){ .pid = fork(), .python = *version->python, .text_offset = version->text_offset };
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
	assert_int_equal(script_hear(script), version->number);
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
