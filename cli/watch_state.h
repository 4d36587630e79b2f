/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/captured.h"
#include "cli/watch_loop.h"
#include "cli/watch_push.h"
#include "cli/watch_series.h"

/* The state of a watch while it runs: private to its loop, and to the work of its children (watch_work.c). */

enum doing { DOING_NOTHING, DOING_RECORDING, DOING_RECOVERING, DOING_REPORT };

struct watch_state {
	const struct watch_options *options;
	struct watch_place place;
	struct watch_target *target;
	struct watch_schedule schedule;
	struct watch_series series;
	sigset_t mask_before; /* what children block */
	int signals;          /* owned; signalfd(2) */
	/* The child that runs, and what it is told. */
	struct captured child;
	enum doing doing;
	struct watch_process process;
	struct watch_file file;
	char name[WATCH_NAME_BYTES];
	bool was_told_to_end; /* the recording */
	bool may_have_part;   /* a recording has failed, and may have left something */
	struct watch_push push;
	/* The last deploy. */
	struct watch_file first; /* its first profile */
	size_t reported, tried;  /* profiles behind it that its report has, or that none could be made with; 0: none */
	/* The user's signals. */
	bool is_ending;
	int code;
	/* The last message: the same is not said again before something else has happened. */
	struct buffer failure;
	bool said_gone, said_restart, said_namesakes;
};

struct watch_clocks watch_read_clocks(void);

/* Says something to who wants to hear more than errors. */
__attribute__((format(printf, 2, 3))) void watch_say(const struct watch_state *watch, const char *format, ...);

/* Says what a child could not do, unless it is what was said last, but for the name of the file. */
void watch_say_failure(struct watch_state *watch, const char *text);
void watch_say_error(struct watch_state *watch, const struct error *err);

/* Notices a deploy that the newest profile shows, or that a watch before this one has met (`is_beginning`). */
void watch_notice_deploy(struct watch_state *watch, bool is_beginning);

/* Each starts a child; false: there is nothing of this kind to do, or it cannot be started, which was said. */
bool watch_start_recovery(struct watch_state *watch); /* of what a killed recording has left */
bool watch_start_report(struct watch_state *watch);   /* of the last deploy */
void watch_start_recording(struct watch_state *watch, enum watch_reason reason);

/* The recording ends now, with what it has. */
void watch_cut_recording(struct watch_state *watch);

/* Takes what the child has left that did this. */
void watch_end_work(struct watch_state *watch, enum doing doing, const struct captured_outcome *outcome);
