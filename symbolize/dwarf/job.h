/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf.h"
#include "symbolize/dwarf/package.h"

/* The addresses that one unit is asked for. */
struct dwarf_job {
	struct dwarf_unit *unit;
	const uint64_t *addresses;     /* rising */
	struct dwarf_answer **answers; /* [address]: where its answer goes */
	size_t count;
	bool is_exhaustive; /* look below functions that do not hold the address as well */
	struct arena *arena;
	const struct dwarf_package *package;
	const char *debug_path; /* of the image, for what lies beside it */
};

/* Answers for all addresses of the job. A unit that makes no sense answers nothing. Fails for want of memory. */
COMMON_MUST_CHECK
bool dwarf_job_run(const struct dwarf_job *job, struct error *err);
