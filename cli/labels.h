/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "sampler/sampler.h"

/* The labels of --label KEY=VALUE (profile/labels.h), as the sampler takes them. All 0: none. */
struct labels {
	struct sampler_label items[PROFILE_MAX_LABELS]; /* keys are owned; values lie behind them */
	size_t count;
};

/* --label, of a struct labels. */
extern const struct options_row labels_rows[];
/* Returns the label of that key; NULL: it is not given. */
const struct sampler_label *labels_find(const struct labels *labels, const char *key);

void labels_deinit(struct labels *labels);
