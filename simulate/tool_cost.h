/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <pub_tool_basics.h>
#include <pub_tool_tooliface.h>

/*
 * Estimated quarter cycles that a statement of an instruction adds, beyond SIMULATE_QUARTERS of every instruction:
 * the reciprocal throughput of what is dear on today's x86 servers (uops.info and Agner Fog's tables for Zen 3 and 4,
 * Ice Lake and Sapphire Rapids, rounded between them).
 */
unsigned tool_cost(const IRStmt *statement);
