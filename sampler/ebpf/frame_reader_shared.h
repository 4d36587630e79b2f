/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/frames.h"

/*
 * Definitions that the programs that write frames and the code that loads them agree on. Only these include it.
 *
 * Each CPU has an area: a ring of words behind a header. The frames of a thread are a block in it. Blocks begin at a
 * position that counts up, modulo the ring's length. A block is never divided: it may go on beyond the ring's end,
 * where each area has room for the longest one, and the next block then begins at the ring's start, at the next
 * multiple of its length.
 */

enum {
	FRAMES_MOST_PROCESSES = 65536,
	FRAMES_MOST_ALLOCATED = 4096, /* processes, where all entries have to be allocated at once */
	FRAMES_PLACES = 16384,        /* threads that are remembered; a power of two */
	FRAMES_MOST_STATES = 4,       /* of CPython that a thread runs, the one from within the other; a power of two */
	PYTHON_FRAME_BYTES = 80,      /* of a frame that are read at once; all of its members lie in them */
	PYTHON_FRAME_ROOM = 128,      /* a power of two that holds them */
	FRAMES_BLOCK_HEADER = 3,      /* words */
	FRAMES_MOST_BLOCK = FRAMES_BLOCK_HEADER + EBPF_MOST_FRAMES,
	FRAMES_BLOCK_ROOM = 2048, /* a power of two that holds FRAMES_MOST_BLOCK */
	FRAMES_COUNT_BITS = 16,
	FRAMES_CODES = 65536,      /* code that is known to have been written; a power of two */
	FRAMES_MOST_FRESH = 4,     /* that one block of frames adds */
	FRAMES_PIECE_BYTES = 256,  /* of code, and of its texts; a power of two */
	FRAMES_TABLE_BYTES = 1024, /* of its last piece, a table of lines; a power of two */
	FRAMES_PIECE_WORDS = FRAMES_PIECE_BYTES / 8,
	FRAMES_TABLE_WORDS = FRAMES_TABLE_BYTES / 8,
	FRAMES_TASK_WORDS = EBPF_TASK_BYTES / 8,
	FRAMES_AWAITER_WORDS = EBPF_PYTHON_TASK_BITS / 64,
	FRAMES_SLACK_WORDS = FRAMES_TABLE_WORDS, /* behind the longest block: pieces are read to where a word may lie */
};

/* Constants that are known before the programs are loaded. */
struct frames_constants {
	struct ebpf_task_layout layout;
	__u32 number_bytes; /* the size of the kernel's struct upid */
	__u64 ring_mask;    /* length of an area's ring in words, less 1 */
};

/* Code of a process, and what tells it from other code at its address. */
struct frames_known {
	__u64 object, signature;
	__u64 checked_ns; /* when the signature was read */
};

/* Frames that are being read. */
struct frames_walk {
	__u64 begin_ns;
	__u64 frame; /* address of the frame to read next */
	__u64 end;   /* of the frames, where they lie side by side */
	/* 3.11: of the activation's _PyCFrame, of the next one outwards, and of the frame that is the latter's. */
	__u64 cframe, outer_cframe, outer_frame;
	__u64 innermost; /* of CPython: the address of the state's innermost activation; 0: not met yet */
	/* The task that runs, or awaits it; where the frame of its outermost coroutine is, and the next coroutine. */
	__u64 task, task_frame, coroutine;
	__u64 node, nodes;                    /* the next one of the ring of tasks, and its begin */
	__u64 choices;                        /* tasks of which one is chosen */
	__u64 awaiters[FRAMES_AWAITER_WORDS]; /* a set of tasks that await others, by ebpf_python_task_bit() */
	__u64 section;                        /* the word at which the coroutines of the task begin */
	__u64 count, most;                    /* words of the block */
	__u64 is_full, is_unread;
	__u64 fresh_count;
	__u64 fresh[FRAMES_MOST_FRESH];       /* code that no frames had before */
	__u64 members[PYTHON_FRAME_ROOM / 8]; /* of the frame that was read last */
};

struct frames_area {
	__u64 head; /* position behind the last block; the programs write it */
	__u64 is_busy;
	__u64 stacks, lost, unknown, unread;
	struct frames_walk walk;
	__u64 tail __attribute__((
		aligned(64))); /* position before which nothing is needed any more; the recorder writes it */
	__u64 words[] __attribute__((aligned(64)));
};

/*
 * A block: when its program began and ended to read, whose frames they are, and the frames' words. It begins with the
 * time of its sample where that is known by then (since Linux 6.3), so that the two cannot be missed. The last
 * FRAMES_TASK_WORDS are the name of a task where `thread` has FRAMES_HAS_TASK.
 */
struct frames_block {
	__u64 begin_ns, end_ns;
	__u64 thread; /* tid in the initial pid namespace << 32 | kind << 24 | has_task << 18 | is_cut << 16 | count */
	__u64 words[];
};

#define FRAMES_IS_CUT (1ULL << FRAMES_COUNT_BITS)
#define FRAMES_HAS_TASK (4ULL << FRAMES_COUNT_BITS)
#define FRAMES_KIND(kind) ((__u64)(kind) << 24) /* enum ebpf_interpreter_kind, in 8 bits */
#define FRAMES_KIND_OF(thread) ((thread) >> 24 & 0xff)

/*
 * Other blocks have code that no frames had before, as it is at that moment: its name would be gone when its memory is
 * freed, or the process ends, before the recorder asks for it. `thread` then is kind << 24 | FRAMES_IS_CODE | count.
 */
#define FRAMES_IS_CODE (2ULL << FRAMES_COUNT_BITS)

struct frames_code {
	__u64 pid; /* ebpf_interpreter.pid */
	__u64 addresses[EBPF_CODE_PIECES];
	__u64 bytes[EBPF_CODE_PIECES - 1][FRAMES_PIECE_WORDS];
	__u64 table[FRAMES_TABLE_WORDS]; /* of the last piece */
};

enum { FRAMES_CODE_WORDS = sizeof(struct frames_code) / 8 };

/*
 * The place where the interpreter has the states of a thread, or where to go on with looking for them. They are checked
 * at each use, so that threads may share a place, and no program needs a lock.
 */
struct frames_place {
	__u32 tid, own_tid; /* in the initial pid namespace, and in the thread's own; 0: none */
	__u32 rounds;       /* samples that the search has taken */
	__u16 is_interpreted;
	__u16 has_several; /* the process has several interpreters of CPython */
	__u64 state; /* of Ruby; of CPython the PyThreadState to look at next, 0: the interpreter has no other one */
	__u64 interpreter;                /* PyInterpreterState that is searched; 0: no search goes on */
	__u64 not_before;                 /* time in ns before which there is no use in another look; 0: there is */
	__u64 states[FRAMES_MOST_STATES]; /* PyThreadStates of the thread; 0: none */
	__u64 first_state;                /* the first one of the process when the last search began */
	__u64 known_until; /* the first one of the search before: those from there on are known; 0: none are */
};
