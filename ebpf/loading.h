/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <bpf/libbpf.h>
#include <sys/resource.h>

/* Room for what the verifier says about a program that it refuses; a longer text is cut. */
enum { LOADING_LOG_BYTES = 8192 };

struct loading {
	struct bpf_object_open_opts
		options; /* for NAME_bpf__open_opts(); borrows the log below, so it may not be moved */
	struct rlimit locked_memory;
	char log[LOADING_LOG_BYTES];
};

/* Keeps libbpf from printing. */
void loading_init(struct loading *loading);

/*
 * Once all is loaded: libbpf raises RLIMIT_MEMLOCK on kernels before 5.11, which count maps as locked memory while they
 * are made. A recorded command would inherit the limit, so what it was is set again.
 */
void loading_finish(const struct loading *loading);

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

/* Programs know processes by their ids in the initial pid namespace: whether our ids are those. */
bool loading_is_initial_namespace(void);
