/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"
#include "sampler/recording.h"

/*
 * The binaries of a recording that was made at another time or on another machine: found by path and build id, never
 * through the processes, which are others by now.
 */

struct recorded_files {
	struct hash_map by_path;  /* hash of the path -> index of build id */
	struct elf_build_id *ids; /* owned */
	size_t id_count, id_capacity;
	const struct recording_file *recording; /* borrowed: whose binaries they are; never NULL */
	struct elf_build_id kernel;             /* size 0: not known */
};

/* `recording` NULL: one without a directory or a cache. */
void recorded_files_init(struct recorded_files *files, const struct recording_file *recording);
void recorded_files_deinit(struct recorded_files *files);

/* The host for a process table, which must not outlive `files`. */
struct process_host recorded_files_host(struct recorded_files *files);

/* Sets the build id that was recorded under a path; a later call replaces an earlier one. */
COMMON_MUST_CHECK
bool recorded_files_add(
	struct recorded_files *files, const char *path, const struct elf_build_id *id, struct error *err);

/*
 * Opens PATH if it still is the recorded binary, else its copy in perf's build-id cache. If no build id was recorded,
 * PATH is opened without a check. Fails with the reason and both ids.
 */
COMMON_MUST_CHECK
bool recorded_files_open(const struct recorded_files *files, const char *path, const struct elf_build_id *id,
	struct elf_image **image, struct error *err);

/* Returns the address of the running kernel's symbol _text; 0 if it is not readable. */
uint64_t recorded_kernel_text(void);

/* The symbols of the recorded kernel, and how far they are from its recorded addresses (KASLR). */
struct recorded_kernel {
	char *kallsyms;  /* owned; NULL: not available */
	bool is_running; /* the recorded kernel runs now, at the same addresses, so its own symbols may be read */
	uint64_t moved;  /* recorded address + moved = address in kallsyms, modulo 2^64 */
};

/*
 * Finds the kernel of files->kernel, or, where that is not known, the one of a release (uname -r; NULL: not known).
 * `text` is the recorded address of the symbol `text_name` ("_text" or "_stext"); 0: not known. ERROR_MEMORY.
 */
COMMON_MUST_CHECK
bool recorded_kernel_find(const struct recorded_files *files, const char *release, uint64_t text, const char *text_name,
	struct recorded_kernel *kernel, struct error *err);
