/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/loading.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INITIAL_PID_NAMESPACE = 0xeffffffc }; /* linux/proc_ns.h: PROC_PID_INIT_INO */

void loading_init(struct loading *loading)
{
	libbpf_set_print(NULL);
	loading->locked_memory = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	(void)getrlimit(RLIMIT_MEMLOCK, &loading->locked_memory);
	loading->log[0] = '\0';
	loading->options = (struct bpf_object_open_opts){
		.sz = sizeof(loading->options),
		.kernel_log_buf = loading->log,
		.kernel_log_size = sizeof(loading->log),
	};
}

void loading_finish(const struct loading *loading)
{
	(void)setrlimit(RLIMIT_MEMLOCK, &loading->locked_memory);
#ifdef __GLIBC__
	/* libbpf has read the types of the whole kernel, 10 MB, which glibc would keep for as long as the recorder
	 * runs. */
	malloc_trim(0);
#endif
}

/* The verifier's last line is its reason; counters may follow. Without one, the length is 0. */
static const char *find_reason(const char *log, int *length)
{
	const char *reason = log;

	*length = 0;
	for (const char *line = log; *line;) {
		size_t line_length = strcspn(line, "\n");

		if (line_length > 0 && strncmp(line, "processed ", strlen("processed ")) != 0) {
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
	const char *reason = loading ? find_reason(loading->log, &length) : "";

	return error_set_errno(err, -result, "cannot %s%s%.*s", step, length > 0 ? ": " : "", length, reason);
}

bool loading_is_initial_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == INITIAL_PID_NAMESPACE;
}

bool loading_explain(const char *since, struct error *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"the kernel does not describe its types (/sys/kernel/btf/vmlinux): one of Linux %s or later that is built with "
			"CONFIG_DEBUG_INFO_BTF does",
			since);
	if (err->system_errno != EPERM && err->system_errno != EACCES)
		return false;
	if (geteuid() != 0)
		return error_set(err, ERROR_PERMISSION,
			"that needs CAP_BPF and CAP_PERFMON: run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names");
	return error_set(err, ERROR_PERMISSION,
		"a container or the kernel's lockdown forbids programs in the kernel: allow them there (docker run --cap-add BPF --cap-add "
		"PERFMON), or run kelvin outside of it");
}
