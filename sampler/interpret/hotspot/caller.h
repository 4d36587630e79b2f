/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/hotspot/process.h"

/*
 * The caller of a frame in the code cache. HotSpot's own stack walks tell where it is (frame::sender() in
 * src/hotspot/share/runtime/frame.inline.hpp and src/hotspot/cpu/x86/frame_x86.inline.hpp): a compiled method's frames
 * have one size, interpreted ones are linked by the frame pointer, and the frame by which native code calls Java has
 * fixed places. These are true where HotSpot looks at a frame; where a sample interrupts it, the instructions tell how
 * much of it is there (SharedRuntime, and the prologues and epilogues of both compilers).
 */

/* `decoder`: borrowed; NULL: none, and frames are taken to be complete. */
COMMON_MUST_CHECK
bool hotspot_find_caller(struct hotspot_process *process, struct machine_decoder *decoder,
	const struct unwind_made_frame *frame, struct unwind_made_caller *caller, enum unwind_answer *answer,
	struct error *err);
