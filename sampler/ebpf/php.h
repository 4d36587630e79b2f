/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * The layout of what is read of PHP, in a build without threads. Offsets in bytes from the start of the structure that
 * is named; those that are the same in all versions from 7.4 on are constants. The numbers may be a hostile file's:
 * whoever reads by them reads no memory but the process's own.
 */
struct ebpf_php {
	__u64 frame;    /* address of executor_globals.current_execute_data in the process */
	__u32 filename; /* zend_op_array; `line_start` stands behind it */
};

enum {
	/* zend_execute_data */
	PHP_FRAME_INSTRUCTION = 0, /* opline */
	PHP_FRAME_FUNCTION = 24,   /* func */
	PHP_FRAME_FLAGS = 40,      /* This.u1.type_info */
	PHP_FRAME_PREVIOUS = 48,   /* prev_execute_data */
	PHP_FRAME_BYTES = 56,
	/* zend_function: common */
	PHP_FUNCTION_TYPE = 0,
	PHP_FUNCTION_NAME = 8,   /* function_name */
	PHP_FUNCTION_SCOPE = 16, /* scope */
	/* zend_op */
	PHP_INSTRUCTION_LINE = 24, /* lineno */
	/* zend_class_entry */
	PHP_CLASS_NAME = 8,
	/* zend_string */
	PHP_TEXT_LENGTH = 16,
	PHP_TEXT = 24, /* val */
};

#define PHP_IS_TOP (1U << 17)                     /* ZEND_CALL_TOP, in the flags of a frame: C code has called it */
#define PHP_IS_USER_CODE(type) (((type)&1U) == 0) /* a function of the program; others are of C code */
