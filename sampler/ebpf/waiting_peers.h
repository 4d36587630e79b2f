/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/socket_side.h"

/*
 * The peers of a thread that waits: who is at the other end of its sockets. Only waiting.bpf.c includes this, behind
 * what the recorder sets. It is asked once a sample, not at a switch.
 */

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));

struct inode {
	unsigned short i_mode;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	void *private_data;
} __attribute__((preserve_access_index));

struct socket {
	struct sock *sk;
} __attribute__((preserve_access_index));

struct tcp_sock {
	__u32 lsndtime, rcv_nxt, copied_seq;
} __attribute__((preserve_access_index));

/* linux/stat.h, asm-generic/poll.h */
enum { S_IFMT = 0170000, S_IFSOCK = 0140000, POLL_READS = 0x1 | 0x40, BITS = 64 };

const volatile __u8 descriptors_of_call[WAITING_MOST_CALLS]; /* enum ebpf_wait_descriptors */

/* The descriptors that a thread which is asleep polls, and their peer. */
struct {
	__u32 tid, count, peer;
	struct ebpf_polled items[EBPF_MOST_POLLED];
} polled;

/* The socket that is a thread's descriptor; NULL: it is something else, or closed. */
static __always_inline struct sock *socket_of_descriptor(struct task_struct *task, __u64 descriptor)
{
	struct files_struct *files = BPF_CORE_READ(task, files);
	struct fdtable *table = BPF_CORE_READ(files, fdt);
	struct file **slots = BPF_CORE_READ(table, fd), *file = (void *)0;
	struct socket *socket;

	if (descriptor >= BPF_CORE_READ(table, max_fds) ||
		bpf_probe_read_kernel(&file, sizeof(file), slots + descriptor) != 0 || !file ||
		(BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return (void *)0;
	socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

static __always_inline _Bool is_tcp(struct sock *sk)
{
	unsigned short family = BPF_CORE_READ(sk, __sk_common.skc_family);

	return (family == AF_INET || family == AF_INET6) && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP;
}

/*
 * Returns whether a connection of TCP has received what nobody has read, or has sent something since it received
 * anything, as far as the ticks of the kernel's clock tell (a few milliseconds): an answer has just come, or is yet to
 * come.
 */
static __always_inline _Bool was_asked(struct sock *sk)
{
	struct inet_connection_sock *connection = (struct inet_connection_sock *)sk;
	struct tcp_sock *tcp = (struct tcp_sock *)sk;

	return BPF_CORE_READ(tcp, rcv_nxt) != BPF_CORE_READ(tcp, copied_seq) ||
	       (__s32)(BPF_CORE_READ(connection, icsk_ack.lrcvtime) - BPF_CORE_READ(tcp, lsndtime)) < 0;
}

/* Datagrams have no accept(): whoever has named its peer asks it. */
static __always_inline enum ebpf_wait_peer peer_of_socket(struct sock *sk, _Bool reads)
{
	unsigned char state = BPF_CORE_READ(sk, __sk_common.skc_state);

	if (is_tcp(sk) && state == TCP_LISTEN)
		return EBPF_PEER_CLIENT;
	if (BPF_CORE_READ(sk, sk_type) != SOCK_STREAM)
		return state == TCP_ESTABLISHED ? EBPF_PEER_CALLED : EBPF_PEER_UNKNOWN;
	switch (socket_side_of(sk)) {
	case SOCKET_ACCEPTED:
		return reads ? EBPF_PEER_CLIENT : EBPF_PEER_ANSWERED;
	case SOCKET_CONNECTED:
		return EBPF_PEER_CALLED;
	default:
		return EBPF_PEER_UNKNOWN;
	}
}

static __always_inline enum ebpf_wait_peer peer_of_descriptor(struct task_struct *task, __u64 descriptor)
{
	struct sock *sk = socket_of_descriptor(task, descriptor);

	return sk ? peer_of_socket(sk, 1) : EBPF_PEER_UNKNOWN;
}

/*
 * Returns who is at the other end of what is polled. Of a single descriptor it is the other end. Of several, as where a
 * library polls a descriptor of its own beside the socket, it is the one that was asked and has not begun to answer, if
 * any was; else this is an event loop: `found`, which is what was found among the descriptors before.
 */
static __noinline __u32 peer_of_polled(
	struct task_struct *task, const struct ebpf_polled *item, __u32 count, __u32 found)
{
	struct sock *sk = item->descriptor < 0 ? (void *)0 : socket_of_descriptor(task, item->descriptor);
	__u32 peer;

	if (!sk)
		return found;
	peer = peer_of_socket(sk, item->events & POLL_READS);
	return count == 1 || (peer == EBPF_PEER_CALLED && is_tcp(sk) && was_asked(sk)) ? peer : found;
}

static __always_inline __u32 descriptors_of(const struct ebpf_wait *wait)
{
	__u64 call = wait->system_call;

	return call < WAITING_MOST_CALLS ? descriptors_of_call[call] : EBPF_READS_NONE;
}

/*
 * The array of struct pollfd: int fd; short events, revents. One is held at a time: the stacks of nested functions have
 * 512 bytes in all.
 */
static __noinline __u32 peer_of_poll(struct task_struct *task, __u64 address, __u32 count)
{
	struct ebpf_polled item;
	__u32 found = EBPF_PEER_UNKNOWN;

	if (count > EBPF_MOST_POLLED)
		return EBPF_PEER_UNKNOWN;
	for (__u32 i = 0; i < EBPF_MOST_POLLED && i < count; i++) {
		if (bpf_probe_read_user(&item, sizeof(item), (const void *)(address + i * sizeof(item))) != 0)
			return EBPF_PEER_UNKNOWN;
		found = peer_of_polled(task, &item, count, found);
	}
	return found;
}

/* Returns the number of the only bit that is set. By halves: the verifier follows each turn of a loop. */
static __always_inline __u64 number_of_bit(__u64 word)
{
	__u64 number = 0;

	for (__u32 half = BITS / 2; half > 0; half /= 2)
		if (word >> half) {
			word >>= half;
			number += half;
		}
	return number;
}

/* The set of a select() that has one descriptor to read. */
static __noinline __u32 peer_of_select(struct task_struct *task, __u64 address, __u32 limit)
{
	__u64 word, descriptor = 0;
	_Bool is_found = 0;

	for (__u32 at = 0; at < 1024 / BITS && at * BITS < limit; at++) {
		if (bpf_probe_read_user(&word, sizeof(word), (const void *)(address + at * sizeof(word))) != 0)
			return EBPF_PEER_UNKNOWN;
		if (limit - at * BITS < BITS)
			word &= ((__u64)1 << (limit - at * BITS)) - 1;
		if (word == 0)
			continue;
		if (is_found || (word & (word - 1)))
			return EBPF_PEER_UNKNOWN;
		is_found = 1;
		descriptor = at * BITS + number_of_bit(word);
	}
	return is_found ? peer_of_descriptor(task, descriptor) : EBPF_PEER_UNKNOWN;
}

/* Returns the peer of the current thread, which goes on from the call. */
static __always_inline __u32 peer_of_current(const struct ebpf_wait *wait)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	switch (descriptors_of(wait)) {
	case EBPF_READS_ONE:
		return peer_of_descriptor(task, wait->arguments[0]);
	case EBPF_POLLS:
		return peer_of_poll(task, wait->arguments[0], wait->arguments[1]);
	case EBPF_SELECTS:
		return peer_of_select(task, wait->arguments[1], wait->arguments[0]);
	default:
		return EBPF_PEER_UNKNOWN;
	}
}

/* Looks at what the thread of `polled` polls, which lies in memory that only the process itself can read here. */
SEC("iter/task")
int look_at_polled(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task || task->pid != (int)polled.tid)
		return 0;
	polled.peer = EBPF_PEER_UNKNOWN;
	for (__u32 i = 0; i < EBPF_MOST_POLLED && i < polled.count; i++)
		polled.peer = peer_of_polled(task, &polled.items[i], polled.count, polled.peer);
	return 0;
}
