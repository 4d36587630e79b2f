/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/records.h"

#include "common/common.h"

#include <errno.h>
#include <unistd.h>

static const size_t max_file_bytes = (size_t)2 << 30;

bool bench_read(FILE *profiles, const struct bench_record *record, struct profile **profile, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(max_file_bytes);
	char *room;

	room = buffer_reserve(&bytes, record->size);
	if (!room)
		return buffer_ok(&bytes, err);
	for (size_t done = 0; done < record->size;) {
		ssize_t got = pread(fileno(profiles), room + done, record->size - done, (off_t)(record->offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_set_errno(err, got < 0 ? errno : EIO, "cannot read a run back");
		done += (size_t)got;
	}
	buffer_commit(&bytes, record->size);
	if (!foreign_read(bytes.data, bytes.size, "a run", profile, err))
		return false;
	for (size_t run = 0; run < (*profile)->run_count; run++)
		(*profile)->runs[run].layout = record->layout;
	return true;
}

bool bench_read_all(
	FILE *profiles, const struct bench_record *records, uint64_t count, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *all = NULL;

	for (uint64_t run = 0; run < count; run++) {
		CLEANUP(profile_cleanup) struct profile *next = NULL;

		if (!bench_read(profiles, &records[run], &next, err))
			return false;
		if (!all)
			all = TAKE(next);
		else if (!profile_merge(all, next, err))
			return error_prefix(err, "cannot join the runs");
	}
	*profile = TAKE(all);
	return true;
}
