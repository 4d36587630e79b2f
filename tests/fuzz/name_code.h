/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

enum { NAME_CODE_ADDRESSES = 64, NAME_CODE_STEP = 13 };

/*
 * Names NAME_CODE_ADDRESSES of an image's first code, each NAME_CODE_STEP behind the one before. Debug files are looked
 * for beside the image alone, so that the machine's own change nothing. Each address that is resolved has a frame, or
 * this aborts. Returns whether one has a line, which debug information gave.
 */
bool name_code(struct elf_image *image, enum symbolize_fingerprints fingerprints);

/* The address that is named by this number. */
uint64_t name_code_address(const struct elf_image *image, size_t number);
