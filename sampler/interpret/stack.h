/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/codes.h"
#include "sampler/interpret/interpret.h"
#include "sampler/interpret/loop.h"

/*
 * Joins an interpreter's frames, which came with a sample, with a walked stack: each native frame of the interpreter's
 * loop is one activation, and becomes the frames that it runs; the interpreter's other functions stay between them.
 *
 * CPython's activations tell where they are on the stack: the native frame that the address lies in is theirs. Those of
 * several interpreters that a thread runs, one from within the other, are put in order by that.
 * Activations beyond the end of a cut walk follow its last frame. One whose address is in no frame follows the
 * activation that it has called, and is counted.
 *
 * Others are matched with the native frames of the loop: those of a whole stack from its root; where it or the
 * interpreter's frames are cut, from the leaf. What finds no activation stands at the end that is not matched, and is
 * counted.
 *
 * A sample may be taken where the loop begins or ends: its innermost activation, which is the leaf, then has no frame
 * of the interpreter. It stays a native frame. Or it has a frame that is not marked as its first one yet: no
 * instruction of it was executed.
 */
enum { INTERPRETER_STACK_KNOWN = 4096 };

/* A word of frames, and the frame that was made of it. */
struct interpreter_known {
	uint64_t word, epoch; /* of interpreter_codes_epoch(); 0: none */
	int32_t pid;
	uint32_t image;
	uint64_t pc;
};

/* An activation that tells where it is on the C stack, and its words, the last of which does so. */
struct interpreter_activation {
	uint64_t address;
	size_t begin, end;
};

struct interpreter_stack {
	struct interpreter_names *names; /* borrowed */
	struct interpreter_codes *codes; /* borrowed */
	uint64_t joined;                 /* stacks that had frames of the interpreter */
	uint64_t mismatched; /* of these, with an activation that has no native frame, or another way round */
	struct unwind_frame frames[UNWIND_MAX_FRAMES]; /* of the stack that is made */
	size_t count;
	struct interpreter_activation activations[EBPF_MOST_FRAMES];
	uint64_t words[EBPF_MOST_FRAMES];                        /* in another order than they came in */
	struct interpreter_known known[INTERPRETER_STACK_KNOWN]; /* words share places */
};

/* The interpreter of a process. All is borrowed. */
struct interpreter_stack_image {
	const void *image; /* for interpreter_codes_find() */
	/*
	 * NULL: activations have addresses (sampler/ebpf/python.h), and what follows is not asked for. Otherwise of
	 * that file.
	 */
	const struct interpreter_loop *loop;
	const struct elf_image *elf;
	/*
	 * The frame of an activation is there before the loop is called, or is gone before it returns, while other
	 * functions run: one activation more or less at the leaf is no mismatch.
	 */
	bool has_early_frames;
	/*
	 * Code made at run time takes the place of the loop's in an activation: where activations are more than native
	 * frames of the loop, such code that the interpreter's own has called is one. (Other code is made as well, as
	 * that of regular expressions, but runs no activation.)
	 */
	bool has_made_loops;
};

COMMON_MUST_CHECK
bool interpreter_stack_join(struct interpreter_stack *stack, const struct interpret_sample *sample,
	const struct interpreter_stack_image *image, uint64_t clock_ns, struct error *err);
