/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char marks_name[] = ".sent";
enum { MOST_MARKS_BYTES = 1 << 26, FAILURES_IN_A_ROW = 2 };

/* ---- What was sent ---- */

static bool has_file(const struct watch_files *files, const struct watch_file *file)
{
	for (size_t i = files->count; i-- > 0;)
		if (files->items[i].unix_s == file->unix_s && files->items[i].number == file->number)
			return true;
	return false;
}

/* Marks of another store are none. The last line may have been cut off. */
static bool take_marks(struct watch_push *push, char *text, struct error *err)
{
	char *line = strsep(&text, "\n");

	if (!text || strcmp(line, push->address) != 0)
		return true;
	while ((line = strsep(&text, "\n")) != NULL) {
		struct watch_file file;

		if (text && watch_file_parse(line, &file) && !watch_files_add(&push->sent, &file, err))
			return false;
	}
	return true;
}

static bool watch_push_read_marks(struct watch_push *push, const struct watch_place *place, struct error *err)
{
	struct file_opened file = { strdup(marks_name),
		openat(place->fd, marks_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) };
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MOST_MARKS_BYTES);
	bool ok = true;

	if (file.name && file.fd >= 0)
		ok = file_read_opened(&file, &text, err) &&
		     take_marks(push, text.data ? text.data : (char[1]){ 0 }, err);
	else if (errno != ENOENT)
		ok = error_set_errno(err, errno, "cannot read %s/%s", place->path, marks_name);
	if (file.fd >= 0)
		close(file.fd);
	free(file.name);
	return ok;
}

/* Writes the marks of profiles that are still there. */
static bool watch_push_write_marks(struct watch_push *push, const struct watch_place *place, struct error *err)
{
	CLEANUP(cleanup_free) char *path = NULL;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MOST_MARKS_BYTES);
	struct watch_files kept = { 0 };

	buffer_printf(&text, "%s\n", push->address);
	for (size_t i = 0; i < push->sent.count; i++) {
		char name[WATCH_NAME_BYTES];

		if (!watch_place_has(place, &push->sent.items[i]))
			continue;
		watch_file_name(&push->sent.items[i], name);
		buffer_printf(&text, "%s\n", name);
		if (!watch_files_add(&kept, &push->sent.items[i], err)) {
			watch_files_deinit(&kept);
			return false;
		}
	}
	watch_files_deinit(&push->sent);
	push->sent = kept;
	/* By the descriptor, since the path may lead elsewhere by now. */
	if (asprintf(&path, "/proc/self/fd/%d/%s", place->fd, marks_name) < 0) {
		path = NULL;
		return error_set_memory(err);
	}
	return buffer_ok(&text, err) && file_write(path, text.data, text.size, 0600, err);
}

static bool add_mark(struct watch_push *push, const struct watch_place *place, struct error *err)
{
	CLEANUP(cleanup_close) int fd = openat(place->fd, marks_name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	char name[WATCH_NAME_BYTES + 1];
	size_t size;

	watch_file_name(&push->file, name);
	size = strlen(name);
	name[size++] = '\n';
	return watch_files_add(&push->sent, &push->file, err) &&
	       ((fd >= 0 && file_write_all(fd, name, size) && fdatasync(fd) == 0) ||
		       error_set_errno(err, errno, "cannot write %s/%s", place->path, marks_name));
}

/* ---- The beginning ---- */

bool watch_push_begin(struct watch_push *push, const struct watch_place *place, const char *address, struct error *err)
{
	struct store_address parsed;

	push->address = address;
	if (!store_take_secrets(&push->secrets, err))
		return false;
	if (!address)
		return true;
	if (!store_address_parse(address, clock_read_ns(CLOCK_REALTIME), &parsed, err))
		return error_prefix(err, "--push");
	store_address_deinit(&parsed);
	return watch_push_read_marks(push, place, err) && watch_push_write_marks(push, place, err);
}

void watch_push_deinit(struct watch_push *push)
{
	store_secrets_deinit(&push->secrets);
	watch_files_deinit(&push->sent);
	watch_files_deinit(&push->failed);
}

void watch_push_wake(struct watch_push *push)
{
	push->rests = false;
	push->failures = 0;
}

/* ---- Sending ---- */

/* The oldest profile that was not sent: of those that have not failed, if there is any. */
bool watch_push_next(struct watch_push *push, const struct watch_place *place, bool *is_due, struct error *err)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
	const struct watch_file *found = NULL, *again = NULL;

	*is_due = false;
	if (!push->address || push->rests)
		return true;
	push->rests = true;
	if (!watch_place_list(place, &files, err))
		return false;
	for (size_t i = files.count; i-- > 0;) {
		const struct watch_file *file = &files.items[i];

		if (file->kind != WATCH_PROFILE || has_file(&push->sent, file))
			continue;
		if (has_file(&push->failed, file))
			again = file;
		else
			found = file;
	}
	if (!found)
		push->failed.count = 0;
	push->rests = !found && !again;
	*is_due = !push->rests;
	if (*is_due)
		push->file = found ? *found : *again;
	return true;
}

bool watch_push_sent(struct watch_push *push, const struct watch_place *place, struct error *err)
{
	if (!add_mark(push, place, err)) {
		watch_push_failed(push);
		return false;
	}
	push->failures = 0;
	/* Those of profiles that are gone do not add up. */
	return push->sent.count % 1024 != 0 || watch_push_write_marks(push, place, err);
}

void watch_push_failed(struct watch_push *push)
{
	struct error ignored;

	(void)!watch_files_add(&push->failed, &push->file, &ignored);
	push->rests = ++push->failures >= FAILURES_IN_A_ROW;
}
