/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/assign.h"

#include <math.h>
#include <stdlib.h>

/* Columns and rows are counted from 1 here; 0 stands for none. */
struct assignment {
	const double *costs;
	size_t rows, columns;
	double *row_potential, *column_potential;
	double *slack;    /* [column] the least reduced cost from the rows that the path reached */
	size_t *row_of;   /* [column] */
	size_t *previous; /* [column] the column before it on the shortest path to it */
	bool *is_reached; /* [column] */
};

static double reduced_cost(const struct assignment *a, size_t row, size_t column)
{
	return a->costs[(row - 1) * a->columns + column - 1] - a->row_potential[row] - a->column_potential[column];
}

/* Reaches the next column: the one with the least slack, by which all potentials change. */
static size_t reach_next(struct assignment *a, size_t column)
{
	size_t row = a->row_of[column], next = 0;
	double least = INFINITY;

	a->is_reached[column] = true;
	for (size_t j = 1; j <= a->columns; j++) {
		double cost;

		if (a->is_reached[j])
			continue;
		cost = reduced_cost(a, row, j);
		if (cost < a->slack[j]) {
			a->slack[j] = cost;
			a->previous[j] = column;
		}
		if (a->slack[j] < least) {
			least = a->slack[j];
			next = j;
		}
	}
	for (size_t j = 0; j <= a->columns; j++) {
		if (a->is_reached[j]) {
			a->row_potential[a->row_of[j]] += least;
			a->column_potential[j] -= least;
		} else {
			a->slack[j] -= least;
		}
	}
	return next;
}

static void assign_row(struct assignment *a, size_t row)
{
	size_t column = 0;

	for (size_t j = 0; j <= a->columns; j++) {
		a->slack[j] = INFINITY;
		a->is_reached[j] = false;
	}
	a->row_of[0] = row;
	do
		column = reach_next(a, column);
	while (a->row_of[column] != 0);
	/* The columns of the path each take the row of the one before. */
	for (size_t before; column != 0; column = before) {
		before = a->previous[column];
		a->row_of[column] = a->row_of[before];
	}
}

void assign_least(const double *costs, size_t rows, size_t columns, uint32_t *columns_of)
{
	CLEANUP(cleanup_free) double *doubles = memory_zeroed(rows + 2 * columns + 3, sizeof(*doubles));
	CLEANUP(cleanup_free) size_t *sizes = memory_zeroed(2 * columns + 2, sizeof(*sizes));
	CLEANUP(cleanup_free) bool *reached = memory_zeroed(columns + 1, sizeof(*reached));
	struct assignment a = { .costs = costs, .rows = rows, .columns = columns };

	a.row_potential = doubles;
	a.column_potential = doubles + rows + 1;
	a.slack = a.column_potential + columns + 1;
	a.row_of = sizes;
	a.previous = sizes + columns + 1;
	a.is_reached = reached;
	for (size_t row = 1; row <= rows; row++)
		assign_row(&a, row);
	for (size_t j = 1; j <= columns; j++)
		if (a.row_of[j] != 0)
			columns_of[a.row_of[j] - 1] = (uint32_t)(j - 1);
}
