/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/kernel_types.h"
#include "sampler/live/forks.h"

#include <stdlib.h>
#include <string.h>

/* What the kernel says of its structures, and tracefs of a tracepoint's record. Input: 'b' and BTF, or another byte and
 * text. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ebpf_newtask_record record;
	struct ebpf_kernel_types types;
	uint32_t offset;
	char *text;

	if (size == 0)
		return 0;
	if (data[0] == 'b') {
		types = ebpf_kernel_types_over(data + 1, size - 1);
		(void)ebpf_kernel_types_find_member(&types, "task", "tgid", &offset);
		return 0;
	}
	text = strndup((const char *)data + 1, size - 1);
	if (text && forks_parse_format(text, &record) && record.pid_offset > UINT16_MAX / 2)
		abort();
	free(text);
	return 0;
}
