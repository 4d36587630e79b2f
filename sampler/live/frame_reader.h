/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Tries whether this machine lets the recorder read the frames of CPython (ebpf/frame_reader.h). False, with what would
 * help: it does not.
 */
COMMON_MUST_CHECK
bool frame_reader_probe(struct error *err);
