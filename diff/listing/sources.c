/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the texts of files: in the profile, then wherever the opener has them. */
#include "diff/listing/sources.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beyond this much text of one side, further files are not read. */
static const size_t most_bytes = (size_t)256 << 20;

enum { FIRST_READ_BYTES = 1 << 16 };

void sources_init(struct listing_sources *sources, const struct profile *profile, enum diff_side side,
	const struct listing_opener *opener, struct string_table *strings)
{
	*sources = (struct listing_sources){ .profile = profile, .side = side, .opener = opener, .strings = strings };
	hash_map_init(&sources->by_path, sizeof(uint32_t));
}

void sources_deinit(struct listing_sources *sources)
{
	for (size_t i = 0; i < sources->entry_count; i++) {
		text_deinit(&sources->entries[i]->kept.text);
		text_deinit(&sources->entries[i]->file.text);
		free(sources->entries[i]);
	}
	free(sources->entries);
	hash_map_deinit(&sources->by_path);
}

/* ---- Files ---- */

/* Reads a file from its start; `*bytes` NULL: it cannot be read, is too large, or is no text. */
static bool listing_sources_read_text(int fd, size_t most, char **bytes, size_t *size, struct error *err)
{
	CLEANUP(cleanup_free) char *text = NULL;
	size_t capacity = 0, used = 0;

	*bytes = NULL;
	for (;;) {
		ssize_t got;

		if (used == capacity &&
			!ARRAY_RESERVE(&text, &capacity, capacity ? 2 * capacity : FIRST_READ_BYTES, SIZE_MAX / 4, err))
			return false;
		got = pread(fd, text + used, capacity - used, (off_t)used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || used + (size_t)got > most || (got > 0 && memchr(text + used, '\0', (size_t)got)))
			return true;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	*size = used;
	*bytes = TAKE(text);
	return true;
}

/* Returns whether a file was last changed before the program was started. */
static bool is_older_than_runs(const struct profile *profile, int fd)
{
	struct stat stat;
	int64_t changed_ns;

	if (profile->run_count == 0 || fstat(fd, &stat) != 0)
		return false;
	changed_ns = (int64_t)stat.st_mtim.tv_sec * 1000000000 + stat.st_mtim.tv_nsec;
	for (size_t i = 0; i < profile->run_count; i++)
		if (profile->runs[i].start_unix_ns <= changed_ns)
			return false;
	return true;
}

/* Returns what shows that a file without an MD5 to compare is the one. */
static enum profile_source_proof proof_of_place(
	const struct listing_sources *sources, const struct sources_file *file, enum listing_place place, int fd)
{
	if (place == LISTING_DEBUGINFOD)
		return PROFILE_SOURCE_NOT_NEWER;
	if (place == LISTING_DISK && file->is_script && is_older_than_runs(sources->profile, fd))
		return PROFILE_SOURCE_NOT_NEWER;
	return PROFILE_SOURCE_MAY_DIFFER;
}

static const struct profile_source_file *known_file(const struct listing_sources *sources, uint32_t path)
{
	const char *text = string_table_get(sources->strings, path);
	uint32_t id = string_table_find(sources->profile->strings, text, strlen(text)), file;

	if (id == UINT32_MAX || id == 0)
		return NULL;
	file = profile_find_source_file(sources->profile, id);
	return file == PROFILE_NONE ? NULL : &sources->profile->source_files[file];
}

/* Tries one place; `*is_right`: no other one needs to be tried. The first text that is there stays where none is. */
static bool listing_sources_try_place(struct listing_sources *sources, const struct sources_file *file,
	enum listing_place place, struct listing_source *found, bool *is_right, struct error *err)
{
	const struct profile_source_file *known = known_file(sources, file->path);
	CLEANUP(cleanup_close)
	int fd = sources->opener->open(sources->opener->context, sources->side, place,
		string_table_get(sources->strings, file->path), file->build_id);
	struct listing_source source = { .place = place };
	uint8_t digest[MD5_BYTES];
	size_t size, most = most_bytes - sources->bytes;
	char *bytes;

	if (fd < 0)
		return true;
	if (!listing_sources_read_text(fd, most < TEXT_MOST_BYTES ? most : TEXT_MOST_BYTES, &bytes, &size, err))
		return false;
	if (!bytes)
		return true;
	source.proof = proof_of_place(sources, file, place, fd);
	*is_right = true;
	if (known && known->has_md5) {
		md5(bytes, size, digest);
		*is_right = memcmp(digest, known->md5, sizeof(digest)) == 0;
		source.proof = !*is_right               ? PROFILE_SOURCE_MAY_DIFFER
			       : known->is_md5_of_build ? PROFILE_SOURCE_SAME_BYTES
							: known->proof;
	}
	if (!*is_right && found->place != LISTING_NOWHERE) {
		free(bytes);
		return true;
	}
	text_deinit(&found->text);
	*found = source;
	sources->bytes += size;
	text_of_file(bytes, size, &found->text);
	return true;
}

static bool listing_sources_find_file(struct listing_sources *sources, const struct sources_file *file,
	struct listing_source *found, struct error *err)
{
	bool is_right = false;

	for (int place = LISTING_REVISION; place < LISTING_PLACE_COUNT && !is_right; place++)
		if (!listing_sources_try_place(sources, file, (enum listing_place)place, found, &is_right, err))
			return false;
	return true;
}

/* ---- Kept lines ---- */

static void listing_sources_find_kept(struct listing_sources *sources, uint32_t path, struct listing_source *kept)
{
	const struct profile_source_file *known = known_file(sources, path);

	if (!known)
		return;
	text_of_profile(sources->profile, (uint32_t)(known - sources->profile->source_files), &kept->text);
	if (kept->text.block_count == 0)
		return;
	kept->place = known->is_embedded ? LISTING_EMBEDDED : LISTING_KEPT;
	kept->proof = known->proof;
}

static void listing_sources_entry_of(struct listing_sources *sources, uint32_t path, struct sources_entry **entry)
{
	uint32_t *found;
	bool added = false;

	ARRAY_GROW(&sources->entries, &sources->entry_capacity, sources->entry_count + 1);
	found = hash_map_enter(&sources->by_path, &path, (uint32_t)sources->entry_count, &added);
	if (!added) {
		*entry = sources->entries[*found];
		return;
	}
	*entry = sources->entries[sources->entry_count] = memory_zeroed(1, sizeof(**entry));
	sources->entry_count++;
	listing_sources_find_kept(sources, path, &(*entry)->kept);
}

bool sources_find(struct listing_sources *sources, const struct sources_file *file,
	const struct listing_source **source, struct error *err)
{
	struct sources_entry *entry;

	*source = NULL;
	if (file->path == 0)
		return true;
	listing_sources_entry_of(sources, file->path, &entry);
	if (text_block_at(&entry->kept.text, file->line)) {
		*source = &entry->kept;
		return true;
	}
	if (!entry->has_asked && sources->opener && !listing_sources_find_file(sources, file, &entry->file, err))
		return false;
	entry->has_asked = true;
	if (text_block_at(&entry->file.text, file->line))
		*source = &entry->file;
	return true;
}
