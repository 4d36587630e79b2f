/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The file that one simulated process leaves: what the tool (simulate/tool_*.c, a tool of valgrind's core) writes, and
 * sampler/simulated/ reads. Both run on the same machine: numbers have its byte order. Included by freestanding code.
 *
 * The tool keeps an exact calling-context tree. A node stands for all activations that were called from the same
 * address in the same context. A cost belongs to a node and to an instruction. Functions and lines are not known here:
 * addresses are named later.
 *
 * A file is `DIRECTORY/PID.GENERATION`; a process that executes another program leaves a file for each of them. It is a
 * sequence of records, each a struct simulate_record and its payload, which is padded to 8 bytes with zeros. The first
 * is SIMULATE_PROCESS. A record refers only to what earlier records have defined. Where a file ends without
 * SIMULATE_END, the process was killed; what stands before holds.
 */
#include <stdint.h>

/* Estimated quarter cycles of an instruction that is not dearer, as in profile/cost_model.h. */
enum { SIMULATE_VERSION = 1, SIMULATE_QUARTERS = 2 };

/* No parent, no mapping. */
#define SIMULATE_NONE UINT32_MAX

enum simulate_kind {
	SIMULATE_PROCESS = 1, /* struct simulate_process */
	SIMULATE_MAPPING,     /* struct simulate_mapping, then the path; ids count from 0 */
	SIMULATE_BLOCKS,      /* blocks, see struct simulate_block; numbered from 0 through the file */
	SIMULATE_NODES,  /* struct simulate_node each; numbered from 0 through the file, a parent before its children */
	SIMULATE_THREAD, /* struct simulate_thread */
	SIMULATE_DUMP,   /* struct simulate_dump, then its name; counts and costs up to the next dump are of this one */
	SIMULATE_COUNTS, /* counts, see struct simulate_count */
	SIMULATE_COSTS,  /* struct simulate_cost each */
	SIMULATE_END,    /* struct simulate_end */
};

struct simulate_record {
	uint32_t kind;
	uint32_t entries; /* in the payload */
	uint64_t bytes;   /* of the payload, with its padding */
};

struct simulate_cache {
	uint32_t bytes, ways, line_bytes, padding;
};

struct simulate_process {
	char magic[8]; /* "KELVINSM" */
	uint32_t version;
	int32_t pid, parent_pid;
	uint32_t is_forked; /* it is a fork of its parent: it has its parent's program and JIT maps */
	struct simulate_cache first_instructions, first_data, last;
	char name[16]; /* of the program, as comm has it */
};

/*
 * Executable memory in which code ran, as it was when the code was translated. Memory that is mapped anew at the same
 * place gets another id. Without a path: memory of no file, such as code that was made at run time.
 */
struct simulate_mapping {
	uint64_t start, end, file_offset;
	uint64_t device, inode;
	uint32_t path_bytes, padding; /* the path follows, without a 0 at its end */
};

/*
 * Instructions that follow each other and are entered only at the first one. The struct is followed by:
 *	uint8_t lengths[instruction_count]   bytes of each instruction
 *	uint8_t costs[instruction_count]     estimated quarter cycles, without misses
 *	uint16_t left_after[exit_count]      instructions executed when the block is left early, at exit i
 * and padded to 8 bytes.
 */
struct simulate_block {
	uint64_t address; /* in the process */
	uint32_t mapping;
	uint16_t instruction_count, exit_count;
};

enum simulate_node_kind {
	SIMULATE_NODE_THREAD, /* the first function of a thread: no parent, no call site */
	SIMULATE_NODE_CALL,   /* the call site lies inside the call instruction (return address - 1) */
	SIMULATE_NODE_SIGNAL, /* a signal handler; the call site is the instruction that was interrupted */
};

struct simulate_node {
	uint32_t parent;  /* SIMULATE_NONE: none */
	uint32_t mapping; /* of the call site */
	uint64_t call_site;
	uint32_t kind, padding;
};

struct simulate_thread {
	uint32_t root; /* its first node */
	int32_t tid;
	char name[16];
};

enum simulate_trigger {
	SIMULATE_TRIGGER_END,     /* it ended or executed another program; more than one where an execve() failed */
	SIMULATE_TRIGGER_REQUEST, /* a client request of the program, which gives the dump its name */
};

/* What was counted since the last dump, as callgrind calls it. */
struct simulate_dump {
	uint32_t trigger, name_bytes; /* the name follows, without a 0 at its end */
};

/*
 * How often a block ran in a node. Followed by uint64_t times[exit_count of the block + 1]: how often it was left at
 * each exit, and last how often it ran to its end.
 */
struct simulate_count {
	uint32_t node, block;
};

/* What happened at an instruction in a node. Several of the same instruction and node add up. */
struct simulate_cost {
	uint64_t address;
	uint32_t node, mapping;
	uint64_t first_misses;  /* accesses that missed a first-level cache; also those that missed the last */
	uint64_t last_misses;   /* accesses that missed the last-level cache */
	uint64_t branch_misses; /* branches that were predicted wrong */
	uint64_t system_calls, system_ns; /* CPU time in the kernel during these calls */
};

struct simulate_end {
	int32_t signal;   /* that killed the process; 0: none, or not known */
	uint32_t was_cut; /* the table of nodes was full: further calls were counted to the function that made them */
};
