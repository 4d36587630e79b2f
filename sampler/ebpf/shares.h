/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * The shares of accounts in a table of the kernel, by the rule of common/shares.h: an account may have another entry
 * while it has fewer than are free. Programs (.bpf.c) and the code that loads them include this. An account is known by
 * a place here, which two accounts share once in a while (sampler/ebpf/account.h).
 */
enum { ACCOUNT_PLACES = 1024 };

struct account_shares {
	__u32 most, all;
	__u32 held[ACCOUNT_PLACES];
};
