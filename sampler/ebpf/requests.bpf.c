/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts the exchanges on stream sockets (sampler/ebpf/requests.h).
 *
 * A socket's state is kept with the socket itself, and is freed with it. The programs run in the context of whoever
 * sends or receives. Two threads that use one socket at the same moment may each take the other's bytes for a
 * continuation: protocols in which that happens (HTTP/2) count bursts anyway.
 */
#include "sampler/ebpf/account.h"
#include "sampler/ebpf/process_set_map.h"
#include "sampler/ebpf/requests_shared.h"
#include "sampler/ebpf/socket_side.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

/*
 * ---- The members of the kernel's structs that are read here (CO-RE) ----
 *
 * They are read by a helper, but for what leads to a socket: for a direct access the
 * verifier searches the names of all types of the kernel, each time that it comes by, which takes longer than all the
 * rest of loading.
 */

struct task_struct {
	unsigned int flags;
	struct task_struct *group_leader;
	char comm[16];
} __attribute__((preserve_access_index));

/* linux/socket.h, linux/sched.h */
enum { MSG_PEEK = 2, PF_KTHREAD = 0x200000 };

enum direction { NOTHING, RECEIVED, SENT };

/* The exchanges of a socket that are answered before its other end is no longer looked for. */
enum { ENDS_LOOKED_FOR = 4 };

const char LICENSE[] SEC("license") = "GPL";

/* ---- What the recorder sets ---- */

const volatile _Bool has_set; /* only processes of the set are of the target */
const volatile __u32 only_tid;

/* The accounts' shares of the tables below, which nobody can fill for others. */
struct account_shares process_shares = { .most = REQUESTS_MOST_PROCESSES };
struct account_shares latency_shares = { .most = REQUESTS_MOST_LATENCIES };

__u64 enabled_at; /* 0: nothing counts now */
__u32 skipped;    /* one exchange in skipped + 1, a power of two, is measured, and counts as all of these */

/* ---- State ---- */

struct socket {
	__u64 began;   /* when the first byte of the request came or went */
	__u64 since;   /* enabled_at when it was used last: what was before a pause is over */
	__u64 bytes;   /* of the request */
	__u32 process; /* of the target, that has used it last */
	__u32 weight;  /* how many exchanges the current one counts for; 0: it is not measured */
	__u32 counted; /* exchanges, while the other end is looked for */
	__u8 is_server, last, kind, looks, is_connected;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket);
} sockets SEC(".maps");

/* Processes that have counts of their own, and the places of the accounts that pay for them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS_MOST_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} payers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, (REQUESTS_MOST_PROCESSES + 1) * REQUESTS_KINDS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct requests_key);
	__type(value, struct requests_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, REQUESTS_MOST_LATENCIES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct requests_latency_key);
	__type(value, __u64);
} latencies SEC(".maps");

/* Buckets of process 0: [kind * REQUESTS_BUCKETS + bucket]. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REQUESTS_KINDS *REQUESTS_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} other_latencies SEC(".maps");

/* The ends of TCP connections that the target has. */
struct end {
	__u64 local, remote;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, REQUESTS_MOST_ENDS);
	__type(key, struct end);
	__type(value, __u64); /* struct sock *: it may be gone */
} ends SEC(".maps");

/* ---- Counting ---- */

/*
 * Finds the payer of a process, which is the account that answers for its counts: that of whoever is met in it first.
 * False: the process may have no counts of its own.
 */
static __noinline _Bool find_payer(__u32 process)
{
	__u32 place;

	if (bpf_map_lookup_elem(&payers, &process))
		return 1;
	place = account_place((void *)bpf_get_current_task());
	if (!account_may_take(&process_shares, place) ||
		bpf_map_update_elem(&payers, &process, &place, BPF_NOEXIST) != 0)
		return bpf_map_lookup_elem(&payers, &process) != (void *)0;
	account_take(&process_shares, place);
	return 1;
}

static __noinline struct requests_counts *make_counts(const struct requests_key *key)
{
	struct requests_counts made = { 0 };
	struct requests_counts *found;
	struct requests_key rest = { .process = 0, .kind = key->kind };
	struct task_struct *task = bpf_get_current_task_btf();

	if (!find_payer(key->process))
		return bpf_map_lookup_elem(&counts, &rest);
	bpf_probe_read_kernel(made.name, sizeof(made.name), BPF_CORE_READ(task, group_leader)->comm);
	bpf_map_update_elem(&counts, key, &made, BPF_NOEXIST);
	found = bpf_map_lookup_elem(&counts, key);
	return found ? found : bpf_map_lookup_elem(&counts, &rest);
}

static __always_inline struct requests_counts *find_counts(__u32 process, __u32 kind)
{
	struct requests_key key = { .process = process, .kind = kind };
	struct requests_counts *found = bpf_map_lookup_elem(&counts, &key);

	return found ? found : make_counts(&key);
}

static __noinline __u64 *make_latency(const struct requests_latency_key *key)
{
	const __u64 none = 0;
	__u32 process = key->process, *place = bpf_map_lookup_elem(&payers, &process);

	if (!place || !account_may_take(&latency_shares, *place))
		return (void *)0;
	if (bpf_map_update_elem(&latencies, key, &none, BPF_NOEXIST) == 0)
		account_take(&latency_shares, *place);
	return bpf_map_lookup_elem(&latencies, key);
}

static __always_inline void count_latency(__u32 process, __u32 kind, __u64 ns, __u64 weight)
{
	struct requests_latency_key key = { .process = process, .kind = kind, .bucket = requests_bucket(ns) };
	__u64 *found = bpf_map_lookup_elem(&latencies, &key);
	__u32 other = kind * REQUESTS_BUCKETS + key.bucket;

	if (!found)
		found = make_latency(&key);
	if (!found)
		found = bpf_map_lookup_elem(&other_latencies, &other);
	if (found)
		*found += weight;
}

/* ---- The ends of a connection ---- */

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ (hash >> 29);
}

/* One end of a connection over IPv4, or over IPv6 with an address that stands for one of IPv4. */
static __always_inline __u64 end_ipv4(struct sock *sk, __u32 address, __u16 port)
{
	__u64 loopback =
		(bpf_ntohl(address) >> 24) == 127 ? BPF_CORE_READ(sk, __sk_common.skc_net.net, net_cookie) << 48 : 0;

	return ((__u64)address << 16 | port) ^ loopback;
}

static __always_inline __u64 end_ipv6(struct sock *sk, const __u32 *words, __u16 port)
{
	_Bool is_loopback = !words[0] && !words[1] && !words[2] && words[3] == bpf_htonl(1);
	__u64 hash = mix(port, is_loopback ? BPF_CORE_READ(sk, __sk_common.skc_net.net, net_cookie) : 0);

	hash = mix(hash, (__u64)words[0] << 32 | words[1]);
	return mix(hash, (__u64)words[2] << 32 | words[3]);
}

/* Both ends as numbers, which are those of the other end's socket the other way round. */
static __always_inline struct end end_of(struct sock *sk)
{
	__u16 local_port = BPF_CORE_READ(sk, __sk_common.skc_num),
	      remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	struct in6_addr local, remote;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET ||
		!bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
		return (struct end){ end_ipv4(sk, BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr), local_port),
			end_ipv4(sk, BPF_CORE_READ(sk, __sk_common.skc_daddr), remote_port) };
	BPF_CORE_READ_INTO(&local, sk, __sk_common.skc_v6_rcv_saddr);
	BPF_CORE_READ_INTO(&remote, sk, __sk_common.skc_v6_daddr);
	if (!remote.in6_u.u6_addr32[0] && !remote.in6_u.u6_addr32[1] && remote.in6_u.u6_addr32[2] == bpf_htonl(0xffff))
		return (struct end){ end_ipv4(sk, local.in6_u.u6_addr32[3], local_port),
			end_ipv4(sk, remote.in6_u.u6_addr32[3], remote_port) };
	return (struct end){ end_ipv6(sk, local.in6_u.u6_addr32, local_port),
		end_ipv6(sk, remote.in6_u.u6_addr32, remote_port) };
}

/*
 * Returns whether the socket of a remembered end is still that of the connection: its memory may be another one's by
 * now.
 */
static __always_inline _Bool is_other_end(struct sock *sk, __u64 remembered)
{
	struct sock *other = (struct sock *)remembered;
	unsigned char state = BPF_CORE_READ(other, __sk_common.skc_state);

	return BPF_CORE_READ(other, __sk_common.skc_num) == bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport)) &&
	       BPF_CORE_READ(other, __sk_common.skc_dport) == bpf_htons(BPF_CORE_READ(sk, __sk_common.skc_num)) &&
	       state != TCP_CLOSE && state != TCP_TIME_WAIT;
}

/* Remembers the end that a process of the target has, and looks for the other one. */
static __always_inline _Bool is_within_inet(struct sock *sk)
{
	struct end end = end_of(sk), other = { end.remote, end.local };
	__u64 address = (__u64)sk, *remembered = bpf_map_lookup_elem(&ends, &other);

	bpf_map_update_elem(&ends, &end, &address, BPF_ANY);
	return remembered && is_other_end(sk, *remembered);
}

/*
 * Returns whether a process of the target uses the other end: that socket has a state then. A stream socket keeps a
 * reference to its peer until it is released itself, which whoever uses it right now prevents.
 */
static __always_inline _Bool is_within_unix(struct sock *sk)
{
	struct unix_sock *own = bpf_skc_to_unix_sock(sk);
	struct sock *peer = own ? own->peer : (void *)0;

	return peer && bpf_sk_storage_get(&sockets, peer, 0, 0);
}

static __always_inline _Bool is_within(struct sock *sk)
{
	return BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX ? is_within_unix(sk) : is_within_inet(sk);
}

/* ---- Sockets ---- */

/* Neither end has come out of accept(). */
static __always_inline _Bool is_pair(struct sock *sk)
{
	struct unix_sock *own = (struct unix_sock *)sk, *peer;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) != AF_UNIX)
		return 0;
	peer = (struct unix_sock *)BPF_CORE_READ(own, peer);
	return !BPF_CORE_READ(own, addr) && (!peer || !BPF_CORE_READ(peer, addr));
}

/*
 * Exchanges within the target are work that it gives to itself: they are counted at the end that answers, and apart.
 * Those over a pair of sockets are how the parts of one program talk to each other, and are not counted.
 */
static __always_inline __u8 kind_within(struct sock *sk, __u8 is_server)
{
	return is_server && !is_pair(sk) ? REQUESTS_WITHIN : REQUESTS_IGNORED;
}

static __noinline struct socket *meet_socket(struct sock *sk, __u32 process, enum direction first)
{
	unsigned short family = BPF_CORE_READ(sk, __sk_common.skc_family);
	_Bool is_inet = family == AF_INET || family == AF_INET6;
	enum socket_side side = socket_side_of(sk);
	struct socket made = { .process = process };

	/* Where the socket does not tell, the first bytes do. */
	made.is_server = side == SOCKET_UNTOLD ? first == RECEIVED : side == SOCKET_ACCEPTED;
	made.kind = made.is_server ? REQUESTS_ANSWERED : REQUESTS_CALLED_OUT;
	if (BPF_CORE_READ(sk, sk_type) != SOCK_STREAM) {
		made.kind = REQUESTS_IGNORED;
	} else if (has_set && (is_inet || family == AF_UNIX)) {
		made.looks = ENDS_LOOKED_FOR;
		if (is_within(sk)) {
			made.kind = kind_within(sk, made.is_server);
			made.looks = 0;
		}
	}
	return bpf_sk_storage_get(&sockets, sk, &made, BPF_SK_STORAGE_GET_F_CREATE);
}

/*
 * The other end may have been met after this one, and exchanges been counted until then: those move. A connection that
 * was there before the recording has both ends met when its second exchange is answered.
 */
static __noinline void look_for_end(struct sock *sk, struct socket *socket)
{
	struct requests_counts *wrong, *right;

	socket->looks--;
	if (!is_within(sk))
		return;
	wrong = find_counts(socket->process, socket->kind);
	socket->kind = kind_within(sk, socket->is_server);
	socket->looks = 0;
	if (wrong && socket->counted) {
		wrong->count -= socket->counted;
		wrong->connections--;
	}
	socket->is_connected = 0;
	right = socket->kind == REQUESTS_IGNORED ? (void *)0 : find_counts(socket->process, socket->kind);
	if (right && socket->counted) {
		right->count += socket->counted;
		right->connections++;
		socket->is_connected = 1;
	}
}

/* ---- Exchanges ---- */

/* `skipped` may change at any time: each exchange counts for what held when it began, so that the sum stays right. */
static __always_inline void begin_exchange(struct socket *socket, __u32 bytes)
{
	__u32 mask = skipped;

	socket->weight = mask && (bpf_get_prandom_u32() & mask) ? 0 : mask + 1;
	if (!socket->weight)
		return;
	socket->bytes = bytes;
	socket->began = bpf_ktime_get_ns();
}

static __always_inline void add_bytes(
	const struct socket *socket, struct requests_counts *mine, __u64 request, __u64 answer)
{
	mine->received_bytes += (socket->is_server ? request : answer) * socket->weight;
	mine->sent_bytes += (socket->is_server ? answer : request) * socket->weight;
}

static __always_inline void begin_answer(struct sock *sk, struct socket *socket, __u32 bytes)
{
	struct requests_counts *mine;

	if (socket->looks)
		look_for_end(sk, socket);
	if (socket->kind >= REQUESTS_KINDS || (!socket->weight && socket->is_connected))
		return;
	mine = find_counts(socket->process, socket->kind);
	if (!mine)
		return;
	mine->connections += !socket->is_connected;
	socket->is_connected = 1;
	if (!socket->weight)
		return;
	mine->count += socket->weight;
	socket->counted += socket->weight;
	add_bytes(socket, mine, socket->bytes, bytes);
	count_latency(socket->process, socket->kind, bpf_ktime_get_ns() - socket->began, socket->weight);
}

static __always_inline void go_on(struct socket *socket, __u32 bytes, _Bool is_request)
{
	struct requests_counts *mine;

	if (!socket->weight)
		return;
	if (is_request) {
		socket->bytes += bytes;
		return;
	}
	mine = find_counts(socket->process, socket->kind);
	if (mine)
		add_bytes(socket, mine, 0, bytes);
}

/* Kernel threads have sockets of their own, as those of file systems. */
static __always_inline _Bool is_of_target(__u32 tgid, __u32 tid)
{
	if (only_tid)
		return tid == only_tid;
	if (has_set)
		return bpf_map_lookup_elem(&processes, &tgid) != (void *)0;
	return !(BPF_CORE_READ(bpf_get_current_task_btf(), flags) & PF_KTHREAD);
}

static __always_inline int take(struct sock *sk, int bytes, enum direction direction)
{
	__u64 enabled = enabled_at, id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32, tid = id;
	struct socket *socket;
	_Bool is_request;

	if (!enabled || !sk)
		return 0;
	socket = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if ((!socket || socket->process != tgid || only_tid) && !is_of_target(tgid, tid))
		return 0;
	if (!socket)
		socket = meet_socket(sk, tgid, direction);
	if (!socket || socket->kind == REQUESTS_IGNORED)
		return 0;
	socket->process = tgid;
	if (socket->since != enabled) {
		socket->since = enabled;
		socket->last = NOTHING;
		socket->weight = 0;
	}
	is_request = (direction == RECEIVED) == socket->is_server;
	if (socket->last == direction)
		go_on(socket, bytes, is_request);
	else if (is_request)
		begin_exchange(socket, bytes);
	else if (socket->last != NOTHING)
		begin_answer(sk, socket, bytes);
	socket->last = direction;
	return 0;
}

SEC("kernel_tp/sock_recv_length")
int BPF_PROG(receive, struct sock *sk, int bytes, int flags)
{
	return bytes <= 0 || (flags & MSG_PEEK) ? 0 : take(sk, bytes, RECEIVED);
}

SEC("kernel_tp/sock_send_length")
int BPF_PROG(send, struct sock *sk, int bytes, int flags)
{
	return bytes <= 0 ? 0 : take(sk, bytes, SENT);
}

/* ---- An event in place of exchanges ---- */

static __always_inline int count_event(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct requests_counts *mine;

	if (!enabled_at || !is_of_target(id >> 32, id))
		return 0;
	mine = find_counts(id >> 32, REQUESTS_ANSWERED);
	if (mine)
		mine->count++;
	return 0;
}

SEC("kprobe")
int count_probe(void *context)
{
	return count_event();
}

SEC("tracepoint")
int count_tracepoint(void *context)
{
	return count_event();
}
