/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* What was written, which the caller frees; fails the test unless `ok` and it is text. */
char *written(struct buffer *out, bool ok, const struct error *err);
