/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What the tests of counted requests share: counting, sockets of each kind, and another process that talks to this one.
 * What fails here fails the test that uses it; in a child it ends the child.
 */
#include "sampler/ebpf/ebpf.h"

#include <netinet/in.h>
#include <sys/un.h>

/* What is sent: a request and its answer, which the other end knows to be whole. */
enum { REQUEST_BYTES = 3, ANSWER_BYTES = 5 };

struct counting {
	struct ebpf_process_set *processes;
	struct ebpf_requests *requests;
};

enum family { FAMILY_IPV4, FAMILY_IPV6, FAMILY_MAPPED, FAMILY_UNIX, FAMILY_COUNT };

/* Where a server listens. Of FAMILY_MAPPED it listens over IPv6 for clients over IPv4. */
struct place {
	enum family family;
	int listener;
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
		struct sockaddr_un unix_path;
	} address;
	socklen_t address_bytes;
};

struct talk {
	const struct place *place;
	int connections, exchanges; /* of each connection */
	pid_t child;
};

struct answering {
	int fd, times;
};

uint64_t now_ns(void);

void sleep_ms(long ms);

/* Whether requests can be counted here; says why not. */
bool can_count(void);

/* Where `most_processes` are told, no account has room for latencies of processes that have ended. */
void open_counting(struct counting *counting, pid_t pid, uint32_t most_processes);

/* Counts this process from here on. */
void start_counting(struct counting *counting);

void stop_counting(struct counting *counting);

/* The sum over the processes; `pid` 0: all of them. */
struct ebpf_exchanges counted(const struct counting *counting, pid_t pid, enum ebpf_exchange_kind kind);

uint64_t counted_latencies(const struct counting *counting, enum ebpf_exchange_kind kind, uint64_t least_ns);

/* So many exchanges of one kind, on so many connections, and none of another kind; each has a latency. */
void expect_counts(const struct counting *counting, enum ebpf_exchange_kind kind, uint64_t count, uint64_t connections);

void listen_at(struct place *place, enum family family, int backlog);

void stop_listening(struct place *place);

/* The other end runs in a process that has no cmocka: its failures end it. */
void must(bool holds);

void connect_to(int *fd, const struct place *place);

void read_whole(int fd, size_t bytes);

void write_whole(int fd, size_t bytes);

void ask(int fd, int times);

void answer(int fd, int times);

void expect_success(pid_t child);

/* A child asks on some connections, one after the other. */
void start_asking(struct talk *talk);

int accept_at(const struct place *place);

/* Answers a child that asks, to its end. */
void answer_talk(struct talk *talk);

void *run_answering(void *argument);

void ask_thread(int asking, int answering_fd, int times);
