/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/naming.h"
#include "cli/source_benchmarks.h"

#include <limits.h>

/* One recording from the target to the file. */
struct record_job {
	struct source_live_options live; /* record_job_run() adds what it opens */
	struct naming naming;
	const char *output;
	mode_t mode;         /* of the file, as file_write() has it */
	const char *control; /* of --control; NULL: none */
	bool quiet;
	bool has_benchmarks;                   /* the command runs benchmarks, which are told apart */
	struct symbolize_kept_sources sources; /* of the last run */
	double answer_us;                      /* of the last run, source_result.answer_us */
	uint64_t runs;                         /* of a command, one after the other, into one profile; 0 counts as 1 */
	struct profile *merged;                /* of several: the runs so far; owned by record_job_run() */
	int64_t cpu_ns;                        /* what the recorder used while recording, for all runs */
	struct recording_refusals refusals;    /* of all runs; what names them are those of the last run with some */
	int64_t naming_ns;                     /* from the last sample to the file, likewise */
	uint64_t file_bytes;
	struct memory_end end; /* what becomes of a recording when memory is out; set by record_job_run() */
	char advice[PATH_MAX + 128];
	struct symbolize_options options; /* made of `naming` by record_job_run() */
	struct progress progress;
};

/* Returns the program's exit code. */
int record_job_run(struct record_job *job);
