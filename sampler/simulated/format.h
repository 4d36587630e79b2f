/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The file that one simulated process leaves: what the tool (sampler/simulate/tool_*.c, a tool of valgrind's core)
 * writes, and sampler/simulated/ reads. Both run on the same machine: numbers have its byte order. Included by
 * freestanding code.
 *
 * The tool keeps an exact calling-context tree. A node stands for all activations that were called from the same
 * address in the same context. A cost belongs to a node and to an instruction. Functions and lines are not known here:
 * addresses are named later.
 *
 * A file is `DIRECTORY/PID.GENERATION`; a process that executes another program leaves a file for each of them. It is a
 * sequence of records, each a struct simulate_record and its payload, which is padded to 8 bytes with zeros. The first
 * is SIMULATE_PROCESS. A record refers only to what earlier records have defined. Where a file ends without
 * SIMULATE_END, the process was killed; what stands before holds.
 *
 * Blocks, nodes and counts, of which there are millions, are numbers without padding between them: "number" is an
 * unsigned LEB128 of up to 64 bits (DWARF 5, 7.6), and "step" the zigzag code of a difference to the same field of the
 * entry before it in its record (0, -1, 1, -2, ... are 0, 1, 2, 3, ...). At the beginning of each record the field
 * before is 0. Optional parts stand in [].
 */
#include <stdint.h>

/* Estimated quarter cycles of an instruction that is not dearer, as in profile/cost_model.h. */
enum { SIMULATE_VERSION = 2, SIMULATE_QUARTERS = 2 };

/* No parent, no mapping. */
#define SIMULATE_NONE UINT32_MAX

enum simulate_kind {
	SIMULATE_PROCESS = 1, /* struct simulate_process */
	SIMULATE_MAPPING,     /* struct simulate_mapping, then the path; ids count from 0 */
	SIMULATE_BLOCKS,      /* blocks, see SIMULATE_BLOCK_MOST; numbered from 0 through the file */
	SIMULATE_NODES,  /* nodes, see enum simulate_node_kind; numbered from 0 through the file, a parent before its
			    children */
	SIMULATE_THREAD, /* struct simulate_thread */
	SIMULATE_COUNTS, /* counts, see enum simulate_count_form */
	SIMULATE_DUMP,   /* struct simulate_dump, then its name: of what the counts since the last one are */
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
 * A block is instructions that follow each other and are entered only at the first one:
 *	step	address in the process, from the end of the block before
 *	number	mapping + 1; 0: in none
 *	number	how many instructions
 *	number	how many exits: where the block may be left early
 *	for each instruction:
 *		number	its bytes (up to 255) * 2 + 1 if the next byte is there
 *		[byte]	estimated quarter cycles, without misses; SIMULATE_QUARTERS where it is not there
 *	for each exit:
 *		number	instructions executed when the block is left there, less those of the exit before
 * It has at most so many instructions, and so many exits:
 */
enum { SIMULATE_BLOCK_MOST = 1024 };

/*
 * A node is a call in a context:
 *	number	its own number less its parent's; 0: it has no parent
 *	number	(mapping of the call site + 1) * 4 + the kind; a mapping of 0: in none
 *	step	address of the call site
 */
enum simulate_node_kind {
	SIMULATE_NODE_THREAD, /* the first function of a thread: no parent, no call site */
	SIMULATE_NODE_CALL,   /* the call site lies inside the call instruction (return address - 1) */
	SIMULATE_NODE_SIGNAL, /* a signal handler; the call site is the instruction that was interrupted */
	SIMULATE_NODE_KINDS,
};

struct simulate_thread {
	uint32_t root; /* its first node */
	int32_t tid;
	char name[16];
};

/*
 * A count is how often a block ran in a node, and what happened there. Several of the same block and node add up.
 *	number	step of the block * 16 + flags, enum simulate_count_flag and enum simulate_count_form
 *	[step]	node; that of the count before where it is not there
 *	numbers	how often: one, or one for each exit and the end, see the form
 *	[costs]	one or more:
 *		number	(instruction in the block, less that of the cost before) * 64 + set of values * 2 + 1 if
 *			another cost follows; bit i of the set, which is not empty: value i is there
 *		numbers	the values, enum simulate_value, in their order
 */
enum simulate_count_form {
	SIMULATE_COUNT_END,   /* it ran to its end so often, and was left at no exit */
	SIMULATE_COUNT_FIRST, /* it was left at its first exit so often, and nowhere else */
	SIMULATE_COUNT_ALL,   /* it was left at each exit so often, and last: it ran to its end so often */
	SIMULATE_COUNT_FORM = 3,
};

enum simulate_count_flag {
	SIMULATE_COUNT_NODE = 4,  /* the node is there */
	SIMULATE_COUNT_COSTS = 8, /* costs are there */
	SIMULATE_COUNT_STEP = 16,
};

/* The kinds of events at an instruction. */
enum simulate_value {
	SIMULATE_FIRST_MISSES,  /* accesses that missed a first-level cache; also those that missed the last */
	SIMULATE_LAST_MISSES,   /* accesses that missed the last-level cache */
	SIMULATE_BRANCH_MISSES, /* branches that were predicted wrong */
	SIMULATE_SYSTEM_CALLS,
	SIMULATE_SYSTEM_NS, /* CPU time in the kernel during these calls */
	SIMULATE_VALUES,
};

enum { SIMULATE_COST_MORE = 1, SIMULATE_COST_SET = 2, SIMULATE_COST_STEP = SIMULATE_COST_SET << SIMULATE_VALUES };

enum simulate_trigger {
	SIMULATE_TRIGGER_END,     /* it ended or executed another program; more than one where an execve() failed */
	SIMULATE_TRIGGER_REQUEST, /* a client request of the program, which gives the dump its name */
	SIMULATE_TRIGGER_ZERO,    /* a client request of the program, by which these counts are not meant */
};

/*
 * The counts since the last dump, as callgrind calls it. Counts come before it, in as many records as they need: a
 * process writes them out when they fill its memory, and does not know yet of what they are. Where the last counts of a
 * file have no dump, they are as if the process had ended.
 */
struct simulate_dump {
	uint32_t trigger, name_bytes; /* the name follows, without a 0 at its end */
};

struct simulate_end {
	int32_t signal;   /* that killed the process; 0: none, or not known */
	uint32_t was_cut; /* the table of nodes was full: further calls were counted to the function that made them */
};
