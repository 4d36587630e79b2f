/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <sys/types.h>

/*
 * Runs git once. The child has a file in memory as its output, the null device as its input, an environment that the
 * caller makes, and no other descriptor. It can neither make a process nor a socket (CONFINED_ALONE): whatever a
 * repository names as a program, git cannot start it. It ends with its parent.
 */
struct repository_child {
	const char *program;                /* absolute path of git */
	const char *const *arguments;       /* as execve(2) has them; the first is the program's name */
	const char *const *environment;     /* likewise */
	int directory;                      /* descriptor of the directory that it runs in */
	uid_t user;                         /* where root runs us: whose account it becomes; 0: none */
	const struct rights_places *places; /* the only files that it reads and executes; NULL: any */
	size_t max_bytes;                   /* of its output */
	unsigned int seconds;
};

enum { REPOSITORY_COMPLAINT_BYTES = 2048 };

struct repository_answer {
	int fd;                                     /* owned: its output, at its start; -1: there is none */
	int code;                                   /* its exit code */
	char complaint[REPOSITORY_COMPLAINT_BYTES]; /* the beginning of what it wrote to standard error: foreign */
};

/* All of `answer` is set, also on failure. */
void repository_answer_deinit(struct repository_answer *answer);

/*
 * Success means that git ended by itself, with whatever code. ERROR_LIMIT: its output is larger than `max_bytes`.
 * ERROR_SYSTEM: there is no process, none that is kept to `places`, git crashed, took longer than `seconds`, or waited
 * for a file that gives nothing, as a FIFO; asking again would take as long.
 */
COMMON_MUST_CHECK
bool repository_child_run(const struct repository_child *child, struct repository_answer *answer, struct error *err);

/*
 * Writes the first line of a complaint without git's own "fatal: ", for messages: at most `size` bytes, with '?' for
 * what is not printable.
 */
void repository_complaint_line(const char *complaint, char *line, size_t size);
