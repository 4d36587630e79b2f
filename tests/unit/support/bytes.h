/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A format that a test builds by hand, in this machine's byte order. What has no room aborts: fuzz targets use it too.
 */
enum { BYTES_MOST = 4096 };

struct bytes {
	uint8_t data[BYTES_MOST];
	size_t size; /* the next bytes go behind so many */
};

static inline void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	if (size > sizeof(bytes->data) - bytes->size)
		abort();
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static inline void bytes_put8(struct bytes *bytes, uint8_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

static inline void bytes_put16(struct bytes *bytes, uint16_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

static inline void bytes_put32(struct bytes *bytes, uint32_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

static inline void bytes_put64(struct bytes *bytes, uint64_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}
