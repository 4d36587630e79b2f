/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/*
 * Out of memory on demand. A test that links this with kelvin_unit_test(… FAILING_MALLOC)
 * has every allocation of the code under test pass through it; those of shared libraries do not.
 */

/* The next `count` allocations succeed, all later ones fail; SIZE_MAX: none fails. */
void failing_malloc_after(size_t count);
