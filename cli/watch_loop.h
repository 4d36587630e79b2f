/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/labels.h"

/* Watches until a signal ends it; `labels`: of all its profiles. Returns the program's exit code. */
int watch_run(const struct watch_options *options, const struct labels *labels);
