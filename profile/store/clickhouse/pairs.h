/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"
#include "profile/store/clickhouse/row.h"

/* Labels and facts that all profiles of several have in common. */
enum { PAIRS_MAX = 256 };
struct pairs {
	struct row_string keys[PAIRS_MAX], values[PAIRS_MAX];
	size_t count;
};

/*
 * Reads two maps, of the least and of the greatest value of each key (PAIRS_COLUMNS()), and keeps the pairs that are
 * the same in both.
 */
void pairs_read_common(struct byte_reader *rows, struct pairs *common);

/* The columns of which it reads them, of a column of maps. */
#define PAIRS_COLUMNS(map) "minMap(CAST(" map ", 'Map(String, String)')), maxMap(CAST(" map ", 'Map(String, String)'))"

/* Reads such columns of labels and of facts, and adds them; strings are added to the table. */
COMMON_MUST_CHECK
bool pairs_read_labels(struct byte_reader *rows, struct string_table *strings,
	struct profile_label labels[PROFILE_MAX_LABELS], size_t *count, struct error *err);
COMMON_MUST_CHECK
bool pairs_read_facts(
	struct byte_reader *rows, struct string_table *strings, struct profile_facts *facts, struct error *err);

/* Returns the source of a name; PROFILE_WORK_UNKNOWN: there is none of that name. */
enum profile_work_source pairs_work_source(struct row_string name);
