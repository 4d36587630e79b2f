/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <linux/perf_event.h>
#include <string.h>

/*
 * Reads one record as the kernel writes it (perf_event_open(2), "PERF_RECORD_*"), from a ring or from a perf.data file.
 * The bytes are foreign: whatever they hold, nothing outside them is read. Everything returned borrows them.
 */

/* What our own events ask for. */
enum {
	RECORD_SIDEBAND_TYPE = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	RECORD_SAMPLE_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			     PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
	RECORD_STACK_TYPE = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
};

/* How the records of one event are laid out; from its perf_event_attr. */
struct record_layout {
	uint64_t sample_type;    /* PERF_SAMPLE_* */
	uint64_t read_format;    /* PERF_FORMAT_* */
	uint64_t user_registers; /* mask of the processor's PERF_REG_*, with REGS_USER */
	bool sample_id_all;
	bool has_branch_index; /* PERF_SAMPLE_BRANCH_HW_INDEX, with BRANCH_STACK */
};

struct record_layout record_layout_of(const struct perf_event_attr *attr);

enum record_kind {
	RECORD_SAMPLE,
	RECORD_MMAP, /* PERF_RECORD_MMAP and MMAP2 */
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_LOST, /* PERF_RECORD_LOST and LOST_SAMPLES */
	RECORD_THROTTLE,
	RECORD_OTHER, /* only framed */
};

/* Little-endian 64-bit numbers that need not be aligned. */
struct record_words {
	const uint8_t *bytes;
	size_t count;
};

struct record_sample {
	uint64_t ip, address, period;
	bool is_kernel;                     /* taken in the kernel */
	struct record_words callchain;      /* with PERF_CONTEXT_* markers */
	struct record_words branches;       /* three words each: from, to, flags; the latest first */
	uint64_t registers_abi;             /* PERF_SAMPLE_REGS_ABI_* */
	struct record_words user_registers; /* one for each bit of the layout's mask, lowest bit first */
	const uint8_t *stack;               /* user stack from the stack pointer up; NULL: none */
	size_t stack_bytes;                 /* that were really copied */
	size_t stack_room;                  /* that were asked for; more than stack_bytes when the stack ended before */
	bool is_short;                      /* more of the stack was copied, and can be had (struct collector_rest) */
};

struct record_mmap {
	uint64_t address, size, file_offset;
	uint32_t major, minor;
	uint64_t inode;
	const uint8_t *build_id; /* instead of device and inode; NULL: not given */
	uint8_t build_id_size;
	bool executable;
	const char *path;
};

struct record_comm {
	bool is_exec;
	const char *name;
};

struct record_fork {
	int32_t parent_pid, parent_tid;
};

struct record {
	enum record_kind kind;
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	int32_t pid, tid; /* of the process the record is about */
	uint32_t cpu;
	uint64_t time_ns, id, stream_id;
	union {
		struct record_sample sample;
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_fork fork; /* FORK and EXIT */
		uint64_t lost;           /* how many */
	};
};

enum { RECORD_HEADER_BYTES = 8, RECORD_MAX_BYTES = UINT16_MAX };

/* The size of the record that starts at `bytes`; false when fewer bytes are there, or it is shorter than its own
 * header. */
COMMON_MUST_CHECK
bool record_size(const void *bytes, size_t available, size_t *size);

/* `size` is the record's own. Fails with ERROR_FORMAT when it is cut short or contradicts itself. */
COMMON_MUST_CHECK
bool record_parse(
	const struct record_layout *layout, const void *bytes, size_t size, struct record *record, struct error *err);

/* Only the time, for ordering; 0 when the record carries none. Needs PERF_SAMPLE_TIME, for others than samples
 * sample_id_all. */
uint64_t record_time(const struct record_layout *layout, const void *bytes, size_t size);

/*
 * Where the user stack of a sample stands: a word with its size, `*room`, at `*offset`, and the bytes behind it. Of the
 * sample only the first `available` bytes need to be there. False when it has no stack, or more of it is needed to
 * tell.
 */
COMMON_MUST_CHECK
bool record_find_stack(
	const struct record_layout *layout, const void *bytes, size_t available, size_t *offset, uint64_t *room);

/* Only the process, of a sample; false for other records, and where a sample does not say it. */
COMMON_MUST_CHECK
bool record_sample_pid(const struct record_layout *layout, const void *bytes, size_t size, int32_t *pid);

/* `index` below `words->count`. */
static inline uint64_t record_word(const struct record_words *words, size_t index)
{
	uint64_t word;

	memcpy(&word, words->bytes + index * sizeof(word), sizeof(word));
	return word;
}
