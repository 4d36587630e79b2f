/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/loading.h"

#include "sampler/ebpf/kernel_type_entries.h"
#include "sampler/ebpf/kernel_type_part.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * linux/bpf_verifier.h: BPF_LOG_STATS. The verifier writes why it refuses, and counters. By level 1 it would write
 * every instruction before, and kernels before 6.4 write only the first that fit in the buffer.
 */
enum { VERIFIER_LOG_STATS = 4 };

void loading_init(struct loading *loading)
{
	libbpf_set_print(NULL);
	loading->locked_memory = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	(void)getrlimit(RLIMIT_MEMLOCK, &loading->locked_memory);
	loading->types = (struct ebpf_kernel_types){ 0 };
	loading->hides_tracepoints = false;
	loading->types_fd = loading->handler = -1;
	loading->log[0] = '\0';
	loading->options = (struct bpf_object_open_opts){
		.sz = sizeof(loading->options),
		.kernel_log_buf = loading->log,
		.kernel_log_size = sizeof(loading->log),
	};
}

/* ---- Programs that know the kernel's types ---- */

static const char traced_section[] = "kernel_tp/", traced_type[] = "btf_trace_";

/*
 * libbpf calls it before it loads a program of such a section: only now the program has the type for which libbpf would
 * have read all types of the kernel.
 */
static int prepare_traced(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	const struct loading *loading = (const struct loading *)cookie;
	const char *section = bpf_program__section_name(program);
	char name[128];

	(void)snprintf(name, sizeof(name), "%s%s", traced_type, &section[strlen(traced_section)]);
	options->attach_btf_id = kernel_type_find_id(&loading->types, BTF_KIND_TYPEDEF, name);
	options->expected_attach_type = BPF_TRACE_RAW_TP;
	if (options->attach_btf_id == 0 || loading->hides_tracepoints)
		return -ESRCH;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

int loading_begin_relocated(struct loading *loading)
{
	const struct libbpf_prog_handler_opts options = {
		.sz = sizeof(options), .cookie = (long)loading, .prog_prepare_load_fn = prepare_traced
	};
	struct error err;

	loading_init(loading);
	if (!ebpf_kernel_types_open(&loading->types, &err))
		return err.system_errno > 0 ? -err.system_errno : -ENOENT;
	/* Without the file libbpf reads all types. */
	loading->types_fd = file_in_memory("kernel types", &err);
	if (loading->types_fd >= 0) {
		(void)snprintf(loading->types_path, sizeof(loading->types_path), "/proc/self/fd/%d", loading->types_fd);
		loading->options.btf_custom_path = loading->types_path;
	}
	/* The handler of sections that libbpf does not know: one of a named section cannot be taken away in libbpf 1.1,
	 * which uses what it freed. */
	loading->handler = libbpf_register_prog_handler(NULL, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_RAW_TP, &options);
	return loading->handler < 0 ? loading->handler : 0;
}

int loading_relocate(const struct loading *loading, const struct bpf_object *object)
{
	return loading->types_fd < 0
		       ? 0
		       : kernel_type_part_write(&loading->types, bpf_object__btf(object), loading->types_fd);
}

int loading_load(struct bpf_object_skeleton *skeleton)
{
	struct bpf_program *program;

	/* Each program gets it: types, which are loaded before, have no such level. */
	bpf_object__for_each_program(program, *skeleton->obj)(void)
		bpf_program__set_log_level(program, VERIFIER_LOG_STATS);
	return bpf_object__load_skeleton(skeleton);
}

void loading_finish(struct loading *loading)
{
	(void)setrlimit(RLIMIT_MEMLOCK, &loading->locked_memory);
	if (loading->handler >= 0)
		(void)libbpf_unregister_prog_handler(loading->handler);
	if (loading->types_fd >= 0)
		close(loading->types_fd);
	loading->types_fd = loading->handler = -1;
	ebpf_kernel_types_close(&loading->types);
#ifdef __GLIBC__
	/* libbpf may have read the types of the whole kernel, 10 MB, which glibc would keep for as long as the recorder
	 * runs. */
	malloc_trim(0);
#endif
}

/* The verifier's last line is its reason; counters may follow. Without one, the length is 0. */
static const char *loading_find_reason(const char *log, int *length)
{
	static const char *const counters[] = { "processed ", "verification time ", "stack depth " };
	const char *reason = log;

	*length = 0;
	for (const char *line = log; *line;) {
		size_t line_length = strcspn(line, "\n");
		bool is_counter = line_length == 0;

		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
			is_counter |= strncmp(line, counters[i], strlen(counters[i])) == 0;
		if (!is_counter) {
			reason = line;
			*length = (int)line_length;
		}
		line += line_length + (line[line_length] == '\n');
	}
	return reason;
}

bool loading_fail(struct error *err, const struct loading *loading, int result, const char *step)
{
	int length = 0;
	const char *reason = loading ? loading_find_reason(loading->log, &length) : "";

	return error_set_errno(err, -result, "cannot %s%s%.*s", step, length > 0 ? ": " : "", length, reason);
}

bool loading_explain(const char *since, struct error *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"the kernel does not describe its types (/sys/kernel/btf/vmlinux): one of Linux %s or later that is built with "
			"CONFIG_DEBUG_INFO_BTF does",
			since);
	/* EACCES is what the verifier says of a program that it refuses, to whoever may load programs. */
	if (err->system_errno != EPERM)
		return false;
	if (geteuid() != 0)
		return error_set(err, ERROR_PERMISSION,
			"that needs CAP_BPF and CAP_PERFMON: run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names");
	return error_set(err, ERROR_PERMISSION,
		"a container or the kernel's lockdown forbids programs in the kernel: allow them there (docker run --cap-add BPF --cap-add "
		"PERFMON), or run kelvin outside of it");
}
