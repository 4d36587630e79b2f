/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The names of frames in files of other tools, which put more than the function's name into one text. */

/* Bytes of a text; not NUL-terminated. */
struct profile_frame_span {
	const char *text;
	size_t size;
};

/*
 * The parts of a frame's text. The line is the one that was executed, which differs between samples and between
 * versions of a file, so it is no part of the function's name:
 *
 *	digest (shop/index.py:8)     py-spy
 *	shop/index.py:digest:8       profiling.sampling of CPython, austin
 *	digest - shop/index.rb:8     rbspy
 *	digest:index.c:8             stackcollapse-perf.pl --srcline
 *	shop/Index.digest:8          jfrconv --lines
 */
struct profile_frame_text {
	struct profile_frame_span name; /* in the text, or in the scratch buffer */
	struct profile_frame_span file; /* of size 0: it is not told */
	uint32_t line;                  /* 0: it is not told */
};

/* Takes a frame's text apart. `scratch` is overwritten. */
struct profile_frame_text profile_frame_split(struct profile_frame_span text, struct buffer *scratch);

/*
 * Returns the name of a function of which a tool tells the file apart: of Python as CPython itself names it to perf
 * (profile_python_name()), so that recordings of any two tools compare; else the name alone. It may lie in `scratch`,
 * which is overwritten.
 */
struct profile_frame_span profile_frame_name(
	struct profile_frame_span name, struct profile_frame_span file, struct buffer *scratch);

/* The process or thread that tools write in front of its frames. Numbers are 0 where they are not told. */
struct profile_frame_owner {
	int32_t pid, tid;
	struct profile_frame_span process, thread; /* names; of size 0: not told */
};

/*
 * Reads the frames in front of a stack `root;...;leaf` that stand for its process and its thread, of which any two
 * recordings have others. Returns where the first function begins; the size of the stack if it has none.
 *
 *	process 7:"python app.py"    py-spy; and `thread (8): worker`
 *	tid:8                        profiling.sampling
 *	P7;T0:8                      austin
 *	[worker tid=8]               async-profiler
 *	java-7/8                     stackcollapse-perf.pl --tid
 */
COMMON_MUST_CHECK
size_t profile_frame_owner(struct profile_frame_span stack, struct profile_frame_owner *owner);
