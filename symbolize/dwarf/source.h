/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/describe.h"
#include "symbolize/dwarf/job.h"

/*
 * Sets the job's sources: what the line table tells of the files that its answers name, and of embedded texts the lines
 * of the functions that the answers are in. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool dwarf_job_sources(struct dwarf_job *job, const struct dwarf_describer *describer, struct error *err);
