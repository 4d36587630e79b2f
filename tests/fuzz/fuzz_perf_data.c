/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/sampler.h"

#include "tests/fuzz/mutate_perf_data.h"
#include "tests/fuzz/target.h"

#include <sys/mman.h>

/* Input: a whole perf.data file. What comes out of it must be a profile that holds together. */

static bool read_as(const struct recording_file *recorded)
{
	struct recording result;
	struct buffer notices;
	struct error err;
	bool ok;

	buffer_init(&notices, 1 << 16);
	ok = sampler_read_perf_data(recorded, &result, &notices, &err);
	if (ok) {
		if (!profile_validate(result.profile, &err))
			__builtin_trap();
		recording_deinit(&result);
	}
	buffer_deinit(&notices);
	return ok;
}

bool fuzz_take(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct recording_file recorded = { .fd = fd, .name = "perf.data" };
	bool ok = false;
	int ends[2];

	if (fd < 0)
		return false;
	if (write(fd, data, size) == (ssize_t)size) {
		ok = read_as(&recorded);
		/* The same for the waits that are in it. */
		recorded.event = "off-cpu";
		ok |= read_as(&recorded);
	}
	close(fd);
	/* The same as a stream that has been read already, and ends there. */
	if (pipe(ends) != 0)
		return ok;
	close(ends[1]);
	recorded = (struct recording_file){ .fd = ends[0], .head = data, .head_bytes = size, .name = "pipe" };
	ok |= read_as(&recorded);
	close(ends[0]);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_take(data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutation_run(data, size, max_size, seed, mutate_perf_data);
}
