/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/store.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t max_bytes = (size_t)2 << 30;
enum { MOST_NOTICE_BYTES = 1 << 16, ID_BYTES = 16 };

/* ---- With rights ---- */

bool store_history_open(const char *name, const struct store_secrets *secrets, struct store_history *store,
	struct store_profiles *fetched, struct error *err)
{
	if (!store_address_parse(name, clock_read_ns(CLOCK_REALTIME), &store->address, err))
		return false;
	if (!store_open(&store->address, secrets, &store->store, err))
		return error_prefix(err, "cannot read %s", name);
	buffer_init(&fetched->notices, MOST_NOTICE_BYTES);
	if (store_fetch_summaries(store->store, &store->address, &store->summaries, &fetched->notices, err))
		return true;
	buffer_deinit(&fetched->notices);
	store->summaries = -1;
	if (err->code != ERROR_UNSUPPORTED || store->address.kind != STORE_PYROSCOPE ||
		!store_fetch(store->store, &store->address, fetched, err))
		return error_prefix(err, "cannot read %s", name);
	return true;
}

void store_history_deinit(struct store_history *store)
{
	store_close(store->store);
	store->store = NULL;
	store_address_deinit(&store->address);
	if (store->summaries >= 0)
		close(store->summaries);
	store->summaries = -1;
}

static bool store_history_append_file(int into, int from)
{
	char chunk[1 << 16];
	struct stat info;
	uint64_t size;
	off_t at = 0;

	if (fstat(from, &info) != 0)
		return false;
	size = (uint64_t)info.st_size;
	if (!file_write_all(into, &size, sizeof(size)))
		return false;
	while (at < info.st_size) {
		ssize_t got = pread(from, chunk, sizeof(chunk), at);

		if (got <= 0 || !file_write_all(into, chunk, (size_t)got))
			return false;
		at += got;
	}
	return true;
}

int store_history_answer(struct store_history *store, const void *bytes, size_t size, struct error *err)
{
	CLEANUP(store_profiles_deinit) struct store_profiles profiles = { 0 };
	int fd;

	if (!store->store || size == 0 || size % ID_BYTES != 0)
		return -1;
	if (!store_fetch_ids(
		    store->store, &store->address, (const uint64_t(*)[2])bytes, size / ID_BYTES, &profiles, err))
		return -1;
	fd = file_in_memory("kelvin", err);
	for (size_t i = 0; fd >= 0 && i < profiles.count; i++)
		if (!store_history_append_file(fd, profiles.items[i].fd)) {
			close(fd);
			return -1;
		}
	return fd;
}

/* ---- Without rights ---- */

static bool store_history_read_whole(int fd, struct buffer *bytes, struct error *err)
{
	const struct file_opened opened = { (char *)(uintptr_t) "what the store has sent", fd };

	return file_read_opened(&opened, bytes, err);
}

bool store_history_read(struct store_history *store, struct summary_set *set, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(max_bytes);
	struct byte_reader reader;

	store->set = set;
	if (!store_history_read_whole(store->summaries, &bytes, err))
		return false;
	reader = byte_reader_over(bytes.data, bytes.size);
	while (byte_reader_left(&reader) > 0) {
		uint64_t size = byte_reader_u64(&reader);
		const uint8_t *summary =
			size <= byte_reader_left(&reader) ? byte_reader_bytes(&reader, (size_t)size) : NULL;

		if (!summary)
			return error_set(err, ERROR_FORMAT, "the sums that the store has sent are damaged");
		if (!summary_read(set, summary, (size_t)size, err))
			return error_prefix(err, "the sums that the store has sent");
	}
	return true;
}

bool store_history_profiles(const struct store_history *store, const size_t *summaries, size_t count,
	struct buffer *bytes, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t(*ids)[2] = calloc(count + 1, sizeof(*ids));
	CLEANUP(cleanup_close) int fd = -1;

	if (!ids)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		memcpy(ids[i], store->set->items[summaries[i]].id, sizeof(ids[i]));
	fd = store->ask(store->context, ids, count * sizeof(*ids), err);
	if (fd < 0)
		return error_set(err, ERROR_NOT_FOUND, "its profiles cannot be fetched");
	return store_history_read_whole(fd, bytes, err);
}
