/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks for texts of functions, on behalf of a listing: in a process without rights, or in the one that opens them. */
#include "diff/texts/texts.h"

#include <string.h>
#include <sys/stat.h>

/* -1: there is none. */
static int texts_asker_ask(const struct texts_asker *asker, enum texts_kind kind, enum diff_side side, const char *path,
	const char *build_id)
{
	CLEANUP(cleanup_free) struct texts_question *question = memory_zeroed(1, sizeof(*question));
	struct error ignored;

	if (!question || strlen(path) >= sizeof(question->path) || strlen(build_id) >= sizeof(question->build_id))
		return -1;
	question->kind = kind;
	question->side = side;
	strcpy(question->path, path);
	strcpy(question->build_id, build_id);
	return asker->ask ? asker->ask(asker->context, question, sizeof(*question), &ignored)
			  : texts_answer(asker->texts, question, sizeof(*question));
}

/* ---- Revisions ---- */

/* Who named a repository expects texts from there. */
static void tell_unknown(const struct texts *texts, enum diff_side side, bool is_single)
{
	if (is_single)
		texts->say(
			"kelvin: the profile has no label commit, so its sources in the repository are not known; name their "
			"revision by --rev REV\n");
	else
		texts->say(
			"kelvin: %s has no label commit, so its sources in the repository are not known; name their revision "
			"by --%s-rev REV\n",
			diff_side_name(side), diff_side_name(side));
}

static void ask_revision(struct texts_asker *asker, enum diff_side side, const struct profile *profile)
{
	const char *label = profile_label(profile, "commit");
	CLEANUP(cleanup_close) int fd = texts_asker_ask(asker, TEXTS_COMMIT, side, label ? label : "", "");
	ssize_t got = fd >= 0 ? read(fd, asker->revision[side], TEXTS_REVISION_BYTES - 1) : 0;

	asker->revision[side][got > 0 ? got : 0] = '\0';
	if (got > 0)
		asker->opener.revision[side] = asker->revision[side];
}

static bool read_list(int fd, struct repository_files **files)
{
	CLEANUP(buffer_deinit) struct buffer list = { 0 };
	struct file_opened opened = { .name = (char *)(uintptr_t) "git's list of files", .fd = fd };
	struct error ignored;

	buffer_init(&list, TEXTS_MOST_LIST_BYTES);
	return file_read_opened(&opened, &list, &ignored) &&
	       repository_files_create(list.data ? list.data : "", list.size, files, &ignored);
}

static const struct repository_files *files_of(struct texts_asker *asker, enum diff_side side)
{
	CLEANUP(cleanup_close) int fd = -1;

	if (asker->has_asked[side])
		return asker->files[side];
	asker->has_asked[side] = true;
	fd = texts_asker_ask(asker, TEXTS_LIST, side, "", "");
	if (fd >= 0)
		(void)!read_list(fd, &asker->files[side]);
	return asker->files[side];
}

/* ---- The opener ---- */

static int open_revision(struct texts_asker *asker, enum diff_side side, const char *path)
{
	const struct repository_files *files = asker->opener.revision[side] ? files_of(asker, side) : NULL;
	const char *file = files ? repository_files_match(files, path) : NULL;

	return file ? texts_asker_ask(asker, TEXTS_FILE, side, file, "") : -1;
}

/* Links in the path of a build say nothing about those of a tree elsewhere: ".." goes by the letters. */
static int open_mapped(const struct texts_asker *asker, enum diff_side side, const char *path)
{
	char simple[TEXTS_PATH_BYTES];

	if (strlen(path) >= sizeof(simple))
		return -1;
	strcpy(simple, path);
	(void)!file_normalize_path(simple);
	return texts_asker_ask(asker, TEXTS_MAPPED, side, simple, "");
}

static int open_text(
	void *context, enum diff_side side, enum listing_place place, const char *path, const char *build_id)
{
	struct texts_asker *asker = context;

	switch (place) {
	case LISTING_REVISION:
		return open_revision(asker, side, path);
	case LISTING_DEBUGINFOD:
		return build_id[0] && path[0] == '/' ? texts_asker_ask(asker, TEXTS_SERVER, side, path, build_id) : -1;
	case LISTING_DISK:
		return open_mapped(asker, side, path);
	case LISTING_NOWHERE:
	case LISTING_KEPT:
	case LISTING_EMBEDDED:
		break;
	}
	return -1;
}

void texts_asker_init(struct texts_asker *asker, struct texts *texts,
	int (*ask)(void *context, const void *bytes, size_t size, struct error *err), void *context,
	const struct profile *const profiles[DIFF_SIDES])
{
	*asker = (struct texts_asker){
		.texts = texts,
		.ask = ask,
		.context = context,
		.opener = { .open = open_text, .context = asker },
	};
	for (int side = 0; side < DIFF_SIDES; side++)
		if (profiles[side])
			ask_revision(asker, (enum diff_side)side, profiles[side]);
	for (int side = 0; texts->directory && side < DIFF_SIDES; side++)
		if (profiles[side] && !asker->opener.revision[side] && !profile_label(profiles[side], "commit"))
			tell_unknown(texts, (enum diff_side)side, !profiles[DIFF_BASE]);
}

void texts_asker_deinit(struct texts_asker *asker)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		repository_files_destroy(asker->files[side]);
	*asker = (struct texts_asker){ 0 };
}
