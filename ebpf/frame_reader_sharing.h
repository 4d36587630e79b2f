/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ebpf/frame_reader.h"
#include "ebpf/frame_reader_shared.h"

#include <bpf/libbpf.h>

/* Other programs that write chains too, by ebpf/frame_reader_python.h: they loop by bpf_loop(), which is there since
 * Linux 5.17. */
bool chains_can_be_shared(const struct ebpf_chains *chains);

/* What such an object has, before it is loaded. */
struct chains_sharing {
	struct bpf_map *pythons, *places, *areas, *codes;
	struct chains_constants *constants;
};

/* Has an object use the maps of `chains` from its loading on. Returns 0 or -errno. */
int chains_share(const struct ebpf_chains *chains, const struct chains_sharing *with);
