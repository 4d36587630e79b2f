/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kernel.h"

#include "symbolize/addresses.h"

#include <inttypes.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { NAME_ROOM = 504 };

/* What we and the program share. */
struct exchange {
	uint64_t address;
	char symbol[NAME_ROOM]; /* name+offset/size [module] */
};

struct kernel {
	int format_fd, exchange_fd, program_fd;
	struct exchange *exchange;
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A map of one value. */
static int create_map(size_t value_bytes, uint32_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = (uint32_t)value_bytes;
	attr.max_entries = 1;
	attr.map_flags = flags;
	return bpf(BPF_MAP_CREATE, &attr);
}

/* The verifier reads the format: it must be where nobody can change it any more. */
static bool set_format(int fd, const char *format)
{
	uint32_t key = 0;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = (uint64_t)(uintptr_t)&key;
	attr.value = (uint64_t)(uintptr_t)format;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr) != 0)
		return false;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	return bpf(BPF_MAP_FREEZE, &attr) == 0;
}

/* bpf_snprintf(exchange->symbol, sizeof(exchange->symbol), "%pS", &exchange->address, 8) */
static int load_program(int format_fd, int exchange_fd)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_6, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = exchange_fd },
		{ .code = 0 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_1, .off = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = offsetof(struct exchange, symbol) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = NAME_ROOM },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_3, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = format_fd },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_4, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_4, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_5, .imm = sizeof(uint64_t) },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_snprintf },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE;
	attr.insns = (uint64_t)(uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uint64_t)(uintptr_t) "GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

static void close_kernel(struct kernel *kernel)
{
	const int fds[] = { kernel->format_fd, kernel->exchange_fd, kernel->program_fd };

	if (kernel->exchange)
		munmap(kernel->exchange, sizeof(*kernel->exchange));
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* False, with nothing left open, where it is not permitted or not known. */
static bool open_kernel(struct kernel *kernel)
{
	static const char format[8] = "%pS";
	struct kernel opened = { .program_fd = -1 };
	void *shared;

	opened.format_fd = create_map(sizeof(format), BPF_F_RDONLY_PROG);
	opened.exchange_fd = create_map(sizeof(struct exchange), BPF_F_MMAPABLE);
	if (opened.format_fd >= 0 && opened.exchange_fd >= 0 && set_format(opened.format_fd, format))
		opened.program_fd = load_program(opened.format_fd, opened.exchange_fd);
	if (opened.program_fd < 0) {
		close_kernel(&opened);
		return false;
	}
	shared = mmap(NULL, sizeof(struct exchange), PROT_READ | PROT_WRITE, MAP_SHARED, opened.exchange_fd, 0);
	if (shared == MAP_FAILED) {
		close_kernel(&opened);
		return false;
	}
	opened.exchange = shared;
	*kernel = opened;
	return true;
}

static bool look_up(struct kernel *kernel, uint64_t address)
{
	union bpf_attr attr;

	kernel->exchange->address = address;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)kernel->program_fd;
	if (bpf(BPF_PROG_TEST_RUN, &attr) != 0)
		return false;
	kernel->exchange->symbol[NAME_ROOM - 1] = '\0';
	return true;
}

/* `name+0x1d/0x40 [module]`; the bare address where no function is, and the parts end where they are not as expected. */
static bool parse(char *text, uint64_t address, struct symbol_map_symbol *symbol)
{
	char *plus = strrchr(text, '+'), *module = strstr(text, " ["), *end;
	uint64_t offset, size;

	if (!plus || plus == text)
		return false;
	offset = strtoull(plus + 1, &end, 16);
	if (*end != '/')
		return false;
	size = strtoull(end + 1, NULL, 16);
	if (size <= offset || offset > address)
		return false;
	*plus = '\0';
	*symbol = (struct symbol_map_symbol){ .start = address - offset, .size = size, .name = text, .module = "", .file = "" };
	if (module && module > plus)
		symbol->module = module + 1;
	return true;
}

/* In rising order: what lies in the function found last need not be asked. */
static bool ask_sorted(
	struct kernel *kernel, const uint64_t *addresses, size_t count, struct symbol_map *map, bool *answered, struct error *err)
{
	struct symbol_map_symbol symbol = { 0 };

	*answered = true;
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && addresses[i] - symbol.start < symbol.size)
			continue;
		if (!look_up(kernel, addresses[i])) {
			*answered = false;
			return true;
		}
		if (parse(kernel->exchange->symbol, addresses[i], &symbol) && !symbol_map_add(map, &symbol, err))
			return false;
	}
	return true;
}

bool kernel_ask(const uint64_t *addresses, size_t count, struct symbol_map **map, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *sorted = addresses_sorted(addresses, count);
	struct symbol_map *made = NULL;
	bool answered = false, ok;
	struct kernel kernel;

	*map = NULL;
	if (!sorted)
		return error_set_memory(err);
	if (!open_kernel(&kernel))
		return true;
	ok = symbol_map_create(&made, err) && ask_sorted(&kernel, sorted, count, made, &answered, err);
	close_kernel(&kernel);
	if (!ok || !answered) {
		symbol_map_destroy(made);
		return ok;
	}
	*map = made;
	return true;
}
