/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/* Where the code begins of which addresses are named. */
enum { NAME_CODE_START = 0x1000, NAME_CODE_ADDRESSES = 64, NAME_CODE_STEP = 13 };

/*
 * Names NAME_CODE_ADDRESSES of an image, each NAME_CODE_STEP behind the one before. Debug files are looked for beside
 * the image alone, so that the machine's own change nothing. Each address that is resolved has a frame, or this aborts.
 */
void name_code(struct elf_image *image, enum symbolize_fingerprints fingerprints);
