/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"

/* Options that record and bench share, of a struct sampler_options: -F, -e and --off-cpu; --native. */
extern const struct options_row sampling_rows[], sampling_native_rows[];
