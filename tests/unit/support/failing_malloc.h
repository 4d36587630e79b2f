/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>

/*
 * Out of memory on demand. A test that links this with kelvin_unit_test(… FAILING_MALLOC)
 * has every allocation of the code under test pass through it; those of shared libraries do not.
 */

/*
 * The next `count` allocations succeed, all later ones fail; SIZE_MAX: none fails. Containers then fail with
 * ERROR_MEMORY, as in a process that records (common/memory.h).
 */
void failing_malloc_after(size_t count);

/*
 * Runs the work in a child for each of its allocations, without this one and all later ones: the child ends with the
 * message that memory is out, or its work fails with ERROR_MEMORY. Returns how many children that were, once one
 * succeeds.
 */
size_t failing_malloc_ends(bool (*work)(void *context, struct error *err), void *context);
