/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/courier.h"

#include <errno.h>
#include <string.h>

enum { MOST_NOTICE_BYTES = 1 << 16 };

bool courier_file(int *fd, struct error *err)
{
	*fd = file_in_memory("kelvin", err);
	return *fd >= 0;
}

bool store_parcel_init(struct store_parcel *parcel, store_summarize *summarize, struct error *err)
{
	*parcel = (struct store_parcel){ .summarize = summarize };
	buffer_init(&parcel->notices, MOST_NOTICE_BYTES);
	for (size_t i = 0; i < STORE_PARCEL_PARTS; i++)
		parcel->parts[i] = -1;
	for (size_t i = 0; i < STORE_PARCEL_PARTS; i++)
		if (!courier_file(&parcel->parts[i], err))
			return false;
	return true;
}

void store_parcel_deinit(struct store_parcel *parcel)
{
	for (size_t i = 0; i < STORE_PARCEL_PARTS; i++) {
		cleanup_close(&parcel->parts[i]);
		parcel->parts[i] = -1;
	}
	buffer_deinit(&parcel->notices);
}

bool store_parcel_clear(struct store_parcel *parcel, struct error *err)
{
	for (size_t i = 0; i < STORE_PARCEL_PARTS; i++)
		if (ftruncate(parcel->parts[i], 0) != 0 || lseek(parcel->parts[i], 0, SEEK_SET) != 0)
			return error_set_errno(err, errno, "cannot empty a file in memory");
	parcel->notices.size = 0;
	return true;
}

bool store_prepare(enum store_kind kind, const struct profile *profile, const struct store_filter *labels,
	size_t label_count, struct store_parcel *parcel, struct error *err)
{
	const struct store_functions *functions = store_functions_of(kind);

	if (!functions->prepare)
		return error_set(err, ERROR_UNSUPPORTED,
			kind == STORE_COROOT
				? "the tables that Coroot fills are only read; push to clickhouse+http://HOST:PORT/DATABASE instead, whose tables are Kelvin's"
				: "nothing can be pushed to this kind of store");
	return functions->prepare(profile, labels, label_count, parcel, err);
}

bool courier_add(struct store_profiles *profiles, const char *name, int *fd, struct error *err)
{
	struct store_profile *item;

	if (!ARRAY_RESERVE(&profiles->items, &profiles->capacity, profiles->count + 1, COURIER_MAX_PROFILES, err))
		goto fail;
	item = &profiles->items[profiles->count];
	*item = (struct store_profile){ .name = strndup(name, COURIER_MAX_NAME - 1), .fd = -1 };
	if (!item->name) {
		error_set_memory(err);
		goto fail;
	}
	item->fd = *fd;
	*fd = -1;
	profiles->count++;
	return true;
fail:
	cleanup_close(fd);
	*fd = -1;
	return false;
}

void store_profiles_deinit(struct store_profiles *profiles)
{
	for (size_t i = 0; i < profiles->count; i++) {
		free(profiles->items[i].name);
		cleanup_close(&profiles->items[i].fd);
	}
	free(profiles->items);
	buffer_deinit(&profiles->notices);
	*profiles = (struct store_profiles){ 0 };
}
