/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"

#include <libelf.h>

/*
 * libelf's own handle of an image, for libdw; to be ended with elf_end(). Its mapping is private, because libdw
 * inflates compressed sections in place.
 */
static inline Elf *libelf_of(struct elf_image *image)
{
	int fd = elf_image_descriptor(image);
	size_t size;
	const uint8_t *bytes = elf_image_bytes(image, &size);

	elf_version(EV_CURRENT);
	return fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL) : elf_memory((char *)(uintptr_t)bytes, size);
}
