/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of `kelvin watch`: has one child at a time record, recover or compare, and another one send. */
#include "cli/watch_loop.h"

#include "cli/captured.h"
#include "cli/cli.h"
#include "cli/watch_commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The time limit for whatever a child does beside recording. */
static const double patience_s = 300;

struct watch_loop {
	struct watch watch;
	const struct labels *labels;
	sigset_t mask_before;          /* what children block */
	int signals;                   /* owned; signalfd(2) */
	struct captured child, sender; /* the one that does the watch's work; that sends */
};

/* ---- Children ---- */

static void say_all(struct watch *watch)
{
	cli_print_notices(&watch->said);
	watch->said.size = 0;
}

static void start_work(struct watch_loop *loop)
{
	struct watch *watch = &loop->watch;
	struct watch_task task = { watch, loop->labels };
	double limit_s = patience_s + (watch->work == WATCH_RECORDS ? watch->options->duration_s : 0);
	struct error err;

	if (captured_start(&loop->child, watch->place.fd, &loop->mask_before, limit_s, watch_command_work, &task, &err))
		return;
	watch->work = WATCH_NOTHING;
	watch_say_error(watch, &err);
}

static void end_work(struct watch_loop *loop, struct captured_outcome *outcome)
{
	struct watch *watch = &loop->watch;
	const char *out = outcome->out.data ? outcome->out.data : "";

	if (watch->work == WATCH_COMPARES && outcome->code == CLI_EXIT_OK) {
		fputs(out, stdout);
		fflush(stdout);
	}
	watch_end_work(watch, outcome->code, out, outcome->said.data ? outcome->said.data : "");
	captured_outcome_deinit(outcome);
}

static void end_sending(struct watch_loop *loop)
{
	struct watch *watch = &loop->watch;
	struct captured_outcome outcome;
	struct error err;

	if (!captured_ended(&loop->sender, &outcome))
		return;
	if (outcome.code != CLI_EXIT_OK) {
		watch_push_failed(&watch->push);
		watch_say_failure(watch, outcome.said.size > 0 ? outcome.said.data
							       : "kelvin: the process that sends profiles was ended\n");
	} else if (!watch_push_sent(&watch->push, &watch->place, &err)) {
		watch_say_error(watch, &err);
	}
	captured_outcome_deinit(&outcome);
}

static void send_profiles(struct watch_loop *loop)
{
	struct watch *watch = &loop->watch;
	bool is_due;
	struct error err;

	if (loop->sender.pid > 0)
		end_sending(loop);
	if (loop->sender.pid > 0)
		return;
	if (!watch_push_next(&watch->push, &watch->place, &is_due, &err)) {
		watch_say_error(watch, &err);
	} else if (is_due && !captured_start(&loop->sender, watch->place.fd, &loop->mask_before, patience_s,
				     watch_command_push, &watch->push, &err)) {
		watch_push_failed(&watch->push);
		watch_say_error(watch, &err);
	}
}

/* ---- The loop ---- */

static void take_signals(struct watch_loop *loop)
{
	struct watch *watch = &loop->watch;
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (info.ssi_signo == SIGHUP) {
			watch_schedule_ask(&watch->schedule);
			continue;
		}
		/* The first one has the recording kept. */
		if (watch->is_ending)
			captured_signal(&loop->child, SIGKILL);
		watch->is_ending = true;
		if (watch->work != WATCH_RECORDS || watch_cut(watch))
			captured_signal(&loop->child, SIGTERM);
	}
}

static void wait_for_something(struct watch_loop *loop, int64_t wait_ns)
{
	struct pollfd fd = { .fd = loop->signals, .events = POLLIN };
	int64_t longest_ns = watch_look_ns(&loop->watch);

	wait_ns = wait_ns < 0 ? 0 : wait_ns > longest_ns ? longest_ns : wait_ns;
	(void)poll(&fd, 1, (int)(wait_ns / 1000000) + 1);
	take_signals(loop);
}

static void run_loop(struct watch_loop *loop)
{
	struct watch *watch = &loop->watch;
	struct captured_outcome outcome;
	int64_t wait_ns;

	while (!watch->is_ending || watch->work != WATCH_NOTHING) {
		wait_ns = watch_look_ns(watch);
		/* First, so that a recording which fails for the target's end is known to do so. */
		if (!watch->is_ending && watch_look(watch))
			captured_signal(&loop->child, SIGTERM);
		if (watch->work != WATCH_NOTHING && captured_ended(&loop->child, &outcome))
			end_work(loop, &outcome);
		if (!watch->is_ending)
			send_profiles(loop);
		if (!watch->is_ending && watch->work == WATCH_NOTHING) {
			watch_choose(watch, &wait_ns);
			if (watch->work != WATCH_NOTHING)
				start_work(loop);
		}
		say_all(watch);
		if (!watch->is_ending || watch->work != WATCH_NOTHING)
			wait_for_something(loop, wait_ns);
	}
}

/* ---- The beginning ---- */

static bool catch_signals(struct watch_loop *loop, struct error *err)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&mask, numbers[i]);
	signal(SIGPIPE, SIG_IGN);
	loop->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signals < 0 || sigprocmask(SIG_BLOCK, &mask, &loop->mask_before) != 0)
		return error_set_errno(err, errno, "cannot take signals");
	return true;
}

/* Finishes what a killed watch has left. */
static void recover(struct watch_loop *loop)
{
	struct captured_outcome outcome;

	if (!watch_recover(&loop->watch))
		return;
	start_work(loop);
	if (loop->watch.work == WATCH_NOTHING)
		return;
	captured_wait(&loop->child, NULL, &outcome);
	end_work(loop, &outcome);
}

/* Loads the series of the newest profiles of the directory. */
static bool load_series(struct watch_loop *loop, struct error *err)
{
	struct watch *watch = &loop->watch;
	char names[WATCH_SERIES_MOST][WATCH_NAME_BYTES];
	const char *list[WATCH_SERIES_MOST + 1] = { NULL };
	struct captured_outcome outcome;
	size_t count;

	if (!watch_newest(watch, names, &count, err))
		return false;
	for (size_t i = 0; i < count; i++)
		list[i] = names[i];
	if (count == 0)
		return true;
	if (!captured_start(
		    &loop->child, watch->place.fd, &loop->mask_before, patience_s, watch_command_series, list, err))
		return false;
	captured_wait(&loop->child, NULL, &outcome);
	watch_series_take(&watch->series, outcome.out.data ? outcome.out.data : "");
	captured_outcome_deinit(&outcome);
	return true;
}

static bool begin_loop(struct watch_loop *loop, const struct watch_options *options, struct error *err)
{
	if (!watch_open(&loop->watch, options, err) || !catch_signals(loop, err))
		return false;
	if (options->push && !cli_find_command("push"))
		return error_set(
			err, ERROR_UNSUPPORTED, "--push: this build of kelvin cannot send profiles to a store");
	loop->child.forgets = &loop->watch.push.secrets;
	recover(loop);
	return load_series(loop, err) && watch_begin(&loop->watch, err);
}

static void watch_loop_deinit(struct watch_loop *loop)
{
	captured_signal(&loop->sender, SIGTERM);
	cleanup_close(&loop->signals);
	watch_close(&loop->watch);
}

int watch_run(const struct watch_options *options, const struct labels *labels)
{
	CLEANUP(watch_loop_deinit) struct watch_loop loop = { .labels = labels, .signals = -1 };
	struct error err;

	if (begin_loop(&loop, options, &err)) {
		run_loop(&loop);
		return loop.watch.is_removed ? CLI_EXIT_ERROR : CLI_EXIT_OK;
	}
	say_all(&loop.watch);
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}
