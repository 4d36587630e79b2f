/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *binary_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", BINARIES, name);
	return path;
}

struct elf_image *binary_open(const char *name)
{
	struct elf_image *image = NULL;
	struct error err;

	if (!elf_image_open_path(binary_path(name), &image, &err))
		fail_msg("%s", err.message);
	return image;
}

uint8_t *binary_bytes(const char *name, size_t *size)
{
	struct buffer bytes;
	struct error err;

	buffer_init(&bytes, 1 << 26);
	if (!file_read(binary_path(name), &bytes, &err))
		fail_msg("%s", err.message);
	*size = bytes.size;
	return (uint8_t *)bytes.data;
}

uint8_t *binary_without_sections(const char *name, size_t *size)
{
	uint8_t *bytes = binary_bytes(name, size);
	Elf64_Ehdr header;

	memcpy(&header, bytes, sizeof(header));
	*size = header.e_shoff;
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	memcpy(bytes, &header, sizeof(header));
	return bytes;
}

const char *folder_create(void)
{
	static char folder[64];

	strcpy(folder, "/tmp/kelvin-test-elf-XXXXXX");
	if (!mkdtemp(folder))
		fail_msg("cannot make %s", folder);
	return folder;
}

void folder_remove(const char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command) != 0)
		fail_msg("cannot remove %s", folder);
}

const char *binary_copy(const char *from, const char *folder, const char *name)
{
	static char path[PATH_MAX];
	struct error err;
	size_t size;
	uint8_t *bytes = binary_bytes(from, &size);
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	ok = file_write(path, bytes, size, 0700, &err);
	free(bytes);
	if (!ok)
		fail_msg("%s", err.message);
	return path;
}
