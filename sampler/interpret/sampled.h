/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/kind.h"
#include "sampler/interpret/stack.h"

/*
 * The common part of the kinds of interpreters whose frames come with samples: a program in the kernel has read them.
 * Their state begins with this, so that functions that take a `state` stand in struct interpreter_kind as they are.
 */
struct interpreter_sampled {
	struct ebpf_frame_reader *frame_reader; /* borrowed; NULL: not permitted */
	struct interpreter_codes *codes;        /* owned */
	struct interpreter_stack stack;
	bool is_met; /* a process had such an interpreter */
};

/* `names`, `frame_reader` and `reads` are borrowed; `reader` is owned by the codes, also where the call fails. */
COMMON_MUST_CHECK
bool interpreter_sampled_init(struct interpreter_sampled *sampled, struct interpreter_names *names,
	struct ebpf_frame_reader *frame_reader, const struct interpreter_code_reader *reads, void *reader,
	struct error *err);
void interpreter_sampled_deinit(struct interpreter_sampled *sampled);

/* Has the program in the kernel read the frames of a process. */
void interpreter_sampled_add(
	struct interpreter_sampled *sampled, int32_t pid, const struct ebpf_interpreter *interpreter);

/* It reads them no longer. */
void interpreter_sampled_forget(void *state, const struct interpreter_process *process);

/* Joins the frames that came with a sample, if they are of this kind. */
COMMON_MUST_CHECK
bool interpreter_sampled_join(struct interpreter_sampled *sampled, const struct interpret_sample *sample,
	enum ebpf_interpreter_kind kind, const struct interpreter_stack_image *image, struct error *err);

bool interpreter_sampled_know(const void *state, const struct ebpf_code *code);

COMMON_MUST_CHECK
bool interpreter_sampled_learn(
	void *state, const struct interpreter_process *process, const struct ebpf_code *code, struct error *err);

/* Appends lines about frames of a language ("Python") that are not shown, have no names or do not fit. */
void interpreter_sampled_describe(
	const struct interpreter_sampled *sampled, const char *language, struct buffer *notices);
