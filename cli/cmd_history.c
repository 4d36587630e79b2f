/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin history`: reads the profiles of a program over time, in a process without rights, and says what changed when.
 */
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/naming.h"
#include "cli/output.h"
#include "cli/source_file.h"
#include "diff/diff.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char cmd_history_usage[] =
	"Usage: kelvin history PROFILE... | DIR | URL [OPTIONS]\n"
	"Finds since when functions of a program cost more or less, over many profiles, and which of the changes are proven.\n"
	"Of a DIR, the files in it are read that are profiles, but not the directories below. A URL is a store's,\n"
	"with a query: 'clickhouse+http://HOST:8123/DATABASE?service=NAME&from=now-7d'.\n";

static const char cmd_history_notes[] =
	"Examples:\n"
	"  kelvin history profiles/\n"
	"  kelvin history profiles/ -o history.html\n"
	"  kelvin history profiles/ --fail-on 'total>5%' --markdown comment.md\n"
	"\n"
	"Exit codes: 0 no limit of --fail-on exceeded; 1 a limit exceeded; 2 usage or input error;\n"
	"3 too few profiles to check a limit, or to prove what the newest one exceeds.\n";

enum { MAX_GATES = 1000, MAX_SAID_BYTES = 1 << 24, OUTPUT_CACHE = OUTPUT_KIND_COUNT, WORKER_OUTPUTS };

struct command_history {
	struct outputs outputs;
	struct naming naming;
	struct history_options history;
	const char *metric; /* borrowed */
	struct options_list labels;
	struct diff_gate *gates; /* owned */
	size_t gate_count, gate_capacity;
	bool no_cache;
	/* The open resources. */
	struct symbolize_options symbolize;
	struct history_files files;
	struct store_history store;
	struct store_profiles fetched;
	bool is_store;
	struct history_reading reading;
	int cache_fd;
	char cache_path[PATH_MAX]; /* "": none is written */
	struct worker *worker;
};

static void command_deinit(struct command_history *command)
{
	history_files_deinit(&command->files);
	store_history_deinit(&command->store);
	store_profiles_deinit(&command->fetched);
	naming_deinit(&command->naming);
	options_list_deinit(&command->labels);
	free(command->gates);
	if (command->cache_fd >= 0)
		close(command->cache_fd);
}

/* ---- Options ---- */

static bool take_q(void *q, const char *text, struct error *err)
{
	if (!options_parse_positive("--q", text, q, err))
		return false;
	return *(double *)q < 1 || error_set(err, ERROR_USAGE, "--q '%.60s': write a rate below 1, as 0.05", text);
}

static bool cmd_history_take_min_effect(void *points, const char *text, struct error *err)
{
	return options_parse_positive("--min-effect", text, points, err);
}

static bool take_period(void *period_ns, const char *text, struct error *err)
{
	double seconds;

	if (!options_parse_some_time("--period", text, &seconds, err))
		return false;
	*(int64_t *)period_ns = (int64_t)(seconds * 1e9);
	return true;
}

static bool cmd_history_take_label(void *labels, const char *text, struct error *err)
{
	const char *equals = strchr(text, '=');
	char key[PROFILE_LABEL_KEY_BYTES + 2];

	if (!equals)
		return error_set(err, ERROR_USAGE, "--label '%.60s': write KEY=VALUE, as version=42", text);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - text), text);
	return profile_label_check(key, equals + 1, err) && options_list_add(labels, text, err);
}

static bool cmd_history_take_gate(void *context, const char *text, struct error *err)
{
	struct command_history *c = context;

	if (!ARRAY_RESERVE(&c->gates, &c->gate_capacity, c->gate_count + 1, MAX_GATES, err) ||
		!diff_gate_parse(text, &c->gates[c->gate_count], err))
		return false;
	if (c->gates[c->gate_count].subject == DIFF_GATE_BENCHMARK)
		return error_set(err, ERROR_USAGE,
			"--fail-on '%.80s': a history has no limits on benchmarks; write for example total>2%% or function:NAME>1%%",
			text);
	c->gate_count++;
	return true;
}

static const struct options_row cmd_history_rows[] = {
	{ .rows = output_rows, .at = offsetof(struct command_history, outputs) },
	{ 0, "json", "[FILE]", "schema kelvin.history/1",
		OPTIONS_OUTPUT(struct command_history, outputs.paths[OUTPUT_JSON]) },
	{ 0, "markdown", "[FILE]", "for a pull request or a chat",
		OPTIONS_OUTPUT(struct command_history, outputs.paths[OUTPUT_MARKDOWN]) },
	{ .name = "Options:" },
	{ 0, "metric", "NAME",
		"which value to compare: cpu, off-cpu, wall, idle, samples, or a sample type of pprof\nfiles (default: the profiles' own)",
		OPTIONS_TEXT(struct command_history, metric), .words = OUTPUT_METRICS },
	{ 0, "label", "KEY=VALUE", "only profiles that have this label", cmd_history_take_label,
		offsetof(struct command_history, labels), .repeatable = true },
	{ 0, "fail-on", "RULE",
		"limit on what the newest profile may have more than the history:\ntotal>2%, function>5% or function:NAME>1%",
		cmd_history_take_gate, .repeatable = true },
	{ 0, "q", "RATE", "which part of the changes may be false (default: 0.05)", take_q,
		offsetof(struct command_history, history.q) },
	{ 0, "min-effect", "POINTS", "smallest change that matters, in points of the total (default: 0.1)",
		cmd_history_take_min_effect, offsetof(struct command_history, history.min_effect_points) },
	{ 0, "period", "TIME", "compares profiles with those at the same time of such a period: 24h", take_period,
		offsetof(struct command_history, history.period_ns) },
	{ 0, "no-cache", NULL, "reads all profiles again, and keeps nothing of them",
		OPTIONS_FLAG(struct command_history, no_cache) },
	{ .rows = options_mode_rows, .at = offsetof(struct command_history, outputs.mode) },
	{ .rows = naming_symbolize_rows, .at = offsetof(struct command_history, naming) },
	{ 0 },
};

/* ---- Without rights ---- */

static bool cmd_history_show(
	struct command_history *command, struct history *history, struct history_cache *cache, struct error *err)
{
	CLEANUP(history_view_deinit)
	struct history_view view = { .history = history,
		.files = &command->files,
		.reading = &command->reading,
		.cache = cache,
		.options = &command->history,
		.wants_diffs = command->outputs.paths[OUTPUT_HTML] };
	CLEANUP(cleanup_free) struct render_history_part *parts = NULL;
	struct render_history input = {
		.history = history, .tool = CLI_TOOL, .side_words = history_view_side_words, .context = &view
	};

	if (!history_view_explain(&view, err))
		return false;
	if (!ARRAY_ZEROED(&parts, view.count + 1, err))
		return false;
	for (size_t i = 0; i < view.count; i++)
		parts[i] = (struct render_history_part){ view.parts[i].pair,
			{ .diff = view.parts[i].diff,
				.profiles = { view.parts[i].profiles[DIFF_BASE], view.parts[i].profiles[DIFF_HEAD] },
				.tool = CLI_TOOL,
				.origin_rule_text = output_rule_text } };
	input.parts = parts;
	input.part_count = view.count;
	return outputs_write_history(&command->outputs, &input, err);
}

/* Returns the exit code, and says which limit it was. */
static int cmd_history_check_limits(const struct command_history *command, const struct history *history)
{
	CLEANUP(buffer_deinit) struct buffer said = BUFFER_INIT(MAX_SAID_BYTES);
	enum history_gate_result result = history_gate_judge(history, command->gates, command->gate_count, &said);

	cli_print_messages(&said);
	return result == HISTORY_GATE_EXCEEDED ? CLI_EXIT_REGRESSED
	       : result == HISTORY_GATE_OPEN   ? CLI_EXIT_INCONCLUSIVE
					       : CLI_EXIT_OK;
}

static bool cli_cmd_history_work(struct command_history *command, int *code, struct error *err)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	CLEANUP(history_cache_deinit) struct history_cache cache = { 0 };
	CLEANUP(history_cleanup) struct history *history = NULL;
	CLEANUP(buffer_deinit) struct buffer kept = BUFFER_INIT(SIZE_MAX);
	struct error ignored;

	source_file_keep_memory();
	if (!summary_set_create(&set, err) || !history_cache_read(command->cache_fd, set, &cache, err) ||
		!history_files_read(&command->files, &command->reading, set, &cache, err))
		return false;
	if (set->count == 0)
		return error_set(err, ERROR_EMPTY,
			command->reading.label_count
				? "none of the profiles has these labels; 'kelvin report FILE' shows the labels of one"
				: "there is no profile to make a history of; name the files that 'kelvin record' or 'kelvin watch' made");
	if (!summary_match_functions(set, err) || !history_create(set, &command->history, &history, err) ||
		!cmd_history_show(command, history, &cache, err))
		return false;
	*code = cmd_history_check_limits(command, history);
	if (command->cache_path[0] && history_files_make_cache(&command->files, &command->reading, &cache, set, &kept))
		(void)!worker_write(command->worker, OUTPUT_CACHE, kept.data, kept.size, &ignored);
	return true;
}

static int cmd_history_work(void *context)
{
	struct error err;
	int code = CLI_EXIT_ERROR;

	if (cli_cmd_history_work(context, &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

/* ---- What names ---- */

static bool cmd_history_name(void *options, const char *path, struct profile *profile, struct error *err)
{
	return source_name_given(path, options, profile, err);
}

static bool find_idle(void *options, struct profile **profiles, size_t count, struct error *err)
{
	return symbolize_idle_lives(profiles, count, options, err);
}

/* ---- With rights ---- */

/* Rules and roots of the user decide what a summary says of origins: there is no cache for them. */
static void open_cache(struct command_history *command)
{
	const struct naming *naming = &command->naming;
	CLEANUP(buffer_deinit) struct buffer key = BUFFER_INIT(PATH_MAX);
	char directory[PATH_MAX - HISTORY_CACHE_NAME_BYTES], name[HISTORY_CACHE_NAME_BYTES];

	history_files_append_key(&command->files, command->metric, &key);
	if (command->no_cache || command->is_store || naming->origin_rules_path || naming->roots.count || key.failed ||
		!history_cache_path(&key, directory, sizeof(directory), name) || !cache_directory_prepare(directory))
		return;
	command->cache_fd = cache_directory_open(directory, name);
	if (command->cache_fd < 0)
		cache_directory_prune(directory);
	snprintf(command->cache_path, sizeof(command->cache_path), "%s/%s", directory, name);
}

static int answer_worker(void *context, const void *bytes, size_t size, struct error *err)
{
	int fd;

	*err = (struct error){ .code = ERROR_NONE };
	fd = store_history_answer(context, bytes, size, err);
	if (fd < 0 && err->code != ERROR_NONE)
		cli_print_error(err);
	return fd;
}

static bool run_confined(struct command_history *command, const char *subject, int *code, struct error *err)
{
	struct worker_output outputs[WORKER_OUTPUTS] = { 0 };
	CLEANUP(cleanup_free) int *inputs = calloc(command->files.count + 3, sizeof(*inputs));
	struct worker worker = {
		.subject = subject, .inputs = inputs, .outputs = outputs, .output_count = WORKER_OUTPUTS
	};

	if (!inputs)
		return error_set_memory(err);
	for (size_t i = 0; i < command->files.count; i++)
		inputs[worker.input_count++] = command->files.items[i].fd;
	if (command->cache_fd >= 0)
		inputs[worker.input_count++] = command->cache_fd;
	if (command->store.summaries >= 0) {
		inputs[worker.input_count++] = command->store.summaries;
		command->store.ask = lines_ask_parent;
		command->store.context = &worker;
		worker.answer = answer_worker;
		worker.context = &command->store;
	}
	outputs_list(&command->outputs, outputs);
	if (command->cache_path[0])
		outputs[OUTPUT_CACHE] = (struct worker_output){ command->cache_path, 0600, .is_optional = true };
	command->outputs.worker = command->worker = &worker;
	return worker_run(&worker, cmd_history_work, command, code, err);
}

/* Opens files, or what a store has. */
static bool open_profiles(struct command_history *command, char *const *names, size_t count,
	struct store_secrets *secrets, struct error *err)
{
	size_t addresses = 0;

	for (size_t i = 0; i < count; i++)
		addresses += store_is_address(names[i]);
	if (addresses == 0)
		return history_files_open(names, count, &command->reading, &command->files, err);
	if (count > 1 || command->labels.count > 0 || command->metric)
		return error_set(err, ERROR_USAGE,
			"the address of a store is a history of its own: name nothing else, and labels and metric in its query, as in &version=42&metric=cpu");
	command->is_store = true;
	if (!store_history_open(names[0], secrets, &command->store, &command->fetched, err))
		return false;
	cli_print_notices(&command->fetched.notices);
	/* The process that reads it is a copy of this one. */
	store_secrets_deinit(secrets);
	command->files.address = names[0];
	if (command->store.summaries >= 0)
		command->files.store = &command->store;
	return history_files_take(&command->files, &command->fetched, err);
}

static bool run(struct command_history *command, char *const *names, size_t count, struct store_secrets *secrets,
	int *code, struct error *err)
{
	if (!outputs_check(&command->outputs, err) || !naming_prepare(&command->naming, &command->symbolize, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!outputs_spare(&command->outputs, names[i], err))
			return false;
	command->reading = (struct history_reading){ .metric = command->metric,
		.labels = command->labels.items,
		.label_count = command->labels.count,
		.name = cmd_history_name,
		.find_idle = find_idle,
		.context = &command->symbolize,
		.say = cli_say };
	if (!open_profiles(command, names, count, secrets, err))
		return false;
	open_cache(command);
	return run_confined(command, names[0], code, err);
}

static int cmd_history_run(struct options *options)
{
	CLEANUP(command_deinit) struct command_history command = { .cache_fd = -1, .store.summaries = -1 };
	CLEANUP(store_secrets_deinit) struct store_secrets secrets = { 0 };
	struct error err;
	int code, count;

	if (!options_read(options, &command, &code))
		return code;
	count = options->argc - optind;
	if (count < 1)
		return options_fail("history", "profiles or a directory of them are needed");
	if (load_take_secrets(options->argv + optind, (size_t)count, &secrets, &err) &&
		run(&command, options->argv + optind, (size_t)count, &secrets, &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

const struct cli_command cmd_history = {
	.name = "history",
	.summary = "changes over a series of profiles: since when?",
	.usage = cmd_history_usage,
	.rows = cmd_history_rows,
	.notes = cmd_history_notes,
	.word = "FILE",
	.needed_words = 1,
	.run = cmd_history_run,
};
