/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf.h"
#include "symbolize/dwarf/package.h"

/* The addresses that are looked up in one unit. */
struct dwarf_job {
	struct dwarf_unit *unit;
	const uint64_t *addresses;     /* rising */
	struct dwarf_answer **answers; /* [address]: where its answer is stored */
	size_t count;
	bool is_exhaustive; /* also search below functions that do not contain the address */
	struct arena *arena;
	const struct dwarf_package *package;
	const char *debug_path;       /* path of the image, which .dwo and .dwp files may lie beside */
	struct dwarf_source *sources; /* out, in the arena: of the files that answers name */
	size_t source_count;
};

/* Resolves all addresses of the job. A malformed unit gives no answers. Fails if memory runs out. */
COMMON_MUST_CHECK
bool dwarf_job_run(struct dwarf_job *job, struct error *err);
