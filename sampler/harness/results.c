/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	MAX_STATS = 1 << 17,
	MAX_FILES = 1 << 12,
	MAX_TOOLCHAIN_BYTES = 500,
	MAX_URI_BYTES = 3 << 12, /* cleaned, as those of windows */
};
static const size_t max_file_bytes = (size_t)16 << 20, max_total_bytes = (size_t)128 << 20;
static const double largest_count = 1e15;

void results_init(struct results *results)
{
	*results = (struct results){ 0 };
	buffer_init(&results->toolchain, MAX_TOOLCHAIN_BYTES);
}

void results_deinit(struct results *results)
{
	for (size_t i = 0; i < results->count; i++)
		free(results->items[i].uri);
	free(results->items);
	buffer_deinit(&results->toolchain);
	results_init(results);
}

/* ---- results/<pid>.json ---- */

static bool results_read_number(const json_t *object, const char *key, double *value)
{
	const json_t *number = json_object_get(object, key);

	*value = json_number_value(number);
	return json_is_number(number) && isfinite(*value) && *value >= 0;
}

static bool read_count(const json_t *object, const char *key, uint64_t *count)
{
	double value;

	if (!results_read_number(object, key, &value) || value < 1 || value > largest_count)
		return false;
	*count = (uint64_t)value;
	return true;
}

static bool read_stats(const json_t *benchmark, struct results_stats *stats)
{
	const json_t *from = json_object_get(benchmark, "stats");

	return results_read_number(from, "q1_ns", &stats->q1_ns) &&
	       results_read_number(from, "median_ns", &stats->median_ns) &&
	       results_read_number(from, "q3_ns", &stats->q3_ns) &&
	       results_read_number(from, "mean_ns", &stats->mean_ns) &&
	       results_read_number(from, "stdev_ns", &stats->stdev_ns) && read_count(from, "rounds", &stats->rounds) &&
	       read_count(from, "iter_per_round", &stats->iterations);
}

/* Cleans a URI as the session does, so that both are equal. */
static char *clean_uri(const char *uri)
{
	struct buffer clean;

	buffer_init(&clean, MAX_URI_BYTES + 1);
	unicode_append_clean(&clean, uri);
	buffer_append_byte(&clean, '\0');
	if (!clean.failed)
		return clean.data;
	buffer_deinit(&clean);
	return NULL;
}

static bool add_stats(struct results *results, const json_t *benchmark, int32_t pid, struct error *err)
{
	struct results_stats stats = { .pid = pid, .order = results->count };
	const char *uri = json_string_value(json_object_get(benchmark, "uri"));

	if (!uri || !read_stats(benchmark, &stats))
		return true;
	if (!ARRAY_RESERVE(&results->items, &results->capacity, results->count + 1, MAX_STATS, err))
		return false;
	stats.uri = clean_uri(uri);
	/* A URI that is too long is none of ours. */
	if (stats.uri)
		results->items[results->count++] = stats;
	return true;
}

static bool results_load(const void *bytes, size_t size, json_t **root, struct error *err)
{
	json_error_t why;

	*root = json_loadb(bytes, size, 0, &why);
	return *root || error_set(err, ERROR_FORMAT, "no JSON: line %d: %s", why.line, why.text);
}

bool results_add(struct results *results, const void *bytes, size_t size, struct error *err)
{
	const json_t *benchmarks, *pid, *benchmark;
	json_t *root;
	bool ok = true;
	size_t i;

	if (!results_load(bytes, size, &root, err))
		return false;
	results->is_sorted = false;
	benchmarks = json_object_get(root, "benchmarks");
	pid = json_object_get(json_object_get(root, "creator"), "pid");
	/* Benchmarks of a simulation have none. */
	if (!json_is_object(root) || (benchmarks && !json_is_array(benchmarks)))
		ok = error_set(err, ERROR_FORMAT, "it has no list of benchmarks");
	json_array_foreach(benchmarks, i, benchmark) ok =
		ok && add_stats(results, benchmark, (int32_t)json_integer_value(pid), err);
	json_decref(root);
	return ok;
}

/* ---- environment-<pid>.json ---- */

/* A compiler's date and commit come behind its version, as those of a Python: "3.11.2 (main, Nov 30 2024) [GCC 12]". */
static size_t version_size(const char *text)
{
	const char *end = strstr(text, " (");

	return end ? (size_t)(end - text) : strcspn(text, "\r\n");
}

static void results_say(struct buffer *out, const char *label, const json_t *value)
{
	CLEANUP(cleanup_free) char *text = NULL;

	if (!json_is_string(value) || !json_string_value(value)[0])
		return;
	text = strndup(json_string_value(value), version_size(json_string_value(value)));
	if (!text)
		return;
	if (out->size > 0)
		buffer_append_string(out, ", ");
	if (label[0])
		buffer_printf(out, "%s ", label);
	unicode_append_clean(out, text);
}

/*
 * The harnesses' own words: "version", "compiler" of python; "rustc", "LLVM version", "opt-level", "target-cpu" of
 * rust. Of any other language all strings.
 */
static void say_section(struct buffer *out, const char *name, json_t *section)
{
	const char *key;
	json_t *value;

	if (strcmp(name, "python") == 0) {
		results_say(out, "Python", json_object_get(section, "version"));
		results_say(out, "", json_object_get(section, "compiler"));
		return;
	}
	if (strcmp(name, "rust") == 0) {
		results_say(out, "", json_object_get(section, "rustc"));
		results_say(out, "LLVM", json_object_get(section, "LLVM version"));
		results_say(out, "opt-level", json_object_get(section, "opt-level"));
		results_say(out, "target-cpu", json_object_get(section, "target-cpu"));
		return;
	}
	json_object_foreach(section, key, value) if (strlen(key) < 40) results_say(out, key, value);
}

static bool says(const struct buffer *toolchain, const char *text)
{
	return toolchain->size > 0 && strstr(toolchain->data, text);
}

bool results_add_environment(struct results *results, const void *bytes, size_t size, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct buffer *toolchain = &results->toolchain;
	json_t *root, *sections, *section;
	const char *name;

	if (!results_load(bytes, size, &root, err))
		return false;
	buffer_init(&text, MAX_TOOLCHAIN_BYTES);
	sections = json_object_get(root, "integration_environment");
	json_object_foreach(sections, name, section) say_section(&text, name, section);
	json_decref(root);
	/* Processes of one suite say the same. What finds no room is left out. */
	if (text.size > 0 && !says(toolchain, text.data) &&
		toolchain->size + text.size + sizeof("; ") <= MAX_TOOLCHAIN_BYTES)
		buffer_printf(toolchain, "%s%s", toolchain->size > 0 ? "; " : "", text.data);
	return true;
}

/* ---- The folder ---- */

static bool is_environment(const char *name)
{
	return strncmp(name, "environment-", 12) == 0;
}

static bool is_json(const char *name)
{
	size_t size = strlen(name);

	return size > 5 && strcmp(name + size - 5, ".json") == 0;
}

static bool results_read_bytes(int directory, const char *name, struct buffer *bytes, struct error *err)
{
	struct file_opened file = { .name = (char *)(uintptr_t)name };
	struct stat info;
	bool ok;

	file.fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file.fd < 0)
		return error_set_errno(err, errno, "%.100s", name);
	if (fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode))
		ok = error_set(err, ERROR_FORMAT, "%.100s: no file", name);
	else
		ok = file_read_opened(&file, bytes, err);
	close(file.fd);
	return ok;
}

struct folder {
	struct results *results;
	size_t files, total_bytes, unread;
	struct buffer *notices;
};

/* A file that cannot be read takes its own benchmarks' numbers of iterations with it, no more. */
static bool results_read_file(struct folder *folder, int directory, const char *name, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error why;
	bool ok;

	buffer_init(&bytes, max_file_bytes);
	if (folder->files++ >= MAX_FILES || folder->total_bytes > max_total_bytes)
		return true;
	ok = results_read_bytes(directory, name, &bytes, &why);
	folder->total_bytes += bytes.size;
	if (ok && is_environment(name))
		ok = results_add_environment(folder->results, bytes.data, bytes.size, &why);
	else if (ok)
		ok = results_add(folder->results, bytes.data, bytes.size, &why);
	if (ok)
		return true;
	*err = why;
	if (why.code == ERROR_MEMORY)
		return false;
	if (folder->notices && folder->unread++ == 0)
		buffer_printf(folder->notices, "benchmarks: the harness's results in %s cannot be read: %s\n", name,
			why.message);
	return true;
}

static int results_compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_result(const struct dirent *entry)
{
	return is_json(entry->d_name) && !is_environment(entry->d_name);
}

static int is_environment_file(const struct dirent *entry)
{
	return is_json(entry->d_name) && is_environment(entry->d_name);
}

static bool results_read_all(
	struct folder *folder, const char *path, int (*select)(const struct dirent *), struct error *err)
{
	CLEANUP(cleanup_close) int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent **entries;
	bool ok = true;
	int count;

	/* No harness has made it. */
	if (directory < 0)
		return true;
	count = scandirat(directory, ".", &entries, select, results_compare_names);
	if (count < 0)
		return errno == ENOMEM ? error_set_memory(err) : true;
	for (int i = 0; i < count; i++) {
		ok = ok && results_read_file(folder, directory, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return ok;
}

bool results_read(struct results *results, const char *path, struct buffer *notices, struct error *err)
{
	struct folder folder = { .results = results, .notices = notices };
	CLEANUP(cleanup_free) char *below = NULL;

	if (asprintf(&below, "%s/results", path) < 0) {
		below = NULL;
		return error_set_memory(err);
	}
	if (!results_read_all(&folder, path, is_environment_file, err) ||
		!results_read_all(&folder, below, is_result, err))
		return false;
	if (folder.unread > 1)
		buffer_printf(notices, "benchmarks: nor can %zu other files of the harness\n", folder.unread - 1);
	return true;
}

/* ---- Search ---- */

static int results_compare_keys(const struct results_stats *left, const char *uri, int32_t pid)
{
	int by_uri = strcmp(left->uri, uri);

	return by_uri ? by_uri : (left->pid > pid) - (left->pid < pid);
}

static int compare_stats(const void *a, const void *b)
{
	const struct results_stats *left = a, *right = b;
	int by_key = results_compare_keys(left, right->uri, right->pid);

	return by_key ? by_key : (left->order > right->order) - (left->order < right->order);
}

/* The first that is not less than the key. */
static size_t results_find(const struct results *results, const char *uri, int32_t pid)
{
	return BISECT(results->count, i, results_compare_keys(&results->items[i], uri, pid) < 0);
}

const struct results_stats *results_take(struct results *results, const char *uri, int32_t pid)
{
	struct results_stats *first;
	size_t at;

	if (!results->is_sorted && results->count > 0)
		qsort(results->items, results->count, sizeof(*results->items), compare_stats);
	results->is_sorted = true;
	at = results_find(results, uri, pid);
	if (at == results->count || results_compare_keys(&results->items[at], uri, pid) != 0)
		at = results_find(results, uri, INT32_MIN);
	if (at == results->count || strcmp(results->items[at].uri, uri) != 0)
		return NULL;
	first = &results->items[at];
	at += first->taken;
	if (at >= results->count || results_compare_keys(&results->items[at], uri, first->pid) != 0)
		return NULL;
	first->taken++;
	return &results->items[at];
}
