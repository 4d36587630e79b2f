/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/forks.h"

#include "sampler/records/tracepoint.h"

enum { MAX_FORMAT_BYTES = 1 << 16 };

bool forks_parse_format(const char *format, struct ebpf_newtask_record *record)
{
	return tracepoint_find_field(format, "pid", sizeof(uint32_t), &record->pid_offset) &&
	       tracepoint_find_field(format, "clone_flags", sizeof(uint64_t), &record->clone_flags_offset);
}

static bool find_record(struct ebpf_newtask_record *record)
{
	static const char *const files[] = { "/sys/kernel/tracing/events/task/task_newtask/format",
		"/sys/kernel/debug/tracing/events/task/task_newtask/format" };
	bool found = false;

	for (size_t i = 0; !found && i < sizeof(files) / sizeof(files[0]); i++) {
		struct buffer text;
		struct error ignored;

		buffer_init(&text, MAX_FORMAT_BYTES);
		if (file_read(files[i], &text, &ignored)) {
			buffer_append(&text, "", 1);
			found = buffer_ok(&text, &ignored) && forks_parse_format(text.data, record);
		}
		buffer_deinit(&text);
	}
	return found;
}

static bool find_tgid(uint16_t *offset)
{
	struct ebpf_kernel_types types;
	struct error ignored;
	uint32_t found_offset;
	bool found;

	if (!ebpf_kernel_types_open(&types, &ignored))
		return false;
	found = ebpf_kernel_types_find_member(&types, "task_struct", "tgid", &found_offset) &&
		found_offset <= UINT16_MAX;
	ebpf_kernel_types_close(&types);
	if (found)
		*offset = (uint16_t)found_offset;
	return found;
}

bool forks_follow(struct ebpf_process_set *set)
{
	struct ebpf_newtask_record record;
	struct error ignored;
	uint16_t tgid_offset;

	return (find_tgid(&tgid_offset) && ebpf_process_set_follow_tasks(set, tgid_offset, &ignored)) ||
	       (find_record(&record) && ebpf_process_set_follow_records(set, &record, &ignored));
}
