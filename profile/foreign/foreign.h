/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Files of profiles, whoever wrote them. Which kind a file is, its content tells, never its name.
 *
 *	foreign.c	which kind it is, and who reads it
 *	owners.c	frames that stand for a process or a thread
 *	utf16.c		text in UTF-16
 *	unsupported.c	what is often given to Kelvin, and what makes a profile of it
 *	callgrind/	callgrind.out and cachegrind.out
 *	cpuprofile/	CPU profiles of V8
 *	json/		JSON, value by value
 *	otlp/		OTLP profiles, protobuf and JSON, which are written as well
 *	perf_script/	the text of perf script
 *	speedscope/	speedscope's files
 *
 * pprof and folded stacks are read in profile/, which writes them too.
 */

enum foreign_kind {
	FOREIGN_PPROF,
	FOREIGN_OTLP,
	FOREIGN_OTLP_JSON,
	FOREIGN_FOLDED,
	FOREIGN_CALLGRIND,
	FOREIGN_CACHEGRIND,
	FOREIGN_CPUPROFILE,
	FOREIGN_SPEEDSCOPE,
	FOREIGN_PERF_SCRIPT,
	FOREIGN_PERF_DATA, /* sampler_read_perf_data() */
	FOREIGN_UTF16,     /* a text whose byte order mark says so, as PowerShell writes it: any kind of text */
	FOREIGN_PART,      /* the FILE.part of a killed recorder: sampler_read_part() */
	FOREIGN_UNKNOWN
};

/*
 * Tells what a file is from its start, of which a first line of text must be whole. What is gzipped counts as pprof. A
 * byte order mark of UTF-8 is no part of a text, here and below.
 */
enum foreign_kind foreign_kind(const void *bytes, size_t size);

/*
 * Reads a file that memory holds, bare or gzipped: any kind but perf.data and what a killed recorder leaves. Everything
 * is checked: a bad reference or a contradiction is ERROR_FORMAT with its place. A decompression bomb (more than 64 MB
 * and more than 120 times its size) is ERROR_LIMIT. `name` is for messages.
 */
COMMON_MUST_CHECK
bool foreign_read(const void *bytes, size_t size, const char *name, struct profile **profile, struct error *err);

/*
 * Returns whether a kind is a text that is read line by line, and such a text, of which memory never holds more than a
 * piece.
 */
bool foreign_is_lines(enum foreign_kind kind);
COMMON_MUST_CHECK
bool foreign_read_text(const struct text_source *text, const char *name, struct profile **profile, struct error *err);

/*
 * Appends OTLP profiles, as protobuf: a ProfilesData, which is an ExportProfilesServiceRequest as well, of the package
 * profiles.v1development as opentelemetry-proto 1.10 and 1.11 have it. Each value type of each run is a Profile; all
 * share the dictionary. Where events have times, each value is that of one event. Labels of the profile that have a
 * name in OpenTelemetry's conventions are the resource's attributes. Text that is not UTF-8 has U+FFFD in place of each
 * wrong byte. What OTLP has no place for is left out: origins, waits, requests, sources, quality and facts.
 * ERROR_LIMIT: it is larger than `out` may be.
 */
COMMON_MUST_CHECK
bool foreign_write_otlp(const struct profile *profile, struct buffer *out, struct error *err);

/* An open file, of which the first bytes tell what it is: a stream, as a pipe, is read once, and never again. */
enum { FOREIGN_HEAD_BYTES = 16 };
struct foreign_input {
	int fd;           /* borrowed */
	const char *name; /* borrowed, for messages */
	bool is_stream;
	uint64_t offset; /* bytes that have been read */
	uint8_t head[FOREIGN_HEAD_BYTES];
	size_t head_bytes;
};
COMMON_MUST_CHECK
bool foreign_input_begin(struct foreign_input *input, int fd, const char *name, struct error *err);

/* Reads all of it as foreign_read() does, of at most 2 GB, or as foreign_read_text(). */
COMMON_MUST_CHECK
bool foreign_input_read(struct foreign_input *input, struct profile **profile, struct error *err);

/*
 * ---- Profiles below directories ----
 *
 * Directories that somebody was given: a file is opened or listed below them, and nothing else.
 */

struct profile_root {
	char *path; /* owned: absolute, without links, for people */
	int fd;     /* owned */
};

struct profile_roots {
	struct profile_root *roots; /* owned */
	size_t count;
};

enum { PROFILE_MOST_ROOTS = 64 };

COMMON_MUST_CHECK
bool profile_roots_open(struct profile_roots *roots, char *const *paths, size_t count, struct error *err);
void profile_roots_deinit(struct profile_roots *roots);

/*
 * Opens a file below a directory: no link and no `..` leads out of it, and only a regular file is opened, so that
 * nothing waits. The name is relative to a directory, or absolute. The descriptor is the caller's; it is what is read,
 * whatever lies under the name later.
 */
COMMON_MUST_CHECK
bool profile_roots_open_file(const struct profile_roots *roots, const char *name, int *fd, struct error *err);

/*
 * Does the same for a directory, which is to be in a git repository: its path without links is written to `path`, which
 * is the caller's. What of the repository lies below is for the child to see (texts_stay_below()).
 */
COMMON_MUST_CHECK
bool profile_roots_find_directory(const struct profile_roots *roots, const char *name, char **path, struct error *err);

/* The profiles below the directories, the newest first: at most `most`. `total`: how many there are. */
struct found_profile {
	char *name; /* owned: as profile_roots_open_file() takes it */
	int64_t bytes, modified_ns;
};
struct found_profiles {
	struct found_profile *items; /* owned */
	size_t count, capacity;
	bool is_cut; /* there are more entries than are looked at */
};
COMMON_MUST_CHECK
bool profile_roots_find(const struct profile_roots *roots, struct found_profiles *found, struct error *err);
void found_profiles_deinit(struct found_profiles *profiles);
