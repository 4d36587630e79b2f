/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"
#include "profile/profile.h"
#include "sampler/records/record.h"
#include "sampler/unwind/unwind.h"

/*
 * The processes of a recording and what code they have mapped, kept current by the sideband; the images behind it, each
 * opened once, as it is mapped, whatever later becomes of its file.
 */

/* Where a process writes down the names of the code that it makes: a perf map or a jitdump. */
struct jit_place {
	char *path;      /* owned; NULL: nowhere */
	int64_t since_s; /* when the process began, since 1970: an older file is of another; 0: whatever its age, it is
			    the process's */
};

/* An image, or executable memory that has none, as one mapping of the profile. */
struct process_image {
	uint32_t mapping_id;     /* of the profile */
	struct elf_image *elf;   /* a reference; NULL: kernel, JIT, anonymous, not readable */
	struct cfi_table *table; /* NULL without elf */
	bool is_go;              /* made by the Go compiler */
	uint32_t latest_place;   /* where it was mapped last, in struct process_table; PROFILE_NONE: nowhere yet */
	/* Of memory without a file. */
	struct jit_place jit_map; /* of the process */
	struct jit_place
		inherited_map; /* of the process that it was forked from, with code that this had made by then */
};

/* An image where a process has it mapped. */
struct process_place {
	uint64_t bias; /* image address = runtime address + bias, modulo 2^64 */
	uint32_t image;
	uint32_t mapping; /* of the profile: the image's */
};

/* An executable mapping of a process. Places are numbers in struct process_table. */
struct process_mapping {
	uint64_t start, end; /* runtime addresses */
	uint32_t place;
	/* Memory in place of a file's code: what would lie there of the file. PROFILE_NONE: none is known. */
	uint32_t covered_place;
};

struct process {
	int32_t pid;
	bool is_alive, maps_are_read;
	bool has_threads; /* or may have: the end of the first is not its own */
	uint32_t name;    /* string of the profile: comm of the leader */
	uint64_t generation;
	struct process_mapping *mappings; /* owned; by start */
	size_t mapping_count, mapping_capacity;
};

struct process_thread {
	int32_t tid;
	uint32_t name; /* string of the profile */
};

/*
 * Where the binaries of processes come from that cannot be asked: those of a recording of another time or machine.
 * Their mappings and names are then told by records alone.
 */
struct process_files {
	bool (*open)(void *context, const struct elf_mapping *mapping, struct elf_image **image, struct error *err);
	void *context;
	struct elf_build_id kernel; /* size 0: not known */
};

struct process_table {
	struct profile *profile; /* borrowed */
	struct process *processes;
	size_t count, capacity;
	struct process_thread *threads;
	size_t thread_count, thread_capacity;
	struct process_image *images;
	size_t image_count, image_capacity;
	struct process_place *places; /* as long as the table: frames that were walked before refer to them */
	size_t place_count, place_capacity;
	struct hash_map by_pid, by_tid, by_file; /* pid -> process, tid -> thread, (device, inode) -> image */
	uint64_t next_generation;
	uint64_t version;      /* changes with every record of the sideband */
	uint64_t births;       /* of threads, as the sideband told */
	uint64_t forks;        /* of processes */
	bool met_denied;       /* a process whose maps may not be read */
	bool met_outside;      /* processes that have no pid in our namespace: all are 0 */
	uint32_t kernel_image; /* PROFILE_NONE until needed */
	uint64_t kernel_bias;  /* address in the symbols at hand = runtime address + bias */
	struct buffer *notices;
	const struct machine *machine;     /* that the processes run on; NULL: not known, no stack is unwound */
	const struct process_files *files; /* borrowed; NULL: the processes of this machine, now */
	uint8_t *code; /* owned; of memory without a file, around the address that was asked for last; NULL: not asked
			  so far */
};

void process_table_init(struct process_table *table, struct profile *profile, struct buffer *notices);
void process_table_deinit(struct process_table *table);

/* The process, made when it is not known yet: its maps are then read from /proc. */
COMMON_MUST_CHECK
bool process_table_get(struct process_table *table, int32_t pid, struct process **process, struct error *err);

/* Comm of a thread, read from /proc when the sideband has not told it. */
COMMON_MUST_CHECK
bool process_table_thread_name(
	struct process_table *table, int32_t pid, int32_t tid, uint32_t *name, struct error *err);

/* Takes in a record of the sideband. */
COMMON_MUST_CHECK
bool process_table_update(struct process_table *table, const struct record *record, struct error *err);

/* The mapping of the profile that stands for the kernel. */
COMMON_MUST_CHECK
bool process_table_kernel(struct process_table *table, uint32_t *mapping_id, struct error *err);

/* A location that the profile need not have yet. */
struct process_location {
	uint32_t mapping; /* of the profile */
	uint64_t address; /* image address */
};

/* What lies at a runtime address at a place. */
static inline struct process_location process_table_locate(
	const struct process_table *table, uint32_t place, uint64_t address)
{
	const struct process_place *at = &table->places[place];

	return (struct process_location){ at->mapping, address + at->bias };
}

/* For struct unwind_space: `context` is a struct process_space; images are numbers of places. The profile stays as it
 * is. */
struct process_space {
	struct process_table *table;
	const struct process *process;
	uint64_t gap_start, gap_bytes; /* where no code was found last */
};
bool process_space_find(void *context, uint64_t address, struct unwind_code *code);
bool process_space_read(void *context, uint64_t address, size_t bytes, struct machine_code *code);
bool process_space_is_code(void *context, uint64_t address);
