/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/cache.h"

/* Has frames of an image kept by the process that may write files (struct symbolize_remote). */
void remote_keep(
	struct symbolize_remote *remote, const struct frame_cache_key *key, const struct named_frames_entries *entries);
