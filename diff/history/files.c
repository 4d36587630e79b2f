/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILES = 1 << 17, MAX_THREADS = 8, MOST_TOLD = 10 };
static const size_t max_file_bytes = (size_t)512 << 20, max_summary_bytes = (size_t)64 << 20;
static const int64_t second_ns = 1000000000;

/* ---- Opening ---- */

void history_files_deinit(struct history_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		close(files->items[i].fd);
		free(files->items[i].path);
		buffer_deinit(&files->items[i].summary);
	}
	free(files->items);
	free(files->of_summary);
}

/* Makes a tag that changes whenever the bytes do: a file that is replaced or written again is another one. */
static void files_tag(const struct stat *stat, uint8_t tag[SUMMARY_TAG_BYTES])
{
	const int64_t parts[] = { (int64_t)stat->st_dev, (int64_t)stat->st_ino, stat->st_size,
		stat->st_mtim.tv_sec * second_ns + stat->st_mtim.tv_nsec,
		stat->st_ctim.tv_sec * second_ns + stat->st_ctim.tv_nsec };

	_Static_assert(sizeof(parts) == SUMMARY_TAG_BYTES, "a tag is all of them");
	memcpy(tag, parts, sizeof(parts));
}

/* Takes the path over. `name_at`: where in it the name begins. */
static bool files_add(
	struct history_files *files, char *path, size_t name_at, int fd, const struct stat *stat, struct error *err)
{
	struct history_file *file;

	if (!ARRAY_RESERVE(&files->items, &files->capacity, files->count + 1, MAX_FILES, err)) {
		free(path);
		close(fd);
		return false;
	}
	file = &files->items[files->count++];
	*file = (struct history_file){ .path = path, .name = path + name_at, .fd = fd, .stat = *stat };
	files_tag(stat, file->tag);
	return true;
}

static int files_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Links are left out: in a directory of somebody else they lead wherever that one likes, which is not for root to read.
 */
static bool files_add_entry(struct history_files *files, const struct history_reading *reading, const char *directory,
	int at, const char *name, struct error *err)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat stat;
	char *path;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return error_set_errno(err, errno,
			"cannot open %s/%s with %zu others; name fewer profiles, or raise 'ulimit -n'", directory, name,
			files->count);
	if (fd < 0 || fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode)) {
		if (fd < 0 && errno == EACCES)
			reading->say("kelvin: cannot read %s/%s: Permission denied; it is left out\n", directory, name);
		files->left_out++;
		if (fd >= 0)
			close(fd);
		return true;
	}
	if (asprintf(&path, "%s%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/", name) < 0) {
		close(fd);
		return error_set_memory(err);
	}
	return files_add(files, path, strlen(path) - strlen(name), fd, &stat, err);
}

static bool files_list(DIR *stream, char ***names, size_t *count, struct error *err)
{
	const struct dirent *entry;
	size_t capacity = 0;

	while ((entry = readdir(stream))) {
		if (entry->d_name[0] == '.')
			continue;
		if (!ARRAY_RESERVE(names, &capacity, *count + 1, MAX_FILES, err))
			return false;
		(*names)[*count] = memory_copy_string(entry->d_name);
		if (!(*names)[*count])
			return error_set_memory(err);
		++*count;
	}
	if (*count > 0)
		qsort(*names, *count, sizeof(**names), files_by_name);
	return true;
}

static bool files_add_directory(struct history_files *files, const struct history_reading *reading,
	const char *directory, int fd, struct error *err)
{
	DIR *stream = fdopendir(fd);
	char **names = NULL;
	size_t count = 0;
	bool ok;

	if (!stream) {
		close(fd);
		return error_set_errno(err, errno, "cannot list %s", directory);
	}
	ok = files_list(stream, &names, &count, err);
	for (size_t i = 0; i < count; i++) {
		ok = ok && files_add_entry(files, reading, directory, dirfd(stream), names[i], err);
		free(names[i]);
	}
	free(names);
	closedir(stream);
	return ok;
}

static bool files_add_named(
	struct history_files *files, const struct history_reading *reading, const char *name, struct error *err)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	char *path;

	if (fd < 0 || fstat(fd, &stat) != 0)
		return error_set_errno(err, errno, "cannot read %s", name);
	if (S_ISDIR(stat.st_mode))
		return files_add_directory(files, reading, name, fd, err);
	if (!S_ISREG(stat.st_mode)) {
		close(fd);
		return error_set(err, ERROR_USAGE,
			"cannot read %s: a history is made of files, which may be read again; save it in one", name);
	}
	path = memory_copy_string(name);
	return files_add(files, path, 0, fd, &stat, err);
}

/* Finds the directory of the first file: what is kept of its profiles is kept together. */
static void files_find_directory(struct history_files *files)
{
	char *path = files->count ? memory_copy_string(files->items[0].path) : NULL;
	char *slash = path ? strrchr(path, '/') : NULL;

	if (slash)
		*(slash == path ? slash + 1 : slash) = '\0';
	if (!path || stat(slash ? path : ".", &files->directory) != 0)
		files->directory = (struct stat){ 0 };
	free(path);
}

bool history_files_open(char *const *names, size_t count, const struct history_reading *reading,
	struct history_files *files, struct error *err)
{
	file_allow_many();
	for (size_t i = 0; i < count; i++)
		if (!files_add_named(files, reading, names[i], err))
			return false;
	files->is_whole = count == 1 && files->count > 0 && files->items[0].name != files->items[0].path;
	files_find_directory(files);
	return true;
}

bool history_files_take(struct history_files *files, struct store_profiles *fetched, struct error *err)
{
	for (size_t i = 0; i < fetched->count; i++) {
		struct store_profile *item = &fetched->items[i];
		char *path = TAKE(item->name);
		struct stat stat;
		int fd = item->fd;

		item->fd = -1;
		if (fstat(fd, &stat) != 0) {
			free(path);
			close(fd);
			return error_set_errno(err, errno, "cannot read what a store has sent");
		}
		if (!files_add(files, path, 0, fd, &stat, err))
			return false;
	}
	return true;
}

/* ---- Reading one ---- */

static bool files_has_grown(const struct history_file *file)
{
	struct stat now;
	uint8_t tag[SUMMARY_TAG_BYTES];

	if (fstat(file->fd, &now) != 0)
		return true;
	files_tag(&now, tag);
	return memcmp(tag, file->tag, sizeof(tag)) != 0;
}

/* Reads the profile of a file, or says by the file's state why there is none. */
static bool files_read_profile(const struct history_file *file, const struct history_reading *reading,
	enum history_file_state *state, uint64_t id[2], struct profile **profile, struct error *err)
{
	const struct file_opened opened = { file->path, file->fd };
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(max_file_bytes);
	CLEANUP(profile_cleanup) struct profile *read = NULL;
	CLEANUP(profile_cleanup) struct profile *joined = NULL;
	uint8_t digest[MD5_BYTES];
	enum foreign_kind kind;

	if (!file_read_opened(&opened, &bytes, err))
		return false;
	kind = foreign_kind(bytes.data, bytes.size);
	*state = kind == FOREIGN_PERF_DATA ? HISTORY_FILE_ADDRESSES
		 : kind == FOREIGN_PART    ? HISTORY_FILE_PART
		 : kind == FOREIGN_UNKNOWN ? HISTORY_FILE_OTHER
					   : HISTORY_FILE_READ;
	if (*state != HISTORY_FILE_READ)
		return true;
	md5(bytes.data, bytes.size, digest);
	memcpy(id, digest, sizeof(digest));
	if (!foreign_read(bytes.data, bytes.size, file->path, &read, err))
		return false;
	/* One wrong or incomplete profile among many would look like a change of the program. */
	if (profile_first_doubt(read))
		return error_set(err, ERROR_FORMAT, "%s: %s", file->path, profile_first_doubt(read));
	if (!reading->name(reading->context, file->path, read, err) || !profile_join_phases(read, &joined, err))
		return false;
	*profile = joined ? TAKE(joined) : TAKE(read);
	return true;
}

static bool files_summarize(
	struct history_file *file, const struct history_reading *reading, struct buffer *out, struct error *err)
{
	struct summary_options options = { .metric = reading->metric,
		.file_time_unix_ns = file->stat.st_mtim.tv_sec * second_ns + file->stat.st_mtim.tv_nsec };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;

	if (!files_read_profile(file, reading, &file->state, options.id, &profile, err))
		return false;
	if (files_has_grown(file))
		return error_set(err, ERROR_FORMAT, "cannot read %s: it is being written", file->path);
	if (file->state != HISTORY_FILE_READ)
		return true;
	return reading->find_idle(reading->context, &profile, 1, err) && summary_set_create(&set, err) &&
	       history_summarize(set, profile, &options, err) && summary_write(set, 0, out, err);
}

/* ---- Reading all ---- */

struct files_work {
	struct history_files *files;
	const struct history_reading *reading;
	struct summary_set *set;
	struct history_cache *cache;
	size_t *jobs; /* owned: files that are to be read */
	pthread_mutex_t mutex;
	size_t next;      /* the first file that is not in the set */
	bool has_failed;  /* `err` */
	struct error err; /* of memory alone: all others are of one file */
};

static bool files_has_labels(const struct files_work *work, const struct summary *summary)
{
	for (size_t i = 0; i < work->reading->label_count; i++) {
		const char *label = work->reading->labels[i], *equals = strchr(label, '=');
		char key[PROFILE_LABEL_KEY_BYTES + 1];
		const char *value;

		snprintf(key, sizeof(key), "%.*s", (int)(equals - label), label);
		value = summary_label(work->set, summary, key);
		if (!value || strcmp(value, equals + 1) != 0)
			return false;
	}
	return true;
}

/* Adds the summary of a file to the set, unless it is not of those that are wanted. */
static bool files_take(struct files_work *work, size_t index, struct error *err)
{
	struct history_file *file = &work->files->items[index];
	struct summary *summary;

	if (!(file->is_from_cache ? summary_archive_add(work->cache->archive,
					    summary_archive_find(work->cache->archive, file->tag), err)
				  : summary_read(work->set, file->summary.data, file->summary.size, err)))
		return false;
	summary = &work->set->items[work->set->count - 1];
	if (!files_has_labels(work, summary)) {
		summary_drop_last(work->set);
		return true;
	}
	work->files->of_summary[work->set->count - 1] = index;
	return string_table_add(work->set->strings, file->name, strlen(file->name), &summary->name, err);
}

/* Takes all files whose turn has come: the set does not depend on which one was read first. */
static void files_take_turns(struct files_work *work)
{
	while (work->next < work->files->count && work->files->items[work->next].is_done && !work->has_failed) {
		struct history_file *file = &work->files->items[work->next];

		if (file->state == HISTORY_FILE_READ && !files_take(work, work->next, &file->why))
			file->state = HISTORY_FILE_REFUSED;
		if (file->state == HISTORY_FILE_REFUSED && file->why.code == ERROR_MEMORY) {
			work->has_failed = true;
			work->err = file->why;
		}
		buffer_deinit(&file->summary);
		file->summary = (struct buffer){ 0 };
		work->next++;
	}
}

static void files_job(void *context, size_t job)
{
	struct files_work *work = context;
	struct history_file *file = &work->files->items[work->jobs[job]];

	buffer_init(&file->summary, max_summary_bytes);
	if (!files_summarize(file, work->reading, &file->summary, &file->why))
		file->state = HISTORY_FILE_REFUSED;
	pthread_mutex_lock(&work->mutex);
	file->is_done = true;
	files_take_turns(work);
	pthread_mutex_unlock(&work->mutex);
}

/* ---- What is left out ---- */

static void files_tell_number(const struct history_files *files, const struct history_reading *reading,
	enum history_file_state state, const char *words)
{
	const struct history_file *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].state == state) {
			first = first ? first : &files->items[i];
			count++;
		}
	if (count == 1)
		reading->say("kelvin: %s %s\n", first->path, words);
	else if (count > 1)
		reading->say("kelvin: %s and %zu other files: each %s\n", first->path, count - 1, words);
}

static void files_tell(const struct history_files *files, const struct history_reading *reading)
{
	size_t refused = 0;

	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].state == HISTORY_FILE_REFUSED && ++refused <= MOST_TOLD)
			reading->say("kelvin: %s; it is left out\n", files->items[i].why.message);
	if (refused > MOST_TOLD)
		reading->say("kelvin: %zu more files cannot be read and are left out\n", refused - MOST_TOLD);
	files_tell_number(files, reading, HISTORY_FILE_OTHER, "is no profile, and left out");
	files_tell_number(files, reading, HISTORY_FILE_PART,
		"is a recording that is not finished, and left out ('kelvin recover' ends it)");
	files_tell_number(files, reading, HISTORY_FILE_ADDRESSES,
		"is a perf.data file, which has addresses in place of names, and left out; 'kelvin record' makes a profile that has them");
}

static void files_choose_jobs(struct files_work *work, size_t *count)
{
	struct history_files *files = work->files;

	work->jobs = memory_zeroed(files->count + 1, sizeof(*work->jobs));
	files->of_summary = memory_zeroed(files->count + 1, sizeof(*files->of_summary));
	for (size_t i = 0; i < files->count; i++) {
		struct history_file *file = &files->items[i];

		file->is_from_cache =
			work->cache->archive && summary_archive_find(work->cache->archive, file->tag) != SIZE_MAX;
		if (file->is_from_cache) {
			file->state = HISTORY_FILE_READ;
			file->is_done = true;
		} else {
			work->jobs[(*count)++] = i;
		}
	}
}

bool history_files_read(struct history_files *files, const struct history_reading *reading, struct summary_set *set,
	struct history_cache *cache, struct error *err)
{
	struct files_work work = { files, reading, set, cache, .mutex = PTHREAD_MUTEX_INITIALIZER };
	unsigned int threads = work_pool_threads(0);
	size_t count = 0;

	if (files->store)
		return store_history_read(files->store, set, err);
	files_choose_jobs(&work, &count);
	work_pool_run(threads < MAX_THREADS ? threads : MAX_THREADS, count, files_job, &work);
	files_take_turns(&work);
	free(work.jobs);
	pthread_mutex_destroy(&work.mutex);
	for (size_t i = 0; i < files->count; i++)
		files->has_new |= files->items[i].state == HISTORY_FILE_READ && !files->items[i].is_from_cache;
	files_tell(files, reading);
	if (work.has_failed)
		*err = work.err;
	return !work.has_failed;
}

/* Fetches the profiles of a store, as it sends them now. */
static bool files_fetch_profile(const struct history_files *files, const struct history_reading *reading,
	const size_t *summaries, size_t count, struct profile **profile, struct error *err)
{
	const char *name = files->store->address.text;
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(SIZE_MAX);
	CLEANUP(profile_cleanup) struct profile *all = NULL;
	struct byte_reader reader;

	if (!store_history_profiles(files->store, summaries, count, &bytes, err))
		return false;
	reader = byte_reader_over(bytes.data, bytes.size);
	while (byte_reader_left(&reader) > 0) {
		CLEANUP(profile_cleanup) struct profile *next = NULL;
		CLEANUP(profile_cleanup) struct profile *joined = NULL;
		size_t size = (size_t)byte_reader_u64(&reader);
		const uint8_t *pprof = byte_reader_bytes(&reader, size);

		if (!pprof)
			return error_set(err, ERROR_FORMAT, "%s: what it has sent is damaged", name);
		if (!foreign_read(pprof, size, name, &next, err) || !reading->name(reading->context, name, next, err) ||
			!profile_join_phases(next, &joined, err))
			return false;
		if (!all)
			all = joined ? TAKE(joined) : TAKE(next);
		else if (!profile_merge(all, joined ? joined : next, err))
			return false;
	}
	*profile = TAKE(all);
	return *profile || error_set(err, ERROR_EMPTY, "no profile is on a side of the pair");
}

bool history_files_profile(const struct history_files *files, const struct history_reading *reading,
	const size_t *summaries, size_t count, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *all = NULL;

	if (files->store)
		return files_fetch_profile(files, reading, summaries, count, profile, err);
	for (size_t i = 0; i < count; i++) {
		const struct history_file *file = &files->items[files->of_summary[summaries[i]]];
		CLEANUP(profile_cleanup) struct profile *next = NULL;
		enum history_file_state state;
		uint64_t id[2];

		if (!files_read_profile(file, reading, &state, id, &next, err))
			return false;
		if (!next || files_has_grown(file))
			return error_set(err, ERROR_FORMAT, "cannot read %s again: it has changed", file->path);
		if (!all)
			all = TAKE(next);
		else if (!profile_merge(all, next, err))
			return error_prefix(err, "cannot add %s to the profiles before it", file->path);
	}
	*profile = TAKE(all);
	return *profile || error_set(err, ERROR_EMPTY, "no profile is on a side of the pair");
}

/* ---- The cache ---- */

void history_files_append_key(const struct history_files *files, const char *metric, struct buffer *key)
{
	struct stat program = { 0 };
	uint64_t parts[4];

	(void)!stat("/proc/self/exe", &program);
	parts[0] = (uint64_t)program.st_ino;
	parts[1] = (uint64_t)program.st_mtim.tv_sec;
	parts[2] = (uint64_t)files->directory.st_dev;
	parts[3] = (uint64_t)files->directory.st_ino;
	buffer_append(key, parts, sizeof(parts));
	buffer_append_string(key, metric ? metric : "");
}

static bool files_are_worth_a_cache(const struct history_files *files, const struct history_cache *cache)
{
	size_t kept = cache->archive ? summary_archive_count(cache->archive) : 0, read = 0;

	for (size_t i = 0; i < files->count; i++)
		read += files->items[i].state == HISTORY_FILE_READ;
	return (files->is_whole || read >= kept) && (files->has_new || cache->has_new_findings);
}

/* The cache is of no harm: what goes wrong with it costs time alone. */
bool history_files_make_cache(const struct history_files *files, const struct history_reading *reading,
	const struct history_cache *cache, const struct summary_set *set, struct buffer *out)
{
	CLEANUP(cleanup_free) uint8_t(*tags)[SUMMARY_TAG_BYTES] = memory_zeroed(set->count + 1, sizeof(*tags));
	CLEANUP(cleanup_free) size_t *all = memory_zeroed(set->count + 1, sizeof(*all));
	struct error ignored;

	if (!tags || !all || reading->label_count > 0 || !files_are_worth_a_cache(files, cache))
		return false;
	for (size_t i = 0; i < set->count; i++) {
		all[i] = i;
		memcpy(tags[i], files->items[files->of_summary[i]].tag, sizeof(tags[i]));
	}
	return history_cache_write(
		cache, set, all, set->count, (const uint8_t(*)[SUMMARY_TAG_BYTES])tags, out, &ignored);
}
