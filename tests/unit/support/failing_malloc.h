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
 * Forks a child for each allocation that what follows may lack: true in the child, which has neither this one nor any
 * later one, does the work and calls failing_malloc_end(). The child ends before with the message that memory is out,
 * or its work fails with ERROR_MEMORY; false in the parent, once one has succeeded.
 */
bool failing_malloc_in_child(void);
_Noreturn void failing_malloc_end(bool ok, const struct error *err);
