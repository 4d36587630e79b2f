/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The false discovery rate where the user names none: the customary 5 % of the discoveries may be false. */
static const double step_up_default_q = 0.05;

/* A test of a family of tests. */
struct step_up_member {
	double p;    /* in; a weighted one may be above 1 */
	double q;    /* out: the least false discovery rate at which the family has this test among its discoveries */
	uint32_t id; /* the caller's, which decides between equal p */
};

/* Sorts the members by p, then by id, and fills their q: Benjamini and Hochberg (1995). */
void step_up(struct step_up_member *members, size_t count);
