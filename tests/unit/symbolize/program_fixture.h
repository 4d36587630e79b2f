/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>

/* One of the programs that were built for the tests. */
static inline struct elf_image *open_program(const char *name)
{
	struct elf_image *image;
	struct error err;
	char path[512];

	snprintf(path, sizeof(path), PROGRAMS "/%s", name);
	assert_true(elf_image_open_path(path, &image, &err));
	return image;
}
