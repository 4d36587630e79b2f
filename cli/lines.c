/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes listings of functions for the outputs that show them. */
#include "cli/lines.h"

#include "binary/binary.h"
#include "cli/cli.h"
#include "cli/naming.h"

/* Functions that a page can show line by line beside those that --list names, and candidates for a comment. */
enum { PAGE_PROVEN = 60, PAGE_LARGEST = 60, COMMENT_PROVEN = 24 };
/* A page shows the whole of a line that somebody selects, unless it is no code that people read. */
enum { PAGE_LINE_BYTES = 1 << 14 };

#define LIST_ROWS                                                                                                                           \
	{ 0, "list", "REGEX",                                                                                                               \
		"source lines of such functions with their times; for text and JSON. Texts are those\nthat recordings have kept, else of:", \
		OPTIONS_TEXT(struct lines, functions) },                                                                                    \
	{                                                                                                                                   \
		0, "assembly", NULL,                                                                                                        \
			"with --list: below each line its instructions with their times, of code that\nrecordings have kept (--sources)",   \
			OPTIONS_FLAG(struct lines, assembly)                                                                                \
	}

static bool lines_take_map(void *texts, const char *text, struct error *err)
{
	return texts_add_map(texts, text, err);
}

#define REPOSITORY_ROW                                                                                                 \
	{                                                                                                              \
		0, "repo", "DIR",                                                                                      \
			"git repository of the sources, which DIR is in (default: that of the current\ndirectory)",    \
			OPTIONS_TEXT(struct texts, directory)                                                          \
	}
#define OTHER_ROWS                                                                                                     \
	{ 0, "debuginfod", NULL, "fetches sources from the servers in DEBUGINFOD_URLS",                                \
		OPTIONS_FLAG(struct texts, asks_servers) },                                                            \
	{                                                                                                              \
		0, "source-map", "OLD=NEW", "sources as they are below NEW now, of paths that began with OLD",         \
			lines_take_map, 0, .repeatable = true                                                          \
	}

static const struct options_row texts_rows[] = {
	REPOSITORY_ROW,
	{ 0, "base-rev", "REV", "revision that base was built from (default: its label commit)",
		OPTIONS_TEXT(struct texts, revision[DIFF_BASE]) },
	{ 0, "head-rev", "REV", "revision that head was built from (default: its label commit)",
		OPTIONS_TEXT(struct texts, revision[DIFF_HEAD]) },
	OTHER_ROWS,
	{ 0 },
};

static const struct options_row texts_single_rows[] = {
	REPOSITORY_ROW,
	{ 0, "rev", "REV", "revision that the program was built from (default: the label commit)",
		OPTIONS_TEXT(struct texts, revision[DIFF_HEAD]) },
	OTHER_ROWS,
	{ 0 },
};

const struct options_row lines_rows[] = {
	{ .name = "Lines:" },
	LIST_ROWS,
	{ .rows = texts_rows, .at = offsetof(struct lines, texts) },
	{ 0 },
};

const struct options_row lines_single_rows[] = {
	{ .name = "Lines:" },
	LIST_ROWS,
	{ .rows = texts_single_rows, .at = offsetof(struct lines, texts) },
	{ 0 },
};

/*
 * The directories where a process that answers one question of `kelvin mcp` may read; it is set before the question is
 * looked at.
 */
static struct {
	struct repository_bounds bounds;
	bool are_set;
} within;

void lines_stay_below(const int *directories, size_t count)
{
	within.bounds = (struct repository_bounds){ directories, count };
	within.are_set = true;
}

int lines_ask_parent(void *worker, const void *bytes, size_t size, struct error *err)
{
	return worker_ask(worker, bytes, size, err);
}

static int fetch_source(const char *build_id, const char *path, uint64_t most_bytes, uint64_t *bytes, int64_t *ns)
{
	struct symbolize_servers servers = { *bytes, *ns };
	int fd = symbolize_debuginfod_source(build_id, path, most_bytes, &servers);

	*bytes = servers.bytes;
	*ns = servers.ns;
	return fd;
}

bool lines_prepare(struct lines *lines, struct error *err)
{
	if (lines->assembly && !lines->functions)
		return error_set(err, ERROR_USAGE,
			"--assembly has no functions whose instructions it could show; add --list REGEX");
	/* The worker, which decodes the instructions, can load no library. */
	if (lines->assembly)
		machine_load_decoders();
	lines->texts.say = cli_say;
	lines->texts.bounds = within.are_set ? &within.bounds : NULL;
	lines->texts.servers = (struct texts_servers){ .prepare = naming_prepare_debuginfod, .fetch = fetch_source };
	return texts_prepare(&lines->texts, err);
}

void lines_deinit(struct lines *lines)
{
	texts_deinit(&lines->texts);
}

bool lines_make(struct lines *lines, const struct lines_wanted *wanted, const struct worker *worker,
	const struct render_input *input, struct lines_made *made, struct error *err)
{
	struct listing_options options = {
		.functions = lines->functions,
		.assembly = lines->assembly,
		.proven = wanted->by_page      ? PAGE_PROVEN
			  : wanted->by_comment ? COMMENT_PROVEN
					       : 0,
		.largest = wanted->by_page ? PAGE_LARGEST : 0,
		.all_lines = wanted->by_page,
		/* What --list names is the same in JSON, whether there is a page or not. */
		.line_bytes = wanted->by_page && !lines->functions ? PAGE_LINE_BYTES : 0,
	};

	*made = (struct lines_made){ 0 };
	if (!input->diff || (!lines->functions && !wanted->by_page && !wanted->by_comment))
		return true;
	texts_asker_init(&made->asker, &lines->texts, worker && worker->socket != 0 ? lines_ask_parent : NULL,
		(void *)(uintptr_t)worker, input->profiles);
	options.opener = &made->asker.opener;
	return listing_create(input->diff, input->profiles, &options, &made->listing, err);
}

void lines_made_deinit(struct lines_made *made)
{
	listing_destroy(made->listing);
	texts_asker_deinit(&made->asker);
}
