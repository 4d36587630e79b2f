/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/undumped.h"

#include <sys/mman.h>

void *undumped_alloc(size_t bytes)
{
	void *memory = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, bytes ? bytes : 1, MADV_DONTDUMP) == 0)
		return memory;
	(void)munmap(memory, bytes ? bytes : 1);
	return NULL;
}

void undumped_free(void *memory, size_t bytes)
{
	if (memory)
		(void)munmap(memory, bytes ? bytes : 1);
}
