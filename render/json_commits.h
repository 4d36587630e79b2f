/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

#include <jansson.h>

/* Returns the suspects, and the ids of commits that are none, as docs/json.md describes them. NULL: out of memory. */
json_t *json_commits(const struct commits *commits);
json_t *json_commits_not_executed(const struct commits *commits);
