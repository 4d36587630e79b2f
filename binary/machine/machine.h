/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The model of a processor: one record of constants and functions each, chosen while the program runs by the e_machine
 * of an image, or by the name that a recording gives, and never by the preprocessor. So a recording of one processor
 * can be read on another. A second processor is files with its record and its system calls, a place in the list of
 * machine.c, and a line in CMakeLists.txt; tests/unit/machine/test_choice.c examines every record. Only for x86-64 are,
 * all the same: HotSpot's frames, reading of frames in the kernel (sampler/ebpf/), sampler/verify/, what its counters
 * tell (sampler/live/counter_sets.c), and sampler/simulate/. Rules for signed return addresses of aarch64
 * (DW_CFA_AARCH64_negate_ra_state) are not read by binary/frame/row.c.
 *
 * Registers go by DWARF's numbers. All bytes of code are foreign: nothing outside of what is handed over is read.
 */

enum {
	MACHINE_MAX_REGISTERS =
		33,        /* that a walk up the stack needs: aarch64 has x0 to x30, the stack pointer and the pc */
	MACHINE_SAVED = 6, /* registers that a short unwind rule has room for (struct machine_frame) */
	MACHINE_NOT_SAVED = UINT8_MAX,
	MACHINE_MAX_INSTRUCTION_BYTES = 15,
	MACHINE_MOST_FUNCTION_BYTES = 1 << 17, /* longer ones are not searched for their beginning */
};

/* Code, and a position in it. */
struct machine_code {
	const uint8_t *bytes; /* borrowed; NULL: not at hand */
	size_t size, at;      /* `at`: offset of the position, `size` at most */
};

/* ---- What instructions do to a stack frame ---- */

/* An address in the stack, relative to what a register holds at the first instruction of a way through code. */
struct machine_stack_address {
	uint8_t base;   /* the stack pointer or the frame pointer; 0: not known */
	int32_t offset; /* bytes */
};

/* The state of a frame behind some instructions. */
struct machine_frame {
	struct machine_stack_address stack_pointer, frame_pointer;
	int32_t top; /* the highest stack pointer so far: what lies below was pushed on the way, or by calls that
			returned */
	struct machine_stack_address
		saved[MACHINE_SAVED]; /* of machine->saved_registers: where they were read back from */
};

/* The course of execution behind an instruction. */
enum machine_flow {
	MACHINE_FLOW_NEXT,
	MACHINE_FLOW_PADDING, /* to the next, and nothing was done */
	MACHINE_FLOW_CALL,    /* to the next, once the callee returns */
	MACHINE_FLOW_JUMP,    /* `distance` bytes away */
	MACHINE_FLOW_BRANCH,  /* to the next, or `distance` bytes away */
	MACHINE_FLOW_RETURN,  /* to the caller: also a jump through a table of other images' functions, which return for
				 this one */
	MACHINE_FLOW_UNKNOWN, /* to where only the running program knows, to nowhere, or with a stack pointer that is
				 not known */
};

struct machine_step {
	uint8_t size;         /* bytes of the instruction */
	uint8_t flow;         /* enum machine_flow */
	bool begins_function; /* functions begin so: a register that must be kept is pushed, or room is made for
				 variables */
	int64_t distance;     /* from the end of the instruction */
};

/* A jump that bytes may be, wherever they stand: no instruction need begin there. */
struct machine_jump {
	bool is_indirect; /* to where a register or memory says */
	bool is_conditional;
	int64_t distance; /* from its first byte; not of an indirect one */
};

/* ---- Where the fields of an instruction lie ---- */

/* A number within an instruction. */
struct machine_number {
	uint8_t offset, size; /* bytes; size 0: there is none */
	bool is_signed;
};

/*
 * The fields of an instruction that tell whether code changed, or only lies elsewhere. Of a jump or call to a fixed
 * target there may be a short and a long form, which `jump` does not distinguish.
 */
struct machine_fields {
	uint8_t size;
	uint8_t jump; /* which jump or call; 0: it is none. `target` says how far from the instruction's end it leads */
	bool is_padding;  /* does nothing, or traps where nobody comes */
	bool is_relative; /* `displacement` counts from the address of the instruction */
	struct machine_number target, displacement, immediates[2];
};

/* ---- Text ---- */

enum { MACHINE_TEXT_BYTES = 128 };

/* One instruction for people. */
struct machine_text {
	uint8_t size;    /* bytes of the instruction */
	bool has_target; /* it is a jump or a call to a fixed address */
	uint64_t target;
	char text[MACHINE_TEXT_BYTES]; /* printable ASCII, as the maker of the processor writes it; a longer one is cut
					*/
};

/* ---- System calls ---- */

/* The kind of thing that a thread which blocks in a system call waits for, as far as the call alone tells. */
enum machine_call {
	MACHINE_CALL_OTHER,
	MACHINE_CALL_FUTEX,        /* futex: whether it waits is in its second argument */
	MACHINE_CALL_FUTEX_WAIT,   /* another thread, by the futex at its first argument */
	MACHINE_CALL_FUTEX_WAITV,  /* another thread, by several futexes */
	MACHINE_CALL_SEMAPHORE,    /* a semaphore of System V */
	MACHINE_CALL_FILE_LOCK,    /* a lock on a file */
	MACHINE_CALL_FILE_CONTROL, /* fcntl: a lock on a file, or that file, by its second argument */
	MACHINE_CALL_EVENTS,       /* any of several descriptors or completions: an event loop */
	MACHINE_CALL_POLL,         /* likewise, those of the array of struct pollfd in its first two arguments */
	MACHINE_CALL_SELECT,       /* likewise, those below its first argument that are in the set in its second one */
	MACHINE_CALL_ACCEPT,       /* a connection */
	MACHINE_CALL_CHILD,        /* the end of a child process */
	MACHINE_CALL_SIGNAL,
	MACHINE_CALL_SLEEP,   /* a moment */
	MACHINE_CALL_RECEIVE, /* bytes of the socket in its first argument */
	MACHINE_CALL_SOCKET,  /* what else sockets alone have */
	MACHINE_CALL_READ,    /* bytes of the descriptor in its first argument */
	MACHINE_CALL_FILE,    /* likewise, anything else of it */
	MACHINE_CALL_PATH,    /* a file that is named by its path */
	MACHINE_CALL_SYNC,    /* that data is on a disk */
	MACHINE_CALL_MEMORY,  /* changes what is mapped in the process: its threads do so one after the other */
	MACHINE_CALL_RESTART, /* a call that a signal interrupted; which one is not known any more */
};
enum { MACHINE_CALL_COUNT = 22 };

/* ---- The record ---- */

struct machine;

/* A decoder of a processor's instructions. A library may have to be loaded for it. One thread at a time. */
struct machine_decoder {
	const struct machine *machine;
};

struct machine {
	uint16_t elf_machine; /* EM_* */
	const char *name;     /* as uname(2), perf.data and the kernel's AT_PLATFORM have it */

	/* Registers. */
	uint8_t register_count;
	uint8_t stack_pointer, frame_pointer, program_counter;
	uint8_t return_column;                  /* the column that unwind tables describe the return address in */
	uint8_t saved_registers[MACHINE_SAVED]; /* that a callee must keep, and that unwind rules mostly are about */
	uint8_t saved_index[MACHINE_MAX_REGISTERS]; /* of a register among these; MACHINE_NOT_SAVED: it is none of them
						     */

	/* perf's registers: the mask that a walk needs, their DWARF numbers from the lowest bit up, and those without
	 * which there is no walk at all. */
	uint64_t perf_registers, perf_least_registers;
	uint8_t perf_register_count;
	uint8_t perf_order[MACHINE_MAX_REGISTERS];

	/* The kernel's struct pt_regs (asm/ptrace.h), in words: how many, where it has each of perf's registers, from
	 * the lowest bit up, the number of the system call, and its first two arguments. */
	uint8_t kernel_register_count;
	uint8_t kernel_order[MACHINE_MAX_REGISTERS];
	uint8_t kernel_call, kernel_arguments[2];

	/*
	 * The bytes that a call pushes: the return address then lies right below the CFA. 0: it is in the register of
	 * `return_column`.
	 */
	uint8_t call_push_bytes;

	/*
	 * The places of the registers that a signal handler interrupted, as its caller finds them: bytes above the
	 * stack pointer, by register.
	 */
	uint16_t signal_offsets[MACHINE_MAX_REGISTERS];

	/* ELF: relocations of a slot that a function's address is put into, and entries of procedure linkage tables. */
	uint32_t relocation_jump_slot, relocation_global_data;
	uint8_t plt_entry_bytes; /* where the section does not tell */

	/* System calls: [number] enum machine_call, of all that are not MACHINE_CALL_OTHER. */
	const uint8_t *system_calls;
	size_t system_call_count;

	/* Returns whether the instruction before is a call: only then can it be a return address. */
	bool (*is_behind_call)(const struct machine_code *code);
	/*
	 * Finds the distance from `code->at` to the fixed target of the call that ends there. False: no such call ends
	 * there.
	 */
	bool (*find_call)(const struct machine_code *code, int64_t *distance);
	/* Finds the jump that the bytes at `code->at` may be. False: they are none, or it is cut off. */
	bool (*find_jump)(const struct machine_code *code, struct machine_jump *jump);
	/* Returns whether the instruction before is a system call. */
	bool (*is_behind_system_call)(const struct machine_code *code);
	/*
	 * Returns whether a signal handler returns there: it is rt_sigreturn, where the C library has no rules for it.
	 */
	bool (*is_signal_return)(const struct machine_code *code);
	/*
	 * Returns whether main() or a thread's first function may return there, behind which nothing returns, in musl.
	 */
	bool (*is_last_return)(const struct machine_code *code);
	/* Returns whether a thread's first function returns there: the thread ends by a system call at once. */
	bool (*is_thread_start)(const struct machine_code *code);
	/* Returns whether a function that keeps frame pointers begins a little before. */
	bool (*keeps_frame_pointer)(const struct machine_code *code);
	/* Returns whether it is glibc's __start_context, to which the function of makecontext() returns. */
	bool (*is_context_start)(const struct machine_code *code);

	/*
	 * Finds, from `code->at` on, the next jump through a slot, as entries of
	 * procedure linkage tables have it; `code->at` then stands behind its first byte. `address` is that of
	 * code->bytes, `slot` that of the slot. False: there is no other.
	 */
	bool (*find_slot_jump)(struct machine_code *code, uint64_t address, uint64_t *slot);

	/*
	 * Finds the prologue of a function with a frame (it saves the frame pointer and makes room for variables) that
	 * ends at `code->at` or up to MACHINE_MOST_FUNCTION_BYTES before, the nearest one; `end` is the offset behind
	 * it, `room_bytes` what it has made room for.
	 */
	bool (*find_prologue)(const struct machine_code *code, size_t *end, int32_t *room_bytes);

	/* NULL: the library is not installed, or memory is out. */
	struct machine_decoder *(*create_decoder)(void);
	void (*destroy_decoder)(struct machine_decoder *decoder);

	/* One instruction, and what it does to the frame where it goes on to the next. False: the bytes do not begin
	 * with one. */
	bool (*step)(struct machine_decoder *decoder, const uint8_t *bytes, size_t size, struct machine_frame *frame,
		struct machine_step *step);

	/* Finds the fields of one instruction. False: the bytes do not begin with one. */
	bool (*find_fields)(
		struct machine_decoder *decoder, const uint8_t *bytes, size_t size, struct machine_fields *fields);

	/*
	 * Writes the text of one instruction, which lies at `address`. False: the bytes do not begin with one. NULL:
	 * nobody writes instructions of this processor.
	 */
	bool (*format)(struct machine_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		struct machine_text *text);
};

/*
 * Returns the record for the e_machine of an ELF header; NULL for a processor that is not known here: its stacks cannot
 * be unwound.
 */
const struct machine *machine_of(uint16_t elf_machine);

/* Returns the record for the name that uname(2) gives, as in perf.data. NULL likewise. */
const struct machine *machine_named(const char *name);

/* The processor that this program runs on. NULL likewise. */
const struct machine *machine_host(void);

/*
 * Loads what decoders of all machines need, for a process that may open no files any more when it makes one. What is
 * not installed is left out.
 */
void machine_load_decoders(void);

/* Creates a decoder of the machine's code; NULL: a library that it needs is not installed, or memory is out. */
struct machine_decoder *machine_decoder_create(const struct machine *machine);
void machine_decoder_destroy(struct machine_decoder *decoder);

/* Returns what is known before the first instruction. */
static inline struct machine_frame machine_frame_none(const struct machine *machine)
{
	return (struct machine_frame){ .stack_pointer = { .base = machine->stack_pointer },
		.frame_pointer = { .base = machine->frame_pointer } };
}

/* Returns whether nothing was done to it so far. */
bool machine_frame_is_none(const struct machine *machine, const struct machine_frame *frame);

/* Returns what a system call waits for, by its number; MACHINE_CALL_OTHER for a number that no call has. */
enum machine_call machine_call_of(const struct machine *machine, int64_t number);

/*
 * Writes the text of one instruction, which lies at `address`. False: the bytes do not begin with one, or nobody writes
 * instructions of this processor.
 */
COMMON_MUST_CHECK
bool machine_format_instruction(struct machine_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
	struct machine_text *text);

/* The value of a number of the instruction, extended by its sign if it has one. */
uint64_t machine_number_value(const uint8_t *instruction, const struct machine_number *number);
