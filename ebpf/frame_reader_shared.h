/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ebpf/frames.h"

/*
 * What the programs that write chains and the code that loads them agree on. Only these include it.
 *
 * Each CPU has an area: a ring of words behind a header. Chains are blocks in it, which begin at a position that counts
 * up, modulo the ring's length. A block is never divided: it may go on beyond the ring's end, where each area has room
 * for the longest one, and the next block then begins at the ring's start, at the next multiple of its length.
 */

enum {
	CHAINS_MOST_PROCESSES = 65536,
	CHAINS_MOST_ALLOCATED = 4096, /* processes, where all entries have to be allocated at once */
	CHAINS_PLACES = 16384,        /* threads that are remembered; a power of two */
	CHAINS_FRAME_BYTES = 80,      /* of a frame that are read at once; all of its members lie in them */
	CHAINS_FRAME_ROOM = 128,      /* a power of two that holds them */
	CHAINS_BLOCK_HEADER = 3,      /* words */
	CHAINS_MOST_BLOCK = CHAINS_BLOCK_HEADER + EBPF_CHAIN_MOST_FRAMES,
	CHAINS_BLOCK_ROOM = 2048, /* a power of two that holds CHAINS_MOST_BLOCK */
	CHAINS_COUNT_BITS = 16,
	CHAINS_CODES = 65536,      /* code objects that are known to have been written; a power of two */
	CHAINS_MOST_FRESH = 4,     /* that one chain adds */
	CHAINS_PIECE_BYTES = 256,  /* of a code object, and of its texts; a power of two */
	CHAINS_TABLE_BYTES = 1024, /* of its table of lines; a power of two */
	CHAINS_PIECE_WORDS = CHAINS_PIECE_BYTES / 8,
	CHAINS_TABLE_WORDS = CHAINS_TABLE_BYTES / 8,
	CHAINS_TASK_WORDS = EBPF_TASK_BYTES / 8,
	CHAINS_SLACK_WORDS = CHAINS_TABLE_WORDS, /* behind the longest block: pieces are read to where a word may lie */
};

/* What is known before the programs are loaded. */
struct chains_constants {
	/* of members of the kernel's structs task_struct and pid, and the size of its struct upid */
	__u32 real_parent, tgid, thread_pid, level, numbers, number_bytes;
	__u64 ring_mask; /* length of an area's ring in words, less 1 */
};

/* A code object of a process, and what tells it from another one at its address. */
struct chains_known {
	__u64 object, signature;
	__u64 checked_ns; /* when the signature was read */
};

/* A chain that is being read. */
struct chains_walk {
	__u64 begin_ns;
	__u64 frame;       /* address of the frame to read next */
	__u64 count, most; /* words of the block */
	__u64 is_full, is_unread;
	__u64 fresh_count;
	__u64 fresh[CHAINS_MOST_FRESH];       /* code objects that no chain had before */
	__u64 members[CHAINS_FRAME_ROOM / 8]; /* of the frame that was read last */
};

struct chains_area {
	__u64 head; /* position behind the last block; the programs write it */
	__u64 is_busy;
	__u64 chains, lost, unknown, unread;
	struct chains_walk walk;
	__u64 tail __attribute__((
		aligned(64))); /* position before which nothing is needed any more; the recorder writes it */
	__u64 words[] __attribute__((aligned(64)));
};

/*
 * A block: when its program began and ended to read, whose chain it is, and the chain's words. The last
 * CHAINS_TASK_WORDS are the name of a task where `thread` has CHAINS_HAS_TASK.
 */
struct chains_block {
	__u64 begin_ns, end_ns;
	__u64 thread; /* tid in the initial pid namespace << 32 | has_task << 18 | is_cut << 16 | count */
	__u64 words[];
};

#define CHAINS_IS_CUT (1ULL << CHAINS_COUNT_BITS)
#define CHAINS_HAS_TASK (4ULL << CHAINS_COUNT_BITS)

/*
 * Another kind of block has a code object that no chain had before, as it is at that moment: its name would be gone
 * when the object is freed, or the process ends, before the recorder asks for it. `thread` then is
 * CHAINS_IS_CODE | count.
 */
#define CHAINS_IS_CODE (2ULL << CHAINS_COUNT_BITS)

struct chains_code {
	__u64 pid;                                  /* ebpf_python.pid */
	__u64 code, qualname, filename, line_table; /* addresses */
	__u64 code_bytes[CHAINS_PIECE_WORDS], qualname_bytes[CHAINS_PIECE_WORDS], filename_bytes[CHAINS_PIECE_WORDS];
	__u64 line_table_bytes[CHAINS_TABLE_WORDS];
};

enum { CHAINS_CODE_WORDS = sizeof(struct chains_code) / 8 };

/*
 * Where a thread has its PyThreadState, or where to go on with looking for it. It is checked at each use, so that
 * threads may share a place, and no program needs a lock.
 */
struct chains_place {
	__u32 tid, own_tid; /* in the initial pid namespace, and in the thread's own; 0: none */
	__u32 rounds;       /* samples that have searched */
	__u32 is_of_python; /* the process is known to have CPython */
	__u64 state;        /* PyThreadState: found, or next to look at; 0: the interpreter has no other one */
	__u64 interpreter;  /* PyInterpreterState that is searched; 0: no search goes on */
	__u64 not_before;   /* time in ns before which there is no use in another look; 0: there is */
};
