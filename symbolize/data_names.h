/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * Names addresses in an image's data by the objects that hold them: "cache_mutex", "registry+0x28". The number that
 * compilers put behind the name of a function's own object ("lock.0") is left out, since it differs between builds. An
 * address in no object gets no frames.
 */
COMMON_MUST_CHECK
bool data_names_find(struct elf_image *image, const struct symbolize_options *options, const uint64_t *addresses,
	size_t count, struct arena *arena, struct symbolize_frames *frames, struct error *err);
