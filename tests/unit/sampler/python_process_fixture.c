/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "python_process_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SCRIPT_BYTES = 1 << 16 };

static size_t add_path(char **paths, size_t count, const char *path)
{
	if (count < MOST_PYTHONS && access(path, X_OK) == 0)
		paths[count++] = strdup(path);
	return count;
}

size_t list_pythons(char **paths)
{
	const char *home = getenv("HOME"), *more = getenv("KELVIN_TEST_PYTHONS");
	CLEANUP(cleanup_free) char *list = strdup(more ? more : "");
	char pattern[PATH_MAX], *rest = list;
	glob_t found = { 0 };
	size_t count = add_path(paths, 0, "/usr/bin/python3");

	snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/3.1[1-9]*/bin/python3", home ? home : "");
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			count = add_path(paths, count, found.gl_pathv[i]);
	globfree(&found);
	for (char *path = strtok_r(list, ":", &rest); path; path = strtok_r(NULL, ":", &rest))
		count = add_path(paths, count, path);
	return count;
}

static void read_script(char *script)
{
	FILE *file = fopen("programs/python_target.py", "re");
	size_t size;

	assert_non_null(file);
	size = fread(script, 1, MOST_SCRIPT_BYTES - 1, file);
	assert_true(size > 0 && size < MOST_SCRIPT_BYTES - 1);
	script[size] = '\0';
	fclose(file);
}

static void run_python(const char *path, int in, int out)
{
	static char script[MOST_SCRIPT_BYTES];

	read_script(script);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	unsetenv("PYTHONPATH");
	execl(path, path, "-Xutf8", "-c", script, NULL);
	_exit(127);
}

size_t read_words(struct python_process *process, char **words, size_t most)
{
	ssize_t size = getline(&process->line, &process->line_bytes, process->from);
	char *rest = NULL;
	size_t count = 0;

	if (size <= 0)
		return 0;
	process->line[size - 1] = '\0';
	for (char *word = strtok_r(process->line, "\t", &rest); word && count < most;
		word = strtok_r(NULL, "\t", &rest))
		words[count++] = word;
	return count;
}

char *decode_text(char *word)
{
	char *to = word;

	for (const char *from = word; from[0] && from[1]; from += 2) {
		char digits[3] = { from[0], from[1], '\0' };

		*to++ = (char)strtoul(digits, NULL, 16);
	}
	*to = '\0';
	return word;
}

void command_python(struct python_process *process, const char *command)
{
	fprintf(process->to, "%s\n", command);
	fflush(process->to);
}

static uint64_t address_of_offset(const struct elf_image *image, uint64_t offset)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);

	for (size_t i = 0; i < count; i++)
		if (offset - segments[i].file_offset < segments[i].file_size)
			return segments[i].address + offset - segments[i].file_offset;
	fail_msg("no segment has offset %" PRIx64, offset);
	return 0;
}

/* The image is that of the mapping that the process tells; it may have another root directory. */
static bool open_image(struct python_process *process)
{
	char *words[5], path[2 * PATH_MAX];
	struct elf_image *elf;
	struct error why = { 0 }, err;

	if (read_words(process, words, 5) != 5)
		return false;
	assert_string_equal(words[0], "image");
	process->pid = (int32_t)strtol(words[1], NULL, 10);
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)process->pid, decode_text(words[4]));
	assert_true(elf_image_open_path(path, &elf, &err));
	assert_true(python_image_read(elf, &process->python, &why, &err));
	if (!process->python)
		fail_msg("%s: %s", path, why.message);
	process->bias = address_of_offset(elf, strtoull(words[3], NULL, 16)) - strtoull(words[2], NULL, 16);
	elf_image_unref(elf);
	return true;
}

/* At the end of its input it ends. */
void end_python(struct python_process *process)
{
	fclose(process->to);
	while (getline(&process->line, &process->line_bytes, process->from) > 0)
		;
	fclose(process->from);
	waitpid(process->child, NULL, 0);
}

void free_python(struct python_process *process)
{
	python_image_destroy(process->python);
	free(process->line);
}

bool start_python(const char *path, struct python_process *process)
{
	int in[2], out[2];

	*process = (struct python_process){ 0 };
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	process->child = fork();
	if (process->child == 0)
		run_python(path, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	process->to = fdopen(in[1], "we");
	process->from = fdopen(out[0], "re");
	if (open_image(process))
		return true;
	end_python(process);
	free_python(process);
	return false;
}
