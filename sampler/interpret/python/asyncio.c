/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of asyncio tasks. */
#include "sampler/interpret/python/python.h"

#include "sampler/interpret/python/code.h"

#include <string.h>

/*
 * Py_AsyncioModuleDebugOffsets of 3.14 and 3.15 (Modules/_asynciomodule.c): three structures in words of 8 bytes, each
 * of which begins with the size of what it is about. Another version has another number of them.
 */
enum {
	TASK = 0,
	TASK_NAME = 1,
	AWAITED_BY = 2,
	IS_TASK = 3,
	AWAITED_BY_IS_SET = 4,
	COROUTINE = 5,
	TASK_NODE = 6,
	THREAD = 9,
	RUNNING_LOOP = 10,
	RUNNING_TASK = 11,
	TASKS = 12,
	WORDS = 13,
	MOST_OFFSET = 1 << 20
};

/* The offset of a pointer that lies in its structure behind its first word; 0: it does not. */
static uint32_t asyncio_offset(const uint64_t *words, size_t size, size_t offset)
{
	if (words[size] > MOST_OFFSET || words[offset] % sizeof(uint64_t) != 0 ||
		!checked_range(words[offset], sizeof(uint64_t), words[size]))
		return 0;
	return (uint32_t)words[offset];
}

/* The offset of a byte of a task that lies behind its first word; 0: it does not. */
static uint32_t asyncio_byte_offset(const uint64_t *words, size_t offset)
{
	return words[offset] < words[TASK] && words[TASK] <= MOST_OFFSET ? (uint32_t)words[offset] : 0;
}

bool python_asyncio_read(struct elf_image *elf, struct python_asyncio *asyncio)
{
	struct elf_section section;
	uint64_t words[WORDS];
	struct byte_reader r;

	*asyncio = (struct python_asyncio){ 0 };
	if (!elf_image_is_64bit(elf) || !elf_image_section(elf, ".AsyncioDebug", &section) ||
		section.size != sizeof(words))
		return false;
	r = byte_reader_over(section.bytes, section.size);
	byte_reader_copy(&r, words, sizeof(words));
	asyncio->running_task = asyncio_offset(words, THREAD, RUNNING_TASK);
	asyncio->task_name = asyncio_offset(words, TASK, TASK_NAME);
	asyncio->task_coroutine = asyncio_offset(words, TASK, COROUTINE);
	asyncio->awaiter = asyncio_offset(words, TASK, AWAITED_BY);
	asyncio->has_many_awaiters = asyncio_byte_offset(words, AWAITED_BY_IS_SET);
	asyncio->is_task = asyncio_byte_offset(words, IS_TASK);
	asyncio->running_loop = asyncio_offset(words, THREAD, RUNNING_LOOP);
	asyncio->tasks = asyncio_offset(words, THREAD, TASKS);
	asyncio->task_node = asyncio_offset(words, TASK, TASK_NODE);
	if (asyncio->running_task && asyncio->task_name && asyncio->task_coroutine && asyncio->awaiter &&
		asyncio->has_many_awaiters && asyncio->is_task && asyncio->running_loop && asyncio->tasks &&
		asyncio->task_node)
		return true;
	*asyncio = (struct python_asyncio){ 0 };
	return false;
}

/* "Task-17", as asyncio calls a task when its name is asked for and nobody gave one. */
static bool is_numbered(const char *name)
{
	static const char start[] = "Task-";
	size_t size = sizeof(start) - 1;

	return strncmp(name, start, size) == 0 && name[size] &&
	       strspn(name + size, "0123456789") == strlen(name + size);
}

bool python_task_name(const struct python_image *python, const uint8_t *object, struct buffer *name)
{
	size_t before = name->size;

	return python_text_append(python, object, EBPF_TASK_BYTES, name) && !name->failed && name->size > before &&
	       !is_numbered(name->data + before);
}
