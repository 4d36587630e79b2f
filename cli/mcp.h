/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/captured.h"
#include "profile/profile.h"

#include <jansson.h>

/*
 * The parts of `kelvin mcp`: questions about profiles as tools of the Model Context Protocol, over standard input and
 * output. An answer is what `report` and `diff` write: a call runs the same command in a child.
 *
 *	cmd_mcp.c	the command, and messages (JSON-RPC 2.0, a line each)
 *	mcp_tools.c	the tools: their schemas, and the command line that each call means
 *	mcp_call.c	the child that runs a command
 */

/* ---- Calls ---- */

struct mcp_server {
	struct profile_roots roots;
	double deadline_s;
};

/* The words of a command line, and the files that it names, which are open. */
struct mcp_command {
	char **words; /* owned, each of them; NULL behind the last */
	size_t count, capacity;
	struct mcp_given {
		char *name; /* owned */
		int fd;     /* owned */
	} * files;          /* owned */
	size_t file_count, file_capacity;
};

COMMON_MUST_CHECK __attribute__((format(printf, 3, 4))) bool mcp_add_word(
	struct mcp_command *command, struct error *err, const char *format, ...);

/* Opens the files of one side, joined by commas, and adds them to the command. */
COMMON_MUST_CHECK
bool mcp_add_files(
	struct mcp_command *command, const struct profile_roots *roots, const char *names, struct error *err);
void mcp_command_deinit(struct mcp_command *command);

/*
 * Runs the command in a child, which is ended at the deadline, or when the client is gone. ERROR_SYSTEM says which.
 * The outcome is to be released in any case.
 */
COMMON_MUST_CHECK
bool mcp_run(const struct mcp_command *command, const struct mcp_server *server, struct captured_outcome *outcome,
	struct error *err);

/* ---- Tools ---- */

/* Returns the list of all tools that this program has; NULL: out of memory. */
json_t *mcp_tool_list(void);

/*
 * Answers a call. False: `*invalid` says what is wrong with the call itself (an unknown tool, an argument of another
 * type); else `*result` is the caller's: content, and whether it is an error that the client can act on. A `*result` of
 * NULL: out of memory.
 */
bool mcp_call_tool(const struct mcp_server *server, const char *name, const json_t *arguments, json_t **result,
	struct error *invalid);

/* Text as JSON, whatever bytes it has; its lines stay. NULL: out of memory. */
json_t *mcp_text(const char *text);
