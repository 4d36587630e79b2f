/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The account of a task, as sampler/process/account.h tells it: the user, or the owner of the outermost
 * user namespace; root's are told apart by container. Only programs (.bpf.c) include this.
 */
#include "sampler/ebpf/shares.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

enum { MOST_USER_NAMESPACES = 33 }; /* the kernel nests as many */

struct ns_common___account {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct kuid___account {
	__u32 val;
};

struct user_namespace___account {
	struct user_namespace___account *parent;
	int level;
	struct kuid___account owner;
	struct ns_common___account ns;
} __attribute__((preserve_access_index));

struct pid_namespace___account {
	struct ns_common___account ns;
} __attribute__((preserve_access_index));

struct cred___account {
	struct kuid___account uid;
	struct user_namespace___account *user_ns;
} __attribute__((preserve_access_index));

struct nsproxy___account {
	struct pid_namespace___account *pid_ns_for_children;
} __attribute__((preserve_access_index));

struct task_struct___account {
	const struct cred___account *real_cred;
	struct nsproxy___account *nsproxy;
} __attribute__((preserve_access_index));

/* The place of a task's account. */
static __noinline __u32 account_place(struct task_struct___account *task)
{
	struct user_namespace___account *space = BPF_CORE_READ(task, real_cred, user_ns);
	__u32 user, container;
	__u64 account;

	for (int i = 0; i < MOST_USER_NAMESPACES && BPF_CORE_READ(space, level) > 1; i++)
		space = BPF_CORE_READ(space, parent);
	if (BPF_CORE_READ(space, level) > 0) {
		user = BPF_CORE_READ(space, owner.val);
		container = BPF_CORE_READ(space, ns.inum);
	} else {
		user = BPF_CORE_READ(task, real_cred, uid.val);
		container = BPF_CORE_READ(task, nsproxy, pid_ns_for_children, ns.inum);
	}
	account = user == 0 ? (__u64)container << 32 : user;
	return (__u32)(account * 0x9e3779b97f4a7c15 >> 54) & (ACCOUNT_PLACES - 1);
}

static __always_inline _Bool account_may_take(const struct account_shares *shares, __u32 place)
{
	return shares->all < shares->most && shares->held[place & (ACCOUNT_PLACES - 1)] < shares->most - shares->all;
}

static __always_inline void account_take(struct account_shares *shares, __u32 place)
{
	__sync_fetch_and_add(&shares->all, 1);
	__sync_fetch_and_add(&shares->held[place & (ACCOUNT_PLACES - 1)], 1);
}

static __always_inline void account_give_back(struct account_shares *shares, __u32 place)
{
	__sync_fetch_and_add(&shares->all, -1);
	__sync_fetch_and_add(&shares->held[place & (ACCOUNT_PLACES - 1)], -1);
}
