/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/collect.h"
#include "sampler/ebpf/ebpf.h"

/*
 * A thread that is asleep, read by the recorder itself in place of the kernel: its registers come from whoever has
 * found it, its stack is copied here, and it becomes a sample as the kernel would write one.
 */
struct sleeper {
	struct ebpf_wait wait;                     /* has its process and thread */
	uint64_t registers[MACHINE_MAX_REGISTERS]; /* in perf's order */
	bool has_two_registers;    /* its stack pointer and program counter are known, the others are 0 */
	struct ebpf_frames frames; /* CPython's frames, borrowed until the next one is read; count 0: none */
	uint8_t *stack;            /* owned, in memory that no core file has */
	size_t capacity;           /* of `stack` */
	size_t stack_room;         /* so many bytes are to be copied, at most the capacity */
	size_t stack_bytes;        /* that were copied */
};

/* The stack room is the capacity at first. */
COMMON_MUST_CHECK
bool sleeper_init(struct sleeper *sleeper, size_t capacity, struct error *err);
void sleeper_deinit(struct sleeper *sleeper);

/* Sets one register by its number in DWARF, of the present machine. */
void sleeper_set_register(struct sleeper *sleeper, uint8_t number, uint64_t value);

/* Copies the stack, if the collector needs stacks, and reads the frames of its interpreter. False if the stack could
 * not be read. */
bool sleeper_read(struct sleeper *sleeper, struct collector *collector);

/*
 * Reads what a thread polls that is asleep in poll() or select(). Returns the number of descriptors; 0: it does not
 * poll, polls more than EBPF_MOST_POLLED, or its memory could not be read.
 */
size_t sleeper_read_polled(
	const struct ebpf_wait *wait, struct collector *collector, struct ebpf_polled polled[EBPF_MOST_POLLED]);

/* Adds the thread as a sample of that time. Samples that are held are added too. */
COMMON_MUST_CHECK
bool sleeper_take(const struct sleeper *sleeper, struct collector *collector, uint64_t time_ns, struct error *err);
