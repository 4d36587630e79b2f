/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"
#include "profile/profile.h"

/*
 * Finds the frames of a user stack from the registers and the copy of its top, in memory. Each frame is stepped from by
 * the first that applies: the image's call frame information; whoever has made code that has no image; a signal's
 * frame, recognized by its code; the candidates of fallback/caller.c for a frame without a rule. Otherwise the walk
 * stops with a reason.
 */

enum { UNWIND_MAX_FRAMES = 4096, UNWIND_TOGETHER = 32 };

/* The machine's registers in DWARF's order; perf's REGS_USER are sorted into it. */
struct unwind_registers {
	uint64_t values[MACHINE_MAX_REGISTERS];
};

/* A copied piece of a stack. Borrowed; need not be aligned. */
struct unwind_piece {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t address; /* runtime address of the first byte */
};

/*
 * The replacements that the kernel has made in a process for probes of functions: return addresses by one of its own,
 * and an instruction by a breakpoint, which runs elsewhere.
 */
struct unwind_return {
	uint64_t slot; /* address of the stack at which it stood */
	uint64_t address;
};

struct unwind_probes {
	const struct unwind_return *returns; /* borrowed; the innermost first */
	size_t return_count;
	uint64_t runs_at, stands_at; /* addresses of the instruction; 0: there is none */
};

/*
 * The copy of the top of a stack, from the stack pointer upwards; a piece from further up may be present too (size 0:
 * none).
 */
struct unwind_stack_dump {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t address; /* runtime address of the first byte: the stack pointer */
	struct unwind_piece far;
	struct unwind_piece other; /* of another stack, which the thread has left (size 0: none) */
	struct unwind_probes probes;
};

/* The properties of the code at a runtime address that the unwinder needs. */
struct unwind_code {
	const struct frame_table *table; /* NULL: no call frame information (JIT, anonymous) */
	uint32_t image; /* a number by which the caller of the unwinder knows the mapped image; frames repeat it */
	uint64_t image_address;
	uint64_t entry;           /* image address where execution of the image starts; 0: none */
	bool is_go;               /* the image is a program of Go */
	bool is_return_probe;     /* no image: the kernel has functions that are probed return there */
	struct machine_code code; /* of an image; `at` is of the address; borrowed */
};

/* The code that is read at first, and the size of the second read when a path to a return leads out of it. */
enum { UNWIND_CODE_BYTES = 16384, UNWIND_MOST_CODE_BYTES = 131072 };

/*
 * A frame in code that no call frame information describes, as whoever has made the code (a JIT compiler's run time)
 * is asked about it.
 */
struct unwind_made_frame {
	uint64_t pc, stack_pointer;
	bool is_exact; /* the pc is an instruction's own address, not a return address */
	/* The registers that a callee must keep; of a frame that is_exact also the others. Borrowed. */
	const struct unwind_registers *registers;
	const struct unwind_stack_dump *dump; /* borrowed */
	uint64_t carried;                     /* what the answer about its callee has left; 0: nothing */
};

/* The frame's caller. */
struct unwind_made_caller {
	uint64_t frame_pc; /* where the frame goes on, which need not be what its callee returns to */
	uint64_t pc, stack_pointer;
	uint8_t saved[MACHINE_SAVED]; /* where the frame keeps its registers, as in struct rules_pushes */
	uint64_t carried;             /* for the question about the caller */
};

enum unwind_answer {
	UNWIND_ANSWER_UNKNOWN,
	UNWIND_ANSWER_CALLER,
	UNWIND_ANSWER_NOT_COPIED, /* the caller's pc, below its stack pointer, is not in the copy of the stack */
	UNWIND_ANSWER_UNREADABLE, /* the code is the maker's, who could not be asked: no guess is better */
};

/*
 * The maker: whom a walk asks about code that a process has made at run time (interpret/). What it answers may change
 * at any time, so it is asked in every walk.
 */
struct unwind_maker {
	/* NULL: nobody is known. */
	enum unwind_answer (*find_caller)(
		void *context, const struct unwind_made_frame *frame, struct unwind_made_caller *caller);
	void *context; /* borrowed */
};

/*
 * Access to the code of a process. find() is false if no executable mapping holds the address; its results are cached,
 * address by address. Most addresses that are looked up appear in no stack, so a lookup changes nothing.
 */
struct unwind_space {
	bool (*find)(void *context, uint64_t address, struct unwind_code *code);
	/* Reads so many bytes of code around an address, for which find() gave none; NULL, or false: not readable. */
	bool (*read)(void *context, uint64_t address, size_t bytes, struct machine_code *code);
	void *context;
	uint64_t generation; /* changes whenever a result of find() may change: part of the cache's key */
	/* Returns whether an address lies in executable memory; NULL: not known. */
	bool (*is_code)(void *context, uint64_t address);
	const struct machine *machine; /* that the process runs on; NULL: not known, and its stacks have no frames */
	struct unwind_maker maker;     /* of code without an image */
};

struct unwind_frame {
	uint64_t pc; /* runtime address; of callers the return address */
	uint64_t stack_pointer;
	uint32_t image; /* the image that find() gave for its address */
	bool is_exact;  /* the pc is an instruction's own address, not a return address */
};

/* The runtime address by which a frame is named: for a caller, a byte inside its call. */
static inline uint64_t unwind_frame_address(const struct unwind_frame *frame)
{
	return frame->pc - !frame->is_exact;
}

struct unwind_result {
	struct unwind_frame *frames; /* owned by the unwinder, valid until it walks other stacks; leaf first */
	size_t count;
	size_t frame_pointer_frames;
	uint64_t caller_stack_pointer; /* of the frame after the last, where that is known though it was not copied; 0:
					  not known */
	uint64_t placed; /* where the last frame returns to though no call there has led to it; 0: not so */
	enum profile_stop stop;
};

/* Holds the cache of rules by (generation, address). Each thread needs its own. */
struct unwinder;

COMMON_MUST_CHECK
bool unwinder_create(struct unwinder **unwinder, struct error *err);
void unwinder_destroy(struct unwinder *unwinder);

/* A stack to walk, and the result. */
struct unwind_job {
	struct unwind_space space;
	struct unwind_registers registers;
	struct unwind_stack_dump dump;
	struct unwind_result
		result; /* out; zeroed before the first walk, and left for another walk of the same stack */
};

/*
 * Walks up to UNWIND_TOGETHER stacks in turn, a step each: another CPU wrote them, so every step waits for memory, and
 * the waits of several go by at once. Always gives at least the leaf when it lies in code; never reads outside the copy
 * of a stack.
 */
void unwind_stacks(struct unwinder *unwinder, struct unwind_job *jobs, size_t count);
