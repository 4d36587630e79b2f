/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char profile_ending[] = ".pb.gz", part_ending[] = ".pb.gz.part", report_begin[] = "deploy-",
		  report_ending[] = ".html", json_ending[] = ".json";

/* ---- Names ---- */

void watch_time_words(int64_t unix_s, char words[static WATCH_TIME_BYTES])
{
	static const int64_t last_s = 253402300799; /* of the year 9999 */
	time_t time = unix_s < 0 ? 0 : unix_s > last_s ? last_s : unix_s;
	struct tm parts;

	if (!gmtime_r(&time, &parts) || strftime(words, WATCH_TIME_BYTES, "%Y-%m-%dT%H-%M-%SZ", &parts) == 0)
		words[0] = '\0';
}

const char *watch_time_parse(const char *words, int64_t *unix_s)
{
	struct tm parts = { 0 };
	char again[WATCH_TIME_BYTES];
	const char *end = strptime(words, "%Y-%m-%dT%H-%M-%SZ", &parts);
	int64_t parsed_s = end ? timegm(&parts) : 0;

	/* strptime(3) takes more than one way of writing a time. */
	watch_time_words(parsed_s, again);
	if (!end || (size_t)(end - words) != strlen(again) || strncmp(words, again, strlen(again)) != 0)
		return NULL;
	*unix_s = parsed_s;
	return end;
}

static bool is_report(const struct watch_file *file)
{
	return file->kind == WATCH_REPORT || file->kind == WATCH_REPORT_JSON;
}

void watch_file_name(const struct watch_file *file, char name[static WATCH_NAME_BYTES])
{
	static const char *const endings[] = { [WATCH_PROFILE] = profile_ending,
		[WATCH_PART] = part_ending,
		[WATCH_REPORT] = report_ending,
		[WATCH_REPORT_JSON] = json_ending };
	char time[WATCH_TIME_BYTES], number[16] = "";

	watch_time_words(file->unix_s, time);
	if (file->number > 1)
		snprintf(number, sizeof(number), "-%u", file->number);
	snprintf(name, WATCH_NAME_BYTES, "%s%s%s%s", is_report(file) ? report_begin : "", time, number,
		endings[file->kind]);
}

static bool take_kind(const char *ending, bool has_begin, enum watch_file_kind *kind)
{
	if (strcmp(ending, has_begin ? report_ending : profile_ending) == 0)
		*kind = has_begin ? WATCH_REPORT : WATCH_PROFILE;
	else if (strcmp(ending, has_begin ? json_ending : part_ending) == 0)
		*kind = has_begin ? WATCH_REPORT_JSON : WATCH_PART;
	else
		return false;
	return true;
}

static bool watch_files_take_number(const char **at, unsigned int *number)
{
	unsigned long parsed;
	char *end;

	*number = 1;
	if (**at != '-')
		return true;
	parsed = strtoul(*at + 1, &end, 10);
	*number = (unsigned int)parsed;
	*at = end;
	return parsed > 1 && parsed < WATCH_MOST_FILES;
}

bool watch_file_parse(const char *name, struct watch_file *file)
{
	bool has_begin = strncmp(name, report_begin, sizeof(report_begin) - 1) == 0;
	struct watch_file parsed = { 0 };
	char again[WATCH_NAME_BYTES];
	const char *at = watch_time_parse(name + (has_begin ? sizeof(report_begin) - 1 : 0), &parsed.unix_s);

	if (!at || !watch_files_take_number(&at, &parsed.number) || !take_kind(at, has_begin, &parsed.kind))
		return false;
	/* strtoul(3) as well. */
	watch_file_name(&parsed, again);
	if (strcmp(name, again) != 0)
		return false;
	*file = parsed;
	return true;
}

/* ---- Lists ---- */

bool watch_files_add(struct watch_files *files, const struct watch_file *file, struct error *err)
{
	if (!ARRAY_RESERVE(&files->items, &files->capacity, files->count + 1, WATCH_MOST_FILES, err))
		return false;
	files->items[files->count++] = *file;
	return true;
}

void watch_files_deinit(struct watch_files *files)
{
	free(files->items);
	*files = (struct watch_files){ 0 };
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int watch_files_compare_files(const void *a, const void *b)
{
	const struct watch_file *first = a, *second = b;
	int by_time = compare_numbers(first->unix_s, second->unix_s);
	int by_number = compare_numbers(first->number, second->number);

	return by_time ? by_time : by_number ? by_number : compare_numbers(first->kind, second->kind);
}

void watch_files_sort(struct watch_files *files)
{
	if (files->count > 0)
		qsort(files->items, files->count, sizeof(files->items[0]), watch_files_compare_files);
}

/* ---- What is kept ---- */

/* The order in which files go. */
enum rank { RANK_ORDINARY, RANK_OF_DEPLOY, RANK_NEWEST, RANK_STAYS };

/* A file with what decides when it goes. */
struct watch_files_ranked {
	struct watch_file file;
	enum rank rank;
	int64_t deploy_s; /* of RANK_OF_DEPLOY: the deploy that keeps it */
};

static int watch_files_compare_ranked(const void *a, const void *b)
{
	const struct watch_files_ranked *first = a, *second = b;
	int by_rank = compare_numbers(first->rank, second->rank);
	int by_deploy = compare_numbers(first->deploy_s, second->deploy_s);

	return by_rank ? by_rank : by_deploy ? by_deploy : watch_files_compare_files(&first->file, &second->file);
}

/* Ranks the profiles that come first from `at` on, in steps of 1 or -1, but for those that have a rank already. */
static void rank_profiles(
	struct watch_files_ranked *ranked, size_t count, size_t at, int step, const struct watch_files_ranked *as)
{
	for (size_t left = WATCH_PAIR_PROFILES; at < count && left > 0; at += (size_t)step) {
		if (ranked[at].file.kind != WATCH_PROFILE)
			continue;
		left--;
		if (ranked[at].rank == RANK_ORDINARY) {
			ranked[at].rank = as->rank;
			ranked[at].deploy_s = as->deploy_s;
		}
	}
}

/* The place of the first file of this time or later. */
static size_t find_time(const struct watch_files_ranked *ranked, size_t count, int64_t unix_s)
{
	return BISECT(count, i, ranked[i].file.unix_s < unix_s);
}

static void rank_deploy(struct watch_files_ranked *ranked, size_t count, int64_t deploy_s)
{
	const struct watch_files_ranked as = { .rank = RANK_OF_DEPLOY, .deploy_s = deploy_s };
	size_t at = find_time(ranked, count, deploy_s);

	rank_profiles(ranked, count, at - 1, -1, &as);
	rank_profiles(ranked, count, at, 1, &as);
	for (; at < count && ranked[at].file.unix_s == deploy_s; at++)
		if (is_report(&ranked[at].file)) {
			ranked[at].rank = as.rank;
			ranked[at].deploy_s = deploy_s;
		}
}

/* The latest deploy comes first: a profile that stands beside two of them goes with the later one. */
static void rank_files(struct watch_files_ranked *ranked, size_t count)
{
	const struct watch_files_ranked newest = { .rank = RANK_NEWEST };
	size_t deploys = 0;

	rank_profiles(ranked, count, count - 1, -1, &newest);
	for (size_t i = count; i-- > 0;) {
		if (ranked[i].file.kind == WATCH_PART)
			ranked[i].rank = RANK_STAYS;
		if (ranked[i].file.kind == WATCH_REPORT && deploys++ < WATCH_DEPLOYS_KEPT)
			rank_deploy(ranked, count, ranked[i].file.unix_s);
	}
}

/* A report's JSON goes with it. */
static size_t watch_files_count_of(const struct watch_file *file)
{
	return file->kind != WATCH_REPORT_JSON;
}

static bool go_together(const struct watch_file *a, const struct watch_file *b)
{
	return is_report(a) && is_report(b) && a->unix_s == b->unix_s && a->number == b->number;
}

static size_t count_expired(const struct watch_files_ranked *ranked, size_t count, const struct watch_bounds *bounds)
{
	size_t files = 0, gone = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		files += watch_files_count_of(&ranked[i].file);
		bytes += ranked[i].file.bytes;
	}
	while (gone < count && ranked[gone].rank != RANK_STAYS) {
		bool is_over = files > bounds->most_files || (bounds->most_bytes && bytes > bounds->most_bytes);

		if (!is_over && !(gone > 0 && go_together(&ranked[gone - 1].file, &ranked[gone].file)))
			break;
		files -= watch_files_count_of(&ranked[gone].file);
		bytes -= ranked[gone].file.bytes;
		gone++;
	}
	return gone;
}

bool watch_files_expired(
	struct watch_files *files, const struct watch_bounds *bounds, size_t *expired, struct error *err)
{
	CLEANUP(cleanup_free) struct watch_files_ranked *ranked = calloc(files->count + 1, sizeof(*ranked));

	if (!ranked)
		return error_set_memory(err);
	for (size_t i = 0; i < files->count; i++)
		ranked[i].file = files->items[i];
	rank_files(ranked, files->count);
	if (files->count > 0)
		qsort(ranked, files->count, sizeof(*ranked), watch_files_compare_ranked);
	for (size_t i = 0; i < files->count; i++)
		files->items[i] = ranked[i].file;
	*expired = count_expired(ranked, files->count, bounds);
	return true;
}
