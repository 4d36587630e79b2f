/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/watch_commands.h"

#include "cli/captured.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/worker.h"
#include "render/render.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 2 * (PROFILE_MAX_LABELS + 5) + 8, MOST_JSON_BYTES = 1 << 30 };

/* ---- What profiles tell ---- */

/* Prints the labels in a process without rights. */
static int print_labels(void *context)
{
	const struct load_options options = { 0 };
	const struct load_inputs *inputs = context;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer line = BUFFER_INIT(CLI_MESSAGE_BYTES);
	struct error err;

	if (!load_read(inputs, &options, &profile, &err)) {
		cli_print_error(&err);
		return CLI_EXIT_ERROR;
	}
	watch_series_append(profile, inputs->names, &line);
	fwrite(line.data ? line.data : "", 1, line.size, stdout);
	return CLI_EXIT_OK;
}

static bool print_one(const char *name, struct error *err)
{
	CLEANUP(load_inputs_deinit) struct load_inputs inputs = { 0 };
	const struct load_options options = { 0 };
	struct worker worker = { .subject = name };
	int code;

	if (!load_open(name, &options, &inputs, err))
		return false;
	if (!load_are_named(&inputs))
		return error_set(err, ERROR_UNSUPPORTED, "%s is no profile of a watch", name);
	worker.inputs = inputs.descriptors;
	worker.input_count = inputs.count;
	return worker_run(&worker, print_labels, &inputs, &code, err) && code == CLI_EXIT_OK;
}

int watch_command_series(void *names)
{
	struct error err;

	for (const char *const *name = names; *name; name++)
		if (!print_one(*name, &err))
			printf("%s" WATCH_SERIES_NOTHING, *name);
	return CLI_EXIT_OK;
}

/* Runs a command that makes the profile of the watch, and prints what that tells. */
static int make_profile(const struct watch *watch, const char *const *words)
{
	const char *names[] = { watch->name, NULL };
	int code = captured_run_command(words);

	return code == CLI_EXIT_OK ? watch_command_series(names) : code;
}

/* ---- Recording ---- */

/* The words of a command line, which stay for as long as the process lives. */
struct watch_words {
	const char *items[MOST_WORDS + 1];
	size_t count;
};

static void add_label(struct watch_words *words, const char *key, const char *value)
{
	char *word;

	if (asprintf(&word, "%s=%s", key, value) < 0)
		return;
	words->items[words->count++] = "--label";
	words->items[words->count++] = word;
}

/* A label that the user has given stays. */
static void add_found(struct watch_words *words, const struct labels *labels, const char *key, const char *value)
{
	struct error ignored;

	if (!labels_find(labels, key) && profile_label_check(key, value, &ignored))
		add_label(words, key, value);
}

static void add_labels(struct watch_words *words, const struct watch_process *process, const struct labels *labels)
{
	int64_t boot_wall_ns = clock_read_ns(CLOCK_REALTIME) - clock_read_ns(CLOCK_BOOTTIME);
	struct watch_identity identity = { 0 };
	char started[WATCH_TIME_BYTES];
	struct error err;

	if (!watch_identify(process, &identity, &err))
		cli_print_error(&err);
	watch_time_words((boot_wall_ns + process->began_boot_ns) / 1000000000, started);
	add_found(words, labels, WATCH_LABEL_BUILD, identity.build.build_id);
	add_found(words, labels, WATCH_LABEL_IMAGE, identity.build.image);
	add_found(words, labels, PROFILE_LABEL_VERSION, identity.build.version);
	add_found(words, labels, PROFILE_LABEL_SERVICE, identity.service);
	add_found(words, labels, WATCH_LABEL_STARTED, started);
	for (size_t i = 0; i < labels->count; i++)
		add_label(words, labels->items[i].key, labels->items[i].value);
}

static int make_recording(const struct watch_task *task)
{
	const struct watch *watch = task->watch;
	const char *group = watch_target_group(watch->target);
	char duration[32], pid[16];
	struct watch_words words = {
		{ "record", "-q", "-d", duration, "-o", watch->name, group ? "--cgroup" : "-p", group ? group : pid }, 8
	};

	snprintf(duration, sizeof(duration), "%.9gs", watch->options->duration_s);
	snprintf(pid, sizeof(pid), "%d", (int)watch->process.pid);
	add_labels(&words, &watch->process, task->labels);
	return make_profile(watch, words.items);
}

static int make_recovery(const struct watch *watch)
{
	char part[WATCH_NAME_BYTES + 8];
	const char *const words[] = { "recover", part, NULL };

	snprintf(part, sizeof(part), "%s.part", watch->name);
	return make_profile(watch, words);
}

/* ---- Reporting ---- */

/* The input of the process without rights. */
struct saying {
	const struct watch_report *report;
	struct file_opened json;
};

static int say_line(void *context)
{
	const struct saying *saying = context;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MOST_JSON_BYTES);
	CLEANUP(buffer_deinit) struct buffer line = BUFFER_INIT(CLI_MESSAGE_BYTES);
	struct error err;
	bool ok;

	if (!file_read_opened(&saying->json, &text, &err))
		text.size = 0;
	ok = render_deploy_line(
		text.data ? text.data : "", text.size, saying->report->begin.data, saying->report->end.data, &line);
	fwrite(line.data ? line.data : "", 1, line.size, stdout);
	return ok ? CLI_EXIT_OK : CLI_EXIT_ERROR;
}

static int say_deploy(const struct watch_report *report)
{
	struct saying saying = { report,
		{ strdup(report->json), open(report->json, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) } };
	struct worker worker = { .subject = report->json, .inputs = &saying.json.fd, .input_count = 1 };
	struct error err;
	int code = CLI_EXIT_ERROR;

	if (!saying.json.name || saying.json.fd < 0)
		cli_say("kelvin: cannot read %s: %m\n", report->json);
	else if (!worker_run(&worker, say_line, &saying, &code, &err))
		cli_print_error(&err);
	file_opened_deinit(&saying.json);
	return code;
}

/* Has standard output go nowhere, or back: the comparison says its verdict there. */
static int swap_stdout(int fd)
{
	int former = dup(STDOUT_FILENO);

	fflush(stdout);
	if (former < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(CLI_EXIT_ERROR);
	return former;
}

static int make_report(const struct watch_report *report)
{
	const char *const words[] = { "diff", report->base.data, report->head.data, "-o", report->page, "--json",
		report->json, NULL };
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), output = swap_stdout(nowhere);
	int code = captured_run_command(words);

	close(swap_stdout(output));
	close(output);
	cleanup_close(&nowhere);
	return code == CLI_EXIT_ERROR ? code : say_deploy(report);
}

int watch_command_work(void *context)
{
	const struct watch_task *task = context;

	switch (task->watch->work) {
	case WATCH_RECORDS:
		return make_recording(task);
	case WATCH_RECOVERS:
		return make_recovery(task->watch);
	case WATCH_COMPARES:
		return make_report(&task->watch->report);
	case WATCH_NOTHING:
		break;
	}
	return CLI_EXIT_ERROR;
}

/* ---- Sending ---- */

static void give_variable(const char *name, const char *value)
{
	if (value && setenv(name, value, 1) != 0)
		_exit(CLI_EXIT_ERROR);
}

int watch_command_push(void *context)
{
	const struct watch_push *push = context;
	char name[WATCH_NAME_BYTES];
	const char *const words[] = { "push", push->address, name, NULL };

	watch_file_name(&push->file, name);
	/* It takes them out again. */
	give_variable("KELVIN_STORE_TOKEN", push->secrets.token);
	give_variable("KELVIN_STORE_USER", push->secrets.user);
	give_variable("KELVIN_STORE_PASSWORD", push->secrets.password);
	return captured_run_command(words);
}
