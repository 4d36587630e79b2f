/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/kernel_names.h"

#include "sampler/ebpf/loading.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "kernel_names.skel.h"

struct ebpf_kernel_names {
	struct kernel_names_bpf *object;
	int program;
};

bool ebpf_kernel_names_create(struct ebpf_kernel_names **names, struct error *err)
{
	struct ebpf_kernel_names *made = calloc(1, sizeof(*made));
	struct loading loading;
	int result;

	if (!made)
		return error_set_memory(err);
	loading_init(&loading);
	made->object = kernel_names_bpf__open_opts(&loading.options);
	result = made->object ? loading_load(made->object->skeleton) : -errno;
	loading_finish(&loading);
	if (result != 0) {
		ebpf_kernel_names_destroy(made);
		return loading_fail(err, &loading, result, "load the program that names the kernel's functions");
	}
	made->program = bpf_program__fd(made->object->progs.print_symbol);
	*names = made;
	return true;
}

void ebpf_kernel_names_destroy(struct ebpf_kernel_names *names)
{
	if (names)
		kernel_names_bpf__destroy(names->object);
	free(names);
}

char *ebpf_kernel_names_print(struct ebpf_kernel_names *names, uint64_t address)
{
	struct kernel_names_bpf__bss *shared = names->object->bss;
	struct bpf_test_run_opts options = { .sz = sizeof(options) };

	shared->address = address;
	if (bpf_prog_test_run_opts(names->program, &options) != 0)
		return NULL;
	shared->symbol[sizeof(shared->symbol) - 1] = '\0';
	return shared->symbol;
}
