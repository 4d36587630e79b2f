/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * The layout of what is read of one version of Ruby. Offsets in bytes from the start of the structure that is named;
 * those that are the same in all versions from 3.0 on are constants. The numbers may be a hostile file's: whoever reads
 * by them reads no memory but the process's own.
 */
struct ebpf_ruby {
	/*
	 * A thread's rb_execution_context_t is in one of `variables` words of thread-local storage. Of a library that
	 * begins `first_variable` bytes behind the module's, whose number is at the address `module` in the process. Of
	 * a program `module` is 0, and it begins `first_variable` bytes before the thread's own pointer.
	 */
	__u64 module;
	__u32 first_variable, variables;
	__u32 context_thread; /* rb_execution_context_t: thread_ptr */
	__u32 thread_context; /* rb_thread_t: ec */
	__u32 frame_bytes;    /* sizeof(rb_control_frame_t) */
	__u32 text;           /* RString: as.embed.ary */
};

enum {
	/* rb_execution_context_t */
	RUBY_CONTEXT_STACK = 0,      /* vm_stack */
	RUBY_CONTEXT_STACK_SIZE = 8, /* vm_stack_size, in words */
	RUBY_CONTEXT_FRAME = 16,     /* cfp */
	RUBY_CONTEXT_BYTES = 24,
	/* rb_control_frame_t */
	RUBY_FRAME_INSTRUCTION = 0,  /* pc */
	RUBY_FRAME_CODE = 16,        /* iseq */
	RUBY_FRAME_ENVIRONMENT = 32, /* ep, which leads to the flags of the frame */
	RUBY_FRAME_BYTES = 40,       /* that are read */
	/* rb_iseq_t */
	RUBY_CODE_BODY = 16, /* body */
	/* struct rb_iseq_constant_body */
	RUBY_BODY_SIZE = 4,         /* iseq_size, in words */
	RUBY_BODY_INSTRUCTIONS = 8, /* iseq_encoded */
	RUBY_BODY_PATH = 64,        /* location.pathobj */
	RUBY_BODY_LABEL = 80,       /* location.label */
	RUBY_BODY_FIRST_LINE = 88,  /* location.first_lineno */
	/* struct RBasic, RString and RArray */
	RUBY_OBJECT_FLAGS = 0,
	RUBY_TEXT_LENGTH = 16,   /* as.heap.len */
	RUBY_TEXT_POINTER = 24,  /* as.heap.ptr */
	RUBY_ARRAY = 16,         /* as.ary */
	RUBY_ARRAY_POINTER = 32, /* as.heap.ptr */
};

#define RUBY_IS_LAST 0x20U /* VM_FRAME_FLAG_FINISH: the loop returns to C code at the end of this frame */
#define RUBY_IS_C 0x80U    /* VM_FRAME_FLAG_CFRAME: of a method that is written in C */
#define RUBY_IS_DUMMY(flags) (((flags)&0x7fff0001U) == 0x79990001U) /* VM_FRAME_MAGIC_DUMMY: of no code that runs */
#define RUBY_IS_APART 0x2000U /* RSTRING_NOEMBED; of an array that it is embedded: RARRAY_EMBED_FLAG */
#define RUBY_TYPE(flags) ((flags)&0x1fU)
enum { RUBY_STRING = 5, RUBY_ARRAY_TYPE = 7 };
