/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

/* bpf(2). Below zero where it is not permitted, or refused. */
int bpf_call(enum bpf_cmd command, union bpf_attr *attr);

/* A descriptor of the program, which the caller owns. */
int bpf_load(enum bpf_prog_type type, const struct bpf_insn *instructions, size_t count);

/*
 * Eight instructions: r0 = lookup(map, current->tgid), NULL where it is not there. The key, of 32 bits, stays in the stack's last
 * four bytes; r1 to r5 are lost, as by any call.
 */
/* clang-format off */
#define BPF_LOOK_UP_CURRENT_TGID(map_fd) \
	{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid }, \
	{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32 }, \
	{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_0, .off = -4 }, \
	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = (map_fd) }, \
	{ .code = 0 }, \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10 }, \
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4 }, \
	{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem }

/* Nine instructions: the map's value under the key in the stack's last four bytes is 1 from now on. All but r6 to r9 are lost. */
#define BPF_ADD_KEY(map_fd) \
	{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -8, .imm = 1 }, \
	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = (map_fd) }, \
	{ .code = 0 }, \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10 }, \
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4 }, \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10 }, \
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = -8 }, \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_4, .imm = BPF_ANY }, \
	{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_update_elem }
/* clang-format on */
