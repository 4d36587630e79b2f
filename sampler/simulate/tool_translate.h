/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <pub_tool_basics.h>
#include <pub_tool_tooliface.h>

/* Adds to a block's code what counts it. Blocks must follow their code, without jumps: guest_chase is off. */
IRSB *tool_translate(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
	const VexArchInfo *archinfo, IRType guest_word, IRType host_word);
