/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

#include <string.h>
#include <sys/uio.h>

/* The memory of a process, which is hostile: nothing that is read there is trusted for a size. */

static inline struct iovec interpreter_piece(uint64_t address, size_t size)
{
	return (struct iovec){ (void *)(uintptr_t)address, size }; // NOLINT(performance-no-int-to-ptr)
}

/*
 * Reads several pieces at once, one behind the other. The number of bytes before the first piece of which not all is
 * readable, and of that as far as it is.
 */
static inline size_t interpreter_read(
	const struct process_host *host, int32_t pid, const struct iovec *pieces, size_t count, void *into)
{
	struct iovec to = { into, 0 };
	ssize_t got;

	for (size_t i = 0; i < count; i++)
		to.iov_len += pieces[i].iov_len;
	got = host->functions->read_memory(host->context, pid, &to, pieces, count);
	return got > 0 ? (size_t)got : 0;
}

/* The word at an offset of what was read, which has it. */
static inline uint64_t interpreter_word(const void *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)bytes + offset, sizeof(word));
	return word;
}
