/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/source_file.h"

#include "profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct source_file {
	struct source source;
	struct source_file_options options;
	struct foreign_input input;     /* its start decides whether it is a recording, or a profile */
	bool is_directory;              /* what `perf record --threads` leaves; `fd` is its file `data` */
	char cache_directory[PATH_MAX]; /* perf's, of a recording; "": there is none */
};

/* ---- Files that are open already ---- */

enum { MOST_GIVEN = 1024 };

/* The open files of a process that answers one question. */
static struct {
	struct {
		const char *name;
		int fd;
	} files[MOST_GIVEN];
	size_t count;
	bool are_all;
} given;

bool source_file_give(const char *name, int fd)
{
	if (given.count == MOST_GIVEN)
		return false;
	given.files[given.count].name = name;
	given.files[given.count++].fd = fd;
	return true;
}

void source_file_refuse_others(void)
{
	given.are_all = true;
}

bool source_file_are_given(void)
{
	return given.are_all;
}

static int source_file_open_named(const char *name)
{
	for (size_t i = 0; i < given.count; i++)
		if (strcmp(given.files[i].name, name) == 0)
			return fcntl(given.files[i].fd, F_DUPFD_CLOEXEC, 3);
	if (given.are_all) {
		errno = EACCES;
		return -1;
	}
	return open(name, O_RDONLY | O_CLOEXEC);
}

/* ---- Opening ---- */

/* perf names a directory where others name a file. */
static bool enter_directory(struct source_file *file, struct error *err)
{
	struct stat status;
	int fd;

	if (fstat(file->source.fd, &status) != 0 || !S_ISDIR(status.st_mode))
		return true;
	fd = openat(file->source.fd, "data", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ERROR_FORMAT,
			"cannot read %s: it is a directory, but not one of 'perf record --threads', which contains a file 'data'; name a profile",
			file->source.name);
	close(file->source.fd);
	file->source.fd = fd;
	file->is_directory = true;
	return true;
}

static bool open_input(const char *name, struct source_file *file, struct error *err)
{
	bool is_stdin = !given.are_all && !file->options.is_open && strcmp(name, "-") == 0;

	file->source.name = is_stdin ? "standard input" : name;
	file->source.fd = is_stdin                ? STDIN_FILENO
			  : file->options.is_open ? file->options.fd
						  : source_file_open_named(name);
	if (file->source.fd < 0 && errno == ENOENT)
		return error_set(err, ERROR_NOT_FOUND,
			"cannot read %s: No such file or directory; 'kelvin record -o %s' makes a profile with that name",
			name, name);
	if (file->source.fd < 0)
		return error_set_errno(err, errno, "cannot read %s", name);
	return enter_directory(file, err) && foreign_input_begin(&file->input, file->source.fd, file->source.name, err);
}

static enum foreign_kind source_file_kind_of(const struct source_file *file)
{
	return foreign_kind(file->input.head, file->input.head_bytes);
}

static bool is_recording(const struct source_file *file)
{
	return source_file_kind_of(file) == FOREIGN_PERF_DATA || source_file_kind_of(file) == FOREIGN_PART;
}

/* ---- Profiles ---- */

void source_file_keep_memory(void)
{
	(void)mallopt(M_MMAP_MAX, 0);
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

static bool file_read_profile(struct source *source, struct source_result *result, struct error *err)
{
	struct source_file *file = (struct source_file *)source;

	if (source_file_kind_of(file) == FOREIGN_PPROF)
		source_file_keep_memory();
	return foreign_input_read(&file->input, &result->recording.profile, err);
}

/* ---- Recordings ---- */

static bool file_read_recording(struct source *source, struct source_result *result, struct error *err)
{
	const struct source_file *file = (const struct source_file *)source;
	struct recording_file recorded = {
		.fd = file->source.fd,
		.head = file->input.head,
		.head_bytes = file->input.head_bytes,
		.name = source->name,
		.directory = file->is_directory ? source->name : NULL,
		.event = file->options.event,
		.verify_every = file->options.verify_every,
		.opener = file->options.opener,
		.cache_directory = file->cache_directory[0] ? file->cache_directory : NULL,
	};

	if (source_file_kind_of(file) == FOREIGN_PART)
		return sampler_read_part(&recorded, &result->recording, &result->notices, err);
	return sampler_read_perf_data(&recorded, &result->recording, &result->notices, err);
}

bool source_file_is_directory(const struct source *source)
{
	return ((const struct source_file *)source)->is_directory;
}

/* ---- The source ---- */

static void file_destroy(struct source *source)
{
	struct source_file *file = (struct source_file *)source;

	if (file->source.fd > STDIN_FILENO)
		close(file->source.fd);
	free(file);
}

static const struct source_functions profile_functions = { .read = file_read_profile, .destroy = file_destroy };
static const struct source_functions recording_functions = { .read = file_read_recording, .destroy = file_destroy };

/* Fails unless what was opened is what the caller can use. */
static bool source_file_check_kind(const struct source_file *file, struct error *err)
{
	const char *name = file->source.name;

	if (file->options.is_recovery && source_file_kind_of(file) != FOREIGN_PART)
		return error_set(err, ERROR_USAGE, "cannot recover %s: it is not the FILE.part of a killed recording%s",
			name,
			source_file_kind_of(file) == FOREIGN_UNKNOWN ? "" : "; 'kelvin report' can read it directly");
	/* Their stacks are unwound with binaries that lie wherever the file says. */
	if (is_recording(file) && given.are_all)
		return error_set(err, ERROR_UNSUPPORTED,
			"cannot read %s here: it is a recording of addresses, for which binaries elsewhere would be read; 'kelvin report' reads it by hand",
			name);
	if (is_recording(file))
		return true;
	if (file->options.verify_every > 0)
		return error_set(err, ERROR_USAGE,
			"--verify: %s has no copies of stacks to unwind; it is of use with a perf.data file, and with 'kelvin record'",
			name);
	if (file->is_directory)
		return error_set(err, ERROR_FORMAT, "cannot read %s: its file 'data' is %s; record it again", name,
			file->input.head_bytes ? "not a file of 'perf record'" : "empty");
	return true;
}

bool source_file_open(
	const char *name, const struct source_file_options *options, struct source **source, struct error *err)
{
	CLEANUP(source_cleanup) struct source *made = NULL;
	struct source_file *file = calloc(1, sizeof(*file));

	if (!file) {
		if (options->is_open)
			close(options->fd);
		return error_set_memory(err);
	}
	*file = (struct source_file){ .source = { .functions = &profile_functions, .fd = -1 }, .options = *options };
	made = &file->source;
	if (!open_input(name, file, err) || !source_file_check_kind(file, err))
		return false;
	made->is_named = !is_recording(file);
	if (is_recording(file)) {
		made->functions = &recording_functions;
		if (!symbolize_perf_cache_directory(file->cache_directory, sizeof(file->cache_directory)))
			file->cache_directory[0] = '\0';
		/* perf.data has copies of stacks. */
		(void)!rights_undumpable();
	}
	*source = TAKE(made);
	return true;
}
