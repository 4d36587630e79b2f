/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads source files in a child process that has no more rights than the user whose processes were sampled. */
#include "symbolize/source_reader.h"

#include "symbolize/source_answer.h"
#include "symbolize/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	BLOCK_BYTES = 1 << 16,
	TEXT_BYTES = 8 << 10,       /* what is no text has a NUL in them */
	WHOLE_FILE_BYTES = 8 << 20, /* smaller files are read to their end, for their MD5 */
	MOST_READ_BYTES = 64 << 20, /* by one child */
	DISK_BLOCK_BYTES = 512,
	STALL_TICKS = 100, /* a child that uses no CPU time for so long waits for a file that does not come */
	PIPE_BYTES = 1 << 20,
};

/* ---- The child ---- */

struct source_reader_child {
	const struct source_reader *reader;
	int root, output;
	size_t bytes_left;    /* to read */
	size_t written_bytes; /* of the answers */
};

/* A file as it is read. */
struct source_reader_text {
	char *bytes; /* owned */
	size_t size, capacity;
	bool is_whole;
};

static void text_deinit(struct source_reader_text *text)
{
	free(text->bytes);
}

static bool source_reader_is_root(const struct source_reader *reader)
{
	return reader->is_user_known && reader->user == 0 && geteuid() == 0;
}

/* A sparse file of a terabyte is none that anybody wrote. */
static bool source_reader_is_readable(const struct stat *info)
{
	return S_ISREG(info->st_mode) && info->st_size > 0 &&
	       (info->st_size <= WHOLE_FILE_BYTES || info->st_blocks >= info->st_size / DISK_BLOCK_BYTES / 8);
}

/* Opens a regular file: by O_PATH first, which neither waits for a FIFO nor wakes a device. */
static int source_reader_open_file(const struct source_reader_child *child, const char *name, struct stat *info)
{
	CLEANUP(cleanup_close)
	int place = source_reader_is_root(child->reader) ? in_root_open_by_root(child->root, name)
							 : in_root_open(child->root, name, true);
	char again[64];
	int fd;

	if (place < 0 || fstat(place, info) != 0 || !source_reader_is_readable(info))
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	/* O_NONBLOCK: open() must not wait for the holder of a lease. */
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* What a mount of the proc file system shows is no source. */
	if (fd >= 0 && (fstat(fd, info) != 0 || !source_reader_is_readable(info))) {
		close(fd);
		return -1;
	}
	return fd;
}

static uint32_t lines_needed(const struct source_wanted *wanted)
{
	uint32_t needed = 0;

	for (size_t i = 0; i < wanted->range_count; i++) {
		uint32_t lines = source_lines_needed(&wanted->ranges[i]);

		needed = lines > needed ? lines : needed;
	}
	return needed;
}

static uint32_t count_newlines(const char *bytes, size_t size)
{
	const char *end = bytes + size;
	uint32_t count = 0;

	while ((bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		bytes++;
		count++;
	}
	return count;
}

/* Reads as much as is needed: a large file up to its last line that is wanted. False: it is no text, or too much. */
static bool source_reader_read_text(
	struct source_reader_child *child, int fd, off_t file_bytes, uint32_t needed, struct source_reader_text *text)
{
	uint32_t lines = 0;
	struct error ignored;

	text->size = 0;
	text->is_whole = false;
	while (lines <= needed || file_bytes <= WHOLE_FILE_BYTES) {
		ssize_t got;

		if (child->bytes_left < BLOCK_BYTES || !ARRAY_RESERVE(&text->bytes, &text->capacity,
							       text->size + BLOCK_BYTES, MOST_READ_BYTES, &ignored))
			return false;
		got = pread(fd, text->bytes + text->size, BLOCK_BYTES, (off_t)text->size);
		if (got < 0)
			return false;
		text->is_whole = got == 0;
		if (got == 0)
			break;
		lines += count_newlines(text->bytes + text->size, (size_t)got);
		text->size += (size_t)got;
		child->bytes_left -= (size_t)got;
		if (memchr(text->bytes, '\0', text->size < TEXT_BYTES ? text->size : TEXT_BYTES))
			return false;
	}
	return text->size > 0;
}

static int64_t time_ns(const struct timespec *time)
{
	return time->tv_sec * (int64_t)1000000000 + time->tv_nsec;
}

static bool source_reader_is_unchanged(const struct stat *before, const struct stat *after)
{
	return before->st_size == after->st_size && time_ns(&before->st_mtim) == time_ns(&after->st_mtim) &&
	       time_ns(&before->st_ctim) == time_ns(&after->st_ctim);
}

/* Reads a file that stays as it is meanwhile; one that is written to again and again is read as it comes. */
static bool source_reader_read_file(struct source_reader_child *child, const struct source_wanted *wanted,
	struct source_reader_text *text, struct source_answer *answer)
{
	enum { MOST_TRIES = 2 };
	struct stat before, after;
	CLEANUP(cleanup_close) int fd = source_reader_open_file(child, wanted->name, &before);

	answer->is_changing = fd >= 0;
	for (int i = 0; answer->is_changing && i < MOST_TRIES; i++) {
		if (!source_reader_read_text(child, fd, before.st_size, lines_needed(wanted), text) ||
			fstat(fd, &after) != 0)
			return false;
		answer->is_changing = !source_reader_is_unchanged(&before, &after);
		before = after;
	}
	answer->modified_ns = fd < 0 ? 0 : time_ns(&before.st_mtim);
	answer->has_md5 = text->is_whole && !answer->is_changing;
	if (answer->has_md5)
		md5(text->bytes, text->size, answer->md5);
	return fd >= 0;
}

/* Appends the pieces of a file behind its answer. */
static bool source_reader_cut_pieces(const struct source_wanted *wanted, const struct source_reader_text *text,
	struct source_answer *answer, struct buffer *out)
{
	struct source_lines lines;
	struct error ignored;

	if (!source_lines_init(&lines, text->bytes, text->size, &ignored))
		return false;
	for (uint32_t i = 0; i < wanted->range_count; i++) {
		struct source_piece piece = { .range = i };
		size_t at = out->size, start = at + sizeof(piece);

		buffer_append(out, &piece, sizeof(piece));
		source_lines_cut(&lines, &wanted->ranges[i], &piece.first_line, out);
		if (!buffer_ok(out, &ignored) || out->size == start) {
			out->size = at;
			continue;
		}
		piece.bytes = (uint32_t)(out->size - start);
		memcpy(out->data + at, &piece, sizeof(piece));
		answer->piece_count++;
	}
	source_lines_deinit(&lines);
	return answer->piece_count > 0;
}

/* False: there is nobody to read on. */
static bool source_reader_answer_file(struct source_reader_child *child, uint32_t file)
{
	const struct source_wanted *wanted = &child->reader->plan->files[file];
	struct source_answer answer = { .file = file };
	CLEANUP(text_deinit) struct source_reader_text text = { 0 };
	CLEANUP(buffer_deinit) struct buffer out = BUFFER_INIT(SOURCE_MAX_ANSWER_BYTES);

	buffer_append(&out, &answer, sizeof(answer));
	if (!source_reader_read_file(child, wanted, &text, &answer) ||
		!source_reader_cut_pieces(wanted, &text, &answer, &out))
		return true;
	memcpy(out.data, &answer, sizeof(answer));
	child->written_bytes += out.size;
	return child->written_bytes <= SOURCE_MAX_ANSWER_BYTES && file_write_all(child->output, out.data, out.size);
}

/* The tree of a process that still has it after it was opened: its pid may have become another one's. */
static int source_reader_open_root(const struct source_reader *reader)
{
	char path[64] = "/";
	int fd;

	if (reader->pid != 0)
		snprintf(path, sizeof(path), "/proc/%d/root", reader->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && reader->pid != 0 && in_root_tree_of(reader->pid) != reader->tree) {
		close(fd);
		return -1;
	}
	return fd;
}

/* False: it is not that user, and must not open a file. */
static bool source_reader_become(const struct source_reader *reader, const struct source_reader_child *child)
{
	bool is_root = reader->is_user_known && reader->user == 0;
	const int kept[] = { child->output, child->root };
	const struct filter_rule rules[] = {
		FILTER_OPENS,
		FILTER_IF(write, 0, UINT32_MAX, (uint32_t)child->output),
	};

	const struct confinement confinement = { .descriptors = kept,
		.descriptor_count = sizeof(kept) / sizeof(kept[0]),
		.user = reader->is_user_known ? CONFINED_ACCOUNT : CONFINED_NOBODY,
		.id = reader->is_user_known ? reader->user : 0,
		.capabilities = is_root ? RIGHTS_CAPABILITY(CAP_DAC_READ_SEARCH) : 0,
		.files = CONFINED_READS_FILES,
		.more_calls = { FILTER_SET(rules) } };

	return !(confined_enter(&confinement) & (RIGHTS_LEFT_USER | RIGHTS_LEFT_CAPABILITIES));
}

static _Noreturn void source_reader_run_child(const struct source_reader *reader, int output)
{
	struct source_reader_child child = { .reader = reader, .output = output, .bytes_left = MOST_READ_BYTES };

	(void)prctl(PR_SET_NAME, "kelvin-source");
	child.root = source_reader_open_root(reader);
	if (child.root < 0 || !source_reader_become(reader, &child))
		_exit(1);
	for (uint32_t i = 0; i < reader->plan->file_count; i++)
		if (reader->is_asked[i] && !source_reader_answer_file(&child, i))
			break;
	_exit(0);
}

/* ---- Its parent ---- */

bool source_reader_run(const struct source_reader *reader, const struct symbolize_options *options, int64_t deadline_ns,
	struct buffer *answers)
{
	const struct child_patience patience = { .deadline_ns = deadline_ns,
		.most_bytes = SOURCE_MAX_ANSWER_BYTES,
		.most_still_ticks = STALL_TICKS,
		.is_stopped = options->is_stopped };
	enum child_ending ending;
	int end;
	pid_t pid = child_fork_linked(CHILD_IS_QUIET, CHILD_PIPE, &end);

	if (pid == 0)
		source_reader_run_child(reader, end);
	if (pid < 0)
		return false;
	(void)fcntl(end, F_SETPIPE_SZ, PIPE_BYTES);
	ending = child_listen(pid, end, &patience, answers);
	child_end(pid);
	close(end);
	return ending == CHILD_ANSWERED;
}
