/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/*
 * MiniDebugInfo: a small ELF file with the symbols that stripping removed, packed with xz into .gnu_debugdata (GDB
 * manual, "MiniDebugInfo"). The caller owns `*mini`; NULL if there is none or it is damaged. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool minidebug_open(struct elf_image *image, struct elf_image **mini, struct error *err);
