/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

/*
 * The end of a connection that a socket is. Only programs (.bpf.c) include this: those that count requests, and those
 * that sample waits.
 */

/* ---- The members of the kernel's structs that are read here (CO-RE) ---- */

struct net {
	__u64 net_cookie;
} __attribute__((preserve_access_index));

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	union {
		__u32 u6_addr32[4];
	} in6_u;
} __attribute__((preserve_access_index));

struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type, sk_protocol;
	__u32 sk_max_ack_backlog;
} __attribute__((preserve_access_index));

struct unix_address;

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
} __attribute__((preserve_access_index));

struct inet_bind_bucket {
	signed char fastreuse;
} __attribute__((preserve_access_index));

struct inet_connection_sock {
	struct inet_bind_bucket *icsk_bind_hash;
	struct {
		__u32 lrcvtime;
	} icsk_ack;
} __attribute__((preserve_access_index));

/* linux/socket.h, linux/net.h, linux/in.h, net/tcp_states.h */
enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, SOCK_STREAM = 1, IPPROTO_TCP = 6 };
enum { TCP_ESTABLISHED = 1, TCP_TIME_WAIT = 6, TCP_CLOSE = 7, TCP_LISTEN = 10 };

/* ---- Sides ---- */

enum socket_side { SOCKET_UNTOLD, SOCKET_ACCEPTED, SOCKET_CONNECTED };

/*
 * A socket of TCP that came out of accept() has the length of the queue of its listener, and shares the listener's
 * port. One that connects has no queue, and a port that nobody else may bind. What is left is a listener without a
 * queue, or a client that has bound its address.
 */
static __always_inline enum socket_side socket_side_inet(struct sock *sk)
{
	struct inet_connection_sock *connection = (struct inet_connection_sock *)sk;

	if (BPF_CORE_READ(sk, sk_max_ack_backlog))
		return SOCKET_ACCEPTED;
	return BPF_CORE_READ(connection, icsk_bind_hash, fastreuse) < 0 ? SOCKET_CONNECTED : SOCKET_UNTOLD;
}

/* A Unix socket that came out of accept() has the address of its listener; the other end has none of its own. */
static __always_inline enum socket_side socket_side_unix(struct sock *sk)
{
	struct unix_sock *own = (struct unix_sock *)sk, *peer = (struct unix_sock *)BPF_CORE_READ(own, peer);
	_Bool is_bound = BPF_CORE_READ(own, addr) != (void *)0;
	_Bool peer_is_bound = peer && BPF_CORE_READ(peer, addr) != (void *)0;

	if (is_bound == peer_is_bound)
		return SOCKET_UNTOLD;
	return is_bound ? SOCKET_ACCEPTED : SOCKET_CONNECTED;
}

static __always_inline enum socket_side socket_side_of(struct sock *sk)
{
	unsigned short family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (family == AF_INET || family == AF_INET6)
		return socket_side_inet(sk);
	return family == AF_UNIX ? socket_side_unix(sk) : SOCKET_UNTOLD;
}
