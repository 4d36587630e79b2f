/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <libunwind.h>

/*
 * libunwind's part for other processes ("remote"), opened when it is needed: linked, it would make every start of the
 * program a sixth longer (docs/decisions). The types are those of its header, where the names of the functions are
 * macros.
 */
struct unwind_library {
	void *handle;
	__typeof__(unw_create_addr_space) *create_addr_space;
	__typeof__(unw_destroy_addr_space) *destroy_addr_space;
	__typeof__(unw_set_caching_policy) *set_caching_policy;
	__typeof__(unw_init_remote) *init_remote;
	__typeof__(unw_step) *step;
	__typeof__(unw_get_reg) *get_reg;
	__typeof__(unw_is_signal_frame) *is_signal_frame;
	/*
	 * Searches an .eh_frame_hdr. The library exports it for the accessors of other processes, and no header
	 * declares it; perf uses it in the same way.
	 */
	int (*search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table, unw_proc_info_t *found,
		int need_unwind_info, void *context);
};

/* ERROR_UNSUPPORTED, with advice, if the library is not installed, or lacks one of the functions. */
COMMON_MUST_CHECK
bool unwind_library_open(struct unwind_library *library, struct error *err);
void unwind_library_close(struct unwind_library *library);
