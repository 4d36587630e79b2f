/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/output.h"

#include "cli/cli.h"
#include "profile/profile.h"
#include "symbolize/symbolize.h"

#include <string.h>
#include <sys/stat.h>

static const size_t max_output_bytes = (size_t)2 << 30;

static const char *const kind_options[OUTPUT_KIND_COUNT] = {
	[OUTPUT_HTML] = "-o",
	[OUTPUT_TEXT] = "--text",
	[OUTPUT_JSON] = "--json",
	[OUTPUT_MARKDOWN] = "--markdown",
	[OUTPUT_SVG] = "--svg",
	[OUTPUT_FOLDED] = "--folded",
	[OUTPUT_OTLP] = "--otlp",
};

const struct options_row output_rows[] = {
	{ .name = "Output, several at once; without FILE, or with '-', to standard output:" },
	{ 'o', "output", "FILE", "a self-contained HTML page", OPTIONS_OUTPUT(struct outputs, paths[OUTPUT_HTML]) },
	{ 0, "text", "[FILE]", "text (the default when no output is named)",
		OPTIONS_OUTPUT(struct outputs, paths[OUTPUT_TEXT]) },
	{ 0 },
};

const struct options_row output_svg_rows[] = {
	{ 0, "svg", "[FILE]", "a static flame graph", OPTIONS_OUTPUT(struct outputs, paths[OUTPUT_SVG]) },
	{ 0 },
};

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

bool outputs_use_stdout(const struct outputs *outputs)
{
	for (size_t i = 0; i < OUTPUT_KIND_COUNT; i++)
		if (is_stdout(outputs->paths[i]))
			return true;
	return false;
}

bool outputs_show_names_only(const struct outputs *outputs)
{
	for (size_t i = 0; i < OUTPUT_KIND_COUNT; i++)
		if (outputs->paths[i] && i != OUTPUT_FOLDED)
			return false;
	return outputs->paths[OUTPUT_FOLDED] != NULL;
}

static bool cli_output_is_same_file(const char *a, const char *b)
{
	struct stat one, other;

	if (stat(a, &one) != 0 || stat(b, &other) != 0)
		return strcmp(a, b) == 0;
	return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Refuses two outputs to one file, of which the second would replace the first. */
static bool check_twins(const struct outputs *outputs, size_t kind, struct error *err)
{
	const char *path = outputs->paths[kind];

	for (size_t i = 0; i < kind; i++)
		if (outputs->paths[i] && !is_stdout(path) && cli_output_is_same_file(outputs->paths[i], path))
			return error_set(err, ERROR_USAGE,
				"%s and %s both write to %s; name another file for one of them", kind_options[i],
				kind_options[kind], path);
	return true;
}

bool outputs_spare(const struct outputs *outputs, const char *names, struct error *err)
{
	CLEANUP(cleanup_free) char *copy = strdup(names);
	char *rest = NULL;

	if (!copy)
		return error_set_memory(err);
	for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		for (size_t i = 0; i < OUTPUT_KIND_COUNT; i++)
			if (outputs->paths[i] && !is_stdout(outputs->paths[i]) &&
				cli_output_is_same_file(outputs->paths[i], name))
				return error_set(err, ERROR_USAGE,
					"%s %s would write over the profile that is to be read; name another file",
					kind_options[i], outputs->paths[i]);
	return true;
}

bool outputs_check(struct outputs *outputs, struct error *err)
{
	const char *on_stdout = NULL;
	bool any = false;

	for (size_t i = 0; i < OUTPUT_KIND_COUNT; i++) {
		const char *path = outputs->paths[i];

		if (!path)
			continue;
		any = true;
		if (is_stdout(path) && on_stdout)
			return error_set(err, ERROR_USAGE,
				"%s and %s both write to standard output; name a file for one of them", on_stdout,
				kind_options[i]);
		if (is_stdout(path))
			on_stdout = kind_options[i];
		else if (!file_check_writable(path, err) || !check_twins(outputs, i, err))
			return false;
	}
	if (!any)
		outputs->paths[OUTPUT_TEXT] = "-";
	return true;
}

void outputs_list(const struct outputs *outputs, struct worker_output list[OUTPUT_KIND_COUNT])
{
	for (size_t i = 0; i < OUTPUT_KIND_COUNT; i++)
		list[i] = (struct worker_output){ .path = outputs->paths[i], .mode = outputs->mode };
}

const char *output_rule_text(unsigned int rule)
{
	return symbolize_rule_text((enum symbolize_rule)rule);
}

/* A terminal has colours; a file or a program gets whole lists. */
static struct render_text_options text_options(const char *path)
{
	bool is_terminal = is_stdout(path) && isatty(STDOUT_FILENO);
	struct render_text_options options = { .is_whole = !is_terminal };
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	options.width = cli_columns(is_terminal ? STDOUT_FILENO : -1);
	options.colour = is_terminal && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
	return options;
}

/* Tools get names unchanged; on a terminal they are cleaned. */
static bool write_folded(
	const struct outputs *outputs, const struct profile *profile, struct buffer *out, struct error *err)
{
	const char *path = outputs->paths[OUTPUT_FOLDED], *name = outputs->folded_metric;
	uint32_t metric = name ? profile_named_metric(profile, name) : PROFILE_NONE;
	CLEANUP(buffer_deinit) struct buffer raw = BUFFER_INIT(max_output_bytes);

	if (!is_stdout(path) || !isatty(STDOUT_FILENO))
		return profile_write_folded(profile, metric, out, err);
	if (!profile_write_folded(profile, metric, &raw, err))
		return false;
	buffer_append_byte(&raw, '\0');
	if (!buffer_ok(&raw, err))
		return false;
	for (const char *at = (const char *)raw.data; *at;) {
		uint32_t code = unicode_next(&at);

		unicode_append(out, code == '\n' ? code : unicode_clean(code));
	}
	return true;
}

static bool write_otlp(
	const struct outputs *outputs, const struct profile *profile, struct buffer *out, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer raw = BUFFER_INIT(max_output_bytes);

	if (!glob_matches("*.gz", outputs->paths[OUTPUT_OTLP]))
		return foreign_write_otlp(profile, out, err);
	return foreign_write_otlp(profile, &raw, err) && gzip_compress(raw.data, raw.size, out, err);
}

/* The outputs that are written: of a diff or a profile, of a suite, or of a history. */
struct output_shown {
	const struct render_input *input;        /* of a suite: NULL */
	const struct render_suite *page, *other; /* NULL: it is none */
	const struct render_history *history;    /* NULL: it is none */
};

static bool render(const struct outputs *outputs, enum output_kind kind, const struct render_input *input,
	struct buffer *out, struct error *err)
{
	struct render_text_options text = text_options(outputs->paths[kind]);
	struct render_svg_options svg = { 0 };

	switch (kind) {
	case OUTPUT_HTML:
		return render_html(input, out, err);
	case OUTPUT_TEXT:
		return render_text(input, &text, out, err);
	case OUTPUT_JSON:
		return render_json(input, out, err);
	case OUTPUT_MARKDOWN:
		return render_markdown(input, out, err);
	case OUTPUT_SVG:
		return render_svg(input, &svg, out, err);
	case OUTPUT_FOLDED:
		return write_folded(outputs, input->profiles[DIFF_HEAD], out, err);
	case OUTPUT_OTLP:
		return write_otlp(outputs, input->profiles[DIFF_HEAD], out, err);
	}
	return error_set(err, ERROR_USAGE, "no such output");
}

static bool render_together(const struct render_suite *suite, struct buffer *out, struct error *err)
{
	const struct render_part *all = render_part_of(suite, DIFF_ALL_BENCHMARKS);
	struct render_svg_options svg = { 0 };

	if (!all)
		return error_set(err, ERROR_EMPTY, "nothing was recorded of the benchmarks that both sides have");
	return render_svg(&all->input, &svg, out, err);
}

static bool render_suite(const struct outputs *outputs, enum output_kind kind, const struct output_shown *shown,
	struct buffer *out, struct error *err)
{
	struct render_text_options text = text_options(outputs->paths[kind]);

	switch (kind) {
	case OUTPUT_HTML:
		return render_suite_html(shown->page, out, err);
	case OUTPUT_TEXT:
		return render_suite_text(shown->other, &text, out, err);
	case OUTPUT_JSON:
		return render_suite_json(shown->other, out, err);
	case OUTPUT_MARKDOWN:
		return render_suite_markdown(shown->other, out, err);
	case OUTPUT_SVG:
		return render_together(shown->other, out, err);
	case OUTPUT_FOLDED:
		return write_folded(outputs, shown->other->suite->profiles[DIFF_HEAD], out, err);
	case OUTPUT_OTLP:
		return write_otlp(outputs, shown->other->suite->profiles[DIFF_HEAD], out, err);
	}
	return error_set(err, ERROR_USAGE, "no such output");
}

static bool render_history(const struct outputs *outputs, enum output_kind kind, const struct render_history *history,
	struct buffer *out, struct error *err)
{
	struct render_text_options text = text_options(outputs->paths[kind]);

	switch (kind) {
	case OUTPUT_HTML:
		return render_history_html(history, out, err);
	case OUTPUT_TEXT:
		return render_history_text(history, &text, out, err);
	case OUTPUT_JSON:
		return render_history_json(history, out, err);
	case OUTPUT_MARKDOWN:
		return render_history_markdown(history, out, err);
	case OUTPUT_SVG:
	case OUTPUT_FOLDED:
	case OUTPUT_OTLP:
		break;
	}
	return error_set(err, ERROR_USAGE, "a history is no flame graph, and no profile");
}

static bool write_bytes(
	const struct outputs *outputs, enum output_kind kind, const struct buffer *out, struct error *err)
{
	const char *bytes = out->data ? out->data : "";

	return outputs->worker ? worker_write(outputs->worker, kind, bytes, out->size, err)
			       : file_write(outputs->paths[kind], bytes, out->size, outputs->mode, err);
}

/* Hands pieces of an output over while it is made. */
struct output_sink {
	struct buffer_sink sink;
	const struct outputs *outputs;
	enum output_kind kind;
	struct error err; /* why it takes no more */
};

static bool cli_output_take_piece(struct buffer_sink *sink, const void *bytes, size_t size)
{
	struct output_sink *to = (struct output_sink *)sink;
	const char *path = to->outputs->paths[to->kind];

	return is_stdout(path) ? file_write(path, bytes, size, 0, &to->err)
			       : worker_write_piece(to->outputs->worker, to->kind, bytes, size, &to->err);
}

static bool takes_pieces(const struct outputs *outputs, enum output_kind kind)
{
	return is_stdout(outputs->paths[kind]) || (outputs->worker && outputs->worker->socket > 0);
}

/* Keeps so many lines of a text, of which the last says how many are left off. */
static void bound_lines(struct buffer *out, uint64_t most)
{
	uint64_t lines = 0;
	size_t end = 0;

	for (size_t i = 0; i < out->size; i++) {
		lines += out->data[i] == '\n';
		if (lines == most - 1 && end == 0)
			end = i + 1;
	}
	if (most == 0 || lines <= most)
		return;
	out->size = end;
	buffer_printf(out,
		"... %llu more lines: --max-lines %llu shows them all, --top N shortens the lists, --json has everything\n",
		(unsigned long long)(lines - most + 1), (unsigned long long)lines);
}

static bool write_one(
	const struct outputs *outputs, enum output_kind kind, const struct output_shown *shown, struct error *err)
{
	const char *path = outputs->paths[kind];
	struct output_sink to = { .sink = { cli_output_take_piece }, .outputs = outputs, .kind = kind };
	struct buffer out = BUFFER_INIT(max_output_bytes);
	bool ok;

	out.sink = takes_pieces(outputs, kind) ? &to.sink : NULL;
	ok = shown->history ? render_history(outputs, kind, shown->history, &out, err)
	     : shown->page  ? render_suite(outputs, kind, shown, &out, err)
			    : render(outputs, kind, shown->input, &out, err);
	if (to.err.code != ERROR_NONE)
		*err = to.err;
	if (ok && kind == OUTPUT_TEXT)
		bound_lines(&out, outputs->max_lines);
	ok = ok && buffer_ok(&out, err) && write_bytes(outputs, kind, &out, err);
	if (ok && !is_stdout(path)) {
		struct buffer said = BUFFER_INIT(CLI_MESSAGE_BYTES);

		render_append_written(&said, path, out.passed + out.size);
		cli_print_notices(&said);
		buffer_deinit(&said);
	}
	buffer_deinit(&out);
	return ok;
}

static bool write_each(const struct outputs *outputs, const struct output_shown *shown, struct error *err)
{
	for (size_t i = 0; i < OUTPUT_KIND_COUNT; i++)
		if (outputs->paths[i] && !write_one(outputs, (enum output_kind)i, shown, err))
			return false;
	return true;
}

bool outputs_write(const struct outputs *outputs, const struct render_input *input, struct error *err)
{
	CLEANUP(lines_made_deinit) struct lines_made made = { 0 };
	const struct lines_wanted wanted = { outputs->paths[OUTPUT_HTML], outputs->paths[OUTPUT_MARKDOWN] };
	struct render_input with_lines = *input;

	if (outputs->lines && !lines_make(outputs->lines, &wanted, outputs->worker, input, &made, err))
		return false;
	with_lines.listing = made.listing;
	return write_each(outputs, &(struct output_shown){ .input = &with_lines }, err);
}

bool outputs_write_suite(const struct outputs *outputs, const struct render_suite *page,
	const struct render_suite *other, struct error *err)
{
	return write_each(outputs, &(struct output_shown){ .page = page, .other = other }, err);
}

bool outputs_write_history(const struct outputs *outputs, const struct render_history *history, struct error *err)
{
	return write_each(outputs, &(struct output_shown){ .history = history }, err);
}
