/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/probability/probability.h"
#include "diff/statistics/experiment.h"

/* Rows that are adjusted together. */
enum row_group { GROUP_FUNCTIONS, GROUP_NODES };

struct family {
	enum row_group group;
	bool by_code; /* only rows with `changed` equal to that of this family; false: all rows */
	bool changed;
};

/*
 * Benjamini and Hochberg (1995) over the tested rows of a family without the whole, counting twins (rows with equal
 * values) once, and weighted by the difference that a row could show (Genovese, Roeder and Wasserman 2006): rows with
 * few samples, which cannot show an ordinary change, use less of the error rate. Fills q. `*alpha` becomes the p at
 * which a row of weight 1 is found at false discovery rate `rate`.
 */
void bh_adjust(const struct experiment *experiment, const struct family *family, double rate,
	struct row_result *results, double *alpha);

static inline bool family_has(const struct family *family, const struct row *row)
{
	return row_is_node(row) == (family->group == GROUP_NODES) &&
	       (!family->by_code || row->changed == family->changed);
}
