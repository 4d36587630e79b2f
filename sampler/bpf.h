/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

/* bpf(2). Below zero where it is not permitted, or refused. */
int bpf_call(enum bpf_cmd command, union bpf_attr *attr);

/* A descriptor of the program, which the caller owns. */
int bpf_load(enum bpf_prog_type type, const struct bpf_insn *instructions, size_t count);
