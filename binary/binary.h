/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The wing's public header: what executables and processors say.
 *
 *	elf/		binary images: how they are opened, segments, sections, debug files
 *	frame/		call frame tables
 *	machine/	what is known of each processor
 */
#include "binary/elf/elf.h"
#include "binary/frame/frame.h"
#include "binary/machine/machine.h"
