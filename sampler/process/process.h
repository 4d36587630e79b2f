/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"
#include "profile/profile.h"
#include "sampler/process/mappings.h"
#include "sampler/process/owner.h"
#include "sampler/records/record.h"
#include "sampler/unwind/unwind.h"

/*
 * The processes of a recording and their executable mappings, kept current by the sideband, and the images of these
 * mappings. Each image is opened once, when it is mapped, so later changes of its file do not matter.
 */

/* The file in which a process writes the names of the code that it makes: a perf map or a jitdump. */
struct jit_place {
	char *path;      /* owned, as the process names it; NULL: no file */
	int32_t pid;     /* 0: of a recording of another time */
	int64_t since_s; /* when the process began, since 1970; 0: not known */
	/* When the program that makes the code began, and gave way to another under its pid, since 1970; 0: not known.
	 */
	int64_t begun_ns, ended_ns;
	uid_t user;        /* whose files are believed, besides root's: the process's; JIT_NO_USER: not known */
	bool has_own_root; /* the path means another directory for the process than for us, as in a container */
	bool may_be_older; /* a file older than the process is believed */
};

/* An image, or executable memory that has none, as one mapping of the profile. */
struct process_image {
	uint32_t mapping_id;       /* of the profile */
	struct elf_image *elf;     /* a reference; NULL: kernel, JIT, anonymous, not readable */
	struct frame_table *table; /* call frame tables of `elf`; NULL without it */
	bool is_file, is_vdso;
	bool is_go;            /* made by the Go compiler */
	uint32_t latest_place; /* where it was mapped last, in struct process_table; PROFILE_NONE: nowhere yet */
	/* The place where the names of code in executable memory without a file are looked for. */
	struct jit_place jit_map; /* of the process */
	struct jit_place
		inherited_map;     /* of the process that it was forked from, with code that this had made by then */
	struct jit_growth *growth; /* owned: of a perf map at jit_map; NULL: nothing is known yet */
};

/* An image at its place in a process. */
struct process_place {
	uint64_t bias; /* image address = runtime address + bias, modulo 2^64; of an unused place the next unused one */
	uint32_t image;
	uint32_t mapping : 30;  /* of the profile: the image's */
	uint32_t is_mapped : 1; /* a process has it mapped: known while unused places are looked for only */
	uint32_t is_walked : 1; /* a walk has met it: its number may be kept as long as the table lives */
};

struct process {
	int32_t pid;
	bool is_alive, maps_are_read;
	bool has_threads;      /* may have several threads: the end of the first is then not the end of the process */
	bool is_fresh;         /* it has begun to execute a program whose code is not mapped yet */
	uint64_t fresh_losses; /* of the table, by then: its mappings may be among what was lost since */
	uint64_t refused_ns;   /* by the records' clock: when the kernel took its events away; 0: it has not */
	uint64_t work;         /* that it has made, as it is paid (sampler/process/owner.h) */
	uint32_t owner;        /* in struct owners: who pays for it */
	size_t maps_bytes;     /* of the text of its maps, as it was read last */
	uint64_t losses;       /* of the table, when its maps were read; 0 for a new program */
	struct profile_process identity; /* when it was met, and executed its program */
	char name[PROC_COMM_BYTES]; /* comm of the leader; it becomes a string of the profile when a sample needs it */
	uint64_t generation;
	uint32_t life;     /* which of the programs that the recording saw begin; 0: one that ran before */
	uint64_t begun_ns; /* by the records' clock: when it began; 0: not known */
	struct process_mappings mappings;
	/* By the records' clock: */
	uint64_t changed_ns;               /* when its mappings changed last */
	uint64_t missed_ns, miss_pause_ns; /* when code in no mapping was met, and how long it then does not count */
	bool is_doubted;                   /* such code was met: its maps are to be read again, as after a loss */
	/*
	 * For struct remaps, by the records' clock: when the process was met, when its maps were last held against the
	 * records, and when they are read next; 0: not yet.
	 */
	uint64_t met_ns, looked_ns, look_ns;
	bool is_sampled;             /* it has had samples since its maps were read last */
	uint64_t probes, probes_end; /* where the kernel's code for probes of functions is mapped; 0: nowhere */
};

struct process_thread {
	int32_t tid;
	char name[PROC_COMM_BYTES];
};

struct process_table;
struct iovec;

/*
 * The machine that the processes run on: the present one (process_host_live()), or that of an old recording, whose
 * processes no longer exist (recorded_files_host()). Each is a table of functions, none of which is NULL.
 */
struct process_host_functions {
	/* Called once for a process, when it is met for the first time: sets its name, and adds what it has mapped with
	 * process_table_map(). */
	bool (*read_process)(struct process_table *table, struct process *process, struct error *err);
	/* comm of a thread; "" if it is gone or not available. */
	void (*read_comm)(int32_t pid, int32_t tid, char name[PROC_COMM_BYTES]);
	/*
	 * Finds the account of who pays for what the process makes the recorder do; false: nobody does, and nothing is
	 * left out.
	 */
	bool (*account_of)(int32_t pid, uint64_t *account);
	/* Identifies whose a process is, as account_identify() does. */
	void (*identify)(int32_t pid, struct profile_process *process);
	/* Returns whether a process still runs after its first thread has ended. */
	bool (*is_alive)(int32_t pid);
	/* Returns whether a record's process has no pid in our namespace. */
	bool (*is_outside)(const struct record *record);
	/* Copies memory of a process as process_vm_readv(2) does, into one piece; -1 if it cannot be read, with errno
	 * EAGAIN if it may be a while later. */
	ssize_t (*read_memory)(
		void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count);

	/* Returns whether the mapping has a file name but no file behind it. */
	bool (*is_memory)(void *context, const struct elf_mapping *mapping);
	/* Opens the binary behind a mapping of a file, or the vdso. */
	bool (*open)(void *context, const struct elf_mapping *mapping, enum profile_mapping_kind kind,
		struct elf_image **image, struct error *err);
	/* The name of an image, and whether its file is deleted. */
	const char *(*path)(const struct elf_image *image, const struct elf_mapping *mapping);
	bool (*is_deleted)(const struct elf_image *image);
	/* False if its file was overwritten since it was opened. */
	bool (*is_intact)(const struct elf_image *image);
	/* Sets where the process writes the names of the code that it makes at run time. */
	bool (*expect_jit_map)(
		void *context, const struct elf_mapping *mapping, struct process_image *image, struct error *err);
	/* Opens the perf map at a place to look at its size while it grows; -1: it is not there, or may hang. */
	int (*watch_jit_map)(void *context, const struct jit_place *place);
	/* Opens the file at a place, as jit_map_open(). */
	bool (*open_jit_map)(void *context, const struct jit_place *place, struct file_opened *file,
		struct buffer *notices, struct error *err);
	/* Reads the build id of the kernel; size 0: not known. */
	void (*kernel_build_id)(const void *context, struct elf_build_id *id);
};

struct process_host {
	const struct process_host_functions *functions;
	void *context; /* borrowed; must outlive the table */
};

/* The processes of this machine, as they run. `reader` is borrowed, and must outlive the table. */
struct process_reader;
struct process_host process_host_live(struct process_reader *reader);

/* The listener that is told what processes do; each function may be NULL. */
struct process_listener {
	/* A process has mapped an image, at a place of the table. */
	void (*maps)(void *context, const struct process *process, uint32_t place);
	/* A child has all that its parent has mapped. */
	void (*forks)(void *context, const struct process *parent, const struct process *child);
	/* A process executes another program, or its pid is another process's from now on: nothing is mapped. */
	void (*forgets)(void *context, const struct process *process);
	void *context; /* borrowed */
};

struct process_table {
	struct profile *profile; /* borrowed */
	struct process *processes;
	size_t count, capacity;
	struct process_thread *threads;
	size_t thread_count, thread_capacity;
	struct process_image *images;
	size_t image_count, image_capacity;
	struct process_place *places; /* those in use stay where they are */
	size_t place_count, place_capacity;
	size_t place_limit;    /* with so many, unused ones are looked for */
	uint32_t unused_place; /* the first of those that can be used again; PROFILE_NONE: none is known */
	struct hash_map by_pid, by_tid, by_file; /* pid -> process, tid -> thread, (device, inode) -> image */
	struct owners owners;
	uint64_t next_generation;
	uint32_t lives;                 /* programs that began, by an exec or a fork */
	uint64_t version;               /* changes with every record of the sideband */
	uint64_t losses;                /* times after which records of the sideband may be missing */
	uint64_t births;                /* threads that were created, as the sideband reported */
	uint64_t forks;                 /* processes that were created */
	uint64_t programs;              /* that processes began to execute */
	uint64_t refusals;              /* of these, those at whose begin the kernel took a process's events away */
	struct shares watched_maps;     /* perf maps that are open, by account (sampler/process/jit_growth.h) */
	int64_t maps_next_ns;           /* CLOCK_MONOTONIC: they are not looked at before */
	uint64_t images_without_tables; /* whose unwind tables were damaged, or too large for the file */
	bool met_denied;                /* a process has maps that may not be read */
	bool met_outside;               /* there were processes without a pid in our namespace: all have pid 0 */
	uint32_t kernel_image;          /* PROFILE_NONE until needed */
	uint64_t kernel_bias;           /* address in the kernel's symbols = runtime address + bias */
	struct buffer *notices;
	struct process_host host;
	struct process_listener listener;
	const struct machine *machine; /* that the processes run on; NULL: not known, and no stack is unwound */
	uint8_t *code; /* owned; code of memory without a file around the last address that was read; NULL: none yet */
};

void process_table_init(
	struct process_table *table, struct profile *profile, struct process_host host, struct buffer *notices);
void process_table_deinit(struct process_table *table);

/* Finds a process, or adds it when it is not known: the host then reads its maps. */
COMMON_MUST_CHECK
bool process_table_get(struct process_table *table, int32_t pid, struct process **process, struct error *err);

/* Adds executable memory to a process; it replaces older mappings there. */
COMMON_MUST_CHECK
bool process_table_map(
	struct process_table *table, struct process *process, const struct elf_mapping *mapped, struct error *err);

/*
 * Reads the maps and the name of a process again, and the name of one of its threads, if records of the sideband may
 * have been lost since it was read last: once for each loss, and as far as its user can pay for that. For a process
 * that executes code in no mapping. A change of its mappings changes its generation.
 */
COMMON_MUST_CHECK
bool process_table_heal(struct process_table *table, struct process *process, int32_t tid, struct error *err);

/*
 * Notes that a process executes code in no mapping, and says whether process_table_heal() is to read its maps: also
 * where no record was lost, as mremap() has none, but each time twice as late.
 */
bool process_table_miss(struct process_table *table, struct process *process, uint64_t clock_ns);

/* The name of a thread, read from the host if the sideband has not reported it. */
COMMON_MUST_CHECK
bool process_table_thread_name(
	struct process_table *table, int32_t pid, int32_t tid, uint32_t *name, struct error *err);

/*
 * Makes a place for frames that have no code of their own (sampler/interpret/names.h): a mapping of kind
 * PROFILE_MAPPING_JIT, whose addresses are numbers of the caller's.
 */
COMMON_MUST_CHECK
bool process_table_add_names(struct process_table *table, uint32_t *place, struct error *err);

/* Updates the table from a record of the sideband. */
COMMON_MUST_CHECK
bool process_table_update(struct process_table *table, const struct record *record, struct error *err);

/* Finds the mapping of the profile that stands for the kernel. */
COMMON_MUST_CHECK
bool process_table_kernel(struct process_table *table, uint32_t *mapping_id, struct error *err);

/* The account that pays for a process (sampler/process/account.h); SHARES_NOBODY: none is known. */
uint64_t process_table_account(const struct process_table *table, int32_t pid);

/* Returns whether memory of an interpreted program may be read, for which its account pays (owner_pay_reads()). */
COMMON_MUST_CHECK
bool process_table_pay_reads(struct process_table *table, int32_t pid, uint64_t clock_ns, uint32_t count);

/* An address as a location of the profile, which need not contain it yet. */
struct process_location {
	uint32_t mapping; /* of the profile */
	uint64_t address; /* image address */
};

/* The location of a runtime address at a place. */
static inline struct process_location process_table_locate(
	const struct process_table *table, uint32_t place, uint64_t address)
{
	const struct process_place *at = &table->places[place];

	return (struct process_location){ at->mapping, address + at->bias };
}

/*
 * Finds the image of a process in whose writable data a runtime address lies, also in data that has no bytes in the
 * file. An image's segments are loaded at the same distance from each other as in the file (gABI, "Program Header"), so
 * the place of its code tells where its data is.
 */
COMMON_MUST_CHECK
bool process_table_find_data(const struct process_table *table, const struct process *process, uint64_t address,
	struct process_location *location);

/*
 * The functions of struct unwind_space: `context` is a struct process_space, and images are indexes of places. They do
 * not change the profile.
 */
struct process_space {
	struct process_table *table;
	const struct process *process;
	uint64_t gap_start, gap_bytes; /* the last range in which no code was found */
};
bool process_space_find(void *context, uint64_t address, struct unwind_code *code);
bool process_space_read(void *context, uint64_t address, size_t bytes, struct machine_code *code);
bool process_space_is_code(void *context, uint64_t address);
