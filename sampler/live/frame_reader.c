/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/frame_reader.h"

#include "ebpf/ebpf.h"
#include "sampler/live/event.h"
#include "sampler/live/task_layout.h"

enum { LEAST_BYTES = 1 << 12 };

bool frame_reader_probe(struct error *err)
{
	struct ebpf_frame_reader_options options = { .cpu_count = event_cpu_count(), .bytes_per_cpu = LEAST_BYTES };
	struct ebpf_frame_reader *reader;

	if (!task_layout_read(&options.layout, err) || !ebpf_frame_reader_create(&options, &reader, err))
		return false;
	ebpf_frame_reader_destroy(reader);
	return true;
}
