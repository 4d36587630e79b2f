/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* `bench --save DIR`: DIR/base.pb.gz and DIR/head.pb.gz. */

/* Creates the directory and checks that both files can be written, before minutes of runs. */
COMMON_MUST_CHECK
bool bench_save_prepare(const char *directory, struct error *err);

/* Saves the runs of a side; `side`: "base" or "head". */
COMMON_MUST_CHECK
bool bench_save(const char *directory, const char *side, const struct profile *profile, mode_t mode, struct error *err);
