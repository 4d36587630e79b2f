/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "sampler/sampler.h"

/* Options that record and bench share, of a struct sampler_options: -F, -e, --off-cpu and --elapsed; --native. */
extern const struct options_row sampling_rows[], sampling_native_rows[];

/* Does what --elapsed does. */
void sampling_add_elapsed(struct sampler_options *sampler);
