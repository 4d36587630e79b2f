/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "burn.h"

/* Loaded by `workload_shape dlopen`. plugin_work -> plugin_leaf, where all the time goes. */

static __attribute__((noipa)) uint64_t plugin_leaf(unsigned int units)
{
	return BURN(units, 17);
}

uint64_t plugin_work(unsigned int units);

__attribute__((noipa)) uint64_t plugin_work(unsigned int units)
{
	return plugin_leaf(units) + 1;
}
