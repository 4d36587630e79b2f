/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/harness.h"

/*
 * Benchmarks that programs name in their output, as `go test -bench` and the plain binaries of google-benchmark and
 * criterion do, when they know nothing of the harness protocol. The output is that of the recorded program: anything
 * can be in it.
 *
 * Lines come from the threads that pass the output on, one call at a time. The rest is called by the thread that owns
 * the harness, when no line comes any more.
 */
struct harness_output;

enum {
	HARNESS_LINE_BYTES = 4096,  /* the most that is handed over of a line; the rest of it is left out */
	HARNESS_OUTPUT_STREAMS = 2, /* 0: standard output, 1: standard error */
};

COMMON_MUST_CHECK
bool harness_output_create(struct harness_output **output, struct error *err);
void harness_output_destroy(struct harness_output *output);

/*
 * Takes a line as it is so far: `size` bytes from its start, without its end ("\n", "\r\n"), not terminated by NUL.
 * `time_ns`: when its last bytes were read. A line that has not ended (is_complete is false) comes again, from its
 * start, when there is more of it; so `go test` shows the name of a benchmark before it runs it. A line of the output
 * that ends without "\n" at the end of the stream comes as a complete one. Running out of memory is told by
 * harness_output_finish().
 */
void harness_output_line(
	struct harness_output *output, int stream, const char *text, size_t size, int64_t time_ns, bool is_complete);

/*
 * Makes windows of what was read: fills windows, window_count, integration and toolchain of `result`, which is empty,
 * and leaves them so if no benchmark was named. Windows have their `measured`, when the output tells it. `end_ns`: the
 * command had ended by then. Lines for the user are appended to `notices`.
 */
COMMON_MUST_CHECK
bool harness_output_finish(struct harness_output *output, int64_t end_ns, struct harness_result *result,
	struct buffer *notices, struct error *err);
