/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/bpf.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int bpf_call(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int bpf_load(enum bpf_prog_type type, const struct bpf_insn *instructions, size_t count)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uint64_t)(uintptr_t)instructions;
	attr.insn_cnt = (uint32_t)count;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	return bpf_call(BPF_PROG_LOAD, &attr);
}
