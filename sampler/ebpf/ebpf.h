/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Programs that Kelvin runs inside the kernel, each written in C (NAME.bpf.c), compiled when Kelvin is built, and
 * embedded in it. This room is the only one that calls bpf(2) or includes a header of libbpf.
 *
 * Nothing is pinned: maps and programs are held by file descriptors alone, so they end with the process, however it
 * ends. A kernel may refuse a program: without CAP_BPF and CAP_PERFMON, when it is locked down, or when it is too old.
 * Whoever asks for a program has another way, and the error says why that one is taken. Nothing is printed, and no
 * resource limit is changed. An object belongs to one thread at a time.
 */
#include "sampler/ebpf/frame_reader.h"
#include "sampler/ebpf/kernel_names.h"
#include "sampler/ebpf/kernel_types.h"
#include "sampler/ebpf/process_set.h"
#include "sampler/ebpf/requests.h"
#include "sampler/ebpf/wait.h"
#include "sampler/ebpf/waiting.h"
