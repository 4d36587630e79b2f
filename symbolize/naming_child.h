/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/broker.h"
#include "symbolize/naming.h"

/* Work and messages of the child of symbolize/naming.h. */

enum { NAMING_STACK_BYTES = 2 << 20 }; /* of each of the child's threads; demangling is what goes deep */

enum naming_answer_kind {
	NAMING_CONFINED, /* the first message, before any foreign byte is read: `lacks` */
	NAMING_BEGINS,   /* the child is about the task from now on */
	NAMING_DONE,     /* the bytes of its tables follow */
	NAMING_FAILED,   /* with `code` and `message` */
};

/* The start of each message from the child to its parent; foreign bytes to the latter. */
struct naming_answer {
	uint64_t bytes;                      /* of the tables, which follow: of code, then of data */
	uint64_t code_bytes;                 /* of the table of code; that of data is aligned */
	struct elf_file_identity debug, alt; /* of the files that are part of the cache's key */
	uint32_t kind;
	uint32_t task;   /* its index among those that the child is for */
	uint32_t lacks;  /* CONFINED_WITHOUT_* */
	uint32_t is_new; /* the table is worth to be kept in the cache */
	uint32_t is_kallsyms_restricted;
	uint32_t code;                    /* enum error_code */
	char message[ERROR_MESSAGE_SIZE]; /* of a failure, or of a debug file that was refused; "": none */
};

/* The child's question to its parent: the file of that name of the frame cache, for one of its tasks. */
struct naming_cache_request {
	uint64_t name;
	uint32_t task, zero;
};

struct naming_child {
	struct naming_task *tasks;
	const uint32_t *chosen; /* the tasks that this child is for, by their number in `tasks` */
	size_t chosen_count;
	const struct symbolize_options *options;
	uint64_t memory_bytes; /* that the child may take at first */
	uid_t user;            /* rights_user() */
	unsigned int left;     /* of rights already: confined_separate() */
	int output;            /* a pipe to the parent */
	int broker, cache;     /* sockets to the broker and the parent */
	int alive;             /* a pipe that has no other end when the process that started the child has ended */
};

/* The most bytes that the tables of a task may have. */
size_t naming_most_bytes(const struct naming_task *task);

/* Works on the tasks in the calling process, a child of child_fork(), and ends it. */
_Noreturn void naming_child_run(const struct naming_child *child);
