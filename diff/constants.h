/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Numbers by which comparisons of two profiles and histories decide alike. */

/* With fewer requests in a profile their rate is not known well enough: counting alone makes it vary by 10 %. */
static const double diff_min_requests = 100;

/* A function with fewer samples than this in a profile has no useful ratio to another one. */
static const double diff_min_ratio_samples = 5;

/*
 * A kind of controls (functions that are taken to do the same work for each unit of load) decides about the load if it
 * has at least this many, with at least this share of a profile's time.
 */
enum { DIFF_MIN_CONTROLS = 3 };
static const double diff_min_control_share = 0.2;

/* A row with this number of samples has half the weight of a large one among tests of one family. */
static const double diff_half_weight_samples = 1000;
