/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made by scripts/calibrate of the recordings under tests/data/calibration that are for fitting. */
#pragma once

#include "diff/evidence/evidence.h"

/* How probable each of evidence_spreads_of(class) is, by expectation maximisation over restarts of unchanged programs.
 */
static const double evidence_spread_priors[EVIDENCE_CLASSES][EVIDENCE_SPREADS] = {
	/* 5178 rows of 33 programs */
	[EVIDENCE_OTHER] = { 0.0000, 0.6367, 0.0384, 0.1970, 0.1044, 0.0206, 0.0019, 0.0007, 0.0003 },
	/* 538 rows of 5 programs */
	[EVIDENCE_COMPILED] = { 0.0000, 0.5579, 0.1514, 0.0985, 0.1122, 0.0045, 0.0325, 0.0431, 0.0000 },
	/* 218 rows of 4 programs */
	[EVIDENCE_WAITING] = { 0.0000, 0.2963, 0.2939, 0.0751, 0.0211, 0.1643, 0.1144, 0.0367, 0.0016 },
	/* 50 rows of 1 programs, and 5178 that are like them */
	[EVIDENCE_BENCHMARK] = { 0.0362, 0.0360, 0.0358, 0.0357, 0.0363, 0.0378, 0.0403, 0.0449, 0.0664, 0.1287, 0.1966,
		0.1833, 0.0947, 0.0241, 0.0032 },
	/* 0 rows of 0 programs, and 538 that are like them */
	[EVIDENCE_BENCHMARK_COMPILED] = { 0.0428, 0.0452, 0.0502, 0.0584, 0.0702, 0.0849, 0.0985, 0.1045, 0.0993,
		0.0857, 0.0700, 0.0556, 0.0450, 0.0428, 0.0469 },
	/* 0 rows of 0 programs */
	[EVIDENCE_EXACT] = { 0.4462, 0.1041, 0.1462, 0.1192, 0.0706, 0.0189, 0.0318, 0.0388, 0.0136, 0.0031, 0.0068,
		0.0000, 0.0004, 0.0003, 0.0000 },
	/* 0 rows of 0 programs */
	[EVIDENCE_EXACT_TOTAL] = { 0.2646, 0.1031, 0.1823, 0.1751, 0.1116, 0.0289, 0.0385, 0.0330, 0.0227, 0.0102,
		0.0198, 0.0085, 0.0016, 0.0000, 0.0000 },
	/* 17 rows of 17 programs */
	[EVIDENCE_TOTAL] = { 0.0136, 0.1480, 0.2364, 0.5580, 0.0424, 0.0013, 0.0001, 0.0000, 0.0000 },
	/* 3 rows of 3 programs */
	[EVIDENCE_TOTAL_COMPILED] = { 0.0300, 0.2105, 0.3325, 0.1389, 0.2811, 0.0063, 0.0004, 0.0002, 0.0001 },
	/* 13 rows of 13 programs */
	[EVIDENCE_TOTAL_COMMAND] = { 0.0164, 0.1685, 0.7868, 0.0199, 0.0068, 0.0013, 0.0001, 0.0000, 0.0000 },
	/* 1 rows of 1 programs, and 13 that are like them */
	[EVIDENCE_TOTAL_SUITE] = { 0.0047, 0.0048, 0.0052, 0.0064, 0.0108, 0.0238, 0.0543, 0.0995, 0.1337, 0.2217,
		0.2765, 0.1396, 0.0142, 0.0024, 0.0024 },
};

/*
 * The logarithm of the cost of a request falls by `mean` for each unit by which that of the load rises; `sd`: how far
 * programs differ in that. 57 recordings at other loads than the restarts of their programs.
 */
static const struct {
	double mean, sd;
} evidence_load_cost = { 0.300, 0.161 };

/*
 * The standard deviation, for each unit of the load's logarithm, of the rows of a program around that: the least with
 * which intervals cover 95 % of 11918 rows.
 */
static const double evidence_load_scatter = 0.30;

/*
 * The kinds of programs that are simulated, by how far they repeat themselves: the part of programs, and how probable
 * spreads are of a kind's functions, and of these with all they call. 33 programs and metrics, 2097 functions.
 */
static const struct {
	double parts[EVIDENCE_KINDS];
	double self[EVIDENCE_KINDS][EVIDENCE_SPREADS], total[EVIDENCE_KINDS][EVIDENCE_SPREADS];
} evidence_kinds = {
	{ 0.2671, 0.3157, 0.1841, 0.2331 },
	{
		{ 0.87354, 0.11019, 0.00368, 0.00720, 0.00314, 0.00053, 0.00114, 0.00031, 0.00011, 0.00004, 0.00006,
			0.00001, 0.00002, 0.00002, 0.00001 },
		{ 0.58499, 0.07062, 0.08985, 0.06180, 0.05307, 0.00753, 0.04124, 0.06271, 0.02167, 0.00178, 0.00329,
			0.00003, 0.00138, 0.00001, 0.00001 },
		{ 0.04497, 0.21125, 0.39112, 0.24741, 0.08643, 0.00490, 0.01264, 0.00100, 0.00013, 0.00004, 0.00007,
			0.00001, 0.00002, 0.00002, 0.00001 },
		{ 0.08522, 0.05774, 0.19242, 0.22395, 0.15912, 0.06626, 0.06946, 0.08021, 0.02870, 0.01076, 0.02475,
			0.00001, 0.00002, 0.00137, 0.00001 },
	},
	{
		{ 0.58333, 0.16709, 0.08311, 0.05536, 0.10257, 0.00737, 0.00076, 0.00014, 0.00008, 0.00004, 0.00009,
			0.00004, 0.00001, 0.00000, 0.00000 },
		{ 0.31497, 0.09616, 0.13086, 0.15402, 0.08754, 0.03683, 0.03385, 0.05430, 0.04737, 0.01627, 0.01498,
			0.01279, 0.00004, 0.00000, 0.00000 },
		{ 0.01949, 0.10052, 0.42503, 0.29015, 0.08533, 0.00516, 0.06662, 0.00024, 0.00727, 0.00006, 0.00009,
			0.00004, 0.00001, 0.00000, 0.00000 },
		{ 0.02463, 0.04135, 0.17406, 0.24981, 0.17518, 0.06171, 0.06600, 0.06759, 0.02760, 0.02170, 0.06434,
			0.01911, 0.00691, 0.00001, 0.00000 },
	},
};
