/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

enum { SYMBOL_BYTES = 504 };

/* The process has these variables mapped: it writes the address, and reads the symbol. */
__u64 address;
char symbol[SYMBOL_BYTES];

const char LICENSE[] SEC("license") = "GPL";

/* Runs when the process asks for it (BPF_PROG_TEST_RUN). %pS prints the symbol that holds an address. */
SEC("syscall")
int print_symbol(void *context)
{
	static const char format[] = "%pS";
	__u64 argument = address;

	bpf_snprintf(symbol, sizeof(symbol), format, &argument, sizeof(argument));
	return 0;
}
