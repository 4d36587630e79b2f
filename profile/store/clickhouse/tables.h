/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The tables of Kelvin in ClickHouse (docs/stores.md). A *push* is a number drawn at random for each time that a
 * profile is sent. All rows that it wrote carry it, and the row in kelvin_profiles is written last: rows count once
 * their push is in that table, and of several pushes of one profile a single one counts. So a push that broke off, or
 * that two programs made at once, adds nothing to any sum, whatever the engine still remembers of repeated inserts.
 *
 * Names, stacks and frames are identified by hashes of their contents and belong to no push.
 */
enum clickhouse_table {
	CLICKHOUSE_NAMES,     /* what functions are called, by hash of their key */
	CLICKHOUSE_FRAMES,    /* the functions and lines of one place in the code, by hash */
	CLICKHOUSE_STACKS,    /* frames, the leaf first, by hash */
	CLICKHOUSE_FUNCTIONS, /* the rows of summaries (profile/summary/summary.h), by metric */
	CLICKHOUSE_SAMPLES,   /* the values of each stack */
	CLICKHOUSE_FILES,     /* the profile as pprof, with all that it has */
	CLICKHOUSE_PROFILES,  /* what was recorded, when and where, and its totals: one row a profile */
};
enum { CLICKHOUSE_TABLE_COUNT = CLICKHOUSE_PROFILES + 1 };

/* The version of the tables. It grows when an older Kelvin would misread them. */
enum { CLICKHOUSE_SCHEMA = 1 };

struct clickhouse_table_row {
	const char *name;
	const char *create;  /* the statement */
	const char *columns; /* in which rows are written, without the push */
	bool has_push;
};

/* The tables in the order in which they are written. Static. */
extern const struct clickhouse_table_row clickhouse_tables[CLICKHOUSE_TABLE_COUNT];

/*
 * In parts of a parcel each row of a table with pushes begins with its size as 4 bytes, in place of the push, which the
 * courier draws; other rows follow each other.
 */

/*
 * `level` of a row in kelvin_functions: 0 for at least half of the profile's total, and each further level stands for
 * half as much. Rows are in order of it, so that who asks for large functions does not read small ones.
 */
enum { CLICKHOUSE_MAX_LEVEL = 63 };

/*
 * `lot` of a row in kelvin_functions: pushes are drawn, so that the profiles of one lot are a random part of all. The
 * table is in order of it first: who needs no more than a part reads no more.
 */
enum { CLICKHOUSE_LOTS = 16 };

/*
 * `kind` and `reference` of a row are its profile's: the kind as in kelvin_profiles, and what its costs are compared
 * by, its requests where they are counted, else its total in the metric. They are in each row because to join 300
 * million rows with their profiles takes three times as long as to add them up.
 */
