/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>

static const int64_t ns_per_s = 1000000000, longest_look_ns = 1000000000, shortest_look_ns = 50000000;
enum { MOST_LINE_BYTES = 1 << 16, MOST_SAID_BYTES = 16 << 20 };

/* ---- Words ---- */

static struct watch_clocks read_clocks(void)
{
	return (struct watch_clocks){ clock_read_ns(CLOCK_REALTIME), clock_read_ns(CLOCK_BOOTTIME) };
}

/* Says something to who wants to hear more than errors. */
__attribute__((format(printf, 2, 3))) static void watch_say(struct watch *watch, const char *format, ...)
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
		buffer_printf(&watch->said, "kelvin: %s\n", text);
}

/* Appends a text with something else in place of the name of the file that the child has. */
static void replace_name(const struct watch *watch, const char *text, const char *instead, struct buffer *out)
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

void watch_say_failure(struct watch *watch, const char *text)
{
	CLEANUP(buffer_deinit) struct buffer plain = BUFFER_INIT(MOST_LINE_BYTES);
	CLEANUP(cleanup_free) char *path = NULL;

	replace_name(watch, text, "*", &plain);
	if (!plain.data || (watch->failure.data && strcmp(plain.data, watch->failure.data) == 0))
		return;
	if (asprintf(&path, "%s/%s", watch->place.path, watch->name) < 0)
		path = NULL;
	replace_name(watch, text, path ? path : watch->name, &watch->said);
	if (watch->said.size > 0 && watch->said.data[watch->said.size - 1] != '\n')
		buffer_append_byte(&watch->said, '\n');
	watch_say(watch, "the watch goes on; the next time it is tried again");
	buffer_deinit(&watch->failure);
	buffer_init(&watch->failure, MOST_LINE_BYTES);
	buffer_append_string(&watch->failure, plain.data);
}

void watch_say_error(struct watch *watch, const struct error *err)
{
	CLEANUP(cleanup_free) char *text = NULL;

	if (asprintf(&text, "kelvin: %s\n", err->message) >= 0)
		watch_say_failure(watch, text);
}

static void format_duration(double seconds, char text[static 32])
{
	if (seconds >= 60 && fmod(seconds, 60) == 0)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else
		snprintf(text, 32, "%g s", seconds);
}

/* Names the target that is watched: "pid 812 (checkout)", "checkout.service". */
static void append_target(const struct watch *watch, struct buffer *out)
{
	const struct watch_wish *wish = &watch->options->wish;

	if (wish->kind == WATCH_PID)
		buffer_printf(out, "pid %d", (int)wish->pid);
	else
		buffer_append_string(out, wish->name);
}

static void say_beginning(struct watch *watch)
{
	const struct watch_process *process = watch_target_process(watch->target);
	const struct watch_options *options = watch->options;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MOST_LINE_BYTES);
	char duration[32], every[32], settle[32];

	format_duration(options->duration_s, duration);
	format_duration(options->every_s, every);
	format_duration(options->settle_s, settle);
	append_target(watch, &text);
	if (process && options->wish.kind == WATCH_PID)
		buffer_printf(&text, " (%s)", process->program);
	else if (process && process->is_known)
		buffer_printf(&text, " (now pid %d, %s)", (int)process->pid, process->program);
	else if (!process)
		buffer_append_string(&text, ", which is not there yet,");
	watch_say(watch,
		"%s is recorded for %s each %s into %s, and %s after each restart; a new build is compared with the one before it",
		text.data ? text.data : "", duration, every, watch->place.path, settle);
}

/* ---- Deploys ---- */

static bool is_same_file(const struct watch_file *a, const struct watch_file *b)
{
	return a->unix_s == b->unix_s && a->number == b->number;
}

/* Returns how many profiles the report that lies in the directory has behind the deploy. */
static size_t count_reported(const struct watch *watch, const struct watch_deploy *deploy)
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
static void notice_deploy(struct watch *watch, bool is_beginning)
{
	struct watch_series *series = &watch->series;
	CLEANUP(buffer_deinit) struct buffer words = BUFFER_INIT(MOST_LINE_BYTES);
	struct watch_deploy deploy;

	if (!watch_last_deploy(series->builds, series->count, &deploy) ||
		is_same_file(&series->files[deploy.at], &watch->first))
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
static size_t join_compared(const struct watch_series *series, const struct watch_deploy *deploy, size_t from,
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

static void watch_report_deinit(struct watch_report *report)
{
	buffer_deinit(&report->base);
	buffer_deinit(&report->head);
	buffer_deinit(&report->begin);
	buffer_deinit(&report->end);
}

static void describe_report(struct watch *watch, const struct watch_deploy *deploy)
{
	struct watch_report *report = &watch->report;
	int64_t deploy_s = watch_series_deploy_s(&watch->series, deploy);
	struct watch_file page = { .kind = WATCH_REPORT, .unix_s = deploy_s, .number = 1 };
	char time[WATCH_TIME_BYTES];
	size_t before, after;

	watch_report_deinit(report);
	watch_file_name(&page, report->page);
	page.kind = WATCH_REPORT_JSON;
	watch_file_name(&page, report->json);
	before = join_compared(&watch->series, deploy, deploy->before, deploy->at, &report->base);
	after = join_compared(&watch->series, deploy, deploy->at, deploy->end, &report->head);
	watch_time_words(deploy_s, time);
	buffer_init(&report->begin, MOST_LINE_BYTES);
	buffer_init(&report->end, MOST_LINE_BYTES);
	/* "2026-11-26T08-10-00Z" as "2026-11-26 08:10 UTC" */
	buffer_printf(&report->begin, "deploy %.10s %.2s:%.2s UTC ", time, time + 11, time + 14);
	watch_deploy_words(&deploy->from, &deploy->to, &report->begin);
	buffer_printf(&report->end, "%zu profile%s before and %zu after; report %s/%s", before, before == 1 ? "" : "s",
		after, watch->place.path, report->page);
}

/* Has the last deploy reported, if it is time for it. */
static bool choose_report(struct watch *watch)
{
	struct watch_deploy deploy;
	size_t count;

	if (!watch_last_deploy(watch->series.builds, watch->series.count, &deploy))
		return false;
	count = deploy.end - deploy.at;
	if (!watch_deploy_is_due(&deploy, watch->reported) || watch->tried == count)
		return false;
	watch->tried = count;
	describe_report(watch, &deploy);
	watch->work = WATCH_COMPARES;
	return true;
}

static void end_report(struct watch *watch, int code, const char *said)
{
	if (code == 0)
		watch->reported = watch->tried;
	else if (!watch->is_ending)
		watch_say_failure(watch, said[0] ? said : "kelvin: the report of a deploy could not be made\n");
}

/* ---- Recording ---- */

static void choose_recording(struct watch *watch, enum watch_reason reason)
{
	struct watch_clocks now = read_clocks();

	watch->process = *watch_target_process(watch->target);
	watch->file = (struct watch_file){ .kind = WATCH_PROFILE, .unix_s = now.wall_ns / ns_per_s };
	watch_place_choose(&watch->place, &watch->file);
	watch_file_name(&watch->file, watch->name);
	watch_schedule_began(&watch->schedule, &now, reason);
	watch->was_told_to_end = false;
	watch->work = WATCH_RECORDS;
}

bool watch_cut(struct watch *watch)
{
	if (watch->work != WATCH_RECORDS || watch->was_told_to_end)
		return false;
	watch->was_told_to_end = true;
	return true;
}

static void take_profile(struct watch *watch, const char *out)
{
	struct error err;

	watch_series_take(&watch->series, out);
	watch->said_gone = watch->said_restart = false;
	watch_push_wake(&watch->push);
	notice_deploy(watch, false);
	if (!watch_place_expire(&watch->place, &watch->options->bounds, &err))
		watch_say_error(watch, &err);
}

static void end_recording(struct watch *watch, int code, const char *out, const char *said)
{
	if (code == 0) {
		take_profile(watch, out);
		if (said[0])
			watch_say_failure(watch, said);
		else
			buffer_deinit(&watch->failure);
		return;
	}
	watch->may_have_part = true;
	if (watch_place_is_removed(&watch->place)) {
		buffer_printf(&watch->said, "kelvin: %s was removed, so that the watch ends\n", watch->place.path);
		watch->is_ending = watch->is_removed = true;
	} else if (!watch->was_told_to_end) {
		watch_say_failure(watch,
			said[0] ? said
				: "kelvin: the process that records was ended; the next recording tries it again\n");
	}
}

/* ---- Recovering ---- */

/*
 * Makes a profile of what a killed recording has left: of the newest one alone, as on a full disk each recording may
 * leave something, which then has to go.
 */
bool watch_recover(struct watch *watch)
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
	watch->work = WATCH_RECOVERS;
	return true;
}

/* A part of which no profile can be made is of no use, but where there is no room for the profile. */
static void end_recovery(struct watch *watch, int code, const char *out, const char *said)
{
	struct watch_file part = watch->file;

	part.kind = WATCH_PART;
	if (code == 0) {
		watch_place_remove(&watch->place, &part);
		take_profile(watch, out);
	} else {
		watch_say_failure(
			watch, said[0] ? said : "kelvin: what a killed recording left could not be recovered\n");
	}
}

/* ---- The end of work ---- */

void watch_end_work(struct watch *watch, int code, const char *out, const char *said)
{
	enum watch_work work = watch->work;

	watch->work = WATCH_NOTHING;
	switch (work) {
	case WATCH_RECORDS:
		end_recording(watch, code, out, said);
		break;
	case WATCH_RECOVERS:
		end_recovery(watch, code, out, said);
		break;
	case WATCH_COMPARES:
		end_report(watch, code, said);
		break;
	case WATCH_NOTHING:
		break;
	}
}

/* ---- Looking ---- */

/* Returns whether the process that is there first is another one than the newest profile is of. */
static bool is_another(const struct watch *watch, const struct watch_process *process)
{
	enum { TOLERANCE_S = 5 }; /* clocks are set */
	const struct watch_series *series = &watch->series;
	struct watch_clocks now = read_clocks();
	int64_t began_s = (now.wall_ns - now.boot_ns + process->began_boot_ns) / ns_per_s;
	int64_t former_s = series->count > 0 ? series->started_s[series->count - 1] : 0;

	return former_s > 0 && began_s > former_s + TOLERANCE_S;
}

static void meet_process(struct watch *watch, bool is_first)
{
	const struct watch_process *process = watch_target_process(watch->target);

	watch_schedule_target(&watch->schedule, process->began_boot_ns, !is_first || is_another(watch, process));
	if (is_first || watch->said_restart)
		return;
	watch->said_restart = true;
	watch_say(watch, "%s has restarted (pid %d)", process->program, (int)process->pid);
}

/* Others execute the same program, or one of the same name: who is meant is not known, but who is recorded is. */
static void say_namesakes(struct watch *watch)
{
	const struct watch_process *process = watch_target_process(watch->target);
	const char *name = watch->options->wish.name;

	if (!watch_target_has_namesakes(watch->target) || watch->said_namesakes)
		return;
	watch->said_namesakes = true;
	if (process)
		watch_say(watch,
			"other users execute %s as well: the processes of user %u are recorded, whose is the oldest (pid %d); name another one by -p, --unit or --cgroup",
			name, (unsigned int)process->user, (int)process->pid);
	else
		watch_say(watch,
			"%s is executed by other users now, who are not recorded: it was another user's before; start the watch again to follow them",
			name);
}

bool watch_look(struct watch *watch)
{
	bool is_first = watch_target_process(watch->target) == NULL && watch->process.pid == 0;
	enum watch_sight sight = watch_target_look(watch->target, clock_read_ns(CLOCK_BOOTTIME));

	say_namesakes(watch);
	switch (sight) {
	case WATCH_SAME:
		return false;
	case WATCH_THERE:
		meet_process(watch, is_first);
		watch->process.pid = watch_target_process(watch->target)->pid;
		break;
	case WATCH_GONE:
		watch->said_namesakes = false;
		watch_schedule_gone(&watch->schedule);
		if (!watch->said_gone)
			watch_say(watch, "the target has ended; it is recorded again when it is back");
		watch->said_gone = true;
		break;
	}
	return watch_cut(watch);
}

int64_t watch_look_ns(const struct watch *watch)
{
	int64_t part_ns = (int64_t)(watch->options->every_s * 1e9) / 20;

	return part_ns > longest_look_ns ? longest_look_ns : part_ns < shortest_look_ns ? shortest_look_ns : part_ns;
}

/* ---- What is done next ---- */

void watch_choose(struct watch *watch, int64_t *wait_ns)
{
	const struct watch_clocks now = read_clocks();
	enum watch_reason reason;

	*wait_ns = longest_look_ns;
	if (watch->work != WATCH_NOTHING || choose_report(watch))
		return;
	reason = watch_schedule_next(&watch->schedule, &now, wait_ns);
	if (reason == WATCH_NOT_NOW)
		return;
	if (watch->may_have_part) {
		watch->may_have_part = false;
		if (watch_recover(watch))
			return;
	}
	choose_recording(watch, reason);
}

/* ---- The beginning ---- */

bool watch_open(struct watch *watch, const struct watch_options *options, struct error *err)
{
	*watch = (struct watch){ .options = options, .place = { .fd = -1, .lock = -1 } };
	buffer_init(&watch->failure, MOST_LINE_BYTES);
	buffer_init(&watch->said, MOST_SAID_BYTES);
	return watch_target_create(&options->wish, &watch->target, err) &&
	       watch_place_open(options->output, &watch->place, err) &&
	       watch_push_begin(&watch->push, &watch->place, options->push, err);
}

void watch_close(struct watch *watch)
{
	watch_target_destroy(watch->target);
	watch_push_deinit(&watch->push);
	watch_place_deinit(&watch->place);
	watch_report_deinit(&watch->report);
	buffer_deinit(&watch->failure);
	buffer_deinit(&watch->said);
}

bool watch_newest(
	struct watch *watch, char names[static WATCH_SERIES_MOST][WATCH_NAME_BYTES], size_t *count, struct error *err)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
	size_t first;

	*count = watch->series.count = 0;
	if (!watch_place_list(&watch->place, &files, err))
		return false;
	for (first = files.count; first > 0 && *count < WATCH_SERIES_MOST; first--)
		*count += files.items[first - 1].kind == WATCH_PROFILE;
	for (size_t i = first, at = 0; i < files.count; i++) {
		if (files.items[i].kind != WATCH_PROFILE)
			continue;
		watch_file_name(&files.items[i], names[at++]);
		watch->newest_s = files.items[i].unix_s;
	}
	return true;
}

static void make_plan(const struct watch *watch, struct watch_plan *plan)
{
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof(random), 0);
	plan->every_ns = (int64_t)(watch->options->every_s * 1e9);
	plan->settle_ns = (int64_t)(watch->options->settle_s * 1e9);
	/* Machines that are watched alike do not all record at one moment. */
	plan->jitter_ns = (int64_t)(random % (uint64_t)plan->every_ns) / 10;
}

bool watch_begin(struct watch *watch, struct error *err)
{
	const struct watch_clocks now = read_clocks();
	struct watch_plan plan;

	if (!watch_place_expire(&watch->place, &watch->options->bounds, err))
		return false;
	make_plan(watch, &plan);
	watch_schedule_init(&watch->schedule, &plan, &now, watch->newest_s * ns_per_s);
	notice_deploy(watch, true);
	watch_look(watch);
	say_beginning(watch);
	return true;
}
