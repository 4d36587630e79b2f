/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools of `kelvin mcp`: what each is told, and the command line that a call of it means. */
#include "cli/cli.h"
#include "cli/mcp.h"
#include "cli/options.h"
#include "render/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { USUAL_LINES = 60, MOST_LINES = 1000, LEAST_LINES = 10, USUAL_PROFILES = 20, MOST_PROFILES = 500 };
/* What a command says beside its answer has so many lines of it. */
enum { SAID_LINES = 3 };

/* ---- Arguments ---- */

enum argument_type { ARGUMENT_TEXT, ARGUMENT_NUMBER, ARGUMENT_TEXTS };

struct argument {
	const char *name;
	enum argument_type type;
	const char *description;
	const char *option; /* of the command; NULL: it is no option */
	const char *words;  /* the only values that it has, separated by spaces; NULL: any */
};

static const struct argument argument_base = { "base", ARGUMENT_TEXT,
	"Profile of the side before the change, as `profiles` names it; several recordings joined by commas are its runs",
	NULL, NULL };
static const struct argument argument_head = { "head", ARGUMENT_TEXT, "Likewise of the side after the change", NULL,
	NULL };
static const struct argument argument_profile = { "profile", ARGUMENT_TEXT,
	"Profile to look at alone, in place of base and head", NULL, NULL };
#define FUNCTION_WORDS                                                                                                 \
	"Which function: id:ID as answers have it, or a POSIX extended regular expression of its name (without a capital letter: in either case); module:REGEX and file:REGEX for all of a module or file"
static const struct argument argument_function = { "function", ARGUMENT_TEXT, FUNCTION_WORDS, "focus", NULL };
static const struct argument argument_focus = { "focus", ARGUMENT_TEXT,
	"Only stacks with such a function, as `function` of other tools has it", "focus", NULL };
static const struct argument argument_hide = { "hide", ARGUMENT_TEXT,
	"Leaves out the frames of such functions; their time is that of their callers", "hide", NULL };
static const struct argument argument_only = { "only", ARGUMENT_TEXT,
	"Leaves out the frames of other origins, likewise", "only", "user library system" };
static const struct argument argument_where = { "where", ARGUMENT_TEXTS,
	"Only samples of which all of these hold, each KEY=VALUE: thread, process, benchmark, module, file, line, or a label",
	"where", NULL };
static const struct argument argument_metric = { "metric", ARGUMENT_TEXT,
	"Which value: cpu, off-cpu (waiting), wall, idle, samples, or a sample type of the file; default: the profiles' own",
	"metric", NULL };
static const struct argument argument_scale = { "scale", ARGUMENT_TEXT,
	"How both sides are made comparable: auto, per-run, per-request, robust, share, rate or work=BASE:HEAD",
	"scale", NULL };
static const struct argument argument_top = { "top", ARGUMENT_NUMBER, "Rows of each list", "top", NULL };
static const struct argument argument_lines = { "max_lines", ARGUMENT_NUMBER,
	"Lines of the answer (default: 60); its last line says how many are left off", NULL, NULL };
static const struct argument argument_list = { "function", ARGUMENT_TEXT, FUNCTION_WORDS, "list", NULL };
static const struct argument argument_by = { "by", ARGUMENT_TEXT,
	"One row for each: function, module, file, line, thread, process, benchmark, or a label", "by", NULL };
static const struct argument argument_range = { "range", ARGUMENT_TEXT,
	"The commits between base and head, as git names them: A..B", "commits", NULL };
static const struct argument argument_repository = { "repository", ARGUMENT_TEXT,
	"Directory of the git repository, below the server's directories", "repo", NULL };
static const struct argument argument_base_revision = { "base_revision", ARGUMENT_TEXT,
	"Commit or tag of the repository that base was built from (default: its label commit)", "base-rev", NULL };
static const struct argument argument_head_revision = { "head_revision", ARGUMENT_TEXT, "Likewise of head", "head-rev",
	NULL };
static const struct argument argument_revision = { "revision", ARGUMENT_TEXT,
	"Likewise of a profile that is looked at alone", "rev", NULL };
static const struct argument argument_most = { "most", ARGUMENT_NUMBER, "How many to list (default: 20)", NULL, NULL };

#define SIDES &argument_base, &argument_head
#define PART &argument_focus, &argument_hide, &argument_only, &argument_where
#define FIGURES &argument_metric, &argument_top, &argument_lines

/* ---- Tools ---- */

struct tool {
	const char *name, *title, *description;
	/* which sides it takes: base and head, a profile, either; or none, of `profiles` */
	enum { SIDES_TWO, SIDES_ONE, SIDES_EITHER, SIDES_NONE } sides;
	const struct argument *needed; /* beside the sides; NULL: nothing */
	const char *words[4];          /* of the command line, for every call; NULL ends them */
	const char *top;               /* rows of each list where nobody says; NULL: as many as the command has */
	const struct argument *arguments[16]; /* NULL ends them */
};

static const struct tool tools[] = {
	{ "profiles", "List the profiles",
		"Lists the profiles below the server's directories, the newest first. Start here.", SIDES_NONE, NULL,
		{ NULL }, NULL, { &argument_most } },
	{ "compare", "Compare two profiles",
		"After a change, where did the time go? The verdict comes first, then what is proven to take more or less, with 95 % intervals. A difference that is not proven is called unproven: do not report it as a change.",
		SIDES_TWO, NULL, { "--ids", NULL }, "6", { SIDES, &argument_scale, PART, FIGURES } },
	{ "top", "Where the time goes",
		"The functions of one profile with the most time of their own, and with all they call.", SIDES_ONE,
		NULL, { "--ids", NULL }, "15", { &argument_profile, PART, FIGURES } },
	{ "explain", "Explain one function",
		"All about one function: what it takes before and after, what of that is proven, whether its code is the same, what it waits for, who calls it and what it calls.",
		SIDES_EITHER, &argument_function, { "--ids", "--callers", "--callees", NULL }, "5",
		{ &argument_function, SIDES, &argument_profile, &argument_scale, &argument_hide, &argument_only,
			&argument_where, FIGURES } },
	{ "callers", "Who calls a function", "Who calls a function, with the time that it takes for each caller.",
		SIDES_EITHER, &argument_function, { "--ids", "--callers", NULL }, "20",
		{ &argument_function, SIDES, &argument_profile, &argument_scale, &argument_hide, &argument_only,
			&argument_where, FIGURES } },
	{ "callees", "What a function calls",
		"What a function calls, with the time of each, and its own time as (itself).", SIDES_EITHER,
		&argument_function, { "--ids", "--callees", NULL }, "20",
		{ &argument_function, SIDES, &argument_profile, &argument_scale, &argument_hide, &argument_only,
			&argument_where, FIGURES } },
	{ "lines", "Source lines of a function",
		"The source lines of functions, both versions side by side, with the time of each line.", SIDES_EITHER,
		&argument_list, { NULL }, NULL,
		{ &argument_list, SIDES, &argument_profile, &argument_scale, &argument_repository,
			&argument_base_revision, &argument_head_revision, &argument_revision, &argument_metric,
			&argument_lines } },
	{ "groups", "Figures by module, thread, label, …",
		"One row for each module, file, thread, process, benchmark or value of a label, with its own verdict.",
		SIDES_EITHER, &argument_by, { NULL }, "20",
		{ &argument_by, SIDES, &argument_profile, &argument_scale, PART, FIGURES } },
	{ "commits", "Which commit",
		"Which commits of a range touched the functions that are proven to differ, and which are not to blame.",
		SIDES_TWO, &argument_range, { NULL }, NULL,
		{ SIDES, &argument_scale, &argument_range, &argument_repository, &argument_metric, &argument_lines } },
};
enum { TOOL_COUNT = sizeof(tools) / sizeof(tools[0]) };

static bool has_option(const struct options_row *rows, const char *name)
{
	for (; rows->name || rows->rows; rows++)
		if (rows->rows ? has_option(rows->rows, name) : rows->take && strcmp(rows->name, name) == 0)
			return true;
	return false;
}

/* A tool is there if a command has what it needs. */
static bool mcp_tools_is_there(const struct argument *argument)
{
	return !argument || !argument->option || has_option(cmd_diff.rows, argument->option) ||
	       has_option(cmd_report.rows, argument->option);
}

json_t *mcp_text(const char *text)
{
	json_t *json = json_string(text);
	struct buffer valid = BUFFER_INIT((size_t)1 << 26);

	if (json)
		return json;
	for (const char *at = text; *at;)
		unicode_append(&valid, unicode_next(&at));
	buffer_append_byte(&valid, '\0');
	json = valid.failed ? NULL : json_string(valid.data);
	buffer_deinit(&valid);
	return json;
}

/* ---- Schemas ---- */

static json_t *words_of(const char *words)
{
	CLEANUP(cleanup_free) char *copy = strdup(words);
	json_t *array = json_array();
	char *rest = NULL;

	for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest))
		(void)json_array_append_new(array, json_string(word));
	return array;
}

static json_t *argument_schema(const struct argument *argument)
{
	json_t *schema;

	if (argument->type == ARGUMENT_NUMBER)
		return json_pack(
			"{s:s, s:s, s:i}", "type", "integer", "description", argument->description, "minimum", 1);
	if (argument->type == ARGUMENT_TEXTS)
		return json_pack("{s:s, s:s, s:{s:s}, s:i}", "type", "array", "description", argument->description,
			"items", "type", "string", "maxItems", 16);
	schema = json_pack("{s:s, s:s}", "type", "string", "description", argument->description);
	if (schema && argument->words)
		(void)json_object_set_new(schema, "enum", words_of(argument->words));
	return schema;
}

static json_t *required_of(const struct tool *tool)
{
	json_t *required = json_array();

	if (tool->needed)
		(void)json_array_append_new(required, json_string(tool->needed->name));
	if (tool->sides == SIDES_TWO) {
		(void)json_array_append_new(required, json_string("base"));
		(void)json_array_append_new(required, json_string("head"));
	}
	if (tool->sides == SIDES_ONE)
		(void)json_array_append_new(required, json_string("profile"));
	return required;
}

static json_t *tool_json(const struct tool *tool)
{
	json_t *properties = json_object();

	for (size_t i = 0; tool->arguments[i]; i++)
		if (mcp_tools_is_there(tool->arguments[i]))
			(void)json_object_set_new(
				properties, tool->arguments[i]->name, argument_schema(tool->arguments[i]));
	/* Nothing is written or started, and the same question has the same answer while the files are the same. */
	return json_pack("{s:s, s:s, s:s, s:{s:s, s:o, s:o, s:b}, s:{s:s, s:b, s:b, s:b, s:b}}", "name", tool->name,
		"title", tool->title, "description", tool->description, "inputSchema", "type", "object", "properties",
		properties, "required", required_of(tool), "additionalProperties", 0, "annotations", "title",
		tool->title, "readOnlyHint", 1, "destructiveHint", 0, "idempotentHint", 1, "openWorldHint", 0);
}

json_t *mcp_tool_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (mcp_tools_is_there(tools[i].needed))
			(void)json_array_append_new(list, tool_json(&tools[i]));
	return list;
}

/* ---- A call ---- */

struct mcp_tools_call {
	const struct mcp_server *server;
	const struct tool *tool;
	const json_t *arguments; /* NULL: none */
	json_int_t lines;
	struct mcp_command command;
};

static const struct tool *find_tool(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(tools[i].name, name) == 0 && mcp_tools_is_there(tools[i].needed))
			return &tools[i];
	return NULL;
}

static const struct argument *find_argument(const struct tool *tool, const char *name)
{
	for (size_t i = 0; tool->arguments[i]; i++)
		if (strcmp(tool->arguments[i]->name, name) == 0 && mcp_tools_is_there(tool->arguments[i]))
			return tool->arguments[i];
	return NULL;
}

static const char *mcp_tools_text_of(const struct mcp_tools_call *call, const char *name)
{
	return json_string_value(json_object_get(call->arguments, name));
}

/* A text must be one to the C library as well. */
static bool mcp_tools_is_text(const json_t *value)
{
	return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

static bool has_type(const json_t *value, enum argument_type type)
{
	size_t i;
	json_t *item;

	switch (type) {
	case ARGUMENT_TEXT:
		return mcp_tools_is_text(value);
	case ARGUMENT_NUMBER:
		return json_is_integer(value) && json_integer_value(value) > 0;
	case ARGUMENT_TEXTS:
		json_array_foreach((json_t *)(uintptr_t)value, i, item) if (!mcp_tools_is_text(item)) return false;
		return json_is_array(value) && json_array_size(value) <= 16;
	}
	return false;
}

static bool check_arguments(const struct mcp_tools_call *call, struct error *invalid)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)call->arguments, name, value)
	{
		const struct argument *argument = find_argument(call->tool, name);

		if (!argument)
			return error_set(invalid, ERROR_USAGE, "%s has no argument '%.60s'", call->tool->name, name);
		if (!has_type(value, argument->type))
			return error_set(invalid, ERROR_USAGE, "%s: '%s' must be %s", call->tool->name, name,
				argument->type == ARGUMENT_TEXT     ? "a string"
				: argument->type == ARGUMENT_NUMBER ? "a whole number above 0"
								    : "a list of at most 16 strings");
	}
	if (call->tool->needed && !mcp_tools_text_of(call, call->tool->needed->name))
		return error_set(
			invalid, ERROR_USAGE, "%s needs the argument '%s'", call->tool->name, call->tool->needed->name);
	return true;
}

/* Which sides the call is about: both, or one profile. */
static bool check_sides(const struct mcp_tools_call *call, bool *is_diff, struct error *invalid)
{
	bool has_sides = mcp_tools_text_of(call, "base") && mcp_tools_text_of(call, "head"),
	     has_one = mcp_tools_text_of(call, "profile") != NULL;
	bool has_half = !has_sides && (mcp_tools_text_of(call, "base") || mcp_tools_text_of(call, "head"));

	*is_diff = has_sides;
	if (call->tool->sides == SIDES_TWO && !has_sides)
		return error_set(invalid, ERROR_USAGE, "%s needs the arguments 'base' and 'head'", call->tool->name);
	if (call->tool->sides == SIDES_ONE && !has_one)
		return error_set(invalid, ERROR_USAGE, "%s needs the argument 'profile'", call->tool->name);
	if (call->tool->sides == SIDES_EITHER && (has_sides == has_one || has_half))
		return error_set(
			invalid, ERROR_USAGE, "%s needs either 'base' and 'head', or 'profile'", call->tool->name);
	return true;
}

static json_int_t mcp_tools_number_of(
	const struct mcp_tools_call *call, const char *name, json_int_t usual, json_int_t most)
{
	json_t *value = json_object_get(call->arguments, name);
	json_int_t number = value ? json_integer_value(value) : usual;

	return number < most ? number : most;
}

/* ---- The command line ---- */

static bool mcp_tools_add_texts(
	struct mcp_tools_call *call, const struct argument *argument, const json_t *values, struct error *err)
{
	size_t i;
	json_t *value;

	json_array_foreach((json_t *)(uintptr_t)values, i,
		value) if (!mcp_add_word(&call->command, err, "--%s=%s", argument->option,
				   json_string_value(value))) return false;
	return true;
}

/* A repository is named by a directory, which must lie below. */
static bool add_repository(
	struct mcp_tools_call *call, const struct argument *argument, const char *name, struct error *err)
{
	CLEANUP(cleanup_free) char *path = NULL;

	return profile_roots_find_directory(&call->server->roots, name, &path, err) &&
	       mcp_add_word(&call->command, err, "--%s=%s", argument->option, path);
}

static bool add_options(struct mcp_tools_call *call, bool is_diff, struct error *err)
{
	const struct options_row *rows = is_diff ? cmd_diff.rows : cmd_report.rows;

	for (size_t i = 0; call->tool->arguments[i]; i++) {
		const struct argument *argument = call->tool->arguments[i];
		json_t *value = json_object_get(call->arguments, argument->name);

		if (!value || !argument->option)
			continue;
		if (!has_option(rows, argument->option))
			return error_set(
				err, ERROR_USAGE, "'%s' is of use with 'base' and 'head' only", argument->name);
		if (!(argument == &argument_repository ? add_repository(call, argument, json_string_value(value), err)
			    : argument->type == ARGUMENT_TEXTS ? mcp_tools_add_texts(call, argument, value, err)
			    : argument->type == ARGUMENT_NUMBER
				    ? mcp_add_word(&call->command, err, "--%s=%" JSON_INTEGER_FORMAT, argument->option,
					      json_integer_value(value))
				    : mcp_add_word(&call->command, err, "--%s=%s", argument->option,
					      json_string_value(value))))
			return false;
	}
	return true;
}

/* Names are those of the profiles: no binary, no server is asked for others. */
static bool make_command(struct mcp_tools_call *call, bool is_diff, struct error *err)
{
	struct mcp_command *command = &call->command;
	const struct tool *tool = call->tool;

	if (!mcp_add_word(command, err, "%s", is_diff ? cmd_diff.name : cmd_report.name) ||
		!mcp_add_word(command, err, "--text=-") || !mcp_add_word(command, err, "--no-names") ||
		!mcp_add_word(command, err, "--max-lines=%" JSON_INTEGER_FORMAT, call->lines - SAID_LINES))
		return false;
	for (size_t i = 0; tool->words[i]; i++)
		if (!mcp_add_word(command, err, "%s", tool->words[i]))
			return false;
	if (tool->top && !json_object_get(call->arguments, "top") && !mcp_add_word(command, err, "--top=%s", tool->top))
		return false;
	if (!add_options(call, is_diff, err) || !mcp_add_word(command, err, "--"))
		return false;
	if (!is_diff)
		return mcp_add_files(command, &call->server->roots, mcp_tools_text_of(call, "profile"), err);
	return mcp_add_files(command, &call->server->roots, mcp_tools_text_of(call, "base"), err) &&
	       mcp_add_files(command, &call->server->roots, mcp_tools_text_of(call, "head"), err);
}

/* ---- The answer ---- */

static json_t *mcp_tools_answer(const char *text, bool is_error)
{
	json_t *content = json_pack("[{s:s, s:o}]", "type", "text", "text", mcp_text(text));

	return content ? json_pack("{s:o, s:b}", "content", content, "isError", is_error) : NULL;
}

/* Appends the first lines of what the command said beside its answer. */
static void append_said(struct buffer *text, const char *said)
{
	size_t lines = 0;

	for (; *said && lines < SAID_LINES; said++) {
		buffer_append_byte(text, (uint8_t)*said);
		lines += *said == '\n';
	}
}

static json_t *answer_of(const struct captured_outcome *outcome)
{
	bool is_error = outcome->code == CLI_EXIT_ERROR;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT((size_t)1 << 27);

	if (!is_error)
		buffer_append_string(&text, outcome->out.data ? outcome->out.data : "");
	if (outcome->said.data)
		append_said(&text, outcome->said.data);
	buffer_append(&text, "", 0);
	return text.failed ? NULL : mcp_tools_answer(text.data ? text.data : "", is_error);
}

static json_t *mcp_tools_run_command(struct mcp_tools_call *call, bool is_diff)
{
	struct captured_outcome outcome = { 0 };
	struct error err;
	json_t *result;

	result = make_command(call, is_diff, &err) && mcp_run(&call->command, call->server, &outcome, &err)
			 ? answer_of(&outcome)
			 : mcp_tools_answer(err.message, true);
	captured_outcome_deinit(&outcome);
	mcp_command_deinit(&call->command);
	return result;
}

/* ---- The list of profiles ---- */

static void mcp_tools_append_profile(struct buffer *text, const struct found_profile *profile)
{
	time_t seconds = (time_t)(profile->modified_ns / 1000000000);
	struct tm parts;
	char when[32] = "";

	if (gmtime_r(&seconds, &parts))
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &parts);
	buffer_printf(text, "%s  %10" PRId64 " bytes  ", when, profile->bytes);
	unicode_append_clean(text, profile->name);
	buffer_append_byte(text, '\n');
}

static json_t *profile_json(const struct found_profile *profile)
{
	return json_pack("{s:o, s:I, s:I}", "name", mcp_text(profile->name), "bytes", (json_int_t)profile->bytes,
		"modified_unix_s", (json_int_t)(profile->modified_ns / 1000000000));
}

static json_t *list_profiles(const struct mcp_tools_call *call)
{
	CLEANUP(found_profiles_deinit) struct found_profiles found = { 0 };
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT((size_t)1 << 24);
	size_t most = (size_t)mcp_tools_number_of(call, "most", USUAL_PROFILES, MOST_PROFILES);
	json_t *list = json_array(), *result;
	struct error err;

	if (!profile_roots_find(&call->server->roots, &found, &err)) {
		json_decref(list);
		return mcp_tools_answer(err.message, true);
	}
	buffer_printf(&text, "%zu profile%s%s below the server's directories%s\n", found.count,
		found.count == 1 ? "" : "s", found.is_cut ? " or more" : "",
		found.count ? ", the newest first (UTC):" : "; 'kelvin record -o FILE' makes one");
	for (size_t i = 0; i < found.count && i < most; i++) {
		mcp_tools_append_profile(&text, &found.items[i]);
		(void)json_array_append_new(list, profile_json(&found.items[i]));
	}
	if (found.count > most)
		buffer_printf(&text, "... %zu more: most=%zu lists them\n", found.count - most, found.count);
	result = text.failed ? NULL : mcp_tools_answer(text.data, false);
	if (result)
		(void)json_object_set_new(result, "structuredContent",
			json_pack("{s:o, s:I}", "profiles", list, "left_out",
				(json_int_t)(found.count > most ? found.count - most : 0)));
	else
		json_decref(list);
	return result;
}

bool mcp_call_tool(const struct mcp_server *server, const char *name, const json_t *arguments, json_t **result,
	struct error *invalid)
{
	struct mcp_tools_call call = { .server = server, .tool = find_tool(name), .arguments = arguments };
	bool is_diff = false;

	if (!call.tool)
		return error_set(
			invalid, ERROR_USAGE, "there is no tool '%.60s'; tools/list has those there are", name);
	if (!check_arguments(&call, invalid))
		return false;
	if (call.tool->sides == SIDES_NONE) {
		*result = list_profiles(&call);
		return true;
	}
	if (!check_sides(&call, &is_diff, invalid))
		return false;
	call.lines = mcp_tools_number_of(&call, "max_lines", USUAL_LINES, MOST_LINES);
	call.lines = call.lines > LEAST_LINES ? call.lines : LEAST_LINES;
	*result = mcp_tools_run_command(&call, is_diff);
	return true;
}
