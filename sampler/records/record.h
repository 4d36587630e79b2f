/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "sampler/ebpf/ebpf.h"

#include <linux/perf_event.h>
#include <string.h>

/*
 * Reads one record as the kernel writes it (perf_event_open(2), "PERF_RECORD_*"), from a ring or from a perf.data file.
 * The bytes are foreign: whatever they hold, nothing outside them is read. Everything returned borrows them.
 */

/* The fields that our own events request. */
enum {
	RECORD_SIDEBAND_TYPE = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	RECORD_SAMPLE_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			     PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
	RECORD_STACK_TYPE = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
};

/* Definitions of Linux 6.19 (include/uapi/linux/perf_event.h), which the headers here may be older than. */
enum { RECORD_TYPE_CALLCHAIN_DEFERRED = 22 };
static const uint64_t RECORD_CONTEXT_DEFERRED = (uint64_t)-640;

/* The layout of the records of one event; from its perf_event_attr. */
struct record_layout {
	uint64_t sample_type;    /* PERF_SAMPLE_* */
	uint64_t read_format;    /* PERF_FORMAT_* */
	uint64_t user_registers; /* mask of the processor's PERF_REG_*, with REGS_USER */
	bool sample_id_all;
	bool has_branch_index; /* PERF_SAMPLE_BRANCH_HW_INDEX is set, with BRANCH_STACK */
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
	RECORD_CALLCHAIN, /* PERF_RECORD_CALLCHAIN_DEFERRED */
	RECORD_OTHER,     /* its fields are not read */
};

/* Little-endian 64-bit numbers that need not be aligned. */
struct record_words {
	const uint8_t *bytes;
	size_t count;
};

/* The running totals of a group of events at a sample (PERF_SAMPLE_READ with PERF_FORMAT_GROUP). */
struct record_values {
	const uint8_t *bytes;        /* NULL: the sample has none */
	uint32_t count;              /* the group's leader is the first */
	uint8_t words_each, id_word; /* 64-bit words of a value, and which of them is its event's id; 0: it has none */
	uint64_t enabled_ns, running_ns; /* how long the group was to count, and did count; 0: not requested */
};

struct record_sample {
	uint64_t ip, address, period;
	bool is_kernel; /* taken in kernel code */
	struct record_values values;
	struct record_words callchain; /* with PERF_CONTEXT_* markers */
	const uint8_t *raw;            /* what a program in the kernel has written with it; NULL: nothing */
	size_t raw_bytes;
	struct record_words branches;       /* three words each: from, to, flags; the latest first */
	uint64_t registers_abi;             /* PERF_SAMPLE_REGS_ABI_NONE, _32 or _64 */
	struct record_words user_registers; /* one for each bit of the layout's mask, lowest bit first */
	const uint8_t *stack;               /* user stack from the stack pointer up; NULL: none */
	size_t stack_bytes;                 /* bytes that the kernel copied */
	size_t stack_room; /* bytes that were requested; more than stack_bytes if the stack ended before */
	const struct ebpf_frames *interpreter_frames; /* that were read with it; NULL: none */
	bool lacks_frame_pointer; /* it is not known, unlike the stack pointer and the program counter */
	bool is_short;            /* the kernel copied more of the stack, which can be read (struct collector_rest) */
};

struct record_mmap {
	uint64_t address, size, file_offset;
	uint32_t major, minor;
	uint64_t inode;
	const uint8_t *build_id; /* in place of device and inode; NULL: absent */
	uint8_t build_id_size;
	bool executable;
	const char *path;
};

struct record_comm {
	bool is_exec;
	const char *name;
};

/*
 * The user part of call chains that samples of its thread lack, which end with RECORD_CONTEXT_DEFERRED and the cookie.
 * All samples between two returns of the thread to user space have the same.
 */
struct record_callchain {
	uint64_t cookie;
	struct record_words words;
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
		struct record_callchain callchain;
		struct record_fork fork; /* FORK and EXIT */
		uint64_t lost;           /* number of lost records */
	};
};

enum { RECORD_HEADER_BYTES = 8, RECORD_MAX_BYTES = UINT16_MAX };

/*
 * Reads the size of the record that starts at `bytes`; false when fewer bytes are there, or it is shorter than its own
 * header.
 */
COMMON_MUST_CHECK
bool record_size(const void *bytes, size_t available, size_t *size);

/* `size` is the record's own. Fails with ERROR_FORMAT when it is cut short or contradicts itself. */
COMMON_MUST_CHECK
bool record_parse(
	const struct record_layout *layout, const void *bytes, size_t size, struct record *record, struct error *err);

/*
 * Reads only the time, for ordering; 0 if the record has none. Needs PERF_SAMPLE_TIME, and sample_id_all for records
 * other than samples.
 */
uint64_t record_time(const struct record_layout *layout, const void *bytes, size_t size);

/*
 * Finds the user stack of a sample: a word with its size, `*room`, at `*offset`, and the bytes after it. Only the first
 * `available` bytes of the sample need to be readable. False if the sample has no stack, or more bytes are needed.
 */
COMMON_MUST_CHECK
bool record_find_stack(
	const struct record_layout *layout, const void *bytes, size_t available, size_t *offset, uint64_t *room);

/* Reads only the process of a sample; false for other records, and samples without it. */
COMMON_MUST_CHECK
bool record_sample_pid(const struct record_layout *layout, const void *bytes, size_t size, int32_t *pid);

/* Returns whether a call chain ends with the cookie of one that another record has (struct record_callchain). */
COMMON_MUST_CHECK
bool record_is_deferred(const struct record_words *callchain, uint64_t *cookie);

/* `index` below `words->count`. */
static inline uint64_t record_word(const struct record_words *words, size_t index)
{
	uint64_t word;

	memcpy(&word, words->bytes + index * sizeof(word), sizeof(word));
	return word;
}

/* `index` below `values->count`. */
static inline uint64_t record_value(const struct record_values *values, size_t index)
{
	uint64_t word;

	memcpy(&word, values->bytes + index * values->words_each * sizeof(word), sizeof(word));
	return word;
}

/* The id of that value's event; 0: it has none. */
static inline uint64_t record_value_id(const struct record_values *values, size_t index)
{
	uint64_t word = 0;

	if (values->id_word > 0)
		memcpy(&word, values->bytes + (index * values->words_each + values->id_word) * sizeof(word),
			sizeof(word));
	return word;
}
