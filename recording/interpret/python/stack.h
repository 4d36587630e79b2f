/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/interpret/python/python.h"

/*
 * Joins CPython's frames with a walked stack: each native frame of the interpreter's loop is one activation, and
 * becomes the Python frames that it runs; the interpreter's other functions stay between them. The activations of a
 * whole stack are matched from its root; where it or the Python frames are cut, from the leaf. What finds no activation
 * stands at the end that is not matched, and is counted. With -X perf the loop is called by code that CPython has made
 * at run time and that has the function's name: it is left out.
 *
 * A sample may be taken where the loop begins or ends: its innermost activation, which is the leaf, then has no Python
 * frame. It stays a native frame. Or it has a frame that is not marked as its first one yet: no instruction of it was
 * executed.
 */
enum { PYTHON_STACK_KNOWN = 4096 };

/* A word of Python frames, and the frame that was made of it. */
struct python_known {
	uint64_t word, epoch; /* of python_codes_epoch(); 0: none */
	int32_t pid;
	uint32_t image;
	uint64_t pc;
};

struct python_stack {
	struct interpreter_names *names; /* borrowed */
	struct python_codes *codes;      /* borrowed */
	uint64_t joined;                 /* stacks that had frames of CPython */
	uint64_t mismatched; /* of these, whose activations of the loop are not as many as those of the Python frames */
	struct unwind_frame frames[UNWIND_MAX_FRAMES]; /* of the stack that is made */
	size_t count;
	struct python_known known[PYTHON_STACK_KNOWN]; /* words share places */
};

COMMON_MUST_CHECK
bool python_stack_join(struct python_stack *stack, const struct interpret_sample *sample,
	const struct python_image *python, uint64_t clock_ns, struct error *err);
