/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/load.h"

#include "cli/cli.h"
#include "cli/verification.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>

/* The start of a file decides whether it is a recording, which is streamed, or a profile, which is read whole. */
enum { HEAD_BYTES = 16, FIRST_BYTES = 1 << 20, MAX_NOTICE_BYTES = 1 << 16 };
static const size_t max_file_bytes = (size_t)2 << 30;

struct source {
	const char *name;  /* as it stands in messages */
	int fd;            /* owned, unless it is standard input */
	bool is_stream;    /* what has been read of it is gone */
	uint64_t offset;   /* so much of it has been read */
	bool is_directory; /* what `perf record --threads` leaves; `fd` is its file `data` */
	uint8_t head[HEAD_BYTES];
	size_t head_bytes;
};

static void source_close(struct source *source)
{
	if (source->fd > STDIN_FILENO)
		close(source->fd);
}

/* perf names a directory where others name a file. */
static bool enter_directory(struct source *source, struct error *err)
{
	struct stat status;
	int fd;

	if (fstat(source->fd, &status) != 0 || !S_ISDIR(status.st_mode))
		return true;
	fd = openat(source->fd, "data", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ERROR_FORMAT,
			"cannot read %s: it is a directory, but not one of 'perf record --threads', which contains a file 'data'; name a profile",
			source->name);
	close(source->fd);
	source->fd = fd;
	source->is_directory = true;
	return true;
}

/* Of a file its own position stays at the start. */
static bool read_on(void *context, void *into, size_t room, size_t *got, struct error *err)
{
	struct source *source = context;
	ssize_t count;

	do {
		count = source->is_stream ? read(source->fd, into, room)
					  : pread(source->fd, into, room, (off_t)source->offset);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return error_set_errno(err, errno, "cannot read %s", source->name);
	source->offset += (uint64_t)count;
	*got = (size_t)count;
	return true;
}

static bool read_head(struct source *source, struct error *err)
{
	size_t got = 1;

	while (source->head_bytes < HEAD_BYTES && got > 0) {
		if (!read_on(source, source->head + source->head_bytes, HEAD_BYTES - source->head_bytes, &got, err))
			return false;
		source->head_bytes += got;
	}
	return true;
}

static bool source_open(const char *name, struct source *source, struct error *err)
{
	bool is_stdin = strcmp(name, "-") == 0;

	*source = (struct source){ .name = is_stdin ? "standard input" : name, .fd = STDIN_FILENO };
	if (!is_stdin)
		source->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 && errno == ENOENT)
		return error_set(err, ERROR_NOT_FOUND,
			"cannot read %s: No such file or directory; 'kelvin record -o %s' makes a profile with that name",
			name, name);
	if (source->fd < 0)
		return error_set_errno(err, errno, "cannot read %s", name);
	if (enter_directory(source, err)) {
		source->is_stream = lseek(source->fd, 0, SEEK_CUR) < 0;
		if (read_head(source, err))
			return true;
	}
	source_close(source);
	return false;
}

/*
 * What a profile takes while it is read serves the next one, and the comparison, instead of going back to the kernel,
 * which would clear it anew: a fifth of the time of comparing two large profiles.
 */
static void keep_memory(void)
{
	(void)mallopt(M_MMAP_MAX, 0);
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

/* Kelvin's own profiles carry origins that were decided with the binaries at hand: better than what can be told from
 * names. */
static bool is_own(const struct profile *profile)
{
	return strncmp(profile_string(profile, profile->facts.tool), "kelvin ", 7) == 0;
}

/* Enough to tell what it is, a first line of folded stacks with it. */
static bool read_first(struct source *source, struct buffer *bytes, struct error *err)
{
	size_t got = 1;

	buffer_append(bytes, source->head, source->head_bytes);
	while (bytes->size < FIRST_BYTES && got > 0) {
		char *into = buffer_reserve(bytes, FIRST_BYTES - bytes->size);

		if (!into)
			return error_set_memory(err);
		if (!read_on(source, into, FIRST_BYTES - bytes->size, &got, err))
			return false;
		buffer_commit(bytes, got);
	}
	return buffer_ok(bytes, err);
}

/* From the descriptor that is open: a named pipe that is opened once more waits for another writer. */
static bool read_stream(struct source *source, struct buffer *bytes, struct error *err)
{
	size_t got = 1;

	while (got > 0) {
		char *into = buffer_reserve(bytes, FIRST_BYTES);

		if (!into)
			return buffer_ok(bytes, err) || error_prefix(err, "cannot read %s", source->name);
		if (!read_on(source, into, FIRST_BYTES, &got, err))
			return false;
		buffer_commit(bytes, got);
	}
	return true;
}

static bool read_rest(struct source *source, struct buffer *bytes, struct error *err)
{
	if (source->is_stream)
		return read_stream(source, bytes, err);
	bytes->size = 0;
	return file_read(source->fd == STDIN_FILENO ? "-" : source->name, bytes, err);
}

static bool read_profile(struct source *source, struct buffer *bytes, struct profile **profile, struct error *err)
{
	struct profile_text text = { .read = read_on, .context = source };

	if (!read_first(source, bytes, err))
		return false;
	if (bytes->size == FIRST_BYTES && profile_bytes_kind(bytes->data, bytes->size) == PROFILE_BYTES_FOLDED) {
		text.head = bytes->data;
		text.head_bytes = bytes->size;
		return profile_read_folded(&text, source->name, profile, err);
	}
	if (!read_rest(source, bytes, err))
		return false;
	if (profile_bytes_kind(bytes->data, bytes->size) == PROFILE_BYTES_PPROF)
		keep_memory();
	return profile_read(bytes->data, bytes->size, source->name, profile, err);
}

static bool load_profile(
	struct source *source, const struct symbolize_options *options, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *loaded = NULL;
	struct buffer bytes;
	bool ok;

	buffer_init(&bytes, max_file_bytes);
	ok = read_profile(source, &bytes, &loaded, err);
	buffer_deinit(&bytes);
	if (!ok)
		return false;
	if (!options->names_only && (!is_own(loaded) || options->origin_rules || options->project_root_count) &&
		!symbolize_origins(loaded, options, err))
		return error_prefix(err, "cannot find out the origins of the functions in %s", source->name);
	*profile = TAKE(loaded);
	return true;
}

static enum profile_bytes_kind kind_of(const struct source *source)
{
	return profile_bytes_kind(source->head, source->head_bytes);
}

static bool read_recording(const struct source *source, const char *event, uint32_t verify_every,
	struct sampler_result *result, struct buffer *notices, struct error *err)
{
	const char *home = getenv("HOME");
	char cache[PATH_MAX];
	struct sampler_recorded recorded = {
		.fd = source->fd,
		.head = source->head,
		.head_bytes = source->head_bytes,
		.name = source->name,
		.directory = source->is_directory ? source->name : NULL,
		.event = event,
		.verify_every = verify_every,
	};

	if (home && (size_t)snprintf(cache, sizeof(cache), "%s/.debug", home) < sizeof(cache))
		recorded.cache_directory = cache;
	if (kind_of(source) == PROFILE_BYTES_PART)
		return sampler_read_part(&recorded, result, notices, err);
	return sampler_read_perf_data(&recorded, result, notices, err);
}

/* The kernel may be another one than that of now, whose symbols must not be taken then; its notice has been given
 * already. */
static bool name_recording(struct sampler_result *result, const struct symbolize_options *options,
	struct buffer *notices, struct error *err)
{
	struct symbolize_options naming = *options;
	struct symbolize_stats stats;
	char cache[PATH_MAX];
	bool no_kernel = result->kallsyms && result->kallsyms[0] == '\0';

	/* A file is read more than once: as text, as a page, against another one. */
	if (symbolize_cache_directory(cache, sizeof(cache)))
		naming.cache_directory = cache;
	naming.kallsyms_path = no_kernel ? "/dev/null" : result->kallsyms;
	naming.kernel_is_running = result->kernel_is_running;
	naming.inherited_jit_maps = (const char *const *)result->inherited_jit_maps;
	return symbolize_profile(result->profile, result->images, (const char *const *)result->jit_maps, &naming,
		       &stats, no_kernel ? NULL : notices, err) &&
	       verification_finish(result, &naming.debug, notices, err);
}

static bool load_recording(
	const struct source *source, const struct load_options *options, struct profile **profile, struct error *err)
{
	struct sampler_result result = { 0 };
	struct buffer notices;
	bool ok;

	buffer_init(&notices, MAX_NOTICE_BYTES);
	ok = read_recording(source, options->metric, options->verify_every, &result, &notices, err) &&
	     name_recording(&result, &options->naming, &notices, err);
	if (ok)
		*profile = TAKE(result.profile);
	cli_print_notices(&notices);
	sampler_result_deinit(&result);
	buffer_deinit(&notices);
	return ok;
}

static bool load_file(const char *name, const struct load_options *options, struct profile **profile, struct error *err)
{
	struct source source;
	bool ok;

	if (!source_open(name, &source, err))
		return false;
	if (kind_of(&source) == PROFILE_BYTES_PERF_DATA || kind_of(&source) == PROFILE_BYTES_PART)
		ok = load_recording(&source, options, profile, err);
	else if (options->verify_every > 0)
		ok = error_set(err, ERROR_USAGE,
			"--verify: %s has no copies of stacks to unwind; it is of use with a perf.data file, and with 'kelvin record'",
			source.name);
	else if (source.is_directory)
		ok = error_set(err, ERROR_FORMAT, "cannot read %s: its file 'data' is %s; record it again", source.name,
			source.head_bytes ? "not a file of 'perf record'" : "empty");
	else
		ok = load_profile(&source, &options->naming, profile, err);
	source_close(&source);
	return ok;
}

static bool load_into(const char *name, const struct load_options *options, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *next = NULL;

	if (!*profile)
		return load_file(name, options, profile, err);
	if (!load_file(name, options, &next, err))
		return false;
	if (!profile_merge(*profile, next, err))
		return error_prefix(err, "cannot add %s to the profiles before it", name);
	return true;
}

static bool load_each(char *names, const struct load_options *options, struct profile **profile, struct error *err)
{
	char *rest = NULL;

	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!load_into(name, options, profile, err))
			return false;
	return *profile || error_set(err, ERROR_USAGE, "cannot read a profile: its name is empty");
}

bool load_profiles(const char *names, const struct load_options *options, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *loaded = NULL;
	CLEANUP(cleanup_free) char *copy = strdup(names);

	if (!copy)
		return error_set_memory(err);
	if (strchr(names, ',') && access(names, F_OK) == 0) {
		if (!load_file(names, options, &loaded, err))
			return false;
	} else if (!load_each(copy, options, &loaded, err)) {
		return false;
	}
	*profile = TAKE(loaded);
	return true;
}

bool load_part(const char *name, const struct symbolize_options *options, struct profile **profile, struct error *err)
{
	const struct load_options all = { .naming = *options };
	struct source source;
	bool ok;

	if (!source_open(name, &source, err))
		return false;
	if (kind_of(&source) == PROFILE_BYTES_PART)
		ok = load_recording(&source, &all, profile, err);
	else
		ok = error_set(err, ERROR_USAGE, "cannot recover %s: it is not the FILE.part of a killed recording%s",
			source.name,
			kind_of(&source) == PROFILE_BYTES_UNKNOWN ? "" : "; 'kelvin report' can read it directly");
	source_close(&source);
	return ok;
}
