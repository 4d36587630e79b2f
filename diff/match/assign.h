/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The assignment problem: which column belongs to which row, so that the sum of costs is least. By the Hungarian method
 * with potentials (R. Jonker, A. Volgenant: A shortest augmenting path algorithm for dense and sparse linear assignment
 * problems, 1987), rows² * columns steps.
 *
 * costs: [row * columns + column], finite; rows <= columns
 * columns_of: [row] its column, filled
 */
void assign_least(const double *costs, size_t rows, size_t columns, uint32_t *columns_of);
