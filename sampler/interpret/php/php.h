/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/codes.h"
#include "sampler/interpret/interpret.h"
#include "sampler/interpret/loop.h"
#include "sampler/interpret/memory.h"

/*
 * PHP 7.4 to 8.5 without threads (NTS), as a program (php, php-fpm, php-cgi) or as a library (mod_php, embed), stripped
 * or not, with and without opcache and its JIT.
 */

/* The facts that the file of an interpreter tells. */
struct php_image {
	const struct elf_image *elf;  /* borrowed: of the file; to compare with */
	struct ebpf_php read;         /* how its frames are read; `frame` is an image address */
	struct interpreter_loop loop; /* execute_ex */
};

/*
 * Looks whether an image is an interpreter whose frames can be read: `*php` is NULL if it is none. For one that cannot
 * be read, `why` (ERROR_NONE before) says why. Owned by the caller.
 */
COMMON_MUST_CHECK
bool php_image_read(struct elf_image *elf, struct php_image **php, struct error *why, struct error *err);
void php_image_destroy(struct php_image *php); /* NULL is allowed */

/* ---- Functions ---- */

struct php_code_reader;

/* Owned by the caller. */
COMMON_MUST_CHECK
bool php_code_reader_create(const struct process_host *host, struct php_code_reader **reader, struct error *err);

/*
 * A function's name is `php::CLASS::FUNCTION:FILE`. The code of a file is called {main}, that of eval() {eval}, a
 * function without a name {closure}, without the line in which it is; a function of C code is in the file
 * * PROFILE_PHP_INTERNAL_FILE.
 */
extern const struct interpreter_code_reader php_code_reads;

/* ---- Frames ---- */

/* Reads the frames of the thread of a process from outside, as sampler/ebpf/frame_reader.h does; at most `room` words.
 */
bool php_read_frames(const struct process_host *host, const struct ebpf_php *php, int32_t pid, uint64_t *words,
	size_t room, struct ebpf_frames *frames);
