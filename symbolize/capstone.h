/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>

/*
 * Capstone, loaded when the first fingerprint is wanted: its tables cost every start of the program a millisecond, which is as long
 * as naming an address takes.
 */
struct capstone {
	void *library; /* owned */
	cs_err (*open)(cs_arch arch, cs_mode mode, csh *handle);
	cs_err (*close)(csh *handle);
	cs_err (*option)(csh handle, cs_opt_type type, size_t value);
	cs_insn *(*new_insn)(csh handle);
	void (*free_insn)(cs_insn *insn, size_t count);
	bool (*next)(csh handle, const uint8_t **code, size_t *size, uint64_t *address, cs_insn *insn);
	bool (*is_in_group)(csh handle, const cs_insn *insn, unsigned int group);
};

/* False where the library is not installed: there are no fingerprints then. */
bool capstone_init(struct capstone *capstone);
void capstone_deinit(struct capstone *capstone);
