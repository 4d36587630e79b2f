/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <pub_tool_basics.h>
#include <pub_tool_tooliface.h>

#include <stdint.h>

/*
 * Estimated quarter cycles that a statement of an instruction adds, beyond SIMULATE_QUARTERS of every instruction:
 * the reciprocal throughput of what is dear on today's x86 servers (uops.info and Agner Fog's tables for Zen 3 and 4,
 * Ice Lake and Sapphire Rapids, rounded between them).
 */
unsigned tool_cost(const IRStmt *statement);

/*
 * Repeated string instructions (rep movs and rep stos). Processors with ERMSB, since Ivy Bridge and Zen 3, move 32
 * bytes a cycle and more, behind some 35 cycles to begin (Intel 64 and IA-32 Architectures Optimization Reference
 * Manual, "Enhanced REP MOVSB and STOSB operation"). The core runs one of them element by element: what counts as one
 * instruction is each block of TOOL_STRING_BYTES.
 */
enum { TOOL_STRING_BYTES = 32, TOOL_STRING_COST = 4, TOOL_STRING_BEGIN_COST = 140 };

/* The bytes that such an instruction moves at a time; 0: it is another one. `code` has `bytes` bytes. */
unsigned tool_string_bytes(const uint8_t *code, unsigned bytes);
