/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/kernel_types.h"

#include <bpf/libbpf.h>
#include <sys/resource.h>

/* Room for what the verifier says about a program that it refuses; a longer text is cut. */
enum { LOADING_LOG_BYTES = 8192, LOADING_PATH_BYTES = 32 };

struct loading {
	struct bpf_object_open_opts
		options; /* for NAME_bpf__open_opts(); borrows the log below, so it may not be moved */
	struct rlimit locked_memory;
	struct ebpf_kernel_types types; /* empty but between loading_begin_relocated() and loading_finish() */
	int types_fd;                   /* the part of them that programs need, a file in memory; -1: none */
	char types_path[LOADING_PATH_BYTES];
	bool hides_tracepoints; /* as where the kernel has none for "kernel_tp": for tests */
	int handler;            /* libbpf's number of the one that prepares "kernel_tp"; below 0: none */
	char log[LOADING_LOG_BYTES];
};

/* Keeps libbpf from printing. */
void loading_init(struct loading *loading);

/*
 * Does the work of loading_init() for programs that read the kernel's structures (CO-RE), which loading_relocate() has
 * to be called for between opening and loading them. libbpf gets a part of the kernel's types, and does not read them
 * all.
 *
 * Programs of the section "kernel_tp/NAME" are those that libbpf calls "tp_btf/NAME", for which it would read all types
 * to find one. They are attached by bpf_program__attach_trace(). Where the kernel has no such tracepoint, loading fails
 * with -ESRCH.
 *
 * Returns 0 or -errno; loading_finish() has to be called either way.
 */
COMMON_MUST_CHECK
int loading_begin_relocated(struct loading *loading);
COMMON_MUST_CHECK
int loading_relocate(const struct loading *loading, const struct bpf_object *object);

/* Loads what was opened, in place of NAME_bpf__load(), so that the log has the verifier's reason. Returns 0 or -errno.
 */
COMMON_MUST_CHECK
int loading_load(struct bpf_object_skeleton *skeleton);

/*
 * Once all is loaded, or failed to: what was opened is closed. libbpf raises RLIMIT_MEMLOCK on kernels before 5.11,
 * which count maps as locked memory while they are made. A recorded command would inherit the limit, so what it was is
 * set again.
 */
void loading_finish(struct loading *loading);

/*
 * Returns false. The message names the programs, the step, the verifier's reason where it gave one, and the error.
 *
 * loading  NULL where the step is not one of loading
 * result   -errno, as libbpf returns it
 */
bool loading_fail(struct error *err, const struct loading *loading, int result, const char *step);

/*
 * Returns false. Where programs were refused for want of the kernel's types or of rights, the error says what would
 * help; else it stays.
 *
 * since  the first version of Linux that has all that the programs need: "6.3"
 */
bool loading_explain(const char *since, struct error *err);
