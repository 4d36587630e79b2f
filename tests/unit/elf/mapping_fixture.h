/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"

/* Opens the file of a mapping, both steps in this process. */
static inline bool open_mapping(const struct elf_mapping *mapping, struct elf_image **image, struct error *err)
{
	int fd = elf_open_mapping(mapping, err);

	return fd >= 0 && elf_image_of_mapping(fd, mapping, NULL, image, err);
}
