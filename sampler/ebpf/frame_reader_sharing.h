/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/frame_reader.h"
#include "sampler/ebpf/frame_reader_shared.h"

#include <bpf/libbpf.h>

/*
 * Returns whether other programs may write frames too, by sampler/ebpf/frame_reader_walk.h: they loop by bpf_loop(),
 * which is there since Linux 5.17.
 */
bool frame_reader_can_be_shared(struct ebpf_frame_reader *reader);

/* The members of such an object, before it is loaded. */
struct frame_reader_sharing {
	struct bpf_map *interpreters, *places, *areas, *codes;
	struct frames_constants *constants;
};

/* Has an object use the maps of the reader from its loading on. Returns 0 or -errno. */
int frame_reader_share(const struct ebpf_frame_reader *reader, const struct frame_reader_sharing *with);
