/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of `kelvin watch`: looks at the target, and has one child at a time record, recover or compare. */
#include "cli/cli.h"
#include "cli/watch_state.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>

static const int64_t ns_per_s = 1000000000, longest_look_ns = 1000000000, shortest_look_ns = 50000000;
/* The time limit for reading the newest profiles. */
static const double patience_s = 300;

/* ---- Words ---- */

static void format_duration(double seconds, char text[static 32])
{
	if (seconds >= 60 && fmod(seconds, 60) == 0)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else
		snprintf(text, 32, "%g s", seconds);
}

/* Names the target that is watched: "pid 812 (checkout)", "checkout.service". */
static void watch_loop_name_target(const struct watch_state *watch, struct buffer *out)
{
	const struct watch_wish *wish = &watch->options->wish;

	if (wish->kind == WATCH_PID)
		buffer_printf(out, "pid %d", (int)wish->pid);
	else
		buffer_append_string(out, wish->name);
}

static void say_beginning(const struct watch_state *watch)
{
	const struct watch_process *process = watch_target_process(watch->target);
	const struct watch_options *options = watch->options;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(CLI_MESSAGE_BYTES);
	char duration[32], every[32], settle[32];

	format_duration(options->duration_s, duration);
	format_duration(options->every_s, every);
	format_duration(options->settle_s, settle);
	watch_loop_name_target(watch, &text);
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

/* ---- Looking ---- */

static void watch_loop_end_child(struct watch_state *watch)
{
	struct captured_outcome outcome;
	enum doing doing = watch->doing;

	if (!captured_ended(&watch->child, &outcome))
		return;
	watch->doing = DOING_NOTHING;
	watch_end_work(watch, doing, &outcome);
	captured_outcome_deinit(&outcome);
}

/* Returns whether the process that is there first is another one than the newest profile is of. */
static bool is_another(const struct watch_state *watch, const struct watch_process *process)
{
	enum { TOLERANCE_S = 5 }; /* clocks are set */
	const struct watch_series *series = &watch->series;
	struct watch_clocks now = watch_read_clocks();
	int64_t began_s = (now.wall_ns - now.boot_ns + process->began_boot_ns) / ns_per_s;
	int64_t former_s = series->count > 0 ? series->started_s[series->count - 1] : 0;

	return former_s > 0 && began_s > former_s + TOLERANCE_S;
}

static void watch_loop_meet(struct watch_state *watch, bool is_first)
{
	const struct watch_process *process = watch_target_process(watch->target);

	watch_schedule_target(&watch->schedule, process->began_boot_ns, !is_first || is_another(watch, process));
	if (is_first || watch->said_restart)
		return;
	watch->said_restart = true;
	watch_say(watch, "%s has restarted (pid %d)", process->program, (int)process->pid);
}

/* Others execute the same program, or one of the same name: who is meant is not known, but who is recorded is. */
static void say_namesakes(struct watch_state *watch)
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

static void watch_loop_look(struct watch_state *watch)
{
	bool is_first = watch_target_process(watch->target) == NULL && watch->process.pid == 0;
	enum watch_sight sight = watch_target_look(watch->target, clock_read_ns(CLOCK_BOOTTIME));

	say_namesakes(watch);
	switch (sight) {
	case WATCH_SAME:
		return;
	case WATCH_THERE:
		watch_loop_meet(watch, is_first);
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
	watch_cut_recording(watch);
}

/* ---- The loop ---- */

static void take_signals(struct watch_state *watch)
{
	struct signalfd_siginfo info;

	while (read(watch->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (info.ssi_signo == SIGHUP) {
			watch_schedule_ask(&watch->schedule);
			continue;
		}
		/* The first one has the recording kept. */
		if (watch->is_ending && watch->child.pid > 0)
			captured_signal(&watch->child, SIGKILL);
		watch->is_ending = true;
		if (watch->doing == DOING_RECORDING)
			watch_cut_recording(watch);
		else
			captured_signal(&watch->child, SIGTERM);
	}
}

/* Returns how often the target is looked at. */
static int64_t look_ns(const struct watch_state *watch)
{
	int64_t part_ns = (int64_t)(watch->options->every_s * 1e9) / 20;

	return part_ns > longest_look_ns ? longest_look_ns : part_ns < shortest_look_ns ? shortest_look_ns : part_ns;
}

static void wait_for_something(struct watch_state *watch, int64_t wait_ns)
{
	struct pollfd fd = { .fd = watch->signals, .events = POLLIN };
	int64_t longest_ns = look_ns(watch);

	wait_ns = wait_ns < 0 ? 0 : wait_ns > longest_ns ? longest_ns : wait_ns;
	(void)poll(&fd, 1, (int)(wait_ns / 1000000) + 1);
	take_signals(watch);
}

/* Has the next child begin; how long there is nothing to do. */
static int64_t start_next(struct watch_state *watch)
{
	const struct watch_clocks now = watch_read_clocks();
	enum watch_reason reason;
	int64_t wait_ns = longest_look_ns;

	if (watch->doing != DOING_NOTHING || watch_start_report(watch))
		return wait_ns;
	reason = watch_schedule_next(&watch->schedule, &now, &wait_ns);
	if (reason == WATCH_NOT_NOW)
		return wait_ns;
	if (watch->may_have_part) {
		watch->may_have_part = false;
		if (watch_start_recovery(watch))
			return wait_ns;
	}
	watch_start_recording(watch, reason);
	return wait_ns;
}

static void send_profiles(struct watch_state *watch)
{
	CLEANUP(buffer_deinit) struct buffer why = { 0 };

	if (!watch_push_go_on(&watch->push, &watch->place, &watch->mask_before, &why) && why.data)
		watch_say_failure(watch, why.data);
}

static void run_loop(struct watch_state *watch)
{
	while (!watch->is_ending || watch->doing != DOING_NOTHING) {
		int64_t wait_ns = longest_look_ns;

		/* First, so that a recording which fails for the target's end is known to do so. */
		if (!watch->is_ending)
			watch_loop_look(watch);
		if (watch->doing != DOING_NOTHING)
			watch_loop_end_child(watch);
		if (!watch->is_ending) {
			send_profiles(watch);
			wait_ns = start_next(watch);
		}
		if (!watch->is_ending || watch->doing != DOING_NOTHING)
			wait_for_something(watch, wait_ns);
	}
}

/* ---- The beginning ---- */

static bool catch_signals(struct watch_state *watch, struct error *err)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&mask, numbers[i]);
	signal(SIGPIPE, SIG_IGN);
	watch->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->signals < 0 || sigprocmask(SIG_BLOCK, &mask, &watch->mask_before) != 0)
		return error_set_errno(err, errno, "cannot take signals");
	return true;
}

/* Finishes what a killed watch has left. */
static void watch_loop_recover(struct watch_state *watch)
{
	struct captured_outcome outcome;

	if (!watch_start_recovery(watch))
		return;
	captured_wait(&watch->child, NULL, &outcome);
	watch->doing = DOING_NOTHING;
	watch_end_work(watch, DOING_RECOVERING, &outcome);
	captured_outcome_deinit(&outcome);
	/* It is read again in its place. */
	watch->series.count = 0;
}

struct watch_loop_reading {
	char names[WATCH_SERIES_MOST][WATCH_NAME_BYTES];
	const char *list[WATCH_SERIES_MOST + 1];
	size_t count;
};

static int read_series(void *context)
{
	const struct watch_loop_reading *reading = context;

	return watch_series_print(reading->list);
}

/* Loads the series of the newest profiles of the directory; `*newest_s`: when the last one began, 0: there is none. */
static bool load_series(struct watch_state *watch, int64_t *newest_s, struct error *err)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
	struct watch_loop_reading reading = { 0 };
	struct captured_outcome outcome;
	size_t profiles = 0, seen = 0;

	*newest_s = 0;
	if (!watch_place_list(&watch->place, &files, err))
		return false;
	for (size_t i = 0; i < files.count; i++)
		profiles += files.items[i].kind == WATCH_PROFILE;
	for (size_t i = 0; i < files.count; i++) {
		if (files.items[i].kind != WATCH_PROFILE || profiles - seen++ > WATCH_SERIES_MOST)
			continue;
		watch_file_name(&files.items[i], reading.names[reading.count]);
		reading.list[reading.count] = reading.names[reading.count];
		reading.count++;
		*newest_s = files.items[i].unix_s;
	}
	if (reading.count == 0)
		return true;
	if (!captured_start(
		    &watch->child, watch->place.fd, &watch->mask_before, patience_s, read_series, &reading, err))
		return false;
	captured_wait(&watch->child, NULL, &outcome);
	watch_series_take(&watch->series, outcome.out.data ? outcome.out.data : "");
	captured_outcome_deinit(&outcome);
	return true;
}

static void make_plan(const struct watch_state *watch, struct watch_plan *plan)
{
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof(random), 0);
	plan->every_ns = (int64_t)(watch->options->every_s * 1e9);
	plan->settle_ns = (int64_t)(watch->options->settle_s * 1e9);
	/* Machines that are watched alike do not all record at one moment. */
	plan->jitter_ns = (int64_t)(random % (uint64_t)plan->every_ns) / 10;
}

static bool watch_loop_begin(struct watch_state *watch, struct error *err)
{
	struct watch_clocks now;
	struct watch_plan plan;
	int64_t newest_s;

	if (!watch_target_create(&watch->options->wish, &watch->target, err) ||
		!watch_place_open(watch->options->output, &watch->place, err) || !catch_signals(watch, err))
		return false;
	watch->child.forgets = &watch->push.secrets;
	if (!watch_push_begin(&watch->push, &watch->place, watch->options->push, err))
		return false;
	watch_loop_recover(watch);
	if (!load_series(watch, &newest_s, err) || !watch_place_expire(&watch->place, &watch->options->bounds, err))
		return false;
	now = watch_read_clocks();
	make_plan(watch, &plan);
	watch_schedule_init(&watch->schedule, &plan, &now, newest_s * ns_per_s);
	watch_notice_deploy(watch, true);
	watch_loop_look(watch);
	say_beginning(watch);
	return true;
}

static void watch_deinit(struct watch_state *watch)
{
	watch_target_destroy(watch->target);
	watch_push_deinit(&watch->push);
	watch_place_deinit(&watch->place);
	cleanup_close(&watch->signals);
	buffer_deinit(&watch->failure);
}

int watch_run(const struct watch_options *options)
{
	CLEANUP(watch_deinit)
	struct watch_state watch = { .options = options, .place = { .fd = -1, .lock = -1 }, .signals = -1 };
	struct error err;

	buffer_init(&watch.failure, CLI_MESSAGE_BYTES);
	if (!watch_loop_begin(&watch, &err)) {
		cli_print_error(&err);
		return CLI_EXIT_ERROR;
	}
	run_loop(&watch);
	return watch.code;
}
