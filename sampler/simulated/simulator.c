/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulated/simulator.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

static const char tool[] = "kelvin-amd64-linux";

/* ---- Caches ---- */

void simulator_default_caches(struct simulator_cache caches[SIMULATOR_CACHES])
{
	caches[0] = caches[1] = (struct simulator_cache){ 32 << 10, 8, 64 };
	caches[2] = (struct simulator_cache){ 8 << 20, 16, 64 };
}

static bool parse_size(const char **at, uint64_t *value)
{
	char *end;
	unsigned long long parsed;

	if (!isdigit((unsigned char)**at))
		return false;
	parsed = strtoull(*at, &end, 10);
	if (*end == 'k' || *end == 'K' || *end == 'm' || *end == 'M') {
		unsigned int shift = *end == 'k' || *end == 'K' ? 10 : 20;

		if (parsed > UINT32_MAX)
			return false;
		parsed <<= shift;
		end++;
	}
	*value = parsed;
	*at = end;
	return parsed > 0;
}

static bool parse_cache(const char **at, struct simulator_cache *cache)
{
	uint64_t *const fields[] = { &cache->bytes, &cache->ways, &cache->line_bytes };

	if (**at == ',' || **at == '\0')
		return true;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!parse_size(at, fields[i]))
			return false;
		if (**at != ':')
			return true;
		++*at;
	}
	return false;
}

static bool is_power_of_two(uint64_t value)
{
	return value > 0 && (value & (value - 1)) == 0;
}

/* Sets are found by bits of the address. */
static bool is_cache(const struct simulator_cache *cache)
{
	enum { LEAST_LINE = 32, MOST_LINE = 256, MOST_WAYS = 1024 };
	static const uint64_t most_bytes = (uint64_t)1 << 30;

	return cache->line_bytes >= LEAST_LINE && cache->line_bytes <= MOST_LINE && cache->ways <= MOST_WAYS &&
	       is_power_of_two(cache->line_bytes) && cache->bytes <= most_bytes &&
	       cache->bytes % (cache->line_bytes * cache->ways) == 0 &&
	       is_power_of_two(cache->bytes / (cache->line_bytes * cache->ways));
}

bool simulator_take_caches(void *context, const char *text, struct error *err)
{
	static const char *const names[SIMULATOR_CACHES] = { "I1", "D1", "LL" };
	struct simulator_cache *caches = context;
	const char *at = text;

	simulator_default_caches(caches);
	for (size_t i = 0; i < SIMULATOR_CACHES; i++) {
		bool is_last = i + 1 == SIMULATOR_CACHES;

		if (!parse_cache(&at, &caches[i]) || *at != (is_last ? '\0' : ','))
			return error_set(err, ERROR_USAGE,
				"--cache '%.80s': write I1,D1,LL, each as SIZE:WAYS:LINE, for example 32k:8:64,48k:12:64,2M:16:64",
				text);
		if (!is_cache(&caches[i]))
			return error_set(err, ERROR_USAGE,
				"--cache '%.80s': %s has no number of sets that is a power of two: SIZE / (WAYS * LINE)",
				text, names[i]);
		at += !is_last;
	}
	return true;
}

/* ---- Where it is ---- */

bool simulator_find(struct simulator *simulator, struct error *err)
{
	return installation_find("sampler/simulate/tool", "", tool, simulator->library) ||
	       error_set(err, ERROR_NOT_FOUND,
		       "the tool %s is not there: build kelvin on a machine that has valgrind installed, or install it again",
		       tool);
}

/* ---- What it can run ---- */

static bool check_bytes(const char *path, const struct stat *info, struct error *err)
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char ident[EI_NIDENT] = { 0 };

	if (info->st_mode & (S_ISUID | S_ISGID))
		return error_set(err, ERROR_UNSUPPORTED,
			"%.200s is setuid, and valgrind runs no such program: make a copy, which has not these rights ('cp %.100s .'), and simulate that",
			path, path);
	if (fd < 0 || read(fd, ident, sizeof(ident)) != (ssize_t)sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return true;
	return ident[EI_CLASS] != ELFCLASS32 ||
	       error_set(err, ERROR_UNSUPPORTED,
		       "%.300s is a 32-bit program, which cannot be simulated: build it for x86-64", path);
}

static bool fail_as_exec(int number, const char *command, struct error *err)
{
	return error_set_errno(err, number, "cannot execute %.300s", command);
}

bool simulator_check_command(const char *command, struct error *err)
{
	char path[PATH_MAX];
	struct stat info;

	if (!file_find_program(command, path))
		return fail_as_exec(ENOENT, command, err);
	if (stat(path, &info) != 0)
		return fail_as_exec(errno, command, err);
	if (!S_ISREG(info.st_mode) || access(path, X_OK) != 0)
		return fail_as_exec(EACCES, command, err);
	return check_bytes(path, &info, err);
}

/* ---- How it is called ---- */

bool simulator_can_fix_addresses(void)
{
	int before = personality(0xffffffff);

	if (before < 0 || personality((unsigned long)before | ADDR_NO_RANDOMIZE) < 0)
		return false;
	personality((unsigned long)before);
	return true;
}

/*
 * Sets the environment against what would make two runs of one program differ, or hides names; what the user has set
 * stays.
 */
static void simulator_set_environment(const char *library)
{
	static const char *const values[][2] = {
		{ "PYTHONHASHSEED", "0" },
		{ "PYTHONPERFSUPPORT", "1" },
		{ "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack" },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		setenv(values[i][0], values[i][1], 0);
	setenv("VALGRIND_LIB", library, 1);
}

static bool can_keep_files(const char *where)
{
	struct error ignored;
	CLEANUP(cleanup_close) int fd = own_directory_open(where, (uid_t)-1, &ignored);

	return fd >= 0 && faccessat(fd, ".", W_OK, AT_EACCESS) == 0;
}

/* Valgrind keeps a file there for a moment; the program gets what it would have had, if that can be used safely. */
static void set_temporary(const char *directory)
{
	const char *where = getenv("TMPDIR");

	if (where && where[0] && can_keep_files(where))
		return;
	unsetenv("TMPDIR");
	if (!can_keep_files("/tmp"))
		setenv("TMPDIR", directory, 1);
}

void simulator_execute(const struct simulator *simulator, const struct simulator_call *call)
{
	static const char *const cache_options[SIMULATOR_CACHES] = { "--I1", "--D1", "--LL" };
	static const char *const fixed[] = { "--tool=kelvin", "-q", "--trace-children=yes", "--vgdb=no",
		"--sigill-diagnostics=yes", "--demangle=no" };
	enum { FIXED = sizeof(fixed) / sizeof(fixed[0]), OWN = 1 + FIXED + 4 + SIMULATOR_CACHES, OPTION = 96 };
	char launcher[PATH_MAX + OPTION], paths[2][PATH_MAX + OPTION], options[SIMULATOR_CACHES][OPTION];
	size_t count = 0, words = 0;
	const char **argv;
	int before = personality(0xffffffff);

	while (call->command[words])
		words++;
	argv = calloc(OWN + words + 1, sizeof(*argv));
	if (!argv)
		return;
	snprintf(launcher, sizeof(launcher), "%s/launcher", simulator->library);
	argv[count++] = launcher;
	for (size_t i = 0; i < FIXED; i++)
		argv[count++] = fixed[i];
	snprintf(paths[0], sizeof(paths[0]), "--out-dir=%s/counts", call->directory);
	snprintf(paths[1], sizeof(paths[1]), "--log-file=%s/log/%%p", call->directory);
	argv[count++] = paths[0];
	argv[count++] = paths[1];
	argv[count++] = call->counts_parts ? "--instr-atstart=no" : "--instr-atstart=yes";
	argv[count++] = call->folds_recursion ? "--fold-recursion=yes" : "--fold-recursion=no";
	for (size_t i = 0; i < SIMULATOR_CACHES; i++) {
		snprintf(options[i], OPTION, "%s=%llu,%llu,%llu", cache_options[i],
			(unsigned long long)call->caches[i].bytes, (unsigned long long)call->caches[i].ways,
			(unsigned long long)call->caches[i].line_bytes);
		argv[count++] = options[i];
	}
	for (size_t i = 0; i < words; i++)
		argv[count++] = call->command[i];
	if (before >= 0)
		personality((unsigned long)before | ADDR_NO_RANDOMIZE);
	simulator_set_environment(simulator->library);
	set_temporary(call->directory);
	execv(argv[0], (char *const *)argv);
	free(argv);
}

/* ---- What it says ---- */

/* Finds the line of a log that says something of use; false: there is none. */
static bool simulator_find_line(const char *directory, const char *name, const char *part, char *line, int size)
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/log/%s", directory, name) >= sizeof(path))
		return false;
	file = fopen(path, "re");
	while (file && fgets(line, size, file))
		if (strstr(line, part))
			return true;
	return false;
}

static void explain_instruction(const char *name, const char *line, struct buffer *notices)
{
	static const char marker[] = "instruction bytes: ";
	const char *bytes = strstr(line, marker);
	bool is_wide = bytes && strncmp(bytes + strlen(marker), "0x62", 4) == 0;

	buffer_printf(notices, "process %.20s ended at an instruction that valgrind does not know%s (%.19s): %s\n",
		name, is_wide ? ", of AVX-512" : "", bytes ? bytes + strlen(marker) : "",
		is_wide ? "build the program without -march=native, or with -mno-avx512f"
			: "build it for a plain x86-64 processor, as with -march=x86-64-v3");
}

void simulator_explain(const char *directory, struct buffer *notices)
{
	char path[PATH_MAX], line[512];
	const struct dirent *entry;
	DIR *logs;

	if ((size_t)snprintf(path, sizeof(path), "%s/log", directory) >= sizeof(path))
		return;
	logs = opendir(path);
	while (logs && (entry = readdir(logs)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (simulator_find_line(directory, entry->d_name, "unhandled instruction bytes", line, sizeof(line)))
			explain_instruction(entry->d_name, line, notices);
		else if (simulator_find_line(directory, entry->d_name, "kelvin: ", line, sizeof(line)))
			buffer_printf(notices, "%s", line);
	}
	if (logs)
		closedir(logs);
}
