/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/sampler.h"

#include <sys/mman.h>

/* Input: a whole perf.data file. What comes out of it must be a profile that holds together. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const struct sampler_recorded *recorded)
{
	struct sampler_result result;
	struct buffer notices;
	struct error err;

	buffer_init(&notices, 1 << 16);
	if (sampler_read_perf_data(recorded, &result, &notices, &err)) {
		if (!profile_validate(result.profile, &err))
			__builtin_trap();
		sampler_result_deinit(&result);
	}
	buffer_deinit(&notices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct sampler_recorded recorded = { .fd = fd, .name = "perf.data" };
	int ends[2];

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		read_as(&recorded);
		/* The same for the waits that are in it. */
		recorded.event = "off-cpu";
		read_as(&recorded);
	}
	close(fd);
	/* The same as a stream that has been read already, and ends there. */
	if (pipe(ends) != 0)
		return 0;
	close(ends[1]);
	recorded = (struct sampler_recorded){ .fd = ends[0], .head = data, .head_bytes = size, .name = "pipe" };
	read_as(&recorded);
	close(ends[0]);
	return 0;
}
