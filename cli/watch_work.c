/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a watch's children: they record, recover, and compare. */
#include "cli/watch_state.h"

#include "cli/cli.h"
#include "cli/watch_deploy.h"
#include "cli/watch_record.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>

static const int64_t ns_per_s = 1000000000;
/* The time limit for naming, writing and comparing. */
static const double patience_s = 300;

/* ---- Words ---- */

struct watch_clocks watch_read_clocks(void)
{
	return (struct watch_clocks){ clock_read_ns(CLOCK_REALTIME), clock_read_ns(CLOCK_BOOTTIME) };
}

void watch_say(const struct watch_state *watch, const char *format, ...)
{
	CLEANUP(cleanup_free) char *text = NULL;
	va_list args;

	if (watch->options->quiet)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		cli_say("kelvin: %s\n", text);
}

/* Says what a child could not do, unless it is what was said last, but for the name of the file. */
/* Appends a text with something else in place of the name of the file that the child has. */
static void replace_name(const struct watch_state *watch, const char *text, const char *instead, struct buffer *out)
{
	size_t size = strlen(watch->name);

	for (const char *at = text; *at;) {
		bool is_name = size > 0 && strncmp(at, watch->name, size) == 0;

		if (is_name)
			buffer_append_string(out, instead);
		else
			buffer_append(out, at, 1);
		at += is_name ? size : 1;
	}
}

void watch_say_failure(struct watch_state *watch, const char *text)
{
	CLEANUP(buffer_deinit) struct buffer plain = BUFFER_INIT(CLI_MESSAGE_BYTES);
	CLEANUP(buffer_deinit) struct buffer whole = BUFFER_INIT(CLI_MESSAGE_BYTES);
	CLEANUP(cleanup_free) char *path = NULL;

	replace_name(watch, text, "*", &plain);
	if (!plain.data || (watch->failure.data && strcmp(plain.data, watch->failure.data) == 0))
		return;
	if (asprintf(&path, "%s/%s", watch->place.path, watch->name) < 0)
		path = NULL;
	replace_name(watch, text, path ? path : watch->name, &whole);
	cli_say("%s", whole.data ? whole.data : text);
	watch_say(watch, "the watch goes on; the next time it is tried again");
	buffer_deinit(&watch->failure);
	buffer_init(&watch->failure, CLI_MESSAGE_BYTES);
	buffer_append_string(&watch->failure, plain.data);
}

void watch_say_error(struct watch_state *watch, const struct error *err)
{
	CLEANUP(cleanup_free) char *text = NULL;

	if (asprintf(&text, "kelvin: %s\n", err->message) >= 0)
		watch_say_failure(watch, text);
}

/* ---- Deploys ---- */

static bool watch_work_is_same_file(const struct watch_file *a, const struct watch_file *b)
{
	return a->unix_s == b->unix_s && a->number == b->number;
}

/* Returns how many profiles the report that lies in the directory has behind the deploy. */
static size_t count_reported(const struct watch_state *watch, const struct watch_deploy *deploy)
{
	const struct watch_file report = {
		.kind = WATCH_REPORT, .unix_s = watch_series_deploy_s(&watch->series, deploy), .number = 1
	};
	int64_t written_ns = watch_place_written_ns(&watch->place, &report);
	size_t at = deploy->at;

	while (at < deploy->end && watch_place_written_ns(&watch->place, &watch->series.files[at]) <= written_ns)
		at++;
	return written_ns ? at - deploy->at : 0;
}

/* Notices a deploy that the newest profile shows, or that a watch before this one has met. */
void watch_notice_deploy(struct watch_state *watch, bool is_beginning)
{
	struct watch_series *series = &watch->series;
	CLEANUP(buffer_deinit) struct buffer words = BUFFER_INIT(CLI_MESSAGE_BYTES);
	struct watch_deploy deploy;

	if (!watch_last_deploy(series->builds, series->count, &deploy) ||
		watch_work_is_same_file(&series->files[deploy.at], &watch->first))
		return;
	if (watch->first.number > 0 && watch->reported == 0)
		watch_say(watch,
			"the build before was replaced before it had %d profiles, so that there is no report of it",
			WATCH_BURST + 1);
	watch->first = series->files[deploy.at];
	watch->reported = is_beginning ? count_reported(watch, &deploy) : 0;
	watch->tried = 0;
	if (watch->reported == 0 && deploy.end - deploy.at <= WATCH_BURST)
		watch_schedule_deploy(&watch->schedule);
	watch_deploy_words(&deploy.from, &deploy.to, &words);
	if (!is_beginning)
		watch_say(watch, "a new build: %s; it is compared as soon as it has %d profiles", words.data,
			WATCH_BURST + 1);
}

/* ---- The report of a deploy ---- */

/* Appends the names of the profiles of a side that are compared; how many they are. */
static size_t watch_work_join_names(const struct watch_series *series, const struct watch_deploy *deploy, size_t from,
	size_t end, struct buffer *out)
{
	char name[WATCH_NAME_BYTES];
	size_t count = 0;

	buffer_init(out, (size_t)WATCH_PAIR_PROFILES * WATCH_NAME_BYTES);
	for (size_t i = from; i < end; i++) {
		if (!watch_series_is_compared(series, deploy, i))
			continue;
		watch_file_name(&series->files[i], name);
		buffer_printf(out, "%s%s", count++ ? "," : "", name);
	}
	return count;
}

/* All that the report's child needs; it has a copy of it. */
struct report_task {
	struct watch_report report;
	struct buffer base, head, begin, end; /* owned */
	char page[WATCH_NAME_BYTES], json[WATCH_NAME_BYTES];
};

static void report_task_deinit(struct report_task *task)
{
	buffer_deinit(&task->base);
	buffer_deinit(&task->head);
	buffer_deinit(&task->begin);
	buffer_deinit(&task->end);
}

static void describe_report(
	const struct watch_state *watch, const struct watch_deploy *deploy, struct report_task *task)
{
	int64_t deploy_s = watch_series_deploy_s(&watch->series, deploy);
	size_t before, after;
	struct watch_file page = { .kind = WATCH_REPORT, .unix_s = deploy_s, .number = 1 };
	char time[WATCH_TIME_BYTES];

	watch_file_name(&page, task->page);
	page.kind = WATCH_REPORT_JSON;
	watch_file_name(&page, task->json);
	before = watch_work_join_names(&watch->series, deploy, deploy->before, deploy->at, &task->base);
	after = watch_work_join_names(&watch->series, deploy, deploy->at, deploy->end, &task->head);
	watch_time_words(deploy_s, time);
	buffer_init(&task->begin, CLI_MESSAGE_BYTES);
	buffer_init(&task->end, CLI_MESSAGE_BYTES);
	/* "2026-11-26T08-10-00Z" as "2026-11-26 08:10 UTC" */
	buffer_printf(&task->begin, "deploy %.10s %.2s:%.2s UTC ", time, time + 11, time + 14);
	watch_deploy_words(&deploy->from, &deploy->to, &task->begin);
	buffer_printf(&task->end, "%zu profile%s before and %zu after; report %s/%s", before, before == 1 ? "" : "s",
		after, watch->place.path, task->page);
	task->report = (struct watch_report){ task->base.data, task->head.data, task->page, task->json,
		task->begin.data, task->end.data };
}

static int make_report(void *context)
{
	const struct report_task *task = context;

	return watch_report_make(&task->report);
}

/* Starts the report of the last deploy, if it is time for it; false: it is not, or cannot be started. */
bool watch_start_report(struct watch_state *watch)
{
	CLEANUP(report_task_deinit) struct report_task task = { 0 };
	struct watch_deploy deploy;
	struct error err;
	size_t count;

	if (!watch_last_deploy(watch->series.builds, watch->series.count, &deploy))
		return false;
	count = deploy.end - deploy.at;
	if (!watch_deploy_is_due(&deploy, watch->reported) || watch->tried == count)
		return false;
	watch->tried = count;
	describe_report(watch, &deploy, &task);
	if (!captured_start(
		    &watch->child, watch->place.fd, &watch->mask_before, patience_s, make_report, &task, &err)) {
		watch_say_error(watch, &err);
		return false;
	}
	watch->doing = DOING_REPORT;
	return true;
}

static void end_report(struct watch_state *watch, const struct captured_outcome *outcome)
{
	if (outcome->code != CLI_EXIT_OK) {
		if (!watch->is_ending)
			watch_say_failure(watch, outcome->said.data
							 ? outcome->said.data
							 : "kelvin: the report of a deploy could not be made\n");
		return;
	}
	watch->reported = watch->tried;
	fputs(outcome->out.data ? outcome->out.data : "", stdout);
	fflush(stdout);
}

/* ---- Recording ---- */

static int make_recording(void *context)
{
	const struct watch_state *watch = context;
	const struct watch_recording recording = { &watch->process, watch_target_group(watch->target),
		watch->options->duration_s, &watch->options->labels, watch->name };

	return watch_recording_make(&recording);
}

void watch_start_recording(struct watch_state *watch, enum watch_reason reason)
{
	struct watch_clocks now = watch_read_clocks();
	struct error err;

	watch->process = *watch_target_process(watch->target);
	watch->file = (struct watch_file){ .kind = WATCH_PROFILE, .unix_s = now.wall_ns / ns_per_s };
	watch_place_choose(&watch->place, &watch->file);
	watch_file_name(&watch->file, watch->name);
	watch_schedule_began(&watch->schedule, &now, reason);
	watch->was_told_to_end = false;
	if (captured_start(&watch->child, watch->place.fd, &watch->mask_before, watch->options->duration_s + patience_s,
		    make_recording, watch, &err))
		watch->doing = DOING_RECORDING;
	else
		watch_say_error(watch, &err);
}

/* The recording goes on as a profile of what it has. */
void watch_cut_recording(struct watch_state *watch)
{
	if (watch->doing != DOING_RECORDING || watch->was_told_to_end)
		return;
	watch->was_told_to_end = true;
	captured_signal(&watch->child, SIGTERM);
}

static void take_profile(struct watch_state *watch, const struct captured_outcome *outcome)
{
	struct error err;

	watch_series_take(&watch->series, outcome->out.data ? outcome->out.data : "");
	watch->said_gone = watch->said_restart = false;
	watch_push_wake(&watch->push);
	watch_notice_deploy(watch, false);
	if (!watch_place_expire(&watch->place, &watch->options->bounds, &err))
		watch_say_error(watch, &err);
}

static void end_recording(struct watch_state *watch, const struct captured_outcome *outcome)
{
	if (outcome->code == CLI_EXIT_OK) {
		take_profile(watch, outcome);
		if (outcome->said.size > 0)
			watch_say_failure(watch, outcome->said.data);
		else
			buffer_deinit(&watch->failure);
		return;
	}
	watch->may_have_part = true;
	if (watch_place_is_removed(&watch->place)) {
		cli_say("kelvin: %s was removed, so that the watch ends\n", watch->place.path);
		watch->is_ending = true;
		watch->code = CLI_EXIT_ERROR;
	} else if (!watch->was_told_to_end) {
		watch_say_failure(watch,
			outcome->said.size > 0
				? outcome->said.data
				: "kelvin: the process that records was ended; the next recording tries it again\n");
	}
}

/* ---- Recovering ---- */

static int make_recovery(void *context)
{
	const struct watch_state *watch = context;
	const char *const profile[] = { watch->name, NULL };
	char part[WATCH_NAME_BYTES + 8];
	const char *const words[] = { "recover", part, NULL };
	int code;

	snprintf(part, sizeof(part), "%s.part", watch->name);
	code = captured_run_command(words);
	return code == CLI_EXIT_OK ? watch_series_print(profile) : code;
}

/*
 * Makes a profile of what a killed recording has left: of the newest one alone, as on a full disk each recording may
 * leave something, which then has to go.
 */
bool watch_start_recovery(struct watch_state *watch)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
	const struct watch_file *part = NULL;
	struct error err;

	if (!watch_place_list(&watch->place, &files, &err)) {
		watch_say_error(watch, &err);
		return false;
	}
	for (size_t i = 0; i < files.count; i++) {
		if (files.items[i].kind != WATCH_PART)
			continue;
		if (part)
			watch_place_remove(&watch->place, part);
		part = &files.items[i];
	}
	if (!part)
		return false;
	watch->file = *part;
	watch->file.kind = WATCH_PROFILE;
	watch_file_name(&watch->file, watch->name);
	if (!captured_start(
		    &watch->child, watch->place.fd, &watch->mask_before, patience_s, make_recovery, watch, &err)) {
		watch_say_error(watch, &err);
		return false;
	}
	watch->doing = DOING_RECOVERING;
	return true;
}

/* A part of which no profile can be made is of no use, but where there is no room for the profile. */
static void end_recovery(struct watch_state *watch, const struct captured_outcome *outcome)
{
	struct watch_file part = watch->file;

	part.kind = WATCH_PART;
	if (outcome->code == CLI_EXIT_OK) {
		watch_place_remove(&watch->place, &part);
		take_profile(watch, outcome);
	} else {
		watch_say_failure(watch, outcome->said.size > 0
						 ? outcome->said.data
						 : "kelvin: what a killed recording left could not be recovered\n");
	}
}

/* ---- The end ---- */

void watch_end_work(struct watch_state *watch, enum doing doing, const struct captured_outcome *outcome)
{
	switch (doing) {
	case DOING_RECORDING:
		end_recording(watch, outcome);
		break;
	case DOING_RECOVERING:
		end_recovery(watch, outcome);
		break;
	case DOING_REPORT:
		end_report(watch, outcome);
		break;
	case DOING_NOTHING:
		break;
	}
}
