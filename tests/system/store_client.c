/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What profile/store/store.h offers, for tests, without what commands make of it:
 *
 *	store_client push ADDRESS LABELS FILE...         "sent" or "was there" for each
 *	store_client fetch ADDRESS DIRECTORY             a file DIRECTORY/N.pb.gz each, and its name as a line
 *	store_client ids ADDRESS DIRECTORY               likewise, by the ids of the summaries
 *	store_client summaries ADDRESS                   a line for each summary and each of its functions
 *
 * LABELS are "KEY=VALUE,KEY=VALUE" or "", FILE@NAME is a file with the label instance=NAME. Secrets are those of
 *kelvin. The id of a profile is the MD5 of its file and of the labels.
 */
#include "diff/history/history.h"
#include "profile/foreign/foreign.h"
#include "profile/store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum { MAX_BYTES = 1 << 30 };

enum { MOST_LABELS = 8 };

/* Cuts "KEY=VALUE,KEY=VALUE" into labels; values may have any other character. */
static size_t cut_labels(char *text, struct store_filter labels[MOST_LABELS])
{
	size_t count = 0;

	for (char *rest = text, *part; (part = strsep(&rest, ",")) && *part && count < MOST_LABELS; count++) {
		labels[count].key = strsep(&part, "=");
		labels[count].value = part;
	}
	return count;
}

static bool push_file(struct store *store, enum store_kind kind, const char *labels_text, char *path, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 }, notices = { 0 };
	CLEANUP(cleanup_free) char *text = strdup(labels_text);
	struct store_filter labels[MOST_LABELS + 1];
	struct store_parcel parcel;
	enum store_sent sent;
	uint8_t digest[MD5_BYTES];
	char *instance = strchr(path, '@'), key[] = "instance";
	size_t count = cut_labels(text, labels);
	bool ok;

	buffer_init(&file, MAX_BYTES);
	buffer_init(&notices, 1 << 16);
	if (instance) {
		*instance++ = '\0';
		labels[count++] = (struct store_filter){ .key = key, .value = instance };
	}
	if (!file_read(path, &file, err) || !foreign_read(file.data, file.size, path, &profile, err))
		return false;
	buffer_append_string(&file, labels_text);
	buffer_append_string(&file, instance ? instance : "");
	md5(file.data, file.size, digest);
	ok = store_parcel_init(&parcel, history_summarize, err);
	memcpy(parcel.id, digest, sizeof(parcel.id));
	ok = ok && store_prepare(kind, profile, labels, count, &parcel, err) &&
	     store_send(store, &parcel, 10, &sent, &notices, err);
	if (ok)
		printf("%s\n", sent == STORE_WAS_THERE ? "was there" : "sent");
	store_parcel_deinit(&parcel);
	return ok;
}

static bool push(struct store *store, enum store_kind kind, char *const *arguments, struct error *err)
{
	for (size_t i = 1; arguments[i]; i++)
		if (!push_file(store, kind, arguments[0], arguments[i], err))
			return false;
	return true;
}

static bool save(const struct store_profiles *profiles, const char *directory, struct error *err)
{
	fputs(profiles->notices.size > 0 ? profiles->notices.data : "", stdout);
	for (size_t i = 0; i < profiles->count; i++) {
		struct stat status;
		char path[4096];
		void *bytes;

		if (fstat(profiles->items[i].fd, &status) != 0)
			return error_set(err, ERROR_SYSTEM, "no file");
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, profiles->items[i].fd, 0);
		snprintf(path, sizeof(path), "%s/%zu.pb.gz", directory, i);
		if (bytes == MAP_FAILED || !file_write(path, bytes, (size_t)status.st_size, 0600, err))
			return false;
		munmap(bytes, (size_t)status.st_size);
		printf("%s\n", profiles->items[i].name);
	}
	return true;
}

static bool read_summaries(
	struct store *store, const struct store_address *address, struct summary_set *set, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };
	struct stat status;
	const char *bytes;
	size_t at = 0;
	int fd;

	buffer_init(&notices, 1 << 16);
	if (!store_fetch_summaries(store, address, &fd, &notices, err))
		return false;
	fputs(notices.size > 0 ? notices.data : "", stdout);
	if (fstat(fd, &status) != 0)
		return error_set(err, ERROR_SYSTEM, "no file");
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	while (at < (size_t)status.st_size) {
		uint64_t size;

		memcpy(&size, bytes + at, sizeof(size));
		if (!summary_read(set, bytes + at + sizeof(size), size, err))
			return false;
		at += sizeof(size) + size;
	}
	return true;
}

static void print_summaries(const struct summary_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct summary *summary = &set->items[i];

		printf("profile\t%s\t%s\t%.17g\t%.6g\t%" PRIu64 "\t%.17g\t%s\t%zu binaries\n",
			summary_string(set, summary->name), summary_string(set, summary->metric), summary->total,
			summary->total_error, summary->samples, summary->requests,
			summary_label(set, summary, "version") ? summary_label(set, summary, "version") : "-",
			summary->binary_count);
		for (size_t r = 0; r < summary->row_count; r++) {
			const struct summary_row *row = &summary->rows[r];
			const struct summary_function *function = &set->functions[row->function];

			printf("row\t%s\t%s\t%s\t%.17g\t%.17g\t%.6g\t%.6g\t%016" PRIx64 "\n",
				summary_string(set, function->key), summary_string(set, function->shown),
				profile_origin_name(function->origin), row->self, row->total, (double)row->self_error,
				(double)row->total_error, row->fingerprint);
		}
	}
}

static bool fetch(struct store *store, const struct store_address *address, char *const *arguments, struct error *err)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	struct store_profiles profiles = { 0 };
	uint64_t(*ids)[2];
	bool ok;

	if (strcmp(arguments[1], "fetch") == 0) {
		ok = store_fetch(store, address, &profiles, err) && save(&profiles, arguments[3], err);
		store_profiles_deinit(&profiles);
		return ok;
	}
	if (!summary_set_create(&set, err) || !read_summaries(store, address, set, err))
		return false;
	if (strcmp(arguments[1], "summaries") == 0) {
		print_summaries(set);
		return true;
	}
	ids = calloc(set->count, sizeof(*ids));
	for (size_t i = 0; i < set->count; i++)
		memcpy(ids[i], set->items[i].id, sizeof(ids[i]));
	ok = store_fetch_ids(store, address, ids, set->count, &profiles, err) && save(&profiles, arguments[3], err);
	store_profiles_deinit(&profiles);
	free(ids);
	return ok;
}

int main(int argc, char **argv)
{
	struct store_address address = { 0 };
	struct store_secrets secrets = { 0 };
	struct store *store = NULL;
	struct error err = { 0 };
	bool ok;

	if (argc < 3)
		return 2;
	ok = store_take_secrets(&secrets, &err) &&
	     store_address_parse(argv[2], (int64_t)time(NULL) * 1000000000, &address, &err) &&
	     store_open(&address, &secrets, &store, &err) &&
	     (strcmp(argv[1], "push") == 0 ? push(store, address.kind, argv + 3, &err)
					   : fetch(store, &address, argv, &err));
	if (!ok)
		fprintf(stderr, "%s\n", err.message);
	store_close(store);
	store_address_deinit(&address);
	store_secrets_deinit(&secrets);
	return ok ? 0 : 1;
}
