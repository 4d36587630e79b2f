/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/python/python.h"

#include <sys/uio.h>

/* Memory of a process in which every address holds a code object, and other ones at any time, unless it is steady. */
struct hostile_python {
	uint64_t reads, time;
	bool is_steady;
};

/* How its code objects are read. */
extern const struct python_image hostile_python_image;

/* As `read_memory` of struct process_host_functions; the context is a struct hostile_python. */
ssize_t hostile_python_read(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count);
