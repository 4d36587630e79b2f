/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"
#include "profile/profile.h"

/*
 * A recording: a profile of addresses, and what naming them needs. Rings, perf.data, a killed recorder's file and a
 * simulation all become one, by the rooms below this one:
 *
 *	records/	records as the kernel writes them
 *	unwind/		from registers and a copied stack to frames
 *	process/	processes, their mappings and images
 *	interpret/	the program's own frames in place of an interpreter's
 *	verify/		the second opinion of libunwind
 *	collect/	from records to stacks, samples and events of the profile
 */

/* The most that the kernel copies of a stack. */
enum { RECORDING_MAX_STACK_BYTES = 65528 };

/* The stacks that --verify compared, shown when it has names. */
struct compared_stacks;

/* Programs whose begin made the kernel take the events of their processes away: they are set-user-ID, say. */
struct recording_refusals {
	uint64_t count;   /* 0: there were none, and nothing else is set */
	int64_t cpu_ns;   /* that they are known to have used without samples, with what they have started */
	bool are_resumed; /* they were sampled again a moment later */
	size_t programs;  /* how many names they have, as far as is known */
	char name[64];    /* of the one that has used most */
};

/* The result of a recording. Owned by the caller. */
struct recording {
	struct profile *profile; /* no location has lines yet */
	struct recording_refusals refusals;
	struct error
		ended_early; /* what ended the recording before its time (sampler_end_early()); ERROR_NONE: nothing */
	struct profile_symbols symbols; /* owned */
	int child_status;               /* of a command, as waitpid() gives it; -1: still running, or attached */
	int64_t cpu_ns;                 /* CPU time the recorder itself used */
	/* CLOCK_MONOTONIC at which the times of events begin to count; 0: not a live recording, or one with pauses */
	int64_t start_ns;
	struct compared_stacks *compared; /* owned; NULL: nothing was to be compared */
};

void recording_deinit(struct recording *result);

/* Releases what only naming needs: mapped files would count as memory while the profile is written. */
void recording_release_symbols(struct recording *result);

/* The locations in stacks that were compared; borrowed. NULL with a count of 0: none. */
const uint32_t *recording_compared(const struct recording *recording, size_t *count);

/* Adds the stacks that differ to the profile's verification, as text. Call it after the locations have names. */
COMMON_MUST_CHECK
bool recording_show_differences(const struct recording *recording, struct error *err);

/* The use that the reading of a recording has for another file of this machine. It decides what may be opened. */
enum recording_use {
	RECORDING_BINARY, /* an ELF file that was mapped, by its path; or "[vdso]" */
	RECORDING_MAP,    /* of code that was made at run time: a perf map or a jitdump that is the user's or root's */
	RECORDING_KERNEL, /* the symbols or the notes of the running kernel, or a copy of symbols in perf's cache */
	RECORDING_STREAM, /* another file of the recording's directory */
};

/* Opens these files for a process that cannot open any. */
struct recording_opener {
	/*
	 * Returns a descriptor that belongs to the caller; -1, with `err` set, which has no message where there is
	 * nothing to tell.
	 */
	int (*open)(void *context, enum recording_use use, const char *path, struct error *err);
	void *context;
};

/* A file of a recording that was made earlier. */
struct recording_file {
	int fd;           /* borrowed: a file, which is read from its start, or a pipe */
	const void *head; /* the bytes already read from a pipe; not used with a file */
	size_t head_bytes;
	const char *name;            /* for messages */
	const char *directory;       /* that `perf record --threads` has made, if `fd` is its file `data`; NULL: none */
	const char *cache_directory; /* of perf's build-id cache, as "/root/.debug"; NULL: none */
	const char *event; /* the one to read of several, by its name or as "cpu"; NULL, or none of them: the first */
	uint32_t verify_every;                 /* as in sampler_options; a .part has no stacks to unwind */
	const struct recording_opener *opener; /* borrowed; NULL: the process opens files itself */
};

/*
 * Opens a file as recording->opener does, or in this process where there is none: for a path that is foreign, and only
 * what its use allows. The descriptor belongs to the caller; -1, with `err` as struct recording_opener has it.
 */
int recording_open(const struct recording_file *recording, enum recording_use use, const char *path, struct error *err);
