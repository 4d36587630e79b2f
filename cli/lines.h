/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "cli/worker.h"
#include "render/render.h"

/* Which functions `report` and `diff` list line by line, and where their texts are. */
struct lines {
	const char *functions; /* borrowed: --list; NULL: those that outputs choose themselves */
	bool assembly;         /* with their instructions */
	struct texts texts;
};

/* The options of a struct lines: all options; those of commands that show one profile. */
extern const struct options_row lines_rows[], lines_single_rows[];

/* Opens what the user has named; ERROR_*: as texts_prepare(). */
COMMON_MUST_CHECK
bool lines_prepare(struct lines *lines, struct error *err);
void lines_deinit(struct lines *lines);

/*
 * Reads a repository from now on only as far as it lies below these directories (struct repository_bounds), which are
 * borrowed for good. For a process that answers one question of somebody else (cli/mcp.h).
 */
void lines_stay_below(const int *directories, size_t count);

/* worker_ask() as texts and commits ask; the context is the worker. */
int lines_ask_parent(void *worker, const void *bytes, size_t size, struct error *err);

/* Which outputs show lines that nobody asked for by name. */
struct lines_wanted {
	bool by_page, by_comment;
};

/* A listing for outputs. It must not move. */
struct lines_made {
	struct texts_asker asker;
	struct listing *listing; /* owned; NULL: no output shows lines */
};

/*
 * Makes the listing of a diff or of a profile. `worker`: of which this process is one; NULL, or without a socket: texts
 * are opened here. It is to be released in any case.
 */
COMMON_MUST_CHECK
bool lines_make(struct lines *lines, const struct lines_wanted *wanted, const struct worker *worker,
	const struct render_input *input, struct lines_made *made, struct error *err);
void lines_made_deinit(struct lines_made *made);
