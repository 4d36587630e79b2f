/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/frame.h"

#include "tests/fuzz/name_code.h"
#include "tests/fuzz/scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A file that is overwritten while it is read. Input: eight changes, each an offset (16 bits) and a value (8 bits),
 * then an ELF file. A thread makes the changes and takes them back, again and again, from before the file is opened
 * until its names are known, so that what is checked at one moment is another at the next.
 */

enum { CHANGES = 8 };

struct change {
	uint16_t offset;
	uint8_t value;
};

struct changer {
	struct change changes[CHANGES];
	const uint8_t *bytes; /* of the file as it is without changes */
	size_t size;
	int fd;
	atomic_bool ends;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_byte(const struct changer *changer, size_t offset, uint8_t value)
{
	if (pwrite(changer->fd, &value, 1, (off_t)offset) != 1)
		abort();
}

static void *keep_changing(void *context)
{
	struct changer *changer = context;

	while (!atomic_load(&changer->ends))
		for (size_t i = 0; i < 2 * (size_t)CHANGES; i++) {
			size_t at = changer->changes[i / 2].offset % changer->size;

			write_byte(changer, at, i % 2 ? changer->bytes[at] : changer->changes[i / 2].value);
		}
	return NULL;
}

static void find_rules(struct elf_image *image)
{
	struct frame_table *table;
	struct frame_rule rule;
	struct error err;

	if (!frame_table_create(image, FRAME_RULES, &table, &err))
		return;
	for (size_t i = 0; i < NAME_CODE_ADDRESSES; i++)
		if (frame_table_machine(table) && frame_table_find_rule(table, name_code_address(image, i), &rule) &&
			rule.size == 0)
			abort();
	frame_table_destroy(table);
}

static void read_it(const char *path)
{
	struct elf_image *image;
	struct error err;

	if (!elf_image_open_path(path, &image, &err))
		return;
	find_rules(image);
	name_code(image, SYMBOLIZE_FINGERPRINT_ALL);
	elf_image_unref(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	struct changer changer = { 0 };
	char path[PATH_MAX];
	pthread_t thread;

	for (size_t i = 0; i < CHANGES; i++) {
		changer.changes[i].offset = byte_reader_u16(&r);
		changer.changes[i].value = byte_reader_u8(&r);
	}
	if (byte_reader_left(&r) == 0)
		return 0;
	changer.bytes = r.pos;
	changer.size = byte_reader_left(&r);
	scratch_write("program", changer.bytes, changer.size);
	scratch_path("program", path);
	changer.fd = open(path, O_WRONLY | O_CLOEXEC);
	if (changer.fd < 0 || pthread_create(&thread, NULL, keep_changing, &changer) != 0)
		abort();
	read_it(path);
	atomic_store(&changer.ends, true);
	pthread_join(thread, NULL);
	close(changer.fd);
	return 0;
}
