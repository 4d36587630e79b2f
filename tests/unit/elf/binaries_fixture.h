/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"

/* The binaries that the build made for the tests (CMakeLists.txt), by name. What fails here fails the test. */

/* The path, in a buffer that the next call overwrites. */
const char *binary_path(const char *name);

struct elf_image *binary_open(const char *name);

/* Its bytes, to be freed. */
uint8_t *binary_bytes(const char *name, size_t *size);

/* The same as sstrip(1) leaves it: without the section headers, which stand last. */
uint8_t *binary_without_sections(const char *name, size_t *size);

/* A folder for one test's files, with its removal. */
const char *folder_create(void);
void folder_remove(const char *folder);

/* Copies a binary to FOLDER/NAME; the path, in a buffer that the next call overwrites. */
const char *binary_copy(const char *from, const char *folder, const char *name);
