/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Kelvin's tool for valgrind's core: what its files share. The tool runs a program on a simulated processor and keeps
 * an exact calling-context tree of it, which tool_write.c writes as sampler/simulated/format.h says.
 *
 * There is no C library here, and one thread of the program runs at a time: the core sees to that. Memory that is never
 * freed comes from tool_permanent(). Where the core has none left, it ends the process and says so.
 *
 * How a block of instructions is counted. Its translation calls tool_enter() once, at its beginning, and leaves two
 * things in the guest's shadow state, which no one else uses in this tool: the addresses of its data accesses, each in
 * a slot that is known when it is translated, and at which exit it was left. The call accounts for the block that ran
 * *before*: it counts (node, block, exit), gives the fetched lines and the logged addresses to the caches, and
 * follows the call or the return that ended the block. A record remembers which record came next at each exit, so that
 * in steady state no table is searched. Records are written out and forgotten when they take too much memory.
 */
#include <pub_tool_basics.h>

#include "sampler/simulated/format.h"
#include <libvex_guest_amd64.h>

#include <stdbool.h>
#include <stdint.h>

/* The way in which a block was left. */
enum tool_leave {
	TOOL_JUMP,     /* to an address that was known when it was translated */
	TOOL_INDIRECT, /* to any other address */
	TOOL_CALL,
	TOOL_RETURN,
};

/* An exit of a block; the last one of a block is its end. */
struct tool_exit {
	uint16_t instructions; /* executed up to here */
	uint16_t accesses;     /* logged up to here */
	uint16_t fetches;      /* lines that they lie on */
	uint8_t leave;         /* enum tool_leave */
	uint8_t is_branch;     /* a conditional branch of the program decides between this one and the end */
};

struct tool_fetch {
	uint64_t line;        /* address / bytes of a line */
	uint16_t instruction; /* that needs it */
	int8_t other;         /* -1: it begins on the line before; 1: it ends on the next one; 0: it lies on this one */
};

struct tool_access {
	uint8_t span; /* bytes - 1 */
	uint8_t instruction;
};

/* A translated block. It is never freed: what was counted stays with it when its code is unmapped. */
struct tool_block {
	uint64_t address;
	struct tool_block *next; /* in the table of blocks */
	struct tool_record *last_record;
	const struct tool_exit *exits; /* exit_count + 1 */
	const struct tool_fetch *fetches;
	const struct tool_access *accesses;
	const uint8_t *lengths, *costs;
	uint64_t bytes;
	uint32_t mapping, hash;
	uint32_t number; /* in the file; SIMULATE_NONE: not written yet */
	uint16_t instruction_count, exit_count;
	uint8_t string_bytes; /* it is a string instruction that repeats itself, and moves so many each time; 0: it is
				 not */
	uint8_t branch;       /* the predictor's state: 0, 1: will be left at its exit; 2, 3: will run to its end */
};

/* Values beside enum simulate_value: of a count of 32 bits; in place of the instruction stands the exit. */
enum { TOOL_CELL_WRAPS = SIMULATE_VALUES };

/* The events at an instruction of a record. */
struct tool_cell {
	uint64_t count : 48, instruction : 10, kind : 6;
	uint32_t next, padding; /* 0: none */
};

struct tool_left {
	uint32_t times, next; /* the record that came after it the last time */
};

/* The counts of a block in a node. There are a hundred million of them in a compiler's run: records name each other by
 * number. */
struct tool_record {
	struct tool_block *block;
	uint32_t node;
	uint32_t after; /* where its call returned to the last time */
	uint32_t cells;
	uint32_t number;
	struct tool_left left[]; /* at each exit, and at the end */
};

struct tool_node {
	uint64_t call_site;
	uint32_t parent, mapping;
	uint32_t next;                  /* in the table of nodes */
	uint32_t kind : 2, number : 30; /* enum simulate_node_kind; in the file, TOOL_UNNUMBERED: not written yet */
};

enum { TOOL_UNNUMBERED = (1 << 30) - 1, TOOL_NODES_MAX = 64 << 20 };

struct tool_frame {
	uint64_t sp; /* where the return address lies */
	struct tool_record *caller;
};

/* A handler that interrupted a thread. */
struct tool_signal {
	uint64_t sp;                             /* of the interrupted code */
	uint64_t alternate_start, alternate_end; /* the handler's own stack; 0: it has none */
	uint32_t depth, floor, node;
};

/* The log in the guest's shadow state. */
struct tool_log {
	uint64_t left; /* index of the exit */
	uint64_t address[];
};

struct tool_thread {
	struct tool_record *record; /* runs; or &resting */
	struct tool_frame *frames;
	uint32_t depth, capacity;
	uint32_t floor; /* frames below are not this handler's */
	uint32_t signal_count, signal_capacity;
	struct tool_signal *signals;
	VexGuestAMD64State *guest; /* NULL: it has not run yet */
	uint32_t root;
	int32_t tid;                 /* the kernel's */
	struct tool_record *resting; /* stands for no block, between two that do not follow each other */
	struct tool_record *caller;  /* made its last system call; NULL: none */
	uint64_t call_began_ns;      /* CPU time */
	bool is_written;
	char name[16]; /* "": not known yet */
	struct tool_thread *next;
};

struct tool_options {
	const char *directory;
	struct simulate_cache first_instructions, first_data, last;
	uint64_t max_nodes;
	uint64_t max_counts; /* bytes */
	bool instruments_at_start;
	bool folds_recursion;
};

/* --- tool_tree.c: what is counted; nodes, records, blocks, and the memory of them --- */

extern struct tool_options tool_options;
extern uint32_t tool_collects; /* 0 or 1, added to each count */

enum { TOOL_CHUNK_BITS = 17, TOOL_CHUNKS_MAX = 1 << (32 - TOOL_CHUNK_BITS) };

/* Records lie in chunks of 2^TOOL_CHUNK_BITS * 8 bytes; a record's number is its place in units of 8 bytes. */
extern char *tool_chunks[TOOL_CHUNKS_MAX];
extern uint32_t tool_node_count;
extern bool tool_was_cut;

/* Memory that is never freed, zeroed, aligned to 8 bytes. */
void *tool_permanent(uint64_t bytes);

struct tool_node *tool_node(uint32_t node);

/* A thread's first node. */
uint32_t tool_root(void);

/*
 * The node that `parent` calls at this place, made if there is none; `parent` where the table is full. Where recursion
 * is folded, and `parent` or one of its callers was called from the same place, it is that one.
 */
uint32_t tool_child(uint32_t parent, uint64_t call_site, uint32_t mapping, enum simulate_node_kind kind);

/* The record of the block in the node, made if there is none. */
struct tool_record *tool_find(uint32_t node, struct tool_block *block);

/* A record of no block, for threads between two blocks. */
struct tool_record *tool_resting(uint32_t node);

/* The block that is equal to this one, or a copy of it. Its arrays are borrowed, and copied where needed. */
struct tool_block *tool_intern(const struct tool_block *made);

/* A block of the first instructions of another. */
struct tool_block *tool_prefix(const struct tool_block *block, unsigned instructions);

/* 0: a record of no block, which stands for all that are not known. */
static inline struct tool_record *tool_record(uint32_t number)
{
	uint32_t place = number & ((1u << TOOL_CHUNK_BITS) - 1);

	return (struct tool_record *)(void *)(tool_chunks[number >> TOOL_CHUNK_BITS] + (uint64_t)place * 8);
}

/* Returns how often the record's block was left at this exit. */
uint64_t tool_times(const struct tool_record *record, unsigned exit);

/*
 * Returns what happened at an instruction of a record, by the number of its cell (the counter of one kind of event); 0:
 * none.
 */
const struct tool_cell *tool_cell(uint32_t number);

/* All records in the order in which they were made: NULL begins, and ends. */
struct tool_record *tool_next_record(struct tool_record *record);

/* Adds to what happened at an instruction. */
void tool_add(struct tool_record *record, unsigned kind, unsigned instruction, uint64_t count);

/* Makes the table of records. */
void tool_tree_init(void);

/* All counts are 0 again; the tree stays. */
void tool_zero(void);

/* Returns whether records take so much memory that they are to be written out and forgotten. */
bool tool_is_full(void);

/*
 * Takes all records out of the table: no count, no memory of what came after what. They can be read until they are
 * freed, so that those who hold one can find it anew.
 */
void tool_records_take(void);
void tool_records_free(void);

/* No node and no block has a number in the file. */
void tool_unnumber(void);

/* --- tool_map.c: what is mapped where code runs --- */

struct tool_mapping {
	uint64_t start, end, file_offset, device, inode;
	const char *path; /* NULL: none */
};

extern uint32_t tool_mapping_count;

/* The id of the mapping that an address lies in. */
uint32_t tool_mapping_at(uint64_t address);
const struct tool_mapping *tool_mapping(uint32_t id);

/* --- tool_files.c: files that interpreters write for Kelvin --- */

/* A system call that may have opened a file has ended. */
void tool_file_opened(UWord number, const UWord *arguments, SysRes result);

/* --- tool_cache.c; what runs for each block is in tool_cache.h --- */

void tool_cache_init(void);
void tool_cache_flush(void);

/* --- tool_run.c: what the translated program calls --- */

extern struct tool_thread *tool_running; /* never NULL once the program runs */
extern struct tool_thread *tool_threads; /* all that there were */

/* Gives the name of the program, as comm would have it. */
void tool_program_name(char name[16]);

/* Gives the name that the kernel has of a thread that still runs. */
void tool_thread_name(struct tool_thread *thread);

/* Called at the beginning of a block: with the usual geometry of the caches, and with any other. */
void tool_enter_usual(struct tool_block *block, VexGuestAMD64State *guest);
void tool_enter(struct tool_block *block, VexGuestAMD64State *guest);

/* Takes an access that found no slot in the log. `where`: the index of its instruction << 8 | bytes - 1. */
void tool_access(uint64_t address, uint64_t where);

/* Accounts for the block that ran last; nothing is running afterwards. */
void tool_settle(struct tool_thread *thread);

/* Settles as above, after a fault at an address: only the instructions before it ran. */
void tool_settle_fault(struct tool_thread *thread, uint64_t address);

/* Forgets all records but those that threads hold, whose counts are 0. No thread runs. */
void tool_forget(void);

/* A thread has no calls. */
void tool_reset_thread(struct tool_thread *thread);

/* A call that the thread is in, made before it was measured: the outermost one first. */
void tool_adopt_call(struct tool_thread *thread, uint64_t call_site, uint64_t sp);

void tool_signal_begins(
	struct tool_thread *thread, uint64_t sp, uint64_t address, uint64_t alternate_start, uint64_t alternate_end);
void tool_signal_ends(struct tool_thread *thread);

/* --- tool_translate.c --- */

extern bool tool_instruments;

enum { TOOL_LOG_SLOTS = (2 * sizeof(VexGuestAMD64State) - sizeof(struct tool_log)) / sizeof(uint64_t) };

static inline struct tool_log *tool_log(VexGuestAMD64State *guest)
{
	return (struct tool_log *)(void *)(guest + 1);
}

/* --- tool_write.c --- */

/* Writes what was counted so far, to be part of the next dump, and forgets it. */
void tool_write_counts(void);

/* Records that what was counted since the last dump is not meant. */
void tool_write_zero(void);

/* Writes what was counted since the last dump as a part of the file, and sets it to 0. */
void tool_write_dump(enum simulate_trigger trigger, const char *name);

/* Writes the last dump and the end of the file. */
void tool_write_end(void);

/* Records that what tool_write_end() wrote was not the end: an execve() failed. */
void tool_write_continue(void);

/* The process is a fork of the one that wrote so far: its file is another one. */
void tool_write_forked(void);
